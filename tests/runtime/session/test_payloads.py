"""Payloads: what is written reads back equal; what is newer is told from what is damaged; what is not ours is kept."""

import json
from dataclasses import fields, replace
from datetime import UTC, datetime
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateward.runtime.core.events import (
    Account,
    Assigned,
    CancelCause,
    ChecksRun,
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
    Part,
    PartKind,
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
    Variable,
    VariablesSet,
    Verdict,
)
from stateward.runtime.core.instance import AttemptStatus
from stateward.runtime.session.answers import Answer, TransitionAnswer
from stateward.runtime.session.chain import link
from stateward.runtime.session.checks import CheckEnd, CheckRecord
from stateward.runtime.session.entries import GENESIS, Actor, ActorClass, Entry, Kind, NewEntry
from stateward.runtime.session.event_codec import event_name
from stateward.runtime.session.payloads import (
    OPAQUE,
    Extension,
    FlowRecord,
    ForeignRecord,
    PinnedProfile,
    SessionStarted,
    ToolResult,
    UserInput,
    Written,
    decode,
    encode,
    flow_events,
)
from stateward.runtime.session.segments import FlowSegment, TextSegment, UnknownSegment
from stateward.runtime.session.strict import Malformed, Newer
from tests.runtime.flows import HALF, ODD_TEXT

KINDS = {SessionStarted: Kind.SESSION_STARTED, UserInput: Kind.USER_INPUT, Extension: Kind.EXTENSION, ToolResult: Kind.TOOL_RESULT}


def entry(kind: str, payload: bytes, actor: ActorClass = ActorClass.ENGINE) -> Entry:
    return link("w", GENESIS, NewEntry(kind, Actor(actor, "in_process"), datetime(2026, 1, 1, tzinfo=UTC), payload))


def stored(payload: Written) -> Entry:
    return entry(KINDS[type(payload)], encode(payload))


def read(kind: str, value: Any, actor: ActorClass = ActorClass.ENGINE) -> object:
    return decode(entry(kind, json.dumps(value).encode(), actor))


LONE = st.characters(exclude_characters=[], min_codepoint=0xD800, max_codepoint=0xDBFF, exclude_categories=())
TEXTS = st.text(max_size=6) | st.text(LONE, max_size=3) | st.just(ODD_TEXT + HALF)
COUNTS = st.integers(0, 2**70)
CITATIONS = st.builds(EntryCitation, TEXTS) | st.builds(FileCitation, TEXTS, COUNTS, COUNTS, TEXTS)
JUDGEMENTS = st.lists(
    st.builds(
        Judgement,
        TEXTS,
        st.sampled_from(Verdict),
        st.sampled_from(Verdict),
        TEXTS,
        st.lists(TEXTS, max_size=2).map(tuple),
        st.lists(CITATIONS, max_size=2).map(tuple),
        TEXTS,
    ),
    max_size=2,
).map(tuple)
HEAD = {"instance": TEXTS, "visit": COUNTS, "path": TEXTS}
PINNED = dict.fromkeys(("workspace", "selector", "flow_id", "content_digest", "definition_digest", "chosen_by"), TEXTS)
EVENTS = st.one_of(
    st.builds(InstanceStarted, **HEAD, **PINNED, flow_revision=COUNTS),
    st.builds(StateEntered, **HEAD, state=TEXTS, status=st.sampled_from(Status), transition=st.none() | TEXTS, attempt=st.none() | TEXTS),
    st.builds(TransitionRequested, **HEAD, attempt=TEXTS, state=TEXTS, reason=TEXTS),
    st.builds(TransitionCheckPassed, **HEAD, attempt=TEXTS, transition=TEXTS, judgements=JUDGEMENTS),
    st.builds(TransitionCheckRejected, **HEAD, attempt=TEXTS, code=st.sampled_from(RejectionCode), message=TEXTS, judgements=JUDGEMENTS),
    st.builds(TransitionVerificationCancelled, **HEAD, attempt=TEXTS, cause=st.sampled_from(CancelCause)),
    st.builds(TransitionVerificationFailed, **HEAD, attempt=TEXTS, cause=st.sampled_from(FailureCause), message=TEXTS),
    st.builds(LateResultIgnored, **HEAD, attempt=TEXTS),
)
RECORDS = st.lists(st.lists(EVENTS, max_size=2).map(tuple).map(FlowRecord), max_size=2).map(tuple)
RESULTS = st.builds(TransitionAnswer, TEXTS, st.sampled_from(Verdict), TEXTS, st.lists(TEXTS, max_size=2).map(tuple), TEXTS)
ANSWERS = st.builds(
    Answer,
    attempt=TEXTS,
    outcome=st.sampled_from(AttemptStatus),
    code=TEXTS,
    cause=TEXTS,
    message=TEXTS,
    reason=TEXTS,
    judged=TEXTS,
    state=TEXTS,
    visit=COUNTS,
    status=st.sampled_from(Status),
    instructions=TEXTS,
    transition=st.none() | TEXTS,
    results=st.lists(RESULTS, max_size=2).map(tuple),
    self_judged=st.booleans(),
)
WORDS = st.lists(TEXTS, max_size=2).map(tuple)
CHECKS = st.builds(
    CheckRecord,
    **dict.fromkeys(("instance", "attempt", "check", "declaration", "problem", "program", "started"), TEXTS),
    **dict.fromkeys(("output", "output_end", "tree", "tree_after"), TEXTS),
    **dict.fromkeys(("command", "allowed"), WORDS),
    **dict.fromkeys(("milliseconds", "left_out"), COUNTS),
    ended=st.sampled_from(CheckEnd),
    exit_status=st.none() | COUNTS,
)
SEGMENTS = st.lists(st.builds(FlowSegment, TEXTS) | st.builds(TextSegment, TEXTS), max_size=3).map(tuple)
PROFILES = st.builds(PinnedProfile, TEXTS, st.booleans(), st.booleans(), st.lists(TEXTS, max_size=2).map(tuple))
PAYLOADS = st.one_of(
    st.builds(SessionStarted, TEXTS, TEXTS, PROFILES, TEXTS, TEXTS, st.sampled_from(ActorClass), TEXTS),
    st.builds(UserInput, TEXTS, TEXTS, SEGMENTS, TEXTS, RECORDS),
    st.builds(Extension, st.lists(EVENTS, max_size=3).map(tuple).map(FlowRecord)),
    st.builds(Extension, CHECKS),
    st.builds(ToolResult, st.just("request_transition"), ANSWERS, RECORDS),
)


@given(PAYLOADS)
def test_what_is_written_reads_back_equal(payload: Written) -> None:
    assert payload == decode(stored(payload))


def test_every_event_has_a_form_with_all_its_fields() -> None:
    for make in get_args(Event):
        example = next(each for each in (*OF_GUARDS, *IN_FULL, *ONE_OF_EACH) if type(each) is make)
        (written,) = json.loads(encode(Extension(FlowRecord((example,)))))["record"]["events"]
        assert {"type", "version", *(each.name for each in fields(make))} == set(written)
        assert FlowRecord((example,)) == FlowRecord(flow_events(decode(stored(Extension(FlowRecord((example,)))))))


def test_an_event_is_written_in_the_earliest_version_that_loses_nothing() -> None:
    first = [(each, 1) for each in ONE_OF_EACH]
    for event, version in (*first, *((each, 2) for each in IN_FULL), *zip(OF_GUARDS, (3, 2, 2), strict=True)):
        (written,) = json.loads(encode(Extension(FlowRecord((event,)))))["record"]["events"]
        assert version == written["version"]


HEADER: dict[str, Any] = {"instance": "i", "visit": 1}
STARTED = InstanceStarted(
    instance="i",
    visit=0,
    workspace="w",
    selector="builtin:a",
    flow_id="builtin:a",
    flow_revision=1,
    content_digest="sha256:c",
    definition_digest="sha256:d",
    chosen_by="person",
)
ONE_OF_EACH: tuple[Event, ...] = (
    STARTED,
    StateEntered(**HEADER, state="a", status=Status.ACTIVE),
    TransitionRequested(**HEADER, attempt="t", state="a", reason=ODD_TEXT),
    TransitionCheckPassed(**HEADER, attempt="t", transition="x", judgements=(Judgement("x", Verdict.MET, Verdict.MET, "yes"),)),
    TransitionCheckRejected(**HEADER, attempt="t", code=RejectionCode.INDETERMINATE, message="no"),
    TransitionVerificationCancelled(**HEADER, attempt="t", cause=CancelCause.SUPERSEDED),
    TransitionVerificationFailed(**HEADER, attempt="t", cause=FailureCause.TIMEOUT, message="slow"),
    LateResultIgnored(**HEADER, attempt="t"),
    InstancePaused(**HEADER, by="person ada", reason=ODD_TEXT),
    InstanceResumed(**HEADER, by="person ada", reason="go on"),
    InstanceCancelled(**HEADER, by="person ada", reason="not needed any more"),
    InstanceRewound(**HEADER, by="person ada", reason="once more", state="a", after=2),
    ProgressHoldSet(**HEADER, judgements=3, evidence=2),
    ProgressHoldCleared(**HEADER, by="new evidence", reason="entry 9 was recorded since"),
    ChecksRun(**HEADER, attempt="t", parts=(Part("x", PartKind.CHECK, Verdict.MET, "tests", entry=7),)),
    VariablesSet(
        **HEADER,
        source=Source.WORKER,
        state="a",
        values=(
            Assigned("count", 2**53),
            Assigned("share", 0.5),
            Assigned("whole", 1.0),
            Assigned("notes", [True, {"é": ODD_TEXT, "a": []}]),
        ),
    ),
    InstanceHalted(**HEADER, state="b", visits=5),
)


ACCOUNT = Account(Usage(3, 1000, 200), "some-model", "sha256:p", "sha256:t")
DOUBTED = Judgement("x", Verdict.MET, Verdict.INDETERMINATE, "yes", note="cites no evidence", cause=FailureCause.UNVERIFIABLE)
IN_FULL: tuple[Event, ...] = (
    TransitionRequested(**HEADER, attempt="t", state="a", reason=ODD_TEXT, tree="sha256:w", reserved=9),
    TransitionCheckPassed(**HEADER, attempt="t", transition="x", judgements=(), account=ACCOUNT),
    TransitionCheckRejected(**HEADER, attempt="t", code=RejectionCode.INDETERMINATE, message="no", judgements=(DOUBTED,), account=ACCOUNT),
    TransitionVerificationCancelled(**HEADER, attempt="t", cause=CancelCause.SUPERSEDED, account=Account(None, "some-model")),
    TransitionVerificationFailed(**HEADER, attempt="t", cause=FailureCause.TIMEOUT, message="slow", account=ACCOUNT),
)
"""Events with what later versions of them added."""
OF_GUARDS: tuple[Event, ...] = (
    TransitionRequested(
        **HEADER, attempt="t", state="a", reason="on", parts=(Part("x", PartKind.WHEN, Verdict.INDETERMINATE, missing=("vars.count",)),)
    ),
    replace(STARTED, inputs=(Assigned("topic", "owls"),)),
    InstanceRewound(
        **HEADER,
        by="person ada",
        reason="once more",
        state="a",
        after=2,
        variables=(Variable("count", 1, Source.INPUT, "a", 1, 2),),
    ),
)
"""Events with what version 2 of the language added."""


def test_the_names_of_events_are_these_for_ever() -> None:
    expected = [
        "instance_started",
        "state_entered",
        "transition_requested",
        "transition_check_passed",
        "transition_check_rejected",
        "transition_verification_cancelled",
        "transition_verification_failed",
        "late_result_ignored",
        "instance_paused",
        "instance_resumed",
        "instance_cancelled",
        "instance_rewound",
        "progress_hold_set",
        "progress_hold_cleared",
        "checks_run",
        "variables_set",
        "instance_halted",
    ]
    assert expected == [event_name(each) for each in ONE_OF_EACH]


def test_the_bytes_of_a_record_are_these_for_ever() -> None:
    requested = TransitionRequested(instance="i", visit=2, attempt="t", state="a", reason='é "{x}" \ud800')
    expected = (
        '{"v":1,"record":{"domain":"flow.runtime.v1","events":[{"type":"transition_requested","version":1,"instance":"i","visit":2,'
        '"path":"","attempt":"t","state":"a","reason":"é \\"{x}\\" \\ud800"}]}}'
    )
    assert expected.encode() == encode(Extension(FlowRecord((requested,))))


EVENT = {"type": "late_result_ignored", "version": 1, "instance": "i", "visit": 1, "path": "", "attempt": "t"}


def extension(*events: object, domain: str = "flow.runtime.v1") -> dict[str, Any]:
    return {"v": 1, "record": {"domain": domain, "events": list(events)}}


NEWER = {
    "event type": extension({**EVENT, "type": "instance_moved"}),
    "event version": extension({**EVENT, "version": 2, "more": 1}),
    "domain": extension(EVENT, domain="flow.runtime.v2"),
    "other flow domain": extension(domain="flow.runtime.variables.v1"),
    "payload version": {"v": 2, "record": "anything"},
}


@pytest.mark.parametrize("value", NEWER.values(), ids=NEWER.keys())
def test_what_a_newer_program_wrote_is_told_as_newer(value: object) -> None:
    with pytest.raises(Newer):
        read(Kind.EXTENSION, value)


DAMAGED = {
    "an unknown member of an event": extension({**EVENT, "more": 1}),
    "a missing member of an event": extension({name: given for name, given in EVENT.items() if name != "attempt"}),
    "a member of another type": extension({**EVENT, "visit": "1"}),
    "a version that never was": extension({**EVENT, "version": 0}),
    "a version that is none": extension({**EVENT, "version": "1"}),
    "no type": extension({"version": 1}),
    "an event that is none": extension("event"),
    "an unknown member of a record": {"v": 1, "record": {"domain": "flow.runtime.v1", "events": [], "state": "b"}},
    "a record without events": {"v": 1, "record": {"domain": "flow.runtime.v1"}},
    "a record without a domain": {"v": 1, "record": {"events": []}},
    "an unknown member of the payload": {**extension(EVENT), "also": 1},
    "no version": {"record": {}},
    "an array": [],
}


@pytest.mark.parametrize("value", DAMAGED.values(), ids=DAMAGED.keys())
def test_what_no_program_writes_is_told_as_damage(value: object) -> None:
    with pytest.raises(Malformed):
        read(Kind.EXTENSION, value)


def test_a_foreign_extension_is_kept_whatever_it_holds() -> None:
    data = b'{"v":1,"record":{"domain":"acme.notes","events":7,"big":' + b"9" * 5000 + b',"f":1.0,"half":"\\ud800"}}'
    kept = decode(entry(Kind.EXTENSION, data))
    assert Extension(ForeignRecord("acme.notes")) == kept
    assert () == flow_events(kept)


def test_an_unknown_kind_of_entry_is_kept_unread() -> None:
    assert OPAQUE is decode(entry("assistant_message", b"\xff\x00 no JSON"))


@pytest.mark.parametrize("actor", [each for each in ActorClass if each is not ActorClass.ENGINE])
def test_a_tool_result_that_the_engine_did_not_write_holds_no_events_whatever_it_says(actor: ActorClass) -> None:
    forged = encode(ToolResult("request_transition", ANSWER, (FlowRecord(ONE_OF_EACH),)))
    assert OPAQUE is decode(entry(Kind.TOOL_RESULT, forged, actor))
    assert () == flow_events(OPAQUE)


ANSWER = Answer(
    attempt="t",
    outcome=AttemptStatus.ENTERED,
    code="",
    cause="",
    message="",
    reason="done",
    judged="E00000002",
    state="b",
    visit=2,
    status=Status.ACTIVE,
    instructions=ODD_TEXT,
    transition="x",
    results=(),
    self_judged=False,
)


def test_a_tool_that_is_not_known_is_a_newer_programs() -> None:
    value = json.loads(encode(ToolResult("request_transition", ANSWER)))
    with pytest.raises(Newer):
        read(Kind.TOOL_RESULT, {**value, "name": "report_work"})


def test_an_unknown_segment_is_kept_when_a_log_is_read() -> None:
    value = json.loads(encode(UserInput("s", "sha256:f", (TextSegment("hello"),), "hello")))
    value["segments"].append({"kind": "paste", "lines": 70})
    found = read(Kind.USER_INPUT, value, ActorClass.PERSON)
    assert UserInput("s", "sha256:f", (TextSegment("hello"), UnknownSegment("paste")), "hello") == found


def test_a_known_segment_with_another_member_is_damage() -> None:
    value = json.loads(encode(UserInput("s", "sha256:f", (FlowSegment("builtin:a"),), "")))
    value["segments"][0]["revision"] = 7
    with pytest.raises(Malformed):
        read(Kind.USER_INPUT, value)


def test_the_events_of_a_payload_come_in_order_from_all_its_records() -> None:
    payload = UserInput("s", "f", (), "", (FlowRecord(ONE_OF_EACH[:2]), ForeignRecord("acme"), FlowRecord(ONE_OF_EACH[2:3])))
    assert ONE_OF_EACH[:3] == flow_events(payload)
