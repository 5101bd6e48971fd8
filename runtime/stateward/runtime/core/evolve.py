"""How a fact changes the state. No rules of what may happen: that was decided when the event was recorded.

What no decision can have given is refused with `HistoryBroken`, which names the event.
"""

from dataclasses import replace
from types import MappingProxyType
from typing import NoReturn, TypeAlias, assert_never

from stateward.compiler.flow.reserved import CANCELLED_STATE
from stateward.runtime.core import limits
from stateward.runtime.core.events import (
    ChecksRun,
    EventId,
    InstanceCancelled,
    InstanceHalted,
    InstancePaused,
    InstanceResumed,
    InstanceRewound,
    InstanceStarted,
    LateResultIgnored,
    ProgressHoldCleared,
    ProgressHoldSet,
    Recorded,
    StateEntered,
    Status,
    TransitionCheckPassed,
    TransitionCheckRejected,
    TransitionRequested,
    TransitionVerificationCancelled,
    TransitionVerificationFailed,
    Variable,
    VariablesSet,
)
from stateward.runtime.core.instance import (
    JUDGED_CODES,
    NO_INPUTS,
    NO_VARIABLES,
    NO_VISITS,
    Aside,
    Attempt,
    AttemptStatus,
    Due,
    Flag,
    FlowState,
    Halt,
    Hold,
    Instance,
    Pin,
    Resolution,
)


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
        case ChecksRun() | VariablesSet() | InstanceHalted():
            return replace(state, instance=_noted(instance, at, event))
        case LateResultIgnored():
            return state
        case InstanceRewound(after=after):
            return replace(state, instance=_acted(instance, at, event), aside=set_aside(state.aside, Aside(after, at.seq)))
        case InstancePaused() | InstanceResumed() | InstanceCancelled() | ProgressHoldSet() | ProgressHoldCleared():
            return replace(state, instance=_acted(instance, at, event))
        case _:
            return replace(state, instance=_resolved(instance, at, event))


def awaits_entry(instance: Instance) -> bool:
    """Tell whether the next event has to enter a state: the instance just began, a check just passed, or an operator said so."""
    return instance.due is not None


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
        id=event.instance,
        pin=pin,
        state="",
        visit=0,
        status=Status.ACTIVE,
        attempt=None,
        last=None,
        attempts=0,
        visits=NO_VISITS,
        due=Due(None, None, None, at),
        inputs=MappingProxyType({each.name: each.value for each in event.inputs}) if event.inputs else NO_INPUTS,
    )
    return replace(state, instance=begun, instances=state.instances + 1)


def _entered(instance: Instance, at: EventId, event: StateEntered) -> Instance:
    due = instance.due
    if due is None:
        broken(at, f"state `{event.state}` is entered without a passed check")
    if event.visit != instance.visit + 1:
        broken(at, f"it is visit {event.visit}, expected {instance.visit + 1}")
    if (event.attempt, event.transition) != (due.attempt, due.transition) or due.state not in {None, event.state}:
        broken(at, f"state `{event.state}` is entered by another attempt or transition than the check that passed")
    if at != EventId(due.after.seq, due.after.index + 1):
        broken(at, f"state `{event.state}` is not entered in the record of its passed check")
    return replace(
        instance,
        state=event.state,
        visit=event.visit,
        status=event.status,
        visits=MappingProxyType({**instance.visits, event.state: instance.visits.get(event.state, 0) + 1}),
        entered=MappingProxyType({**instance.entered, event.state: at.seq}),
        attempts_here=0,
        tokens_here=0,
        rejections=(),
        due=None,
        held=None,
    )


def _requested(instance: Instance, at: EventId, event: TransitionRequested) -> Instance:
    if instance.status is not Status.ACTIVE:
        broken(at, f"a transition is requested of an instance that ended as `{instance.status}`")
    if instance.attempt is not None:
        broken(at, f"attempt `{event.attempt}` begins while `{instance.attempt.id}` is open")
    if event.state != instance.state:
        broken(at, f"attempt `{event.attempt}` leaves state `{event.state}`, the state is `{instance.state}`")
    attempt = Attempt(
        id=event.attempt,
        state=event.state,
        visit=event.visit,
        reason=event.reason,
        requested=at,
        tree=event.tree,
        reserved=event.reserved,
        parts=event.parts,
    )
    return replace(instance, attempt=attempt, attempts=instance.attempts + 1, attempts_here=instance.attempts_here + 1)


def _noted(instance: Instance, at: EventId, event: ChecksRun | VariablesSet | InstanceHalted) -> Instance:
    match event:
        case ChecksRun():
            return _checked(instance, at, event)
        case VariablesSet():
            return _written(instance, at, event)
        case InstanceHalted(state=halted, visits=visits):
            return replace(_open(instance, at), halted=Halt(halted, visits, at))
    assert_never(event)


def _checked(instance: Instance, at: EventId, event: ChecksRun) -> Instance:
    attempt = instance.attempt
    if attempt is None or attempt.id != event.attempt:
        broken(at, f"checks are run for attempt `{event.attempt}`, which is not open")
    return replace(instance, attempt=replace(attempt, parts=(*attempt.parts, *event.parts)))


def _written(instance: Instance, at: EventId, event: VariablesSet) -> Instance:
    if event.state != _open(instance, at).state:
        broken(at, f"variables are written in state `{event.state}`, the state is `{instance.state}`")
    written = {
        each.name: Variable(each.name, each.value, event.source, event.state, event.visit, at.seq) for each in event.values
    }  # fmt: skip
    return replace(instance, variables=MappingProxyType({**instance.variables, **written}), written=at.seq)


def _open(instance: Instance, at: EventId) -> Instance:
    """Require an instance that has not ended, but for what begins with its end: variables that are there from the beginning."""
    if instance.status is not Status.ACTIVE and instance.visit != 1:
        broken(at, f"the instance ended as `{instance.status}`")
    return instance


def _resolved(
    instance: Instance,
    at: EventId,
    event: TransitionCheckPassed | TransitionCheckRejected | TransitionVerificationCancelled | TransitionVerificationFailed,
) -> Instance:
    attempt = instance.attempt
    if attempt is None or attempt.id != event.attempt:
        broken(at, f"attempt `{event.attempt}` is resolved and not open")
    last = _resolution(attempt, at, event)
    resolved = replace(
        instance, attempt=None, last=last, tokens=instance.tokens + last.tokens, tokens_here=instance.tokens_here + last.tokens
    )
    match event:
        case TransitionCheckPassed(transition=transition):
            return replace(resolved, due=Due(transition, attempt.id, None, at))
        case TransitionCheckRejected(code=code, judgements=judgements) if code in JUDGED_CODES and judgements:
            before = instance.rejections if attempt.tree == instance.judged_tree else ()
            rejections = (*before, attempt.requested.seq)[-limits.REJECTIONS_MAX :]
            return replace(resolved, rejections=rejections, judged_tree=attempt.tree)
        case _:
            return resolved


def _resolution(
    attempt: Attempt,
    at: EventId,
    event: TransitionCheckPassed | TransitionCheckRejected | TransitionVerificationCancelled | TransitionVerificationFailed,
) -> Resolution:
    account = event.account
    match event:
        case TransitionCheckPassed(transition=transition, judgements=judgements):
            return Resolution(attempt, AttemptStatus.ENTERED, at, judgements=judgements, transition=transition, account=account)
        case TransitionCheckRejected(code=code, message=message, judgements=judgements):
            return Resolution(attempt, AttemptStatus.REJECTED, at, judgements=judgements, rejection=code, message=message, account=account)
        case TransitionVerificationCancelled(cause=cancelled):
            return Resolution(attempt, AttemptStatus.CANCELLED, at, cancellation=cancelled, account=account)
        case TransitionVerificationFailed(cause=failed, message=message):
            return Resolution(attempt, AttemptStatus.FAILED, at, failure=failed, message=message, account=account)
    assert_never(event)


_Acted: TypeAlias = InstancePaused | InstanceResumed | InstanceCancelled | InstanceRewound | ProgressHoldSet | ProgressHoldCleared


def _acted(instance: Instance, at: EventId, event: _Acted) -> Instance:
    if instance.status is not Status.ACTIVE:
        broken(at, f"the instance ended as `{instance.status}`")
    match event:
        case InstancePaused(by=by, reason=reason):
            return replace(instance, paused=Flag(by, reason, at))
        case InstanceResumed():
            return replace(_allowed_on(instance), paused=None)
        case ProgressHoldSet(judgements=judgements, evidence=evidence):
            return replace(instance, held=Hold(judgements, evidence, at))
        case ProgressHoldCleared():
            return replace(instance, held=None, rejections=())
        case InstanceCancelled():
            _require_closed(instance, at)
            return replace(instance, due=Due(None, None, CANCELLED_STATE, at))
        case InstanceRewound():
            _require_closed(instance, at)
            return _rewound(instance, at, event)
    assert_never(event)


def _allowed_on(instance: Instance) -> Instance:
    """Let an instance that was halted go on: the state at whose limit it stands may be entered once more."""
    if instance.halted is None:
        return instance
    state = instance.halted.state
    return replace(instance, halted=None, granted=MappingProxyType({**instance.granted, state: instance.granted.get(state, 0) + 1}))


def _require_closed(instance: Instance, at: EventId) -> None:
    if instance.attempt is not None:
        broken(at, f"attempt `{instance.attempt.id}` is open")


def _rewound(instance: Instance, at: EventId, event: InstanceRewound) -> Instance:
    if instance.entered.get(event.state) != event.after:
        broken(at, f"state `{event.state}` was not entered in entry {event.after}")
    entered = {state: seq for state, seq in instance.entered.items() if seq <= event.after}
    return replace(
        instance,
        entered=MappingProxyType(entered),
        variables=MappingProxyType({each.name: each for each in event.variables}) if event.variables else NO_VARIABLES,
        written=at.seq if instance.variables else instance.written,
        halted=None,
        due=Due(None, None, event.state, at),
    )


def set_aside(before: tuple[Aside, ...], new: Aside) -> tuple[Aside, ...]:
    """Add what a rewind sets aside; it takes in every part that lies within it."""
    return (*(each for each in before if each.before <= new.after), new)
