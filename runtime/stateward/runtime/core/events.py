"""The facts of a flow instance: past tense, frozen, versioned, append-only. State is their fold.

An event's identity is its place in the log, (seq, index). Nothing here is ever renamed or removed: recorded histories fold for ever. What
was added later has a default that says nothing, so an event of an earlier version is the same event (`session.event_codec`).
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, TypeAlias

from stateward.runtime.core.values import fact, value

if TYPE_CHECKING:
    from stateward.compiler.predicates.schema import Plain


class Status(StrEnum):
    """Where an instance stands."""

    ACTIVE = "active"
    COMPLETED = "completed"
    CANCELLED = "cancelled"


class Verdict(StrEnum):
    """The answer to one condition. `indeterminate` is "could not check", never a polite no."""

    MET = "met"
    NOT_MET = "not_met"
    INDETERMINATE = "indeterminate"


class RejectionCode(StrEnum):
    """Why a checked attempt moved nothing."""

    STALE_STATE = "stale_state"
    INVALID_VERIFIER_OUTPUT = "invalid_verifier_output"
    MULTIPLE_CONDITIONS_MET = "multiple_conditions_met"
    INDETERMINATE = "indeterminate"
    NO_CONDITION_MET = "no_condition_met"
    LIMIT_REACHED = "limit_reached"


class FailureCause(StrEnum):
    """Why a verification came to no verdicts: a closed list; every surface says "could not check" for them."""

    UNAVAILABLE = "unavailable"
    TIMEOUT = "timeout"
    MALFORMED = "malformed"
    TRUNCATED = "truncated"
    INCONSISTENT = "inconsistent"
    UNVERIFIABLE = "unverifiable"
    BUDGET = "budget"
    WORKDIR_CHANGED = "workdir_changed"


class CancelCause(StrEnum):
    """Why an open attempt was closed without a judgement."""

    WITHDRAWN = "withdrawn"
    SUPERSEDED = "superseded"
    CANCELLED = "cancelled"


@value
class EntryCitation:
    """An entry of the captured log, named by its reference (`E00000042`)."""

    entry: str


@value
class FileCitation:
    """Lines of a file of the Workdir and the text quoted from them."""

    path: str
    first_line: int
    last_line: int
    quote: str


Citation: TypeAlias = EntryCitation | FileCitation


@value
class Usage:
    """What the calls of a model for one attempt cost, as its provider counted."""

    requests: int
    """Calls of the model, those that failed included."""
    input_tokens: int
    output_tokens: int

    @property
    def tokens(self) -> int:
        """All of them."""
        return self.input_tokens + self.output_tokens


@value
class Account:
    """By what an attempt was judged, and at what cost; what is not known is empty."""

    usage: Usage | None = None
    """None when it was not counted: then the attempt costs what was reserved for it."""
    model: str = ""
    """The model, or the program, as its provider names it."""
    prompt_digest: str = ""
    """Of the prompt text that the model was given."""
    transcript_digest: str = ""
    """Of every request and reply, in order; they lie outside the log."""


@value
class Judgement:
    """What a verifier said of one transition, and what the runtime made of it."""

    transition: str
    verdict: Verdict
    """As the verifier gave it."""
    checked: Verdict
    """After the citations were checked; never stronger than `verdict`."""
    rationale: str
    missing: tuple[str, ...] = ()
    """What would turn `not_met` into `met`."""
    citations: tuple[Citation, ...] = ()
    note: str = ""
    """What the check has to add: which citation does not resolve, or that none counts; empty when nothing."""
    cause: FailureCause | None = None
    """Why `checked` is weaker than `verdict`: `unverifiable`; None when it is not."""


class PartKind(StrEnum):
    """A part of a transition that the runtime itself answers."""

    WHEN = "when"
    CHECK = "check"


@value
class Part:
    """What the runtime found of one part of one transition."""

    transition: str
    kind: PartKind
    verdict: Verdict
    name: str = ""
    """The check; empty for a guard."""
    missing: tuple[str, ...] = ()
    """What the guard reads and nobody wrote, or why the check could not be run."""
    entry: int = 0
    """The number of the entry that shows what came of the check; 0 for a guard."""


class Source(StrEnum):
    """Where the value of a variable comes from."""

    DEFINITION = "definition"
    INPUT = "input"
    WORKER = "worker"


@value
class Assigned:
    """A value for a name."""

    name: str
    value: "Plain"


@value
class Variable:
    """What a variable holds, and who wrote it where."""

    name: str
    value: "Plain"
    source: Source
    state: str
    visit: int
    entry: int
    """The number of the entry that wrote it."""


@fact
class _Event:
    instance: str
    visit: int
    """How many states were entered so far; 0 before the first."""
    path: str = ""
    """The instance's place in the tree of instances; the root is empty."""


@fact
class InstanceStarted(_Event):
    """An instance of a pinned definition began."""

    workspace: str
    selector: str
    flow_id: str
    flow_revision: int
    content_digest: str
    definition_digest: str
    chosen_by: str
    """The actor class that chose the flow."""
    inputs: tuple[Assigned, ...] = ()
    """What the flow was given, defaults included."""


@fact
class StateEntered(_Event):
    """A state was entered; `visit` is its number. The initial state has neither transition nor attempt."""

    state: str
    status: Status
    transition: str | None = None
    attempt: str | None = None


@fact
class TransitionRequested(_Event):
    """The worker asked to leave its state; what was committed up to this event is what will be judged."""

    attempt: str
    state: str
    reason: str
    tree: str = ""
    """The digest of the Workdir's facts as they were then; empty where there were none, or they could not be found out."""
    reserved: int = 0
    """Tokens that the attempt costs when nobody counts them."""
    parts: tuple[Part, ...] = ()
    """What the guards of the state came to then."""


@fact
class ChecksRun(_Event):
    """The host ran what the open attempt needs to be shown."""

    attempt: str
    parts: tuple[Part, ...]


@fact
class VariablesSet(_Event):
    """Variables were written, all of them or none."""

    source: Source
    state: str
    """The state in which they were written."""
    values: tuple[Assigned, ...]


@fact
class InstanceHalted(_Event):
    """A way out was found that leads to a state with no visit left; requests are refused until an operator says otherwise."""

    state: str
    """The state that would be entered."""
    visits: int
    """How often it was entered."""


@fact
class TransitionCheckPassed(_Event):
    """A transition is taken; the state it leads to is entered in the same record. `judgements` are of what a verifier was asked."""

    attempt: str
    transition: str
    judgements: tuple[Judgement, ...]
    account: Account | None = None


@fact
class TransitionCheckRejected(_Event):
    """The attempt was judged, or could not be applied, and moved nothing."""

    attempt: str
    code: RejectionCode
    message: str
    judgements: tuple[Judgement, ...] = ()
    account: Account | None = None


@fact
class TransitionVerificationCancelled(_Event):
    """The attempt was closed without a judgement."""

    attempt: str
    cause: CancelCause
    account: Account | None = None


@fact
class TransitionVerificationFailed(_Event):
    """The verifier came to no verdicts."""

    attempt: str
    cause: FailureCause
    message: str
    account: Account | None = None


@fact
class LateResultIgnored(_Event):
    """A result arrived for an attempt that is not open (any more); it changed nothing."""

    attempt: str


@fact
class _Act(_Event):
    by: str
    """Who did it, as people are told: class and name."""
    reason: str


@fact
class InstancePaused(_Act):
    """Requests are refused until it is resumed."""


@fact
class InstanceResumed(_Act):
    """Requests are taken again."""


@fact
class InstanceCancelled(_Act):
    """An operator ended it; `$cancelled` is entered in the same record."""


@fact
class InstanceRewound(_Act):
    """An earlier state is entered again, at a new visit, in the same record.

    What was recorded after that state was first entered, up to this record, is set aside: readable, and no evidence.
    """

    state: str
    after: int
    """The number of the entry that entered the state; what is set aside comes after it."""
    variables: tuple[Variable, ...] = ()
    """What the variables hold again: what they held when that state was entered."""


@fact
class ProgressHoldSet(_Event):
    """So many judgements of one visit saw the same evidence and moved nothing; requests are refused until something changes."""

    judgements: int
    evidence: int
    """The number of the newest admissible entry that all of them saw; 0 when there is none."""


@fact
class ProgressHoldCleared(_Act):
    """Requests are judged again: there is new evidence, or an operator said so."""


Event: TypeAlias = (
    InstanceStarted
    | StateEntered
    | TransitionRequested
    | TransitionCheckPassed
    | TransitionCheckRejected
    | TransitionVerificationCancelled
    | TransitionVerificationFailed
    | LateResultIgnored
    | InstancePaused
    | InstanceResumed
    | InstanceCancelled
    | InstanceRewound
    | ProgressHoldSet
    | ProgressHoldCleared
    | ChecksRun
    | VariablesSet
    | InstanceHalted
)


@dataclass(frozen=True, slots=True, order=True)
class EventId:
    """Where an event lies in its Worker's log."""

    seq: int
    index: int


@value
class Recorded:
    """An event and its identity."""

    id: EventId
    event: Event
