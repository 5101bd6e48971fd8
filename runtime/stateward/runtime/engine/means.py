"""What the use cases work with: the ports, the profile in force, and what is remembered of Workers."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from stateward.runtime.core.refusal import Refusal
from stateward.runtime.engine.commit import Append, commit
from stateward.runtime.engine.folding import Folds, Loaded, checkpoint_of
from stateward.runtime.engine.records import ENGINE
from stateward.runtime.ports import Clock, Ids, LeaseStore, SessionStore, Snapshots
from stateward.runtime.profile import Profile
from stateward.runtime.session.entries import Kind, NewEntry
from stateward.runtime.session.payloads import encode

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Means:
    """The means of one engine."""

    sessions: SessionStore
    snapshots: Snapshots
    clock: Clock
    ids: Ids
    profile: Profile
    leases: LeaseStore
    folds: Folds
    checkpoint_entries: int

    def commit(self, worker: str, plan: Callable[[Loaded], Append[T] | T]) -> T | Refusal:
        """Carry out a plan on a Worker."""
        return commit(self.sessions, self.folds, worker, plan, self._checkpoint)

    def _checkpoint(self, loaded: Loaded) -> NewEntry | None:
        if loaded.head.seq - loaded.checkpoint < self.checkpoint_entries:
            return None
        return NewEntry(Kind.CHECKPOINT, ENGINE, self.clock.now(), encode(checkpoint_of(loaded)))
