"""What recording what happened and looking where a Worker stands work with: the ports, and what is remembered of Workers.

Apart from the means of everything else, so that whoever only records loads nothing of them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from stateward.runtime.core.refusal import Refusal, RefusalCode
from stateward.runtime.engine.actors import ENGINE
from stateward.runtime.engine.commit import Append, commit
from stateward.runtime.engine.folding import Folds, Loaded, checkpoint_of
from stateward.runtime.engine.guard import Guard, rollback_message
from stateward.runtime.session.entries import Kind, NewEntry
from stateward.runtime.session.masking import Secrets
from stateward.runtime.session.payloads import encode

if TYPE_CHECKING:
    from stateward.runtime.ports import Clock, Ids, SessionStore

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class HostMeans:
    """What recording what happened and looking at a Worker needs."""

    sessions: "SessionStore"
    clock: "Clock"
    ids: "Ids"
    folds: Folds
    checkpoint_entries: int
    guard: Guard
    secrets: Secrets

    def commit(self, worker: str, plan: Callable[[Loaded], Append[T] | T], *, whole: bool = True) -> T | Refusal:
        """Carry out a plan on a Worker; on one whose log went back only where it need not be `whole`."""
        problem = self.guard.problem if whole else _no_problem
        return commit(self.sessions, self.folds, worker, plan, checkpoint=self._checkpoint, problem=problem)

    def problem(self, loaded: Loaded) -> Refusal | None:
        """Say why nothing can be written to a log."""
        if loaded.newer:
            return Refusal(RefusalCode.WORKER_READ_ONLY, loaded.newer, ("read the log",))
        return self.guard.problem(loaded)

    def rolled_back(self, loaded: Loaded) -> str:
        """Say how a log went back; empty when it did not."""
        lost = self.guard.lost(loaded)
        return "" if lost is None else rollback_message(loaded.head, lost)

    def _checkpoint(self, loaded: Loaded) -> NewEntry | None:
        if loaded.head.seq - loaded.checkpoint < self.checkpoint_entries:
            return None
        return NewEntry(Kind.CHECKPOINT, ENGINE, self.clock.now(), encode(checkpoint_of(loaded)))


def _no_problem(_: Loaded) -> None:
    return None
