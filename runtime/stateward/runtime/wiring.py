"""The composition root: the one place that reads clock, ids and environment and puts the adapters together.

Where things lie: a project holds `.stateward/workspace`, a marker with the id of its Workspace, found from a folder upward. The store
of that Workspace lies in the user's state folder, `$XDG_STATE_HOME/stateward/<workspace id>/store.db` (`~/.local/state` by default);
`STATEWARD_STORE`, or `--store`, names another file.
"""

import os
import pwd
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Final

from stateward.runtime.engine.flows import WorkspaceSnapshots
from stateward.runtime.engine.worker import Engine
from stateward.runtime.ports import Clock, Fault, FlowStore, SessionStore, Workspace
from stateward.runtime.profile import DEFAULT, Profile
from stateward.runtime.session.entries import Actor, ActorClass

MARKER_FOLDER: Final = ".stateward"
MARKER_NAME: Final = "workspace"
MARKER_BYTES_MAX: Final = 4096
PARENTS_MAX: Final = 256
STORE_NAME: Final = "store.db"
PAGE: Final = 500
"""Workers listed at a time."""
STORE_VARIABLE: Final = "STATEWARD_STORE"
_ID: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


class NoWorkspace(Fault):
    """No marker was found, or it does not hold an id."""


@dataclass(frozen=True, slots=True)
class Location:
    """Which Workspace, and where its store lies."""

    workspace: str
    store: Path


class SystemClock:
    """The system's clock."""

    def now(self) -> datetime:
        """Give the present, UTC."""
        return datetime.now(UTC)


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


def store_path(workspace: str, chosen: Path | None = None) -> Path:
    """Give the path of a Workspace's store: `chosen`, else `STATEWARD_STORE`, else the user's state folder."""
    if chosen is not None:
        return chosen
    if from_environment := os.environ.get(STORE_VARIABLE):
        return Path(from_environment)
    state = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state")
    return state / "stateward" / workspace / STORE_NAME


def locate(folder: Path, chosen: Path | None = None) -> Location:
    """Find the Workspace of a folder. Raises NoWorkspace when there is none."""
    workspace = find_workspace(folder)
    if workspace is None:
        raise NoWorkspace(f"no Workspace at {folder} or above it", "begin one with `stateward run` or `stateward flow save`")
    return Location(workspace, store_path(workspace, chosen))


def locate_or_create(folder: Path, chosen: Path | None = None) -> Location:
    """Find the Workspace of a folder, or begin one there."""
    workspace = find_workspace(folder) or create_workspace(folder)
    return Location(workspace, store_path(workspace, chosen))


@dataclass(frozen=True, slots=True)
class Runtime:
    """What a surface works with: the engine over the store of one Workspace."""

    location: Location
    engine: Engine
    sessions: SessionStore
    flows: FlowStore
    clock: Clock

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

    clock = SystemClock()
    with open_store(location.store, write=write, create=write) as store:
        if write:
            store.workspaces.ensure(Workspace(location.workspace, "", clock.now()))
        snapshots = WorkspaceSnapshots(location.workspace, store.flows)
        engine = Engine(store.sessions, snapshots, clock, TimeOrderedIds(), profile)
        yield Runtime(location, engine, store.sessions, store.flows, clock)


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
