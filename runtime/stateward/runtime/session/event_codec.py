"""Events as JSON: `{"type": …, "version": 1, …}` with exactly the fields of the event.

What is written here is read for ever. An event type or version that is unknown here is a newer program's; an event of a version
known here with another member is damage.
"""

from typing import Any, Final

from stateward.runtime.core.events import (
    EVENT_VERSION,
    CancelCause,
    Citation,
    EntryCitation,
    Event,
    FailureCause,
    FileCitation,
    InstanceCancelled,
    InstancePaused,
    InstanceResumed,
    InstanceRewound,
    InstanceStarted,
    Judgement,
    LateResultIgnored,
    ProgressHoldCleared,
    ProgressHoldSet,
    RejectionCode,
    StateEntered,
    Status,
    TransitionCheckPassed,
    TransitionCheckRejected,
    TransitionRequested,
    TransitionVerificationCancelled,
    TransitionVerificationFailed,
    Verdict,
)
from stateward.runtime.session.strict import COUNT, TEXT, Form, JsonValue, Malformed, Newer, choice, optional, record, sequence

_ENTRY: Final = record(EntryCitation, entry=TEXT)
_FILE: Final = record(FileCitation, path=TEXT, first_line=COUNT, last_line=COUNT, quote=TEXT)


def _write_citation(citation: Citation) -> JsonValue:
    match citation:
        case EntryCitation():
            return _ENTRY.write(citation)
        case FileCitation():
            return _FILE.write(citation)


def _read_citation(value: object) -> Citation:
    return _ENTRY.read(value) if isinstance(value, dict) and "entry" in value else _FILE.read(value)


JUDGEMENTS: Final[Form[tuple[Judgement, ...]]] = sequence(
    record(
        Judgement,
        transition=TEXT,
        verdict=choice(Verdict),
        checked=choice(Verdict),
        rationale=TEXT,
        missing=sequence(TEXT),
        citations=sequence(Form(_write_citation, _read_citation)),
        note=TEXT,
    )
)


def _event(make: type[Event], **forms: Form[Any]) -> tuple[type[Event], Form[Event]]:
    return make, record(make, instance=TEXT, visit=COUNT, path=TEXT, **forms)


_FORMS: Final[dict[str, tuple[type[Event], Form[Event]]]] = {
    "instance_started": _event(
        InstanceStarted,
        workspace=TEXT,
        selector=TEXT,
        flow_id=TEXT,
        flow_revision=COUNT,
        content_digest=TEXT,
        definition_digest=TEXT,
        chosen_by=TEXT,
    ),
    "state_entered": _event(StateEntered, state=TEXT, status=choice(Status), transition=optional(TEXT), attempt=optional(TEXT)),
    "transition_requested": _event(TransitionRequested, attempt=TEXT, state=TEXT, reason=TEXT),
    "transition_check_passed": _event(TransitionCheckPassed, attempt=TEXT, transition=TEXT, judgements=JUDGEMENTS),
    "transition_check_rejected": _event(
        TransitionCheckRejected, attempt=TEXT, code=choice(RejectionCode), message=TEXT, judgements=JUDGEMENTS
    ),
    "transition_verification_cancelled": _event(TransitionVerificationCancelled, attempt=TEXT, cause=choice(CancelCause)),
    "transition_verification_failed": _event(TransitionVerificationFailed, attempt=TEXT, cause=choice(FailureCause), message=TEXT),
    "late_result_ignored": _event(LateResultIgnored, attempt=TEXT),
    "instance_paused": _event(InstancePaused, by=TEXT, reason=TEXT),
    "instance_resumed": _event(InstanceResumed, by=TEXT, reason=TEXT),
    "instance_cancelled": _event(InstanceCancelled, by=TEXT, reason=TEXT),
    "instance_rewound": _event(InstanceRewound, by=TEXT, reason=TEXT, state=TEXT, after=COUNT),
    "progress_hold_set": _event(ProgressHoldSet, judgements=COUNT, evidence=COUNT),
    "progress_hold_cleared": _event(ProgressHoldCleared, by=TEXT, reason=TEXT),
}
_NAMES: Final = {make: name for name, (make, _) in _FORMS.items()}


def event_name(event: Event) -> str:
    """Give the name of an event's type, as it is stored."""
    return _NAMES[type(event)]


def _write(event: Event) -> JsonValue:
    name = event_name(event)
    fields = _FORMS[name][1].write(event)
    assert isinstance(fields, dict)
    return {"type": name, "version": EVENT_VERSION, **fields}


def _read(value: object) -> Event:
    if not isinstance(value, dict):
        raise Malformed("an event is missing")
    name, version = TEXT.read(value.get("type")), COUNT.read(value.get("version"))
    if version < EVENT_VERSION:
        raise Malformed(f"event `{name:.80}` has version {version}")
    if name not in _FORMS or version > EVENT_VERSION:
        raise Newer(f"event `{name:.80}`, version {version}")
    return _FORMS[name][1].read({member: given for member, given in value.items() if member not in {"type", "version"}})


EVENT: Final[Form[Event]] = Form(_write, _read)
