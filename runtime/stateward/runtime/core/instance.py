"""What the events fold to: one flow instance, its open attempt, and how the last attempt ended."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from stateward.compiler.flow.definition import CANCELLED_STATE, CompiledFlowDefinition
from stateward.runtime.core.events import CancelCause, EventId, FailureCause, Judgement, RejectionCode, Status


class AttemptStatus(StrEnum):
    """How an attempt ended, or that it is open."""

    VERIFYING = "verifying"
    ENTERED = "entered"
    REJECTED = "rejected"
    CANCELLED = "cancelled"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Attempt:
    """One verification request."""

    id: str
    """A UUIDv7, used once, ever."""
    state: str
    visit: int
    reason: str
    requested: EventId
    """The event that began it; the log up to its entry is what is judged."""


@dataclass(frozen=True, slots=True)
class Resolution:
    """How an attempt ended."""

    attempt: Attempt
    status: AttemptStatus
    resolved: EventId
    judgements: tuple[Judgement, ...] = ()
    transition: str | None = None
    """The transition taken, when one was."""
    rejection: RejectionCode | None = None
    failure: FailureCause | None = None
    cancellation: CancelCause | None = None
    message: str = ""


@dataclass(frozen=True, slots=True)
class Pin:
    """Which flow an instance runs: pinned when it starts, the same for ever."""

    workspace: str
    selector: str
    flow_id: str
    flow_revision: int
    content_digest: str
    definition_digest: str
    chosen_by: str


@dataclass(frozen=True, slots=True)
class Instance:
    """A flow instance."""

    id: str
    pin: Pin
    state: str
    """Empty only between `instance_started` and the first `state_entered` of the same record."""
    visit: int
    status: Status
    attempt: Attempt | None
    """The open attempt."""
    last: Resolution | None
    """How the last attempt ended."""
    attempts: int
    """How many attempts were begun."""
    visits: Mapping[str, int]
    """How often each state was entered."""


@dataclass(frozen=True, slots=True)
class FlowState:
    """The flow side of one Worker: its latest instance, and how many there were."""

    instance: Instance | None = None
    instances: int = 0


NOTHING_YET = FlowState()


def status_in(definition: CompiledFlowDefinition, state: str) -> Status:
    """Tell how an instance stands that is in this state. Raises KeyError when the definition has no such state."""
    if state == CANCELLED_STATE:
        return Status.CANCELLED
    return Status.COMPLETED if definition.state(state).terminal else Status.ACTIVE
