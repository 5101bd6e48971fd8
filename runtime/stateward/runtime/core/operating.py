"""What an operator may do to an instance: the rules of each verb.

Invariants: a terminal state is never left; an attempt that is open when a state is left by an act is withdrawn in the same record; what
changes nothing is refused, so that every act in a log did something.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import assert_never

from stateward.compiler.flow.reserved import CANCELLED_STATE
from stateward.runtime.core import limits
from stateward.runtime.core.events import (
    CancelCause,
    Event,
    InstanceCancelled,
    InstancePaused,
    InstanceResumed,
    InstanceRewound,
    ProgressHoldCleared,
    StateEntered,
    Status,
    TransitionVerificationCancelled,
    Variable,
)
from stateward.runtime.core.instance import FlowState, Instance
from stateward.runtime.core.refusal import Refusal, RefusalCode
from stateward.runtime.core.texts import is_blank, listed, shown, size_of


class Verb(StrEnum):
    """What an operator may do."""

    PAUSE = "pause"
    RESUME = "resume"
    WITHDRAW = "withdraw"
    CANCEL = "cancel"
    CLEAR = "clear"
    REWIND = "rewind"


@dataclass(frozen=True, slots=True)
class Act:
    """An operator's act."""

    verb: Verb
    by: str
    """Who, as people are told."""
    reason: str
    state: str | None = None
    """The state to go back to; of a rewind only."""
    variables: tuple[Variable, ...] = ()
    """What the variables held when that state was entered; of a rewind only."""


@dataclass(frozen=True, slots=True)
class Acting:
    """These events are to be recorded, in one commit."""

    events: tuple[Event, ...]


def reason_problem(reason: str) -> Refusal | None:
    """Refuse a reason that is blank or too long."""
    allowed = (f"give a reason of 1 to {limits.REASON_BYTES_MAX} bytes",)
    if is_blank(reason):
        return Refusal(RefusalCode.REASON_BLANK, "the reason is blank", allowed)
    if size_of(reason) > limits.REASON_BYTES_MAX:
        return Refusal(RefusalCode.REASON_TOO_LARGE, f"the reason has {size_of(reason)} bytes", allowed)
    return None


def act(state: FlowState, command: Act) -> Acting | Refusal:
    """Decide on an operator's act."""
    problem = reason_problem(command.reason)
    if problem is not None:
        return problem
    instance = state.instance
    if instance is None:
        return Refusal(RefusalCode.NO_ACTIVE_INSTANCE, "no flow was started", ("submit input with one flow segment",))
    if instance.status is not Status.ACTIVE:
        message = f"the flow ended as `{instance.status}` in state `{instance.state}`"
        return Refusal(RefusalCode.NO_ACTIVE_INSTANCE, message, ("submit input with one flow segment", "fork the Worker"))
    match command.verb:
        case Verb.PAUSE:
            return _pause(instance, command)
        case Verb.RESUME:
            return _resume(instance, command)
        case Verb.WITHDRAW:
            return _withdraw(instance)
        case Verb.CANCEL:
            return _cancel(instance, command)
        case Verb.CLEAR:
            return _clear(instance, command)
        case Verb.REWIND:
            return _rewind(state, instance, command)
    assert_never(command.verb)


def _pause(instance: Instance, command: Act) -> Acting | Refusal:
    if instance.paused is not None:
        return Refusal(RefusalCode.ALREADY_PAUSED, f"the flow was paused by {instance.paused.by}: {instance.paused.reason}", ("resume it",))
    return Acting((InstancePaused(instance=instance.id, visit=instance.visit, by=command.by, reason=command.reason),))


def _resume(instance: Instance, command: Act) -> Acting | Refusal:
    if instance.paused is None and instance.halted is None:
        return Refusal(RefusalCode.NOT_PAUSED, "the flow is not paused")
    return Acting((InstanceResumed(instance=instance.id, visit=instance.visit, by=command.by, reason=command.reason),))


def _clear(instance: Instance, command: Act) -> Acting | Refusal:
    if instance.held is None:
        return Refusal(RefusalCode.NOT_HELD, "the flow is not held")
    return Acting((ProgressHoldCleared(instance=instance.id, visit=instance.visit, by=command.by, reason=command.reason),))


def _withdraw(instance: Instance) -> Acting | Refusal:
    withdrawn = _withdrawn(instance)
    return Acting(withdrawn) if withdrawn else Refusal(RefusalCode.NO_OPEN_ATTEMPT, "no attempt is open")


def _withdrawn(instance: Instance) -> tuple[Event, ...]:
    if instance.attempt is None:
        return ()
    attempt = instance.attempt.id
    return (TransitionVerificationCancelled(instance=instance.id, visit=instance.visit, attempt=attempt, cause=CancelCause.WITHDRAWN),)


def _cancel(instance: Instance, command: Act) -> Acting:
    cancelled = InstanceCancelled(instance=instance.id, visit=instance.visit, by=command.by, reason=command.reason)
    return Acting((*_withdrawn(instance), cancelled, _entered(instance, CANCELLED_STATE, Status.CANCELLED)))


def _rewind(state: FlowState, instance: Instance, command: Act) -> Acting | Refusal:
    after = instance.entered.get(command.state or "")
    if command.state is None or after is None:
        allowed = tuple(f"rewind to `{each}`" for each in instance.entered)
        known = listed(tuple(instance.entered))
        named = shown(command.state or "")
        return Refusal(RefusalCode.STATE_NOT_ENTERED, f"state {named} is none that can be gone back to; there are {known}", allowed)
    if len(state.aside) >= limits.ASIDE_MAX:
        return Refusal(RefusalCode.REWINDS_EXHAUSTED, f"{limits.ASIDE_MAX} parts of the log are set aside already", ("fork the Worker",))
    rewound = InstanceRewound(
        instance=instance.id,
        visit=instance.visit,
        by=command.by,
        reason=command.reason,
        state=command.state,
        after=after,
        variables=command.variables,
    )
    return Acting((*_withdrawn(instance), rewound, _entered(instance, command.state, Status.ACTIVE)))


def _entered(instance: Instance, state: str, status: Status) -> StateEntered:
    return StateEntered(instance=instance.id, visit=instance.visit + 1, state=state, status=status)
