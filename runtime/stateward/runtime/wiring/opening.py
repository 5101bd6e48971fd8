"""Opening a Workspace: the engine over its store, or over an empty one in memory."""

import os
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from socket import gethostname

from stateward.resources.catalog import builtin
from stateward.runtime.engine.selectors import BUILTIN, parse_selector
from stateward.runtime.engine.snapshots import WorkspaceSnapshots
from stateward.runtime.engine.worker import Engine
from stateward.runtime.ports import (
    Clock,
    Fault,
    FlowAuthority,
    FlowStore,
    Observer,
    Sealer,
    SessionStore,
    Snapshots,
    StoredLogs,
    Transcripts,
    Unresolved,
    Witness,
    Workspace,
)
from stateward.runtime.profile import DEFAULT, Profile
from stateward.runtime.session.masking import Secrets
from stateward.runtime.wiring.listing import worker_ids
from stateward.runtime.wiring.places import Location
from stateward.runtime.wiring.reaching import ServiceSnapshots
from stateward.runtime.wiring.storing import opened_store, warn
from stateward.runtime.wiring.system import Folders, HostChecks, SystemClock, ThreadHeartbeat, TimeOrderedIds


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
        """Give the ids of the Workspace's Workers, oldest first."""
        return worker_ids(self.sessions, self.location.workspace)

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
            warn(f"which revision of `{selector}` is current is not known: the store here never kept it, and no service is named")
            return pinned
        return None if row.removed is not None else row.last.revision

    def _resolved_revision(self, selector: str, pinned: int) -> int | None:
        try:
            found = self.snapshots.resolve(selector)
        except Fault as fault:
            warn(f"which revision of `{selector}` is current is not known: {fault.message}")
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
    with ExitStack() as held:
        kept = held.enter_context(opened_store(location, write=write))
        store, clock, secrets = kept.store, kept.clock, kept.secrets
        snapshots: Snapshots = WorkspaceSnapshots(location.workspace, store.flows)
        if location.server is not None:
            snapshots = held.enter_context(closing(ServiceSnapshots(location.server, location.workspace)))
        folders = Folders(secrets, location.store)
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
            witness=kept.witness,
            workdirs=folders,
            checks=HostChecks(folders, clock, secrets) if write else None,
            secrets=secrets,
            observer=_observer(held) if write else None,
        )
        yield Runtime(
            location=location,
            engine=engine,
            sessions=store.sessions,
            flows=store.flows,
            clock=clock,
            stored=store.stored,
            sealer=kept.sealer,
            witness=kept.witness,
            transcripts=store.transcripts,
            secrets=secrets,
            snapshots=snapshots,
        )


def _observer(held: ExitStack) -> Observer:
    from stateward.runtime.wiring.observing import observing  # noqa: PLC0415 -- what only reads measures nothing

    return held.enter_context(observing())


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """An empty Workspace that lies in memory: what it refuses, one that is yet to be begun would refuse too."""

    workspace: str
    engine: Engine
    flows: FlowStore
    clock: Clock
    snapshots: Snapshots


def rehearsal(profile: Profile = DEFAULT, snapshots: FlowAuthority | None = None) -> Rehearsal:
    """Give a Workspace in which something can be tried before anything is written; with its flows those of `snapshots`, if given."""
    from stateward.store.memory import MemoryFlowStore  # noqa: PLC0415 -- only what begins a Workspace needs it
    from stateward.store.memory_leases import MemoryLeaseStore  # noqa: PLC0415
    from stateward.store.memory_sessions import MemorySessionStore  # noqa: PLC0415

    clock, ids, flows = SystemClock(), TimeOrderedIds(), MemoryFlowStore()
    workspace = flows.ensure(Workspace(ids.new(), "", clock.now())).id
    if snapshots is not None:
        workspace = snapshots.workspace
    resolving: Snapshots = snapshots or WorkspaceSnapshots(workspace, flows)
    engine = Engine(MemorySessionStore(), resolving, clock, ids, profile, leases=MemoryLeaseStore())
    return Rehearsal(workspace, engine, flows, clock, resolving)
