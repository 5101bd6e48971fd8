"""What the entries of a session log hold, typed, to and from their bytes.

Invariants: bytes that this program wrote read back equal; a kind of entry or a foreign extension domain that is unknown here is kept
and shown as unknown; an unknown `flow.runtime.*` domain, event type, event version or payload version raises Newer, whereupon the
Worker is read-only; anything else that is not as written raises Malformed. What a host records is bytes of its own, never looked into:
only entries that the engine writes can hold flow events.
"""

from dataclasses import dataclass
from typing import Final, TypeAlias

from stateward.runtime.core.events import Event
from stateward.runtime.session.answers import ANSWER, Answer
from stateward.runtime.session.entries import ActorClass, Entry, Kind
from stateward.runtime.session.event_codec import EVENT
from stateward.runtime.session.segments import SEGMENT, Segment, UnknownSegment
from stateward.runtime.session.strict import (
    FLAG,
    TEXT,
    Form,
    JsonValue,
    Malformed,
    Newer,
    choice,
    members,
    parse,
    record,
    render,
    sequence,
    versioned,
)

PAYLOAD_VERSION: Final = 1
FLOW_DOMAIN: Final = "flow.runtime.v1"
_FLOW_DOMAINS: Final = "flow.runtime."
TRANSITION_TOOL: Final = "request_transition"


@dataclass(frozen=True, slots=True)
class FlowRecord:
    """Events of the flow, and nothing else."""

    events: tuple[Event, ...]


@dataclass(frozen=True, slots=True)
class ForeignRecord:
    """A record of another program; its bytes are in the entry."""

    domain: str


Record: TypeAlias = FlowRecord | ForeignRecord


@dataclass(frozen=True, slots=True)
class PinnedProfile:
    """The profile as it was when the Worker was created."""

    name: str
    demonstration: bool
    flow_enabled: bool
    agent_selectors: tuple[str, ...]
    """The selectors that a worker may submit to itself."""


@dataclass(frozen=True, slots=True)
class SessionStarted:
    """A Worker was created."""

    worker: str
    workspace: str
    profile: PinnedProfile
    verifier: str
    """The kind of verifier that judges its requests."""
    isolation: str
    """The level of the arrangement: `local`."""
    worked_by: ActorClass
    """Who does the work."""
    workdir: str
    """The folder of the work, as whoever started the Worker named it; empty where there is none."""


@dataclass(frozen=True, slots=True)
class UserInput:
    """An input was submitted."""

    submission: str
    fingerprint: str
    """A digest of the segments."""
    segments: tuple[Segment | UnknownSegment, ...]
    """As submitted."""
    text: str
    """What they came to, with the flow's instructions in place."""
    records: tuple[Record, ...] = ()


@dataclass(frozen=True, slots=True)
class Extension:
    """A record by itself."""

    record: Record


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What the worker was told, and the events that were recorded with it."""

    name: str
    content: Answer
    records: tuple[Record, ...] = ()


@dataclass(frozen=True, slots=True)
class Opaque:
    """Bytes that are not ours to read: another program's kind of entry, or what a host recorded."""


Written: TypeAlias = SessionStarted | UserInput | Extension | ToolResult
Payload: TypeAlias = Written | Opaque
OPAQUE: Final = Opaque()


def _write_record(given: Record) -> JsonValue:
    assert isinstance(given, FlowRecord), "a record that is not understood is never written"
    return {"domain": FLOW_DOMAIN, "events": [EVENT.write(each) for each in given.events]}


def _read_record(value: object) -> Record:
    if not isinstance(value, dict):
        raise Malformed("a record is missing")
    domain = TEXT.read(value.get("domain"))
    if domain != FLOW_DOMAIN:
        if domain.startswith(_FLOW_DOMAINS):
            raise Newer(f"extension domain `{domain:.80}`")
        return ForeignRecord(domain)
    return FlowRecord(sequence(EVENT).read(members(value, ("domain", "events"))["events"]))


def _tool(value: object) -> str:
    name = TEXT.read(value)
    if name != TRANSITION_TOOL:
        raise Newer(f"tool `{name:.80}`")
    return name


_RECORD: Final[Form[Record]] = Form(_write_record, _read_record)
_PROFILE: Final = record(PinnedProfile, name=TEXT, demonstration=FLAG, flow_enabled=FLAG, agent_selectors=sequence(TEXT))
_STARTED: Final = versioned(
    PAYLOAD_VERSION,
    record(
        SessionStarted,
        worker=TEXT,
        workspace=TEXT,
        profile=_PROFILE,
        verifier=TEXT,
        isolation=TEXT,
        worked_by=choice(ActorClass),
        workdir=TEXT,
    ),
)
_INPUT: Final = versioned(
    PAYLOAD_VERSION,
    record(UserInput, submission=TEXT, fingerprint=TEXT, segments=sequence(SEGMENT), text=TEXT, records=sequence(_RECORD)),
)
_EXTENSION: Final = versioned(PAYLOAD_VERSION, record(Extension, record=_RECORD))
_RESULT: Final = versioned(PAYLOAD_VERSION, record(ToolResult, name=Form(str, _tool), content=ANSWER, records=sequence(_RECORD)))


def encode(payload: Written) -> bytes:
    """Write a payload as bytes."""
    match payload:
        case SessionStarted():
            return render(_STARTED.write(payload))
        case UserInput():
            return render(_INPUT.write(payload))
        case Extension():
            return render(_EXTENSION.write(payload))
        case ToolResult():
            return render(_RESULT.write(payload))


def decode(entry: Entry) -> Payload:
    """Read an entry's payload. Raises Malformed or Newer."""
    form = _form_of(entry)
    return OPAQUE if form is None else form.read(parse(entry.payload))


def _form_of(entry: Entry) -> Form[SessionStarted] | Form[UserInput] | Form[Extension] | Form[ToolResult] | None:
    match entry.kind:
        case Kind.SESSION_STARTED:
            return _STARTED
        case Kind.USER_INPUT:
            return _INPUT
        case Kind.EXTENSION:
            return _EXTENSION
        case Kind.TOOL_RESULT if entry.actor.actor_class is ActorClass.ENGINE:
            return _RESULT
        case _:
            return None


def flow_events(payload: Payload) -> tuple[Event, ...]:
    """Give the flow events that a payload holds, in order."""
    return tuple(event for each in records_of(payload) if isinstance(each, FlowRecord) for event in each.events)


def records_of(payload: Payload) -> tuple[Record, ...]:
    """Give the records that a payload holds."""
    match payload:
        case UserInput(records=records) | ToolResult(records=records):
            return records
        case Extension(record=alone):
            return (alone,)
        case SessionStarted() | Opaque():
            return ()
