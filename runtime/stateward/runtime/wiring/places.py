"""Where things lie: stores, keys, secrets and the layers of profiles, as environment and options name them.

A project holds `.stateward/workspace`, a marker with the id of its Workspace, found from a folder upward. The store of
that Workspace lies in the user's state folder, `$XDG_STATE_HOME/stateward/<workspace id>/store.db` (`~/.local/state` by default);
`STATEWARD_STORE`, or `--store`, names another file, or a database of PostgreSQL by its URL. The keys that seal and sign, and the
witnesses of heads, lie apart from every store, in `$XDG_DATA_HOME/stateward/keys` (`~/.local/share` by default); `STATEWARD_KEYS` names
another folder. It is made when something is first sealed; what only reads makes none. A variable `XDG_…` that is no whole path counts for
nothing, as its specification says.
"""

import os
import pwd
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from stateward.runtime.marker import find_workspace, work_folder
from stateward.runtime.ports import Fault
from stateward.runtime.session.masking import Secrets

if TYPE_CHECKING:
    from stateward.runtime.profile.places import Places

STORE_NAME: Final = "store.db"
STORE_FILES: Final = (STORE_NAME, f"{STORE_NAME}-wal", f"{STORE_NAME}-shm")
STORE_VARIABLE: Final = "STATEWARD_STORE"
KEYS_VARIABLE: Final = "STATEWARD_KEYS"
WITNESS_FOLDER: Final = "witness"


class NoHome(Fault):
    """The environment does not tell where the user's files lie."""


class NoPlace(Fault):
    """What was named as a store is none."""


Place: TypeAlias = Path | str
"""A file, or the URL of a database. A URL may hold a password: it is opened, never shown."""


class Location(NamedTuple):
    """Which Workspace, where its store lies, and who resolves its selectors."""

    workspace: str
    store: Place
    begun: bool = False
    """Whether the Workspace was begun just now."""
    server: str | None = None
    """The address of the service that holds its flows, where that is not the store."""


def place_of(text: str) -> Place:
    """Read what a person named as a store: a file, or the URL of a database of PostgreSQL. Raises NoPlace, which tells no password."""
    from stateward.store.address import read_place  # noqa: PLC0415 -- most commands are told no place

    try:
        return read_place(text)
    except ValueError as problem:
        raise NoPlace(str(problem), f"see `--store` and {STORE_VARIABLE}") from None


def store_place(workspace: str, chosen: Place | None = None) -> Place:
    """Say where a Workspace's store lies: `chosen`, else what `STATEWARD_STORE` names, else in the user's state folder."""
    if chosen is not None:
        return chosen
    if from_environment := os.environ.get(STORE_VARIABLE):
        return place_of(from_environment)
    return user_folder("XDG_STATE_HOME", ".local/state") / workspace / STORE_NAME


def keys_path() -> Path:
    """Give the path of the key folder: `STATEWARD_KEYS`, else the one in the user's data folder."""
    if from_environment := os.environ.get(KEYS_VARIABLE):
        return Path(from_environment)
    return user_folder("XDG_DATA_HOME", ".local/share") / "keys"


def profile_places(folder: Path, workspace: str | None = None) -> "Places":
    """Say where the layers of a profile lie, for a folder of work; the user's lie in `$XDG_CONFIG_HOME/stateward` (`~/.config` by default).

    `workspace` is the Workspace where it is known: a marker in the folder, which an agent can write, has no say then. Raises NoHome, and
    what finding a Workspace raises.
    """
    from stateward.runtime.profile.places import Places  # noqa: PLC0415 -- loads the language, which few commands need

    return Places(user_folder("XDG_CONFIG_HOME", ".config"), workspace or find_workspace(folder), work_folder(folder))


def user_secrets() -> Secrets:
    """Give what the user keeps as secrets, in `$XDG_CONFIG_HOME/stateward/secrets`, and what of the environment is named like one."""
    from stateward.runtime.secrets import known_secrets  # noqa: PLC0415 -- commands that open no store need none

    try:
        folder = user_folder("XDG_CONFIG_HOME", ".config") / "secrets"
    except NoHome:  # then nobody keeps any there
        folder = Path(os.devnull)
    return known_secrets(folder, os.environ)


def home(remedy: str = "set HOME to a folder that is there") -> Path:
    """Give the user's home folder. Raises NoHome with what to do."""
    home = os.environ.get("HOME") or _home_of_account()
    if not Path(home).is_absolute() or not os.path.isdir(home):  # noqa: PTH112 -- that of Path raises where it may not look
        raise NoHome(f"there is no home folder {home}".rstrip(), remedy)
    return Path(home)


def user_folder(variable: str, usual: str) -> Path:
    """Give our folder among the user's files: where the variable says, else at its usual place in the home folder. Raises NoHome."""
    named = Path(os.environ.get(variable, ""))
    if named.is_absolute():
        return named / "stateward"
    return home(f"set HOME or {variable} to a folder that is there") / usual / "stateward"


def _home_of_account() -> str:
    try:
        return pwd.getpwuid(os.geteuid()).pw_dir
    except KeyError:  # an account without a name
        return ""
