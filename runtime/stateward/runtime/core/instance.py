"""What the events fold to: one flow instance, its open attempt, and how the last attempt ended."""

from collections.abc import Iterable, Mapping
from dataclasses import field
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from stateward.compiler.flow.reserved import CANCELLED_STATE
from stateward.runtime.core.events import Account, CancelCause, EventId, FailureCause, Judgement, Part, RejectionCode, Status, Variable
from stateward.runtime.core.flow import Flow
from stateward.runtime.core.values import value

if TYPE_CHECKING:
    from stateward.compiler.predicates.schema import Plain

NO_VISITS: Final[Mapping[str, int]] = MappingProxyType({})
NO_VARIABLES: Final[Mapping[str, Variable]] = MappingProxyType({})
NO_INPUTS: Final[Mapping[str, "Plain"]] = MappingProxyType({})


class AttemptStatus(StrEnum):
    """How an attempt ended, or that it is open."""

    VERIFYING = "verifying"
    ENTERED = "entered"
    REJECTED = "rejected"
    CANCELLED = "cancelled"
    FAILED = "failed"


@value
class Attempt:
    """One verification request."""

    id: str
    """A UUIDv7, used once, ever."""
    state: str
    visit: int
    reason: str
    requested: EventId
    """The event that began it; the log up to its entry is what is judged."""
    tree: str = ""
    """The digest of the Workdir's facts at that moment; empty where there were none."""
    reserved: int = 0
    """Tokens that it costs when nobody counts them."""
    parts: tuple[Part, ...] = ()
    """What the runtime found of the parts that it answers itself."""

    @property
    def shown(self) -> int:
        """The number of the last entry that is judged: the request, or what came of the last check that was run for it."""
        return max(self.requested.seq, *(each.entry for each in self.parts)) if self.parts else self.requested.seq


@value
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
    account: Account | None = None

    @property
    def tokens(self) -> int:
        """What it cost: as counted, or what was reserved."""
        usage = None if self.account is None else self.account.usage
        return self.attempt.reserved if usage is None else usage.tokens


@value
class Pin:
    """Which flow an instance runs: pinned when it starts, the same for ever."""

    workspace: str
    selector: str
    flow_id: str
    flow_revision: int
    content_digest: str
    definition_digest: str
    chosen_by: str


@value
class Flag:
    """That requests are refused, by whom and why."""

    by: str
    reason: str
    at: EventId


@value
class Hold:
    """That judging again would show nothing new."""

    judgements: int
    """How many saw the same evidence and moved nothing."""
    evidence: int
    """The number of the newest admissible entry they saw."""
    at: EventId


@value
class Halt:
    """That a state would be entered once more than it may be."""

    state: str
    visits: int
    """How often it was entered."""
    at: EventId


@value
class Due:
    """The state that the next event of the record has to enter."""

    transition: str | None
    attempt: str | None
    """The check that leads there; None where none does."""
    state: str | None
    """Where an operator's act leads; None where the definition says it."""
    after: EventId


@value
class Aside:
    """A part of the log that a rewind set aside: entries with `after < seq < before`."""

    after: int
    before: int

    def holds(self, seq: int) -> bool:
        """Tell whether an entry lies in it."""
        return self.after < seq < self.before


@value
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
    entered: Mapping[str, int] = field(default_factory=lambda: NO_VISITS)
    """The number of the entry that entered each state last, but for what is set aside: where it can be rewound to."""
    attempts_here: int = 0
    """How many attempts were begun at this visit."""
    rejections: tuple[int, ...] = ()
    """The requests of this visit that were judged on the same tree and moved nothing, by the number of their entry; the last few."""
    judged_tree: str = ""
    """The tree on which the last of them was judged."""
    tokens: int = 0
    """What resolved attempts cost."""
    tokens_here: int = 0
    """What those of this visit cost."""
    due: Due | None = None
    paused: Flag | None = None
    held: Hold | None = None
    inputs: Mapping[str, "Plain"] = field(default_factory=lambda: NO_INPUTS)
    variables: Mapping[str, Variable] = field(default_factory=lambda: NO_VARIABLES)
    """Those that were written."""
    written: int = 0
    """The number of the entry that wrote variables last, but for what they begin with."""
    granted: Mapping[str, int] = field(default_factory=lambda: NO_VISITS)
    """The visits of a state that an operator allowed beyond its limit."""
    halted: Halt | None = None


JUDGED_CODES: Final = frozenset({RejectionCode.MULTIPLE_CONDITIONS_MET, RejectionCode.INDETERMINATE, RejectionCode.NO_CONDITION_MET})
"""The rejections that are a judgement of the work, and not of the verifier or of the moment."""


def is_aside(aside: Iterable[Aside], seq: int) -> bool:
    """Tell whether an entry was set aside."""
    return any(each.holds(seq) for each in aside)


@value
class FlowState:
    """The flow side of one Worker: its latest instance, and how many there were."""

    instance: Instance | None = None
    instances: int = 0
    aside: tuple[Aside, ...] = ()
    """What rewinds set aside, in order, none within another."""


NOTHING_YET = FlowState()


def halt_message(halted: Halt) -> str:
    """Say why an instance is halted."""
    return f"state `{halted.state}` was entered {halted.visits} times, as often as it may be"


def hold_message(held: Hold) -> str:
    """Say why an instance is held."""
    return f"{held.judgements} judgements saw the same evidence and moved nothing"


def status_in(definition: Flow, state: str) -> Status:
    """Tell how an instance stands that is in this state. Raises KeyError when the definition has no such state."""
    if state == CANCELLED_STATE:
        return Status.CANCELLED
    return Status.COMPLETED if definition.state(state).terminal else Status.ACTIVE
