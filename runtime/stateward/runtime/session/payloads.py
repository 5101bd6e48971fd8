"""What the entries of a session log hold, typed, to and from their bytes.

Invariants: bytes that this program wrote read back equal; a kind of entry or a foreign extension domain that is unknown here is kept
and shown as unknown; an unknown `flow.runtime.*` domain, event type, event version or payload version raises Newer, whereupon the
Worker is read-only; anything else that is not as written raises Malformed. What a host records is bytes of its own, never looked into:
only entries that the engine writes can hold flow events.
"""

from typing import Any, Final, TypeAlias, assert_never

from stateward.runtime.core.events import Event
from stateward.runtime.core.instance import FlowState
from stateward.runtime.core.values import value
from stateward.runtime.session.acts import (
    ORIGIN,
    ROLLBACK,
    RUN_ENDED,
    RUN_STARTED,
    STANDING,
    WORKER_STOPPED,
    ForkOrigin,
    Rollback,
    RunEnded,
    RunStarted,
    Standing,
    WorkerStopped,
)
from stateward.runtime.session.answers import ANSWER, Answer
from stateward.runtime.session.checks import CHECK, CheckRecord
from stateward.runtime.session.entries import ActorClass, Entry, Kind
from stateward.runtime.session.event_codec import EVENT
from stateward.runtime.session.folded import FIRST_FLOW_STATE, FLOW_STATE, SECOND_FLOW_STATE
from stateward.runtime.session.segments import SEGMENT, Segment, UnknownSegment
from stateward.runtime.session.strict import (
    COUNT,
    FLAG,
    TEXT,
    Form,
    JsonValue,
    Malformed,
    Newer,
    choice,
    members,
    optional,
    parse,
    record,
    render,
    sequence,
    versioned,
    versions,
)

PAYLOAD_VERSION: Final = 1
FORKED_VERSION: Final = 2
"""Of the session of a log that goes on from another."""
PROFILED_VERSION: Final = 3
"""Of a session that pins the whole value of its profile, whether or not it goes on from another."""
FLOW_DOMAIN: Final = "flow.runtime.v1"
WORKDIR_DOMAIN: Final = "workdir.facts.v1"
CHECK_DOMAIN: Final = "check.run.v1"
_FLOW_DOMAINS: Final = "flow.runtime."
TRANSITION_TOOL: Final = "request_transition"


@value
class FlowRecord:
    """Events of the flow, and nothing else."""

    events: tuple[Event, ...]


@value
class ForeignRecord:
    """A record of another program; its bytes are in the entry."""

    domain: str


@value
class WorkdirRecord:
    """The facts of the Workdir at one moment, as JSON."""

    facts: str


Record: TypeAlias = FlowRecord | WorkdirRecord | CheckRecord | ForeignRecord


@value
class PinnedProfile:
    """The profile as it was when the Worker was created."""

    name: str
    demonstration: bool
    flow_enabled: bool
    agent_selectors: tuple[str, ...]
    """The selectors that a worker may submit to itself."""
    value: str = ""
    """All of it, as JSON by the names of its form; empty where it was pinned before there were more than the fields above."""
    digest: str = ""
    """Of the value; empty where there is none."""


@value
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
    forked_from: ForkOrigin | None = None
    """Where this log goes on from another; None in one that began by itself."""


@value
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


@value
class Extension:
    """A record by itself."""

    record: Record


@value
class ToolResult:
    """What the worker was told, and the events that were recorded with it."""

    name: str
    content: Answer
    records: tuple[Record, ...] = ()


@value
class OperatorAct:
    """A person did something to the Worker."""

    operation: str
    fingerprint: str
    """A digest of what was asked for."""
    verb: str
    reason: str
    about: str
    """The state that was rewound to, or the Worker that was forked off; else empty."""
    before: Standing | None
    after: Standing | None
    records: tuple[Record, ...] = ()


@value
class Checkpoint:
    """What the log before it folds to."""

    created: str
    """When the Worker was: RFC 3339."""
    session: SessionStarted
    flow: FlowState
    evidence: int
    """The number of the newest entry that makes judging again worthwhile."""
    asked_by: ActorClass | None
    asked_by_a_person: bool
    rollbacks: tuple[Rollback, ...] = ()
    """How the log went back and was let go on."""


@value
class Opaque:
    """Bytes that are not ours to read: another program's kind of entry, or what a host recorded."""


Written: TypeAlias = SessionStarted | UserInput | Extension | ToolResult | OperatorAct | Checkpoint | RunStarted | RunEnded | WorkerStopped
Payload: TypeAlias = Written | Opaque
OPAQUE: Final = Opaque()


def _write_record(given: Record) -> JsonValue:
    match given:
        case FlowRecord(events=events):
            return {"domain": FLOW_DOMAIN, "events": [EVENT.write(each) for each in events]}
        case WorkdirRecord(facts=facts):
            return {"domain": WORKDIR_DOMAIN, "facts": _json(parse(facts.encode("utf-8")))}
        case CheckRecord():
            return {"domain": CHECK_DOMAIN, "run": CHECK.write(given)}
        case ForeignRecord():
            raise AssertionError("a record that is not understood is never written")
    assert_never(given)


def workdir_record(stated: bytes) -> WorkdirRecord:
    """Make a record of facts that are given as JSON. Raises Malformed for anything else."""
    return WorkdirRecord(render(_json(parse(stated))).decode("utf-8"))


def _json(value: object) -> JsonValue:
    """Take a value that was read from JSON for what can be written as JSON again."""
    match value:
        case None | bool() | int() | str():
            return value
        case list():
            return [_json(each) for each in value]
        case dict():
            return {str(name): _json(member) for name, member in value.items()}
        case _:
            raise Malformed(f"`{value!r:.40}` is no value of a record")


def _read_record(value: object) -> Record:
    if not isinstance(value, dict):
        raise Malformed("a record is missing")
    domain = TEXT.read(value.get("domain"))
    if domain == WORKDIR_DOMAIN:
        return WorkdirRecord(render(_json(members(value, ("domain", "facts"))["facts"])).decode("utf-8"))
    if domain == CHECK_DOMAIN:
        return CHECK.read(members(value, ("domain", "run"))["run"])
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
_FORKED: Final = versioned(
    FORKED_VERSION,
    record(
        SessionStarted,
        worker=TEXT,
        workspace=TEXT,
        profile=_PROFILE,
        verifier=TEXT,
        isolation=TEXT,
        worked_by=choice(ActorClass),
        workdir=TEXT,
        forked_from=ORIGIN,
    ),
)
_PROFILED: Final = versioned(
    PROFILED_VERSION,
    record(
        SessionStarted,
        worker=TEXT,
        workspace=TEXT,
        profile=record(
            PinnedProfile, name=TEXT, demonstration=FLAG, flow_enabled=FLAG, agent_selectors=sequence(TEXT), value=TEXT, digest=TEXT
        ),
        verifier=TEXT,
        isolation=TEXT,
        worked_by=choice(ActorClass),
        workdir=TEXT,
        forked_from=optional(ORIGIN),
    ),
)
_SESSIONS: Final = {PAYLOAD_VERSION: _STARTED, FORKED_VERSION: _FORKED}
"""How a session of an earlier version is read, and written again as it was; any other is of the newest version."""


def _write_session(session: SessionStarted) -> JsonValue:
    if session.profile.value:
        return _PROFILED.write(session)
    return (_STARTED if session.forked_from is None else _FORKED).write(session)


def _read_session(value: object) -> SessionStarted:
    version = value.get("v") if isinstance(value, dict) else None
    form = _SESSIONS.get(version, _PROFILED) if isinstance(version, int) else _PROFILED
    return form.read(value)


_SESSION: Final[Form[SessionStarted]] = Form(_write_session, _read_session)
_INPUT: Final = versioned(
    PAYLOAD_VERSION,
    record(UserInput, submission=TEXT, fingerprint=TEXT, segments=sequence(SEGMENT), text=TEXT, records=sequence(_RECORD)),
)
_EXTENSION: Final = versioned(PAYLOAD_VERSION, record(Extension, record=_RECORD))
_RESULT: Final = versioned(PAYLOAD_VERSION, record(ToolResult, name=Form(str, _tool), content=ANSWER, records=sequence(_RECORD)))
_ACT: Final = versioned(
    PAYLOAD_VERSION,
    record(
        OperatorAct,
        operation=TEXT,
        fingerprint=TEXT,
        verb=TEXT,
        reason=TEXT,
        about=TEXT,
        before=optional(STANDING),
        after=optional(STANDING),
        records=sequence(_RECORD),
    ),
)
_CHECKED: Final[dict[str, Form[Any]]] = {
    "evidence": COUNT,
    "asked_by": optional(choice(ActorClass)),
    "asked_by_a_person": FLAG,
}
_CHECKPOINT: Final = versions(
    record(Checkpoint, created=TEXT, session=_SESSION, flow=FIRST_FLOW_STATE, **_CHECKED),
    record(Checkpoint, created=TEXT, session=_SESSION, flow=SECOND_FLOW_STATE, **_CHECKED, rollbacks=sequence(ROLLBACK)),
    record(Checkpoint, created=TEXT, session=_SESSION, flow=FLOW_STATE, **_CHECKED, rollbacks=sequence(ROLLBACK)),
)
_FORMS: Final[dict[type[Written], Form[Any]]] = {
    SessionStarted: _SESSION,
    UserInput: _INPUT,
    Extension: _EXTENSION,
    ToolResult: _RESULT,
    OperatorAct: _ACT,
    Checkpoint: _CHECKPOINT,
    RunStarted: versioned(PAYLOAD_VERSION, RUN_STARTED),
    RunEnded: versioned(PAYLOAD_VERSION, RUN_ENDED),
    WorkerStopped: versioned(PAYLOAD_VERSION, WORKER_STOPPED),
}
_ENGINE: Final = frozenset({ActorClass.ENGINE})
_OPERATORS: Final = frozenset({ActorClass.PERSON, ActorClass.POLICY})
_READ: Final[dict[str, tuple[type[Written], frozenset[ActorClass]]]] = {
    Kind.SESSION_STARTED: (SessionStarted, frozenset(ActorClass)),
    Kind.USER_INPUT: (UserInput, frozenset(ActorClass)),
    Kind.EXTENSION: (Extension, frozenset(ActorClass)),
    Kind.TOOL_RESULT: (ToolResult, _ENGINE),
    Kind.CHECKPOINT: (Checkpoint, _ENGINE),
    Kind.OPERATOR_ACT: (OperatorAct, _OPERATORS),
    Kind.REWOUND: (OperatorAct, _OPERATORS),
    Kind.ROLLBACK_ACCEPTED: (OperatorAct, _OPERATORS),
    Kind.REDACTED: (OperatorAct, _OPERATORS),
    Kind.RUN_STARTED: (RunStarted, frozenset(ActorClass)),
    Kind.RUN_ENDED: (RunEnded, frozenset(ActorClass)),
    Kind.WORKER_STOPPED: (WorkerStopped, frozenset(ActorClass)),
}
"""What the entries of a kind hold, and from whom; anybody else's are bytes of their own."""


def encode(payload: Written) -> bytes:
    """Write a payload as bytes."""
    return render(_FORMS[type(payload)].write(payload))


def decode(entry: Entry) -> Payload:
    """Read an entry's payload. Raises Malformed or Newer."""
    made, writers = _READ.get(entry.kind, (None, _ENGINE))
    if made is None or entry.actor.actor_class not in writers:
        return OPAQUE
    payload: Payload = _FORMS[made].read(parse(entry.payload))
    return payload


def flow_events(payload: Payload) -> tuple[Event, ...]:
    """Give the flow events that a payload holds, in order."""
    return tuple(event for each in records_of(payload) if isinstance(each, FlowRecord) for event in each.events)


def records_of(payload: Payload) -> tuple[Record, ...]:
    """Give the records that a payload holds."""
    match payload:
        case UserInput(records=records) | ToolResult(records=records) | OperatorAct(records=records):
            return records
        case Extension(record=alone):
            return (alone,)
        case SessionStarted() | Checkpoint() | RunStarted() | RunEnded() | WorkerStopped() | Opaque():
            return ()
