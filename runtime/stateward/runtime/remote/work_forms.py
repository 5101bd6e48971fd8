"""The forms in which a Worker goes over the wire: where it stands, what is asked and answered, what happened, its log.

One form per value of `ports.work`, with the same names for the same things. Invariants: those of `remote.forms`; what a host recorded
travels in base64, for it is bytes that need be no text.
"""

from base64 import b64decode, b64encode
from binascii import Error as NotBase64
from collections.abc import Mapping
from dataclasses import fields
from typing import Annotated, Any, ClassVar, Final, Generic, Literal, Self, TypeVar

from pydantic import AfterValidator, AwareDatetime, BeforeValidator, Field, JsonValue, field_validator

from stateward.runtime.core.events import Status, Verdict
from stateward.runtime.core.instance import AttemptStatus
from stateward.runtime.core.texts import is_unicode
from stateward.runtime.ports import (
    LOG_PAGE_MAX,
    RECORDS_MAX,
    Answered,
    AttemptShown,
    Cursor,
    EntryShown,
    FlowStanding,
    HostRecord,
    InProgress,
    LogPage,
    OpenAttempt,
    Recorded,
    RecordedEntry,
    RecordKey,
    Standing,
    Submitted,
    ValueShown,
    Waiting,
    WayOut,
    Writable,
    Written,
)
from stateward.runtime.remote.forms import DEFINITION_CHARACTERS_MAX, NUMBER_MAX, SOURCE_CHARACTERS_MAX, Digest, Form, Name
from stateward.runtime.session.acts import RunOutcome
from stateward.runtime.session.answers import Answer, TransitionAnswer
from stateward.runtime.session.chain import HEADER_TEXT_BYTES_MAX
from stateward.runtime.session.entries import Head
from stateward.runtime.session.segments import FlowSegment, Segment, TextSegment

WAIT_SECONDS_MAX: Final = 20.0
"""How long one request is held for an answer; less than the silence after which a client gives up."""
TEXT_CHARACTERS_MAX: Final = 1024 * 1024
PAYLOAD_CHARACTERS_MAX: Final = 24 * 1024 * 1024
WAYS_MAX: Final = 4096
LIST_MAX: Final = 4096
SEGMENTS_MAX: Final = 256
WORKERS_MAX: Final = 500
EVENTS_MAX: Final = 64

Text = Annotated[str, Field(max_length=TEXT_CHARACTERS_MAX)]
Count = Annotated[int, Field(ge=0, le=NUMBER_MAX)]
Seq = Annotated[int, Field(ge=1, le=NUMBER_MAX)]
Values = Annotated[
    dict[str, JsonValue], BeforeValidator(lambda given: dict(given) if isinstance(given, Mapping) else given), Field(max_length=LIST_MAX)
]
"""Values by name, as JSON."""


def _kept(session: str) -> str:
    """Refuse what no log can hold as the name of a session."""
    if "\0" in session or len(session.encode("utf-8", "surrogatepass")) > HEADER_TEXT_BYTES_MAX or not is_unicode(session):
        raise ValueError(f"the id of a session is a text of at most {HEADER_TEXT_BYTES_MAX} bytes without a NUL")
    return session


HostSession = Annotated[str, Field(max_length=HEADER_TEXT_BYTES_MAX), AfterValidator(_kept)]
"""The id of a session of a host."""
V = TypeVar("V")


class ValueForm(Form, Generic[V]):
    """A form whose fields are those of a value."""

    VALUE: ClassVar[type[Any]]

    @classmethod
    def of(cls, value: V) -> Self:
        """Make it of the value."""
        return cls.model_validate(value, from_attributes=True)

    def value(self) -> V:
        """Give the value."""
        made: V = self.VALUE(**{each.name: _valued(getattr(self, each.name)) for each in fields(self.VALUE)})
        return made


def _valued(given: Any) -> Any:
    if isinstance(given, ValueForm):
        return given.value()
    return tuple(map(_valued, given)) if isinstance(given, tuple) else given


# --- where a Worker stands


class HeadForm(ValueForm[Head]):
    """The last entry of a log."""

    VALUE = Head
    seq: Count
    digest: Digest


class WayOutForm(ValueForm[WayOut]):
    """A transition that leaves the state."""

    VALUE = WayOut
    transition: Name
    target: Name
    condition: Text
    synthetic: bool
    when: Text = ""
    checks: Annotated[tuple[Name, ...], Field(max_length=LIST_MAX)] = ()
    otherwise: bool = False


class ValueShownForm(ValueForm[ValueShown]):
    """A variable that the worker is shown."""

    VALUE = ValueShown
    name: Name
    is_set: bool
    holds: JsonValue = None


class WritableForm(ValueForm[Writable]):
    """A variable that the worker may set."""

    VALUE = Writable
    name: Name
    constraint: Text
    form: dict[str, JsonValue]
    """JSON Schema."""


class OpenAttemptForm(ValueForm[OpenAttempt]):
    """A request that is not resolved yet."""

    VALUE = OpenAttempt
    attempt: Name
    reason: Text
    requested: Seq


class TransitionAnswerForm(ValueForm[TransitionAnswer]):
    """What came of one condition."""

    VALUE = TransitionAnswer
    transition: Name
    verdict: Verdict
    rationale: Text
    missing: Annotated[tuple[Text, ...], Field(max_length=LIST_MAX)]
    note: Text


class AnswerForm(ValueForm[Answer]):
    """What a worker was told of its request."""

    VALUE = Answer
    attempt: Name
    outcome: AttemptStatus
    code: Name
    cause: Name
    message: Text
    reason: Text
    judged: Name
    state: Name
    visit: Count
    status: Status
    instructions: Text
    transition: Name | None
    results: Annotated[tuple[TransitionAnswerForm, ...], Field(max_length=WAYS_MAX)]
    self_judged: bool


class FlowStandingForm(ValueForm[FlowStanding]):
    """Where a flow instance stands."""

    VALUE = FlowStanding
    instance: Name
    name: Name
    selector: Name
    revision: Seq
    definition_digest: Digest
    state: Name
    instructions: Text
    ways: Annotated[tuple[WayOutForm, ...], Field(max_length=WAYS_MAX)]
    visit: Count
    status: Name
    attempts: Count
    open: OpenAttemptForm | None
    last: AnswerForm | None
    paused: Text
    held: Text
    halted: Text = ""
    reads: Annotated[tuple[ValueShownForm, ...], Field(max_length=LIST_MAX)] = ()
    writes: Annotated[tuple[WritableForm, ...], Field(max_length=LIST_MAX)] = ()


class StandingForm(ValueForm[Standing]):
    """A Worker as it is now."""

    VALUE = Standing
    worker: Name
    workspace: Name
    workdir: Text
    head: HeadForm
    profile: Name
    verifier: Name
    isolation: Name
    read_only: Text
    self_selectors: Annotated[tuple[Name, ...], Field(max_length=LIST_MAX)]
    flow: FlowStandingForm | None


# --- asking to leave a state


class RequestForm(Form):
    """A request to leave the state."""

    reason: Text
    """16 KiB at most, and not blank."""
    wait: Annotated[float, Field(ge=0, le=WAIT_SECONDS_MAX, strict=False)] = 0.0
    """How many seconds the request may be held for the answer."""


class AnsweredForm(ValueForm[Answered]):
    """A request has its answer."""

    VALUE = Answered
    kind: Literal["answered"] = "answered"
    answer: AnswerForm
    repeated: bool
    late: bool


class InProgressForm(ValueForm[InProgress]):
    """Somebody verifies the open attempt; the same request, made again, waits for it."""

    VALUE = InProgress
    kind: Literal["in_progress"] = "in_progress"
    worker: Name
    attempt: Name
    reason: Text
    judged: Name
    holder: Name
    expires: AwareDatetime


class WaitingForm(ValueForm[Waiting]):
    """The request is open and waits for a person."""

    VALUE = Waiting
    kind: Literal["waiting"] = "waiting"
    worker: Name
    attempt: Name
    reason: Text
    judged: Name
    continued: bool


class AskedForm(Form):
    """What came of a request."""

    asked: Annotated[AnsweredForm | InProgressForm | WaitingForm, Field(discriminator="kind")]

    @classmethod
    def of(cls, value: Answered | InProgress | Waiting) -> Self:
        """Make it of the value."""
        match value:
            case Answered():
                return cls(asked=AnsweredForm.of(value))
            case InProgress():
                return cls(asked=InProgressForm.of(value))
            case Waiting():
                return cls(asked=WaitingForm.of(value))

    def value(self) -> Answered | InProgress | Waiting:
        """Give the value."""
        return self.asked.value()


class AttemptForm(ValueForm[AttemptShown]):
    """An attempt, and what came of it."""

    VALUE = AttemptShown
    attempt: Name
    state: Name
    visit: Count
    reason: Text
    requested: Seq
    status: Name
    answer: AnswerForm | None


class StoppedForm(Form):
    """Whether a verification was stopped."""

    stopped: bool


# --- inputs


class FlowSegmentForm(ValueForm[FlowSegment]):
    """Starts a flow."""

    VALUE = FlowSegment
    kind: Literal["flow"] = "flow"
    selector: Name
    inputs: Values = Field(default_factory=dict)
    """What the flow is given."""


class TextSegmentForm(ValueForm[TextSegment]):
    """Says something."""

    VALUE = TextSegment
    kind: Literal["text"] = "text"
    content: Text


SegmentForm = Annotated[FlowSegmentForm | TextSegmentForm, Field(discriminator="kind")]


def segment_form(segment: Segment) -> FlowSegmentForm | TextSegmentForm:
    """Make the form of a segment."""
    return FlowSegmentForm.of(segment) if isinstance(segment, FlowSegment) else TextSegmentForm.of(segment)


class InputForm(Form):
    """An input for a Worker."""

    input: Annotated[tuple[SegmentForm, ...], Field(max_length=SEGMENTS_MAX)]
    submission: Name | None = None
    """The id of this input, under which it is committed once."""


class StartForm(Form):
    """A Worker that is to be started."""

    selector: Name
    inputs: Values = Field(default_factory=dict)
    """What the flow is given."""
    texts: Annotated[tuple[Text, ...], Field(max_length=SEGMENTS_MAX - 1)] = ()
    profile: Name | None = None
    workdir: Annotated[str, Field(max_length=4096, pattern=r"^[^\x00]*$")] | None = None
    """The folder of the work, on the machine of the service; beneath one that its operator allows."""
    submission: Name | None = None


class SubmittedForm(ValueForm[Submitted]):
    """An input was committed."""

    VALUE = Submitted
    worker: Name
    submission: Name
    head: HeadForm
    instance: Name | None
    repeated: bool


# --- what happened


class RecordKeyForm(ValueForm[RecordKey]):
    """Where in a host a record comes from."""

    VALUE = RecordKey
    host: Name
    session: Name
    use: Name
    part: Name = ""


class RecordForm(Form):
    """What a host says happened."""

    kind: Name
    payload: Annotated[str, Field(max_length=PAYLOAD_CHARACTERS_MAX)]
    """In base64."""
    key: RecordKeyForm
    by: Name = ""

    @field_validator("payload")
    @classmethod
    def _readable(cls, given: str) -> str:
        try:
            b64decode(given, validate=True)
        except (NotBase64, ValueError):
            raise ValueError("it is no base64") from None
        return given

    @classmethod
    def of(cls, value: HostRecord) -> Self:
        """Make it of the value."""
        payload = b64encode(value.payload).decode("ascii")
        return cls(kind=str(value.kind), payload=payload, key=RecordKeyForm.of(value.key), by=value.by)

    def value(self) -> HostRecord:
        """Give the value."""
        return HostRecord(self.kind, b64decode(self.payload), self.key.value(), self.by)


class CursorForm(ValueForm[Cursor]):
    """How far a transcript was taken in."""

    VALUE = Cursor
    host: Name
    session: Name
    path: Text
    offset: Count
    last: Name


class CursorAnswer(Form):
    """How far a transcript was taken in, if it was."""

    cursor: CursorForm | None


class RecordsForm(Form):
    """Records that are committed together."""

    session: HostSession | None = None
    """The id of the host's session that tells of them."""
    records: Annotated[tuple[RecordForm, ...], Field(max_length=RECORDS_MAX)]
    cursor: CursorForm | None = None


class RecordedForm(ValueForm[Recorded]):
    """Records were committed."""

    VALUE = Recorded
    worker: Name
    head: HeadForm
    new: Count


class RecordedEntryForm(ValueForm[RecordedEntry]):
    """A record was committed."""

    VALUE = RecordedEntry
    worker: Name
    head: HeadForm
    repeated: bool


class VariablesForm(Form):
    """Variables that are to be set."""

    values: Values
    """By name, as JSON; all of them are set, or none."""


class WrittenForm(ValueForm[Written]):
    """Variables hold what was set."""

    VALUE = Written
    worker: Name
    names: Annotated[tuple[Name, ...], Field(max_length=LIST_MAX)]
    entry: Annotated[str, Field(max_length=64)]
    """The entry that wrote them; empty when they held these values already."""


class NoteForm(Form):
    """What an agent says."""

    text: Text
    use: Name | None = None


class RunForm(Form):
    """A run of an agent: that it began, or with an outcome how it ended."""

    session: HostSession | None = None
    run: Name
    outcome: RunOutcome | None = None
    message: Text = ""


class StopForm(Form):
    """That an agent stopped."""

    session: HostSession | None = None
    reason: Text
    operation: Name | None = None


# --- the log


class EntryForm(ValueForm[EntryShown]):
    """An entry of a log."""

    VALUE = EntryShown
    worker: Name
    seq: Seq
    reference: Name
    time: AwareDatetime
    actor_class: Name
    channel: Name
    principal: Name
    kind: Name
    evidence: Name
    payload_digest: Digest
    previous: Digest
    digest: Digest
    payload: Annotated[str, Field(max_length=PAYLOAD_CHARACTERS_MAX)]
    newer: Text
    events: Annotated[tuple[dict[str, JsonValue], ...], Field(max_length=EVENTS_MAX)]
    set_aside: bool


class LogForm(ValueForm[LogPage]):
    """Entries of a log, in order."""

    VALUE = LogPage
    entries: Annotated[tuple[EntryForm, ...], Field(max_length=LOG_PAGE_MAX)]
    head: HeadForm


class PinnedFlowForm(Form):
    """The flow that a Worker runs, as it is pinned."""

    source: Annotated[str, Field(max_length=SOURCE_CHARACTERS_MAX)] | None
    definition: Annotated[str, Field(max_length=DEFINITION_CHARACTERS_MAX)] | None
    definition_digest: Digest | None


class WorkerRowForm(Form):
    """A Worker in a list."""

    worker: Name
    created: AwareDatetime
    head: HeadForm
    workdir: Text
    selector: Name | None
    state: Name | None
    status: Name | None
    problem: Text
    """Why its log cannot be read; empty when it can."""


class WorkersPage(Form):
    """A page of Workers, by id."""

    workers: Annotated[tuple[WorkerRowForm, ...], Field(max_length=WORKERS_MAX)]
    next: Name | None = None
