"""How a fact changes the state. No rules of what may happen: that was decided when the event was recorded.

What no decision can have given is refused with `HistoryBroken`, which names the event.
"""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Final, NoReturn, assert_never

from stateward.runtime.core.events import (
    EventId,
    InstanceStarted,
    LateResultIgnored,
    Recorded,
    StateEntered,
    Status,
    TransitionCheckPassed,
    TransitionCheckRejected,
    TransitionRequested,
    TransitionVerificationCancelled,
    TransitionVerificationFailed,
)
from stateward.runtime.core.instance import Attempt, AttemptStatus, FlowState, Instance, Pin, Resolution

NO_VISITS: Final[Mapping[str, int]] = MappingProxyType({})


class HistoryBroken(Exception):
    """A history that cannot be."""

    def __init__(self, event: EventId, why: str) -> None:
        super().__init__(f"event {event.seq}.{event.index}: {why}")
        self.event = event
        self.why = why


def evolve(state: FlowState, recorded: Recorded) -> FlowState:
    """Give the state after an event. Raises HistoryBroken when the event cannot follow on this state."""
    event, at = recorded.event, recorded.id
    if isinstance(event, InstanceStarted):
        return _started(state, at, event)
    instance = state.instance
    if instance is None or instance.id != event.instance or event.path:
        broken(at, f"there is no instance `{event.instance}` at path `{event.path}`")
    if isinstance(event, StateEntered):
        return replace(state, instance=_entered(instance, at, event))
    if awaits_entry(instance):
        broken(at, "a state has to be entered first")
    if event.visit != instance.visit:
        broken(at, f"it is of visit {event.visit}, the instance is at visit {instance.visit}")
    match event:
        case TransitionRequested():
            return replace(state, instance=_requested(instance, at, event))
        case LateResultIgnored():
            return state
        case _:
            return replace(state, instance=_resolved(instance, at, event))


def awaits_entry(instance: Instance) -> bool:
    """Tell whether the next event has to enter a state: the instance just began, or a check just passed."""
    if instance.visit == 0:
        return True
    last = instance.last
    return last is not None and last.status is AttemptStatus.ENTERED and last.attempt.visit == instance.visit


def broken(at: EventId, why: str) -> NoReturn:
    """Refuse a history at an event."""
    raise HistoryBroken(at, why)


def _started(state: FlowState, at: EventId, event: InstanceStarted) -> FlowState:
    before = state.instance
    if before is not None and (before.status is Status.ACTIVE or awaits_entry(before)):
        broken(at, f"instance `{before.id}` has not ended")
    if event.visit != 0 or event.path:
        broken(at, f"an instance begins at visit {event.visit} and path `{event.path}`")
    pin = Pin(
        workspace=event.workspace,
        selector=event.selector,
        flow_id=event.flow_id,
        flow_revision=event.flow_revision,
        content_digest=event.content_digest,
        definition_digest=event.definition_digest,
        chosen_by=event.chosen_by,
    )
    begun = Instance(
        id=event.instance, pin=pin, state="", visit=0, status=Status.ACTIVE, attempt=None, last=None, attempts=0, visits=NO_VISITS
    )
    return FlowState(begun, state.instances + 1)


def _entered(instance: Instance, at: EventId, event: StateEntered) -> Instance:
    if not awaits_entry(instance):
        broken(at, f"state `{event.state}` is entered without a passed check")
    if event.visit != instance.visit + 1:
        broken(at, f"it is visit {event.visit}, expected {instance.visit + 1}")
    last = instance.last
    caused = (None, None) if last is None or instance.visit == 0 else (last.attempt.id, last.transition)
    if (event.attempt, event.transition) != caused:
        broken(at, f"state `{event.state}` is entered by another attempt or transition than the check that passed")
    if last is not None and at != EventId(last.resolved.seq, last.resolved.index + 1):
        broken(at, f"state `{event.state}` is not entered in the record of its passed check")
    visits = {**instance.visits, event.state: instance.visits.get(event.state, 0) + 1}
    return replace(instance, state=event.state, visit=event.visit, status=event.status, visits=MappingProxyType(visits))


def _requested(instance: Instance, at: EventId, event: TransitionRequested) -> Instance:
    if instance.status is not Status.ACTIVE:
        broken(at, f"a transition is requested of an instance that ended as `{instance.status}`")
    if instance.attempt is not None:
        broken(at, f"attempt `{event.attempt}` begins while `{instance.attempt.id}` is open")
    if event.state != instance.state:
        broken(at, f"attempt `{event.attempt}` leaves state `{event.state}`, the state is `{instance.state}`")
    attempt = Attempt(id=event.attempt, state=event.state, visit=event.visit, reason=event.reason, requested=at)
    return replace(instance, attempt=attempt, attempts=instance.attempts + 1)


def _resolved(
    instance: Instance,
    at: EventId,
    event: TransitionCheckPassed | TransitionCheckRejected | TransitionVerificationCancelled | TransitionVerificationFailed,
) -> Instance:
    attempt = instance.attempt
    if attempt is None or attempt.id != event.attempt:
        broken(at, f"attempt `{event.attempt}` is resolved and not open")
    return replace(instance, attempt=None, last=_resolution(attempt, at, event))


def _resolution(
    attempt: Attempt,
    at: EventId,
    event: TransitionCheckPassed | TransitionCheckRejected | TransitionVerificationCancelled | TransitionVerificationFailed,
) -> Resolution:
    match event:
        case TransitionCheckPassed(transition=transition, judgements=judgements):
            return Resolution(attempt, AttemptStatus.ENTERED, at, judgements=judgements, transition=transition)
        case TransitionCheckRejected(code=code, message=message, judgements=judgements):
            return Resolution(attempt, AttemptStatus.REJECTED, at, judgements=judgements, rejection=code, message=message)
        case TransitionVerificationCancelled(cause=cancelled):
            return Resolution(attempt, AttemptStatus.CANCELLED, at, cancellation=cancelled)
        case TransitionVerificationFailed(cause=failed, message=message):
            return Resolution(attempt, AttemptStatus.FAILED, at, failure=failed, message=message)
    assert_never(event)
