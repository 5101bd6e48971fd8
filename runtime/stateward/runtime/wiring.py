"""The composition root: the one place that reads clock, ids and environment and puts the adapters together.

Where things lie: a project holds `.stateward/workspace`, a marker with the id of its Workspace, found from a folder upward. The store of
that Workspace lies in the user's state folder, `$XDG_STATE_HOME/stateward/<workspace id>/store.db` (`~/.local/state` by default);
`STATEWARD_STORE`, or `--store`, names another file, or a database of PostgreSQL by its URL. The keys that seal and sign, and the
witnesses of heads, lie apart from every store, in `$XDG_DATA_HOME/stateward/keys` (`~/.local/share` by default); `STATEWARD_KEYS` names
another folder. It is made when something is first sealed; what only reads makes none. A variable `XDG_…` that is no whole path counts for
nothing, as its specification says.
"""

import os
import pwd
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from socket import gethostname
from threading import Event, Thread
from time import monotonic
from typing import TYPE_CHECKING, Final, TypeAlias

from stateward.resources.catalog import builtin
from stateward.runtime.core.events import FileCitation
from stateward.runtime.engine.flows import BUILTIN, WorkspaceSnapshots, parse_selector
from stateward.runtime.engine.worker import Engine
from stateward.runtime.marker import NoWorkspace, drafted, find_workspace, work_folder
from stateward.runtime.ports import (
    Clock,
    Fault,
    FlowStore,
    ListedKey,
    Sealer,
    SessionStore,
    StoredLogs,
    Transcripts,
    TreeFacts,
    TrustedKey,
    Unresolved,
    VerificationRequest,
    Verifier,
    Witness,
    WorkerRow,
    Workspace,
)
from stateward.runtime.profile import DEFAULT, Profile, VerifierKind
from stateward.runtime.session.entries import Actor, ActorClass
from stateward.runtime.session.envelope import PAYLOAD_TYPE, Envelope, Signature, encoded
from stateward.runtime.session.masking import NO_SECRETS, Secrets

if TYPE_CHECKING:
    from stateward.runtime.profile.places import Places
    from stateward.runtime.verifier.toolbox import AttemptToolbox, OpenWorkdir

STORE_NAME: Final = "store.db"
STORE_FILES: Final = (STORE_NAME, f"{STORE_NAME}-wal", f"{STORE_NAME}-shm")
PAGE: Final = 500
"""Workers listed at a time."""
STORE_VARIABLE: Final = "STATEWARD_STORE"
KEYS_VARIABLE: Final = "STATEWARD_KEYS"
KEY_BYTES_MAX: Final = 64 * 1024
WITNESS_FOLDER: Final = "witness"


class NoHome(Fault):
    """The environment does not tell where the user's files lie."""


class NoPlace(Fault):
    """What was named as a store is none."""


Place: TypeAlias = Path | str
"""A file, or the URL of a database. A URL may hold a password: it is opened, never shown."""


@dataclass(frozen=True, slots=True)
class Location:
    """Which Workspace, and where its store lies."""

    workspace: str
    store: Place
    begun: bool = False
    """Whether the Workspace was begun just now."""


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


class Folders:
    """The folders of the work on this machine, as the engine looks at them."""

    def __init__(self, secrets: Secrets = NO_SECRETS, store: Place | None = None) -> None:
        self._secrets = secrets
        self._store = store if isinstance(store, Path) else None

    def facts(self, root: str) -> TreeFacts | None:
        """Take the facts of a git work tree; None where there is none, and the empty digest where they cannot be taken."""
        from stateward.runtime.workdir.stated import tree_facts  # noqa: PLC0415 -- only requests need it

        return tree_facts(root, store=self._store)

    def shows(self, root: str, cited: FileCitation) -> bool:
        """Tell whether lines of a file still are what was quoted."""
        from stateward.runtime.verifier.masked import MaskedWorkdir  # noqa: PLC0415 -- the same
        from stateward.runtime.verifier.rereading import still_shows  # noqa: PLC0415 -- only reports that cite files need it
        from stateward.runtime.workdir.view import WorkdirView  # noqa: PLC0415

        try:
            with WorkdirView(Path(root)) as view:
                return still_shows(MaskedWorkdir(view, self._secrets), cited)
        except OSError:  # the folder is gone, and what was in it
            return False


class TimeOrderedIds:
    """UUIDv7 ids."""

    def new(self) -> str:
        """Give a UUIDv7; within one process each is later than the one before."""
        from uuid_utils import uuid7  # noqa: PLC0415 -- reading commands make no ids

        return str(uuid7())


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
    return _user_folder("XDG_STATE_HOME", ".local/state") / workspace / STORE_NAME


def keys_path() -> Path:
    """Give the path of the key folder: `STATEWARD_KEYS`, else the one in the user's data folder."""
    if from_environment := os.environ.get(KEYS_VARIABLE):
        return Path(from_environment)
    return _user_folder("XDG_DATA_HOME", ".local/share") / "keys"


def profile_places(folder: Path) -> "Places":
    """Say where the layers of a profile lie, for a folder of work; the user's lie in `$XDG_CONFIG_HOME/stateward` (`~/.config` by default).

    Raises NoHome, and what finding a Workspace raises.
    """
    from stateward.runtime.profile.places import Places  # noqa: PLC0415 -- loads the language, which few commands need

    return Places(_user_folder("XDG_CONFIG_HOME", ".config"), find_workspace(folder), work_folder(folder))


def _secrets() -> Secrets:
    """Give what the user keeps as secrets, in `$XDG_CONFIG_HOME/stateward/secrets`, and what of the environment is named like one."""
    from stateward.runtime.secrets import known_secrets  # noqa: PLC0415 -- commands that open no store need none

    try:
        folder = _user_folder("XDG_CONFIG_HOME", ".config") / "secrets"
    except NoHome:  # then nobody keeps any there
        folder = Path(os.devnull)
    return known_secrets(folder, os.environ)


def _home(remedy: str = "set HOME to a folder that is there") -> Path:
    """Give the user's home folder. Raises NoHome with what to do."""
    home = os.environ.get("HOME") or _home_of_account()
    if not Path(home).is_absolute() or not os.path.isdir(home):  # noqa: PTH112 -- that of Path raises where it may not look
        raise NoHome(f"there is no home folder {home}".rstrip(), remedy)
    return Path(home)


def _user_folder(variable: str, usual: str) -> Path:
    """Give our folder among the user's files: where the variable says, else at its usual place in the home folder. Raises NoHome."""
    named = Path(os.environ.get(variable, ""))
    if named.is_absolute():
        return named / "stateward"
    return _home(f"set HOME or {variable} to a folder that is there") / usual / "stateward"


def _home_of_account() -> str:
    try:
        return pwd.getpwuid(os.geteuid()).pw_dir
    except KeyError:  # an account without a name
        return ""


def locate(folder: Path, chosen: Place | None = None) -> Location:
    """Find the Workspace of a folder. Raises NoWorkspace when there is none."""
    workspace = find_workspace(folder)
    if workspace is None:
        raise NoWorkspace(f"no Workspace at {folder} or above it", "begin one with `stateward run` or `stateward flow save`")
    return Location(workspace, store_place(workspace, chosen))


def is_new(folder: Path, chosen: Place | None = None) -> bool:
    """Tell whether writing for a folder would begin a Workspace, or the store of one."""
    workspace = find_workspace(folder)
    if workspace is None:
        return True
    place = store_place(workspace, chosen)
    return isinstance(place, Path) and not os.path.lexists(place)


def locate_or_begin(folder: Path, chosen: Place | None = None, *, sealing: bool = False) -> Location:
    """Find the Workspace of a folder, or begin one there: store and marker come into being together, or neither does.

    With `sealing`, for what appends entries, a key to seal them comes with them. Raises what marker, store and keys raise.
    """
    found = find_workspace(folder)
    workspace = found or _begin(work_folder(folder), chosen, sealing=sealing)
    return Location(workspace, store_place(workspace, chosen), begun=found is None)


def _begin(folder: Path, chosen: Place | None, *, sealing: bool) -> str:
    """Make an empty store, then a marker, and give the id that the marker holds: of whoever was quicker, if somebody was."""
    fresh = TimeOrderedIds().new()
    place = store_place(fresh, chosen)
    held = ""
    try:
        with drafted(folder, fresh) as draft:
            _make_store(place)
            if sealing:
                _make_key()
            held = draft.publish()
    finally:
        if held != fresh and isinstance(place, Path) and place.parent.name == fresh:
            _remove_store(place.parent)  # nobody knows the id under which it lies
    return held


def _make_store(place: Place) -> None:
    from stateward.store.database import open_store  # noqa: PLC0415 -- as below

    open_store(place, write=True, create=True).close()


def _make_key() -> None:
    from stateward.store.key_command import CommandKeys  # noqa: PLC0415 -- as below
    from stateward.store.keys import Purpose  # noqa: PLC0415

    CommandKeys(keys_path(), SystemClock().now).current(Purpose.SEAL)


def _remove_store(folder: Path) -> None:
    with suppress(OSError):
        for name in STORE_FILES:
            (folder / name).unlink(missing_ok=True)
        folder.rmdir()


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
    transcripts: Transcripts
    secrets: Secrets
    """What is kept out of everything that is stored or shown."""

    def worker_ids(self) -> list[str]:
        """Give the ids of the Workspace's Workers, oldest first: by age, for an id that follows from a submission tells none."""
        rows: list[WorkerRow] = []
        while page := self.sessions.workers(self.location.workspace, PAGE, rows[-1].worker if rows else ""):
            rows += page
        return [row.worker for row in sorted(rows, key=lambda row: (row.created, row.worker))]

    def current_revision(self, selector: str) -> int | None:
        """Give the number of the revision that a selector names now; None when it names none."""
        parsed = parse_selector(selector)
        if isinstance(parsed, Unresolved):
            return None
        if parsed.scope == BUILTIN:
            source = builtin(parsed.slug)
            return None if source is None else source.revision
        revision = self.flows.current(self.location.workspace, parsed.slug)
        return None if revision is None else revision.revision


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
    from stateward.store.key_command import CommandKeys  # noqa: PLC0415 -- the same
    from stateward.store.seal import HmacSealer  # noqa: PLC0415
    from stateward.store.witness import FileWitness  # noqa: PLC0415

    clock, secrets = SystemClock(), _secrets()
    sealer = HmacSealer(CommandKeys(keys_path(), clock.now))
    witness = FileWitness(keys_path() / WITNESS_FOLDER, _warn)
    with open_store(location.store, write=write, create=write, sealer=sealer, witness=witness) as store:
        if write:
            store.workspaces.ensure(Workspace(location.workspace, "", clock.now()))
        snapshots = WorkspaceSnapshots(location.workspace, store.flows)
        holder = f"process {os.getpid()} on {gethostname()}"
        engine = Engine(
            store.sessions,
            snapshots,
            clock,
            TimeOrderedIds(),
            profile,
            leases=store.leases,
            holder=holder,
            heartbeat=ThreadHeartbeat(),
            witness=witness,
            workdirs=Folders(secrets, location.store),
            secrets=secrets,
        )
        yield Runtime(location, engine, store.sessions, store.flows, clock, store.stored, sealer, witness, store.transcripts, secrets)


def judge(runtime: Runtime, profile: Profile, workdir: str) -> Verifier:
    """Make the judge of a profile whose verifier is a model or a program, of a Worker with that folder of work. Raises ModelUnusable."""
    from stateward.runtime.verifier.model_judge import command_verifier, model_verifier  # noqa: PLC0415 -- may load a library of models

    if profile.verifier is VerifierKind.COMMAND:
        return command_verifier(profile, runtime.transcripts, lambda _: Path(workdir) if workdir else None, runtime.secrets)
    opener = _opener(profile, workdir)
    return model_verifier(
        profile,
        runtime.transcripts,
        clock=runtime.clock,
        ids=TimeOrderedIds(),
        elapsed=monotonic,
        open_workdir=opener,
        home=_home(),
        secrets=runtime.secrets,
    )


def given_to_a_judge(
    runtime: Runtime, profile: Profile, request: VerificationRequest, workdir: str
) -> "AbstractContextManager[AttemptToolbox]":
    """Open everything that a judge of this profile would be given for a request."""
    from stateward.runtime.session.browse import ViewBounds  # noqa: PLC0415 -- only what judges needs it
    from stateward.runtime.verifier.toolbox import toolbox  # noqa: PLC0415

    bounds = ViewBounds(profile.verification.read_bytes, profile.verification.page_entries)
    return toolbox(request, _opener(profile, workdir), bounds, runtime.secrets)


def _opener(profile: Profile, workdir: str) -> "OpenWorkdir | None":
    """Give what opens the folder of the work for a judge to look at; None where there is none."""
    from stateward.runtime.workdir.limits import ViewBounds  # noqa: PLC0415
    from stateward.runtime.workdir.view import WorkdirView  # noqa: PLC0415 -- only what judges needs it

    if not workdir:
        return None
    bounds = ViewBounds(read_bytes=profile.verification.read_bytes)
    return lambda _: WorkdirView(Path(workdir), bounds)


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """An empty Workspace that lies in memory: what it refuses, one that is yet to be begun would refuse too."""

    workspace: str
    engine: Engine
    flows: FlowStore
    clock: Clock


def rehearsal(profile: Profile = DEFAULT) -> Rehearsal:
    """Give a Workspace in which something can be tried before anything is written."""
    from stateward.store.memory import MemoryFlowStore  # noqa: PLC0415 -- only what begins a Workspace needs it
    from stateward.store.memory_leases import MemoryLeaseStore  # noqa: PLC0415
    from stateward.store.memory_sessions import MemorySessionStore  # noqa: PLC0415

    clock, ids, flows = SystemClock(), TimeOrderedIds(), MemoryFlowStore()
    workspace = flows.ensure(Workspace(ids.new(), "", clock.now())).id
    snapshots = WorkspaceSnapshots(workspace, flows)
    engine = Engine(MemorySessionStore(), snapshots, clock, ids, profile, leases=MemoryLeaseStore())
    return Rehearsal(workspace, engine, flows, clock)


class Keys:
    """The user's keys, as commands work with them. Raises KeysUnusable."""

    def __init__(self) -> None:
        from stateward.store.key_command import CommandKeys  # noqa: PLC0415 -- loads cryptography, which few commands need
        from stateward.store.keys import Purpose  # noqa: PLC0415

        self._folder = CommandKeys(keys_path(), SystemClock().now)
        self._seal, self._sign = Purpose.SEAL, Purpose.SIGN

    def listed(self) -> tuple[ListedKey, ...]:
        """List them, oldest first."""
        return self._folder.listed()

    def rotate(self) -> tuple[str, str]:
        """Make a new key that seals and a new one that signs, and give their ids; the others stay for checking."""
        return self._folder.rotate(self._seal).id, self._folder.rotate(self._sign).id

    def use_command(self, command: Sequence[str]) -> str:
        """Let what a command prints be the key that seals, and give its id."""
        from stateward.store.key_command import configure  # noqa: PLC0415

        return configure(self._folder.path, command)

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
