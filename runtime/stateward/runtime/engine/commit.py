"""The one way in which anything is written: load, decide, append where the head is still the one that was loaded, else decide again.

Invariants: what is decided is decided on the whole log up to the head it is appended to; a commit whose answer was lost is looked up by
its key before anybody is told; every plan can be made again, for it begins by looking for what an earlier one wrote.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import repeat
from typing import Generic, TypeVar

from stateward.runtime.core.refusal import Refusal, RefusalCode
from stateward.runtime.core.texts import shown
from stateward.runtime.engine.folding import Folds, Loaded
from stateward.runtime.engine.limits import COMMITS_MAX, LOST_ANSWERS_MAX
from stateward.runtime.ports import Committed, Duplicate, Moved, OutcomeUnknown, SessionStore, StoreUnavailable
from stateward.runtime.session.chain import link
from stateward.runtime.session.entries import Head, NewEntry

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Append(Generic[T]):
    """A plan: these entries, in one commit."""

    entries: tuple[NewEntry, ...]
    """The last one has a key by which the commit is found."""
    done: Callable[[Head], T]
    """Makes the result once they are committed; the head is that of the last one."""
    definitions: Mapping[str, bytes] = field(default_factory=dict)


class Tries:
    """The bounded tries of one call: it ends as contended, or, where answers keep getting lost, as a store that is not there."""

    def __init__(self) -> None:
        self._lost = 0

    def __iter__(self) -> Iterator[None]:
        return repeat(None, COMMITS_MAX)

    def lost(self, problem: OutcomeUnknown) -> None:
        """Count a commit that did not happen and whose answer was lost. Raises StoreUnavailable for one too many."""
        self._lost += 1
        if self._lost > LOST_ANSWERS_MAX:
            raise StoreUnavailable(f"the store does not answer: {problem.message}", "look at the store; nothing was written") from problem


def commit(
    sessions: SessionStore,
    folds: Folds,
    worker: str,
    plan: Callable[[Loaded], Append[T] | T],
    *,
    checkpoint: Callable[[Loaded], NewEntry | None],
    problem: Callable[[Loaded], Refusal | None],
) -> T | Refusal:
    """Carry out a plan, made again on the new facts as often as somebody else appended first. Raises what the store raises.

    A checkpoint that is due comes first in the same commit, and the plan is made for what follows on it. Nothing is planned for a log with
    a problem.
    """
    tries = Tries()
    for _ in tries:
        loaded = folds.load(worker)
        if loaded is None:
            return not_found(worker)
        if loaded.newer:
            return Refusal(RefusalCode.WORKER_READ_ONLY, loaded.newer, ("read the log",))
        refused = problem(loaded)
        if refused is not None:
            return refused
        due = checkpoint(loaded)
        step = plan(loaded if due is None else after(loaded, due))
        if not isinstance(step, Append):
            return step
        entries = step.entries if due is None else (due, *step.entries)
        head = _append(sessions, folds, loaded, replace(step, entries=entries), tries)
        if head is not None:
            return step.done(head)
    return contended()


def after(loaded: Loaded, entry: NewEntry) -> Loaded:
    """Give a Worker as it will be after an entry that changes nothing but the log's length."""
    linked = link(loaded.worker, loaded.head, entry)
    return loaded._replace(head=Head(linked.seq, linked.digest))


def _append(sessions: SessionStore, folds: Folds, loaded: Loaded, step: Append[T], tries: Tries) -> Head | None:
    try:
        appended = sessions.append(loaded.worker, loaded.head, step.entries, step.definitions)
    except OutcomeUnknown as problem:
        folds.forget(loaded.worker)
        return look_up(sessions, loaded.worker, step.entries[-1], problem, tries)
    match appended:
        case Committed(head):
            return head
        case Moved() | Duplicate():
            return None


def look_up(sessions: SessionStore, worker: str, last: NewEntry, problem: OutcomeUnknown, tries: Tries) -> Head | None:
    """Find out whether a commit happened whose answer was lost: its last entry's head, or None when it did not."""
    assert last.key is not None  # by which a commit is found
    entry = sessions.find(worker, last.key)
    if entry is None:
        tries.lost(problem)
        return None
    if entry.payload != last.payload:  # somebody else's, under the same key
        return None
    return Head(entry.seq, entry.digest)


def contended() -> Refusal:
    """Refuse what could not be committed because others kept appending first."""
    return Refusal(RefusalCode.WORKER_CONTENDED, f"the log kept growing through {COMMITS_MAX} tries", ("try again",))


def not_found(worker: str) -> Refusal:
    """Refuse what is asked of a Worker that is none."""
    return Refusal(RefusalCode.WORKER_NOT_FOUND, f"there is no Worker {shown(worker)}", ("name a Worker of this store",))
