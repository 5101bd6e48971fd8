"""Opening a Worker for the harness of its agent, at the cost of one call: hooks come one a process, at every use of a tool.

Invariant: what is opened is the engine's own part for harnesses (`engine.hosted`) over the same store, opened, guarded, sealed and
witnessed like every other way (`storing`), so that it answers and writes as they do. No library is loaded for a store in a file; one on
PostgreSQL comes with those that its driver needs.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from stateward.runtime.engine.folding import Folds
from stateward.runtime.engine.guard import Guard
from stateward.runtime.engine.host_means import HostMeans
from stateward.runtime.engine.hosted import HostEngine
from stateward.runtime.engine.hosting import EngineHostChannel
from stateward.runtime.engine.limits import CHECKPOINT_ENTRIES
from stateward.runtime.ports.faults import Damaged
from stateward.runtime.session.entries import Actor
from stateward.runtime.wiring.beginning import locate
from stateward.runtime.wiring.listing import worker_ids
from stateward.runtime.wiring.places import Place
from stateward.runtime.wiring.storing import Kept, opened_store
from stateward.runtime.wiring.system import TimeOrderedIds

if TYPE_CHECKING:
    from stateward.runtime.ports import HostChannel


@contextmanager
def host_channel(folder: Path, store: Place | None, worker: str, actor: Actor) -> "Iterator[HostChannel]":
    """Open a Worker for the harness of its agent, whatever its profile. Raises what opening a store raises."""
    with opened_store(locate(folder, store), write=True) as kept:
        yield EngineHostChannel(_engine(kept), worker, actor)


def active_workers(folder: Path, store: Place | None) -> Sequence[str]:
    """Give the Workers of a folder's Workspace whose flow is active, oldest first. Raises what finding and opening a store raise."""
    location = locate(folder, store)
    with opened_store(location, write=False) as kept:
        engine = _engine(kept)
        return [each for each in worker_ids(kept.store.sessions, location.workspace) if _is_active(engine, each)]


def _engine(kept: Kept) -> HostEngine:
    """Give the engine's part for harnesses."""
    sessions = kept.store.sessions
    return HostEngine(
        HostMeans(
            sessions=sessions,
            clock=kept.clock,
            ids=TimeOrderedIds(),
            folds=Folds(sessions),
            checkpoint_entries=CHECKPOINT_ENTRIES,
            guard=Guard(sessions, kept.witness),
            secrets=kept.secrets,
        )
    )


def _is_active(engine: HostEngine, worker: str) -> bool:
    try:
        return engine.is_active(worker) is True
    except Damaged:  # nobody works in it
        return False
