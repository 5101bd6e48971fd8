"""Forking a Worker, making a fork whole, and deleting a Worker.

Invariants: a fork goes on from an entry of its parent under the next number, with a new instance, the same visit, no open attempt; the
parent's log says so before the fork is there, so that no fork is unknown to its parent; a parent is not deleted while a fork reads from it.
A fork is whole once it holds every entry before it, digests and seals included, and says so; until then nothing has changed for anybody.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice

from stateward.runtime.core.instance import FlowState
from stateward.runtime.core.refusal import Refusal, RefusalCode
from stateward.runtime.core.texts import listed
from stateward.runtime.engine.actors import ENGINE
from stateward.runtime.engine.commit import Append, Tries, contended, not_found
from stateward.runtime.engine.folding import INSPECT, Loaded, WorkerFold, checkpoint_of, damaged, payload_of
from stateward.runtime.engine.keys import INHERITED_WHOLE, inherited_key
from stateward.runtime.engine.limits import COMMITS_MAX, FORKS_LISTED_MAX
from stateward.runtime.engine.lineage import checked, entries_through, whole_of
from stateward.runtime.engine.means import Means
from stateward.runtime.engine.operating import Operated, Operation, act_entry, answered, standing_of
from stateward.runtime.ports import Committed, Damaged, Deleted, Moved, OutcomeUnknown, SessionStore
from stateward.runtime.session.acts import ForkOrigin
from stateward.runtime.session.entries import Head, Kind, NewEntry, reference
from stateward.runtime.session.inherited import Whole, parts_of, write_whole
from stateward.runtime.session.payloads import OperatorAct, encode
from stateward.runtime.session.strict import Malformed

FORK = "fork"
MAKE_WHOLE = "make-whole"


@dataclass(frozen=True, slots=True)
class Forked:
    """A Worker was forked off another."""

    worker: str
    """The new one."""
    head: Head
    """Of its log."""
    origin: ForkOrigin
    repeated: bool = False
    """Whether an earlier call with the same id did it."""


def fork(means: Means, worker: str, at: int | None, operation: Operation) -> Forked | Refusal:
    """Start a log that goes on from entry `at` of another, by default the last."""
    parent = _parent(means, worker, at, operation)
    if isinstance(parent, Refusal):
        return parent
    base, named = parent
    before = means.folds.load(named)
    if before is not None and before.session.forked_from is not None:
        origin = before.session.forked_from
        return Forked(named, before.head, origin, repeated=True)
    return _created(means, worker, base, named)


def _parent(means: Means, worker: str, at: int | None, operation: Operation) -> tuple[int, str] | Refusal:
    """Say in the parent that a fork is made, unless it says so already; give where, and the fork's id."""
    named = means.ids.new()

    def plan(loaded: Loaded) -> Append[tuple[int, str] | Refusal] | tuple[int, str] | Refusal:
        earlier = answered(means, loaded, operation)
        if isinstance(earlier, Refusal):
            return earlier
        if earlier is not None:
            return _said(earlier.about)
        forked = loaded.session.forked_from
        first = 2 if forked is None else forked.seq + 2
        base = loaded.head.seq if at is None else at
        if not first <= base <= loaded.head.seq:
            allowed = (f"name an entry from {first} to {loaded.head.seq}",)
            return Refusal(RefusalCode.ENTRY_NOT_FOUND, f"Worker {worker} cannot be forked off at entry {base}", allowed)
        entry = act_entry(means, operation, loaded.flow, loaded.flow, about=f"{base}:{named}")
        return Append((entry,), lambda _: (base, named))

    return means.commit(worker, plan)


def _said(about: str) -> tuple[int, str]:
    base, _, named = about.partition(":")
    return int(base), named


def _created(means: Means, worker: str, base: int, named: str) -> Forked | Refusal:
    there = WorkerFold(worker, means.sessions, means.folds.definitions).as_of(base)
    if there is None:
        return not_found(worker)
    origin = ForkOrigin(worker, there.head.seq, there.head.digest)
    session = replace(there.session, worker=named, forked_from=origin)
    time = means.clock.now()
    state = there._replace(worker=named, created=time, session=session, flow=_forked(there.flow, means.ids.new()))
    entries = (
        NewEntry(Kind.SESSION_STARTED, ENGINE, time, encode(session)),
        NewEntry(Kind.CHECKPOINT, ENGINE, time, encode(checkpoint_of(state))),
    )
    tries = Tries()
    for _ in tries:
        try:
            created = means.sessions.create(named, session.workspace, entries, {}, there.head)
        except OutcomeUnknown as problem:
            created = Moved(there.head)
            if means.sessions.head(named) is None:
                tries.lost(problem)
                continue
        if isinstance(created, Committed):
            return Forked(named, created.head, origin)
        made = means.folds.load(named)  # by an earlier try, or by somebody else in the same operation
        return not_found(named) if made is None else Forked(named, made.head, origin, repeated=True)
    return contended()


def _forked(flow: FlowState, instance: str) -> FlowState:
    """Give the flow as a fork takes it over: under a new instance id, with no open attempt and no answer that could be repeated."""
    before = flow.instance
    return flow if before is None else replace(flow, instance=replace(before, id=instance, attempt=None, last=None))


def make_whole(means: Means, worker: str, operation: Operation) -> Operated | Refusal:
    """Copy what a fork reads from the logs before it into its own, and say so. What an interrupted call copied is not copied again."""
    loaded = means.folds.load(worker)
    if loaded is None:
        return not_found(worker)
    answer = answered(means, loaded, operation)
    if answer is not None:
        return answer
    origin = loaded.session.forked_from
    if origin is None:
        return Refusal(RefusalCode.NOT_A_FORK, f"Worker {worker} was not forked off another")
    ended = b""
    if whole_of(means.sessions, worker) is None:
        number = 0
        for number, payload in enumerate(_copy(means.sessions, worker, origin), start=1):
            refused = means.commit(worker, partial(_keep, means, number, payload))
            if isinstance(refused, Refusal):
                return refused
        ended = write_whole(Whole(number, origin.seq, origin.worker))
    return means.commit(worker, partial(_ended, means, operation, origin, ended))


def _copy(sessions: SessionStore, worker: str, origin: ForkOrigin) -> Iterator[bytes]:
    """Give the parts of what a fork is to hold. Raises Damaged for entries that do not lead from the beginning to the fork."""
    try:
        yield from parts_of(checked(entries_through(sessions, worker, 0, origin.seq), 0, origin))
    except Malformed as problem:
        raise Damaged(f"Worker {worker} cannot be made whole: {problem}", INSPECT) from problem


def _keep(means: Means, number: int, payload: bytes, loaded: Loaded) -> Append[None] | None:
    earlier = means.sessions.find(loaded.worker, inherited_key(number))
    if earlier is None:
        return Append((NewEntry(Kind.INHERITED, ENGINE, means.clock.now(), payload, inherited_key(number)),), lambda _: None)
    if earlier.payload != payload:
        raise damaged(loaded.worker, earlier.seq, f"it holds another copy of Worker {loaded.worker}")
    return None


def _ended(
    means: Means, operation: Operation, origin: ForkOrigin, ended: bytes, loaded: Loaded
) -> Append[Operated | Refusal] | Operated | Refusal:
    earlier = answered(means, loaded, operation)
    if earlier is not None:
        return earlier
    if not ended or whole_of(means.sessions, loaded.worker) is not None:
        return Refusal(RefusalCode.ALREADY_WHOLE, f"Worker {loaded.worker} holds all that was recorded before it was forked off")
    end = NewEntry(Kind.INHERITED, ENGINE, means.clock.now(), ended, INHERITED_WHOLE)
    said = act_entry(means, operation, loaded.flow, loaded.flow, about=origin.worker)
    standing = standing_of(loaded.flow)
    entry = reference(loaded.head.seq + 2)
    done = Operated(loaded.worker, operation.id, entry, operation.verb, origin.worker, standing, standing)
    return Append((end, said), lambda _: done)


def forks_of(sessions: SessionStore, worker: str) -> Iterator[str]:
    """Give the forks of a Worker that are there and read from it."""
    for entry in sessions.entries(worker):
        if entry.kind == Kind.OPERATOR_ACT:
            payload = payload_of(entry)
            if isinstance(payload, OperatorAct) and payload.verb == FORK:
                named = _said(payload.about)[1]
                if sessions.head(named) is not None and whole_of(sessions, named) is None:
                    yield named


def delete(means: Means, worker: str) -> Deleted | Refusal:
    """Delete a Worker and its session for good."""
    for _ in range(COMMITS_MAX):
        head = means.sessions.head(worker)
        if head is None:
            return not_found(worker)
        forks = tuple(islice(forks_of(means.sessions, worker), FORKS_LISTED_MAX))
        if forks:
            return Refusal(
                RefusalCode.FORKS_DEPEND,
                f"the entries before their forks are read from it: {listed(forks)}",
                ("make the forks whole", "delete the forks first"),
            )
        deleted = means.sessions.delete(worker, head, means.clock.now())
        if isinstance(deleted, Deleted):
            means.folds.forget(worker)
            return deleted
    return contended()
