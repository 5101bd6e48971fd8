"""Recording what happened in the worker's agent: messages, tool calls and their results, notes, runs.

Invariants: what is recorded is kept as the bytes that came and never looked into; one record has one entry, however often its host sends
it; whose channel may record what is a table.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from stateward.runtime.core.refusal import Refusal, RefusalCode
from stateward.runtime.core.texts import cut, shown, size_of
from stateward.runtime.engine.commit import Append
from stateward.runtime.engine.folding import Loaded
from stateward.runtime.engine.keys import is_id, record_key, run_key
from stateward.runtime.engine.limits import RUN_MESSAGE_BYTES_MAX
from stateward.runtime.engine.means import Means
from stateward.runtime.ports import RecordedEntry, RecordKey
from stateward.runtime.session.acts import RunEnded, RunOutcome, RunStarted, WorkerStopped
from stateward.runtime.session.chain import HEADER_TEXT_BYTES_MAX, digest_of
from stateward.runtime.session.entries import PAYLOAD_BYTES_MAX, Actor, ActorClass, Head, Kind, NewEntry
from stateward.runtime.session.payloads import encode


@dataclass(frozen=True, slots=True)
class NewRecord:
    """What is to be recorded."""

    kind: str
    payload: bytes
    actor: Actor
    key: RecordKey


_RECORDERS: Final = {
    Kind.ASSISTANT_MESSAGE: frozenset({ActorClass.HOST, ActorClass.AGENT}),
    Kind.TOOL_CALL: frozenset({ActorClass.HOST, ActorClass.AGENT}),
    Kind.TOOL_RESULT: frozenset({ActorClass.HOST, ActorClass.AGENT}),
    Kind.NOTE: frozenset({ActorClass.HOST, ActorClass.AGENT, ActorClass.PERSON}),
}


def record(means: Means, worker: str, given: NewRecord) -> RecordedEntry | Refusal:
    """Record what a host or an agent says happened."""
    key = record_key(given.key.digest)
    problem = _problem(given)
    if problem is not None:
        return problem
    given = replace(given, payload=means.secrets.mask_bytes(given.payload))  # which may have made it longer
    return _problem(given) or _written(means, worker, lambda: NewEntry(given.kind, given.actor, means.clock.now(), given.payload, key))


def start_run(means: Means, worker: str, run: str, actor: Actor) -> RecordedEntry | Refusal:
    """Record that a run of the worker's agent began."""
    problem = _run_problem(run)
    payload = encode(RunStarted(run))
    return problem or _written(
        means, worker, lambda: NewEntry(Kind.RUN_STARTED, actor, means.clock.now(), payload, run_key(run, "started"))
    )


def end_run(means: Means, worker: str, run: str, actor: Actor, *, outcome: RunOutcome, message: str) -> RecordedEntry | Refusal:
    """Record how a run ended; the flow stays where it is."""
    problem = _run_problem(run)
    payload = encode(RunEnded(run, outcome, cut(means.secrets.mask(message), RUN_MESSAGE_BYTES_MAX)))
    return problem or _written(means, worker, lambda: NewEntry(Kind.RUN_ENDED, actor, means.clock.now(), payload, run_key(run, "ended")))


def stop(means: Means, worker: str, stopping: str, reason: str, actor: Actor) -> RecordedEntry | Refusal:
    """Record that the Worker was stopped; everything is kept. `stopping` is the id of this act."""
    problem = _run_problem(stopping)
    payload = encode(WorkerStopped(cut(means.secrets.mask(reason), RUN_MESSAGE_BYTES_MAX)))
    key = run_key(stopping, "stopped")
    return problem or _written(means, worker, lambda: NewEntry(Kind.WORKER_STOPPED, actor, means.clock.now(), payload, key))


def _written(means: Means, worker: str, make: Callable[[], NewEntry]) -> RecordedEntry | Refusal:
    def plan(_: Loaded) -> Append[RecordedEntry | Refusal] | RecordedEntry | Refusal:
        new = make()
        assert new.key is not None  # by which it is recorded once
        earlier = means.sessions.find(worker, new.key)
        if earlier is None:
            return Append((new,), lambda head: RecordedEntry(worker, head))
        # One that was redacted since holds something else, and its header still says what was written.
        same = earlier.payload == new.payload or earlier.payload_digest == digest_of(new.payload)
        if earlier.kind != new.kind or not same:
            message = f"entry {earlier.reference} was recorded under the same key and holds something else"
            return Refusal(RefusalCode.RECORD_CONFLICT, message, ("record it under another key",))
        return RecordedEntry(worker, Head(earlier.seq, earlier.digest), repeated=True)

    return means.commit(worker, plan)


def _problem(given: NewRecord) -> Refusal | None:
    kind, payload, actor, key = given.kind, given.payload, given.actor, given.key
    recorders = {str(each): who for each, who in _RECORDERS.items()}.get(kind)
    if recorders is None:
        return Refusal(
            RefusalCode.RECORD_NOT_ALLOWED,
            f"kind {shown(kind)} is not recorded by a host",
            tuple(f"record a `{each}`" for each in _RECORDERS),
        )
    if actor.actor_class not in recorders:
        allowed = tuple(f"record as `{each}`" for each in ActorClass if each in recorders)
        return Refusal(RefusalCode.RECORD_NOT_ALLOWED, f"an actor of class `{actor.actor_class}` records no `{kind}`", allowed)
    if len(payload) > PAYLOAD_BYTES_MAX:
        return Refusal(RefusalCode.RECORD_TOO_LARGE, f"the record has {len(payload)} bytes", (f"give at most {PAYLOAD_BYTES_MAX} bytes",))
    texts = (key.host, key.session, key.use, key.part)
    if not key.use or any(size_of(each) > HEADER_TEXT_BYTES_MAX for each in texts):
        allowed = (f"name host, session, use and part in at most {HEADER_TEXT_BYTES_MAX} bytes each, the use not empty",)
        return Refusal(RefusalCode.RECORD_MALFORMED, "the key of the record names no use, or is too long", allowed)
    return None


def _run_problem(run: str) -> Refusal | None:
    if is_id(run):
        return None
    return Refusal(
        RefusalCode.RECORD_MALFORMED, f"{shown(run)} cannot be the id of a run", ("give a short id of printable ASCII characters",)
    )
