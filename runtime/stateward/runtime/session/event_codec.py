"""Events as JSON: `{"type": …, "version": 1, …}` with exactly the fields of the event in that version.

What is written here is read for ever, and in the earliest version that loses nothing of it. An event type or version that is unknown here
is a newer program's; an event of a version known here with another member is damage.
"""

from typing import Any, Final

from stateward.runtime.core.events import (
    Account,
    CancelCause,
    ChecksRun,
    Citation,
    EntryCitation,
    Event,
    FailureCause,
    FileCitation,
    InstanceCancelled,
    InstanceHalted,
    InstancePaused,
    InstanceResumed,
    InstanceRewound,
    InstanceStarted,
    Judgement,
    LateResultIgnored,
    ProgressHoldCleared,
    ProgressHoldSet,
    RejectionCode,
    Source,
    StateEntered,
    Status,
    TransitionCheckPassed,
    TransitionCheckRejected,
    TransitionRequested,
    TransitionVerificationCancelled,
    TransitionVerificationFailed,
    Usage,
    VariablesSet,
    Verdict,
)
from stateward.runtime.session.strict import COUNT, TEXT, Form, JsonValue, Malformed, Newer, choice, earliest, optional, record, sequence
from stateward.runtime.session.value_forms import ASSIGNED, PARTS, VARIABLE

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


_JUDGEMENT: Final[dict[str, Form[Any]]] = {
    "transition": TEXT,
    "verdict": choice(Verdict),
    "checked": choice(Verdict),
    "rationale": TEXT,
    "missing": sequence(TEXT),
    "citations": sequence(Form(_write_citation, _read_citation)),
    "note": TEXT,
}
FIRST_JUDGEMENTS: Final[Form[tuple[Judgement, ...]]] = sequence(record(Judgement, **_JUDGEMENT))
"""As the first version of events had them."""
JUDGEMENTS: Final[Form[tuple[Judgement, ...]]] = sequence(record(Judgement, **_JUDGEMENT, cause=optional(choice(FailureCause))))
_USAGE: Final = record(Usage, requests=COUNT, input_tokens=COUNT, output_tokens=COUNT)
ACCOUNT: Final[Form[Account | None]] = optional(
    record(Account, usage=optional(_USAGE), model=TEXT, prompt_digest=TEXT, transcript_digest=TEXT)
)


def _event(make: type[Event], **forms: Form[Any]) -> Form[Event]:
    return record(make, instance=TEXT, visit=COUNT, path=TEXT, **forms)


_CANCELLED: Final[dict[str, Form[Any]]] = {"attempt": TEXT, "cause": choice(CancelCause)}
_FAILED: Final[dict[str, Form[Any]]] = {"attempt": TEXT, "cause": choice(FailureCause), "message": TEXT}
_REJECTED: Final[dict[str, Form[Any]]] = {"attempt": TEXT, "code": choice(RejectionCode), "message": TEXT}
_STARTED: Final[dict[str, Form[Any]]] = {
    "workspace": TEXT,
    "selector": TEXT,
    "flow_id": TEXT,
    "flow_revision": COUNT,
    "content_digest": TEXT,
    "definition_digest": TEXT,
    "chosen_by": TEXT,
}
_REWOUND: Final[dict[str, Form[Any]]] = {"by": TEXT, "reason": TEXT, "state": TEXT, "after": COUNT}
_REQUESTED: Final = {"attempt": TEXT, "state": TEXT, "reason": TEXT}
_PASSED: Final = {"attempt": TEXT, "transition": TEXT}
_FORMS: Final[dict[str, tuple[type[Event], tuple[Form[Event], ...]]]] = {
    "instance_started": (
        InstanceStarted,
        (_event(InstanceStarted, **_STARTED), _event(InstanceStarted, **_STARTED, inputs=ASSIGNED)),
    ),
    "state_entered": (
        StateEntered,
        (_event(StateEntered, state=TEXT, status=choice(Status), transition=optional(TEXT), attempt=optional(TEXT)),),
    ),
    "transition_requested": (
        TransitionRequested,
        (
            _event(TransitionRequested, **_REQUESTED),
            _event(TransitionRequested, **_REQUESTED, tree=TEXT, reserved=COUNT),
            _event(TransitionRequested, **_REQUESTED, tree=TEXT, reserved=COUNT, parts=PARTS),
        ),
    ),
    "transition_check_passed": (
        TransitionCheckPassed,
        (
            _event(TransitionCheckPassed, **_PASSED, judgements=FIRST_JUDGEMENTS),
            _event(TransitionCheckPassed, **_PASSED, judgements=JUDGEMENTS, account=ACCOUNT),
        ),
    ),
    "transition_check_rejected": (
        TransitionCheckRejected,
        (
            _event(TransitionCheckRejected, **_REJECTED, judgements=FIRST_JUDGEMENTS),
            _event(TransitionCheckRejected, **_REJECTED, judgements=JUDGEMENTS, account=ACCOUNT),
        ),
    ),
    "transition_verification_cancelled": (
        TransitionVerificationCancelled,
        (_event(TransitionVerificationCancelled, **_CANCELLED), _event(TransitionVerificationCancelled, **_CANCELLED, account=ACCOUNT)),
    ),
    "transition_verification_failed": (
        TransitionVerificationFailed,
        (_event(TransitionVerificationFailed, **_FAILED), _event(TransitionVerificationFailed, **_FAILED, account=ACCOUNT)),
    ),
    "late_result_ignored": (LateResultIgnored, (_event(LateResultIgnored, attempt=TEXT),)),
    "instance_paused": (InstancePaused, (_event(InstancePaused, by=TEXT, reason=TEXT),)),
    "instance_resumed": (InstanceResumed, (_event(InstanceResumed, by=TEXT, reason=TEXT),)),
    "instance_cancelled": (InstanceCancelled, (_event(InstanceCancelled, by=TEXT, reason=TEXT),)),
    "instance_rewound": (
        InstanceRewound,
        (_event(InstanceRewound, **_REWOUND), _event(InstanceRewound, **_REWOUND, variables=sequence(VARIABLE))),
    ),
    "progress_hold_set": (ProgressHoldSet, (_event(ProgressHoldSet, judgements=COUNT, evidence=COUNT),)),
    "progress_hold_cleared": (ProgressHoldCleared, (_event(ProgressHoldCleared, by=TEXT, reason=TEXT),)),
    "checks_run": (ChecksRun, (_event(ChecksRun, attempt=TEXT, parts=PARTS),)),
    "variables_set": (VariablesSet, (_event(VariablesSet, source=choice(Source), state=TEXT, values=ASSIGNED),)),
    "instance_halted": (InstanceHalted, (_event(InstanceHalted, state=TEXT, visits=COUNT),)),
}
"""The members of each event, by its version, from 1."""
_NAMES: Final = {make: name for name, (make, _) in _FORMS.items()}


def event_name(event: Event) -> str:
    """Give the name of an event's type, as it is stored."""
    return _NAMES[type(event)]


def _write(event: Event) -> JsonValue:
    name = event_name(event)
    version, fields = earliest(_FORMS[name][1], event)
    assert isinstance(fields, dict)
    return {"type": name, "version": version, **fields}


def _read(value: object) -> Event:
    if not isinstance(value, dict):
        raise Malformed("an event is missing")
    name, version = TEXT.read(value.get("type")), COUNT.read(value.get("version"))
    if version < 1:
        raise Malformed(f"event `{name:.80}` has version {version}")
    forms = _FORMS[name][1] if name in _FORMS else ()
    if version > len(forms):
        raise Newer(f"event `{name:.80}`, version {version}")
    return forms[version - 1].read({member: given for member, given in value.items() if member not in {"type", "version"}})


EVENT: Final[Form[Event]] = Form(_write, _read)
