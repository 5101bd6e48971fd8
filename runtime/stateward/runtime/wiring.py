"""The composition root: the one place that reads clock, ids and environment and puts the adapters together.

Where things lie: a project holds `.stateward/workspace`, a marker with the id of its Workspace, found from a folder upward. The store of
that Workspace lies in the user's state folder, `$XDG_STATE_HOME/stateward/<workspace id>/store.db` (`~/.local/state` by default);
`STATEWARD_STORE`, or `--store`, names another file, or a database of PostgreSQL by its URL. The keys that seal and sign, and the
witnesses of heads, lie apart from every store, in `$XDG_DATA_HOME/stateward/keys` (`~/.local/share` by default); `STATEWARD_KEYS` names
another folder. It is made when something is first sealed; what only reads makes none.
"""

import os
import pwd
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from socket import gethostname
from threading import Event, Thread
from typing import Final, TypeAlias

from stateward.runtime.engine.flows import WorkspaceSnapshots
from stateward.runtime.engine.worker import Engine
from stateward.runtime.ports import Clock, Fault, FlowStore, ListedKey, Sealer, SessionStore, StoredLogs, TrustedKey, Witness, Workspace
from stateward.runtime.profile import DEFAULT, Profile
from stateward.runtime.session.entries import Actor, ActorClass
from stateward.runtime.session.envelope import PAYLOAD_TYPE, Envelope, Signature, encoded

MARKER_FOLDER: Final = ".stateward"
MARKER_NAME: Final = "workspace"
MARKER_BYTES_MAX: Final = 4096
PARENTS_MAX: Final = 256
STORE_NAME: Final = "store.db"
PAGE: Final = 500
"""Workers listed at a time."""
STORE_VARIABLE: Final = "STATEWARD_STORE"
URL_BEGINNINGS: Final = ("postgresql://", "postgres://")
KEYS_VARIABLE: Final = "STATEWARD_KEYS"
KEY_BYTES_MAX: Final = 64 * 1024
WITNESS_FOLDER: Final = "witness"
_ID: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


class NoWorkspace(Fault):
    """No marker was found, or it does not hold an id."""


Place: TypeAlias = Path | str
"""A file, or the URL of a database. A URL may hold a password: it is opened, never shown."""


@dataclass(frozen=True, slots=True)
class Location:
    """Which Workspace, and where its store lies."""

    workspace: str
    store: Place


class SystemClock:
    """The system's clock."""

    def now(self) -> datetime:
        """Give the present, UTC."""
        return datetime.now(UTC)


class ThreadHeartbeat:
    """Beats in a thread of its own."""

    @contextmanager
    def during(self, seconds: float, beat: Callable[[], None]) -> Iterator[None]:
        """Give a context in which `beat` is called every so many seconds. A fault ends the beating; its effect shows elsewhere."""
        over = Event()

        def beating() -> None:
            with suppress(Fault):
                while not over.wait(seconds):
                    beat()

        thread = Thread(target=beating, name="stateward lease", daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()


class TimeOrderedIds:
    """UUIDv7 ids."""

    def new(self) -> str:
        """Give a UUIDv7; within one process each is later than the one before."""
        from uuid_utils import uuid7  # noqa: PLC0415 -- reading commands make no ids

        return str(uuid7())


def find_workspace(folder: Path) -> str | None:
    """Give the id in the nearest marker from `folder` upward, or None. Raises NoWorkspace for a marker that holds no id."""
    here = folder.resolve()
    for candidate in (here, *here.parents)[:PARENTS_MAX]:
        marker = candidate / MARKER_FOLDER / MARKER_NAME
        if marker.is_file():
            return _read_marker(marker)
    return None


def _read_marker(marker: Path) -> str:
    try:
        with marker.open("rb") as file:
            text = file.read(MARKER_BYTES_MAX).decode("ascii", "replace").strip()
    except OSError as error:
        raise NoWorkspace(f"cannot read {marker}: {error.strerror}", "make it readable") from error
    if not _ID.fullmatch(text):
        raise NoWorkspace(f"{marker} does not hold the id of a Workspace", "restore it, or remove it to begin a new Workspace")
    return text


def create_workspace(folder: Path) -> str:
    """Write a marker with a new id into `folder` and give the id. Somebody who was quicker wins.

    Raises NoWorkspace when it cannot be written.
    """
    marker = folder / MARKER_FOLDER / MARKER_NAME
    draft = marker.with_name(f"{MARKER_NAME}.{os.getpid()}")
    try:
        marker.parent.mkdir(exist_ok=True)
        (marker.parent / ".gitignore").write_text("*\n", "ascii")
        draft.write_text(f"{TimeOrderedIds().new()}\n", "ascii")
        try:
            # A link appears whole or not at all and never replaces what is there.
            marker.hardlink_to(draft)
        except FileExistsError:
            pass
        finally:
            draft.unlink()
    except OSError as error:
        raise NoWorkspace(f"cannot write {marker}: {error.strerror}", "name a folder that can be written with `--workdir`") from error
    return _read_marker(marker)


def place_of(text: str) -> Place:
    """Read what a person named as a store: what begins like a URL of PostgreSQL is one, anything else a file."""
    return text if text.startswith(URL_BEGINNINGS) else Path(text)


def store_place(workspace: str, chosen: Place | None = None) -> Place:
    """Say where a Workspace's store lies: `chosen`, else what `STATEWARD_STORE` names, else in the user's state folder."""
    if chosen is not None:
        return chosen
    if from_environment := os.environ.get(STORE_VARIABLE):
        return place_of(from_environment)
    state = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state")
    return state / "stateward" / workspace / STORE_NAME


def keys_path() -> Path:
    """Give the path of the key folder: `STATEWARD_KEYS`, else the one in the user's data folder."""
    if from_environment := os.environ.get(KEYS_VARIABLE):
        return Path(from_environment)
    data = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    return data / "stateward" / "keys"


def locate(folder: Path, chosen: Place | None = None) -> Location:
    """Find the Workspace of a folder. Raises NoWorkspace when there is none."""
    workspace = find_workspace(folder)
    if workspace is None:
        raise NoWorkspace(f"no Workspace at {folder} or above it", "begin one with `stateward run` or `stateward flow save`")
    return Location(workspace, store_place(workspace, chosen))


def locate_or_create(folder: Path, chosen: Place | None = None) -> Location:
    """Find the Workspace of a folder, or begin one there."""
    workspace = find_workspace(folder) or create_workspace(folder)
    return Location(workspace, store_place(workspace, chosen))


@dataclass(frozen=True, slots=True)
class Runtime:
    """What a surface works with: the engine over the store of one Workspace."""

    location: Location
    engine: Engine
    sessions: SessionStore
    flows: FlowStore
    clock: Clock
    stored: StoredLogs
    """The same logs as they lie, for whoever verifies them."""
    sealer: Sealer
    witness: Witness

    def worker_ids(self) -> list[str]:
        """Give the ids of the Workspace's Workers, oldest first."""
        ids: list[str] = []
        while page := self.sessions.workers(self.location.workspace, PAGE, ids[-1] if ids else ""):
            ids += [row.worker for row in page]
        return ids


@contextmanager
def reading(location: Location) -> Iterator[Runtime]:
    """Open a Workspace's store to read from it: nothing is created or written. Raises what opening a store raises."""
    with _opened(location, DEFAULT, write=False) as runtime:
        yield runtime


@contextmanager
def writing(location: Location, profile: Profile = DEFAULT) -> Iterator[Runtime]:
    """Open a Workspace's store, made where it is missing. Raises what opening a store raises."""
    with _opened(location, profile, write=True) as runtime:
        yield runtime


@contextmanager
def _opened(location: Location, profile: Profile, *, write: bool) -> Iterator[Runtime]:
    from stateward.store.database import open_store  # noqa: PLC0415 -- loads SQLModel, which what never opens a store need not pay for
    from stateward.store.keys import KeyFolder  # noqa: PLC0415 -- the same
    from stateward.store.seal import HmacSealer  # noqa: PLC0415
    from stateward.store.witness import FileWitness  # noqa: PLC0415

    clock = SystemClock()
    sealer = HmacSealer(KeyFolder(keys_path(), clock.now))
    witness = FileWitness(keys_path() / WITNESS_FOLDER, _warn)
    with open_store(location.store, write=write, create=write, sealer=sealer, witness=witness) as store:
        if write:
            store.workspaces.ensure(Workspace(location.workspace, "", clock.now()))
        snapshots = WorkspaceSnapshots(location.workspace, store.flows)
        holder = f"process {os.getpid()} on {gethostname()}"
        engine = Engine(
            store.sessions, snapshots, clock, TimeOrderedIds(), profile, leases=store.leases, holder=holder, heartbeat=ThreadHeartbeat()
        )
        yield Runtime(location, engine, store.sessions, store.flows, clock, store.stored, sealer, witness)


class Keys:
    """The user's keys, as commands work with them. Raises KeysUnusable."""

    def __init__(self) -> None:
        from stateward.store.keys import KeyFolder, Purpose  # noqa: PLC0415 -- loads cryptography, which few commands need

        self._folder = KeyFolder(keys_path(), SystemClock().now)
        self._seal, self._sign = Purpose.SEAL, Purpose.SIGN

    def listed(self) -> tuple[ListedKey, ...]:
        """List them, oldest first."""
        return self._folder.listed()

    def rotate(self) -> tuple[str, str]:
        """Make a new key that seals and a new one that signs, and give their ids; the others stay for checking."""
        return self._folder.rotate(self._seal).id, self._folder.rotate(self._sign).id

    def public(self, key_id: str | None) -> str | None:
        """Give the public half of a signing key as PEM: of the current one, made where there is none, or by its id."""
        from stateward.store import seal  # noqa: PLC0415

        key = self._folder.current(self._sign) if key_id is None else self._folder.find(key_id)
        return None if key is None or key.purpose is not self._sign else seal.public_pem(seal.public_half(key))

    def signed(self, statement: bytes) -> Envelope:
        """Sign a statement with the current key, made where there is none."""
        from stateward.store import seal  # noqa: PLC0415

        key = self._folder.current(self._sign)
        signature = seal.sign(key, encoded(PAYLOAD_TYPE, statement))
        return Envelope(PAYLOAD_TYPE, statement, (Signature(key.id, signature),))

    def own(self) -> tuple[TrustedKey, ...]:
        """Give the public halves of the user's own signing keys."""
        from stateward.store import seal  # noqa: PLC0415

        ids = [each.id for each in self._folder.listed() if each.purpose == self._sign]
        keys = [key for each in ids if (key := self._folder.find(each)) is not None]
        return tuple(TrustedKey(key.id, seal.public_half(key), f"it is in the key folder {self._folder.path}") for key in keys)


def named_key(path: Path) -> TrustedKey:
    """Read the public half of a signing key from a file in PEM. Raises OSError, and ValueError for anything else."""
    from stateward.store.seal import read_public_pem  # noqa: PLC0415 -- loads cryptography

    with path.open("rb") as file:
        key_id, public = read_public_pem(file.read(KEY_BYTES_MAX))
    return TrustedKey(key_id, public, f"it was named with `--key {path}`")


def signer_of(envelope: Envelope, keys: Sequence[TrustedKey]) -> TrustedKey | None:
    """Give the first trusted key that signed an envelope; None when none did."""
    from stateward.store.seal import is_signed  # noqa: PLC0415 -- loads cryptography

    return next((key for key in keys for each in envelope.signatures if is_signed(key.public, envelope.signed, each.signature)), None)


def _warn(text: str) -> None:
    """Say what ends nothing and should be known."""
    print(f"warning: {text}", file=sys.stderr)


def person_at_terminal() -> Actor:
    """Give the actor that the command line acts as: a person of whom nothing is shown but the account."""
    return Actor(ActorClass.PERSON, "terminal", account_name())


def account_name() -> str:
    """Give the name of the account this process runs under, or its number where it has no name."""
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return str(os.geteuid())


def program_version() -> str:
    """Name this program and its version, as stored revisions name their compiler."""
    return f"stateward {version('stateward')}"
