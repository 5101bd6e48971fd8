"""Opening a Workspace: the engine over its store, or over an empty one in memory."""

import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from socket import gethostname
from typing import Final

from stateward.resources.catalog import builtin
from stateward.runtime.engine.selectors import BUILTIN, parse_selector
from stateward.runtime.engine.snapshots import WorkspaceSnapshots
from stateward.runtime.engine.worker import Engine
from stateward.runtime.ports import (
    Clock,
    Fault,
    FlowAuthority,
    FlowStore,
    Sealer,
    SessionStore,
    Snapshots,
    StoredLogs,
    Transcripts,
    Unresolved,
    Witness,
    WorkerRow,
    Workspace,
)
from stateward.runtime.profile import DEFAULT, Profile
from stateward.runtime.session.masking import Secrets
from stateward.runtime.wiring.observing import observing
from stateward.runtime.wiring.places import WITNESS_FOLDER, Location, keys_path, user_secrets
from stateward.runtime.wiring.reaching import ServiceSnapshots
from stateward.runtime.wiring.system import Folders, SystemClock, ThreadHeartbeat, TimeOrderedIds

PAGE: Final = 500
"""Workers listed at a time."""


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
    snapshots: Snapshots
    """What resolves selectors: the store, or the service that holds the Workspace."""

    def worker_ids(self) -> list[str]:
        """Give the ids of the Workspace's Workers, oldest first: by age, for an id that follows from a submission tells none."""
        rows: list[WorkerRow] = []
        while page := self.sessions.workers(self.location.workspace, PAGE, rows[-1].worker if rows else ""):
            rows += page
        return [row.worker for row in sorted(rows, key=lambda row: (row.created, row.worker))]

    def current_revision(self, selector: str, pinned: int) -> int | None:
        """Give the number of the revision that a selector names now; None when it names none.

        Where whoever knows cannot be asked, that is said and it is the pinned one: a Worker needs nothing else to go on.
        """
        if self.location.server is not None:
            return self._resolved_revision(selector, pinned)
        parsed = parse_selector(selector)
        if isinstance(parsed, Unresolved):
            return None
        if parsed.scope == BUILTIN:
            source = builtin(parsed.slug)
            return None if source is None else source.revision
        row = self.flows.find(self.location.workspace, parsed.slug)
        if row is None:  # no store ever forgets a flow
            _warn(f"which revision of `{selector}` is current is not known: the store here never kept it, and no service is named")
            return pinned
        return None if row.removed is not None else row.last.revision

    def _resolved_revision(self, selector: str, pinned: int) -> int | None:
        try:
            found = self.snapshots.resolve(selector)
        except Fault as fault:
            _warn(f"which revision of `{selector}` is current is not known: {fault.message}")
            return pinned
        return None if isinstance(found, Unresolved) else found.flow_revision


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

    clock, secrets = SystemClock(), user_secrets()
    sealer = HmacSealer(CommandKeys(keys_path(), clock.now))
    witness = FileWitness(keys_path() / WITNESS_FOLDER, _warn)
    with ExitStack() as held:
        store = held.enter_context(open_store(location.store, write=write, create=write, sealer=sealer, witness=witness))
        if done := store.migrated:
            print(f"note: {store.place} was brought from store version {done.start} to {done.end}; it was copied first", file=sys.stderr)
            print(f"  = note: what it was is in {done.backup}", file=sys.stderr)
        if write:
            store.workspaces.ensure(Workspace(location.workspace, "", clock.now()))
        snapshots: Snapshots = WorkspaceSnapshots(location.workspace, store.flows)
        if location.server is not None:
            snapshots = held.enter_context(closing(ServiceSnapshots(location.server, location.workspace)))
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
            observer=held.enter_context(observing()) if write else None,
        )
        yield Runtime(
            location, engine, store.sessions, store.flows, clock, store.stored, sealer, witness, store.transcripts, secrets, snapshots
        )


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """An empty Workspace that lies in memory: what it refuses, one that is yet to be begun would refuse too."""

    workspace: str
    engine: Engine
    flows: FlowStore
    clock: Clock


def rehearsal(profile: Profile = DEFAULT, snapshots: FlowAuthority | None = None) -> Rehearsal:
    """Give a Workspace in which something can be tried before anything is written; with its flows those of `snapshots`, if given."""
    from stateward.store.memory import MemoryFlowStore  # noqa: PLC0415 -- only what begins a Workspace needs it
    from stateward.store.memory_leases import MemoryLeaseStore  # noqa: PLC0415
    from stateward.store.memory_sessions import MemorySessionStore  # noqa: PLC0415

    clock, ids, flows = SystemClock(), TimeOrderedIds(), MemoryFlowStore()
    workspace = flows.ensure(Workspace(ids.new(), "", clock.now())).id
    if snapshots is not None:
        workspace = snapshots.workspace
    resolving = snapshots or WorkspaceSnapshots(workspace, flows)
    engine = Engine(MemorySessionStore(), resolving, clock, ids, profile, leases=MemoryLeaseStore())
    return Rehearsal(workspace, engine, flows, clock)


def _warn(text: str) -> None:
    """Say what ends nothing and should be known."""
    print(f"warning: {text}", file=sys.stderr)
