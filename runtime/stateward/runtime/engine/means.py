"""What the use cases work with: the ports, the profile in force, and what is remembered of Workers."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from stateward.runtime.core.refusal import Refusal
from stateward.runtime.engine.commit import Append, commit
from stateward.runtime.engine.folding import Folds, Loaded
from stateward.runtime.ports import Clock, Ids, SessionStore, Snapshots
from stateward.runtime.profile import Profile

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Means:
    """The means of one engine."""

    sessions: SessionStore
    snapshots: Snapshots
    clock: Clock
    ids: Ids
    profile: Profile
    folds: Folds

    def commit(self, worker: str, plan: Callable[[Loaded], Append[T] | T]) -> T | Refusal:
        """Carry out a plan on a Worker."""
        return commit(self.sessions, self.folds, worker, plan)
