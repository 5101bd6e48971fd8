"""One attempt by itself: what a verifier of it would be given, and, afterwards, what was asked, what came of it and where that lies.

Invariant: nothing is written.
"""

from dataclasses import dataclass
from typing import TypeAlias

from stateward.runtime.core.events import (
    ChecksRun,
    EventId,
    Part,
    TransitionCheckPassed,
    TransitionCheckRejected,
    TransitionRequested,
    TransitionVerificationCancelled,
    TransitionVerificationFailed,
)
from stateward.runtime.core.instance import Attempt
from stateward.runtime.core.operating import reason_problem
from stateward.runtime.core.refusal import Refusal, RefusalCode
from stateward.runtime.core.selecting import guard_parts
from stateward.runtime.engine.answers import question_for
from stateward.runtime.engine.checking import captured_for
from stateward.runtime.engine.commit import not_found
from stateward.runtime.engine.folding import payload_of
from stateward.runtime.engine.keys import is_id, request_key
from stateward.runtime.engine.lineage import entries_through, reader
from stateward.runtime.engine.means import Means
from stateward.runtime.ports import VerificationRequest
from stateward.runtime.session.answers import Answer
from stateward.runtime.session.captured import CapturedLog
from stateward.runtime.session.entries import Entry
from stateward.runtime.session.payloads import ToolResult, flow_events

Resolving: TypeAlias = TransitionCheckPassed | TransitionCheckRejected | TransitionVerificationCancelled | TransitionVerificationFailed


@dataclass(frozen=True, slots=True)
class Explained:
    """An attempt, from the request to what came of it."""

    requested: TransitionRequested
    asked: Entry
    """The entry that holds the request."""
    resolved: Resolving | None
    """None while it is open."""
    told: Answer | None
    """What the worker was told; None where an operator closed it."""
    answered: Entry | None
    """The entry that resolved it."""
    parts: tuple[Part, ...] = ()
    """What the runtime found of guards and checks by itself."""


def preview(means: Means, worker: str, reason: str | None) -> VerificationRequest | Refusal:
    """Give what a verifier would be given now: of the open attempt, or of one that would be begun with `reason`."""
    problem = None if reason is None else reason_problem(reason)
    if problem is not None:
        return problem
    loaded = means.folds.load(worker)
    if loaded is None:
        return not_found(worker)
    instance, definition = loaded.flow.instance, loaded.definition
    if instance is None or definition is None or not definition.state(instance.state).transitions:
        return Refusal(RefusalCode.NO_ACTIVE_INSTANCE, "no flow is active", ("submit input with one flow segment",))
    attempt, number = instance.attempt, instance.attempts
    if attempt is not None:
        captured = captured_for(means, worker, attempt)
    elif reason is None:
        return Refusal(RefusalCode.NO_OPEN_ATTEMPT, "no request is open", ("name the reason of one that might be",))
    else:
        parts = guard_parts(definition, instance)
        attempt = Attempt(means.ids.new(), instance.state, instance.visit, reason, EventId(loaded.head.seq, 0), parts=parts)
        captured, number = CapturedLog(loaded.head, reader(means.sessions, worker)), number + 1
    return question_for(worker, definition, instance, attempt, captured, number=number, aside=loaded.flow.aside)


def _asked(means: Means, worker: str, attempt: str) -> Entry | None:
    """Find the entry that began an attempt. One that a fork inherited has its key in the log it came from."""
    found = means.sessions.find(worker, request_key(attempt))
    if found is not None:
        return found
    began = (each for each in entries_through(means.sessions, worker, 0) if _begins(each, attempt))
    return next(began, None)


def _begins(entry: Entry, attempt: str) -> bool:
    return any(isinstance(each, TransitionRequested) and each.attempt == attempt for each in flow_events(payload_of(entry)))


def explain(means: Means, worker: str, attempt: str) -> Explained | None:
    """Give an attempt of a Worker; None when it has none of that id."""
    asked = _asked(means, worker, attempt) if is_id(attempt) else None
    if asked is None:
        return None
    requested = next(each for each in flow_events(payload_of(asked)) if isinstance(each, TransitionRequested) and each.attempt == attempt)
    parts = requested.parts
    for entry in entries_through(means.sessions, worker, asked.seq):
        payload = payload_of(entry)
        for event in flow_events(payload):
            if isinstance(event, ChecksRun) and event.attempt == attempt:
                parts = (*parts, *event.parts)
            if isinstance(event, Resolving) and event.attempt == attempt:
                return Explained(requested, asked, event, payload.content if isinstance(payload, ToolResult) else None, entry, parts)
    return Explained(requested, asked, None, None, None, parts)
