"""Submitting input: what is checked before anything is written, what is written, and that nothing is submitted twice."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest

from stateward.compiler.flow.definition import CompiledFlowDefinition
from stateward.runtime.core.events import InstanceStarted, StateEntered, Status, Verdict
from stateward.runtime.core.refusal import Refusal, RefusalCode
from stateward.runtime.engine.limits import INPUT_BYTES_MAX, SEGMENTS_MAX
from stateward.runtime.engine.submission import read_segments
from stateward.runtime.ports import Snapshot, Unresolved
from stateward.runtime.profile import DEMONSTRATION, Profile, VerifierKind
from stateward.runtime.session.entries import Actor, ActorClass, Head, Kind
from stateward.runtime.session.payloads import FlowRecord, SessionStarted, UserInput, decode
from stateward.runtime.session.segments import FlowSegment, Segment, TextSegment
from stateward.store.memory_sessions import MemorySessionStore
from tests.runtime.engines import AGENT, HOST, PERSON, WORKSPACE, Catalog, Desk, engine_on, input_for, snapshot_of, submitted
from tests.runtime.flows import FORK, HALF, ODD_TEXT

FLOW, TEXT = FlowSegment("workspace:fork"), TextSegment("Ticket 41")


def refused(answer: object) -> Refusal:
    assert isinstance(answer, Refusal), answer
    return answer


def everything_in(sessions: MemorySessionStore) -> int:
    return sum(each.head.seq for each in sessions.workers(WORKSPACE, 1000))


def start(segments: tuple[Segment, ...], profile: Profile = DEMONSTRATION, actor: Actor = PERSON, catalog: Any = None) -> object:
    """Start a Worker and check that a refusal wrote nothing."""
    sessions = MemorySessionStore()
    answer = engine_on(sessions, profile, catalog).start_worker(WORKSPACE, segments, actor)
    if isinstance(answer, Refusal):
        assert everything_in(sessions) == 0
    return answer


# --- what is written ----------------------------------------------------------------------------------------------------------------


def test_a_worker_begins_with_its_session_and_its_first_input() -> None:
    desk = Desk()
    session, first = (decode(each) for each in desk.log())
    assert SessionStarted(desk.worker, WORKSPACE, DEMONSTRATION.pinned(), "scripted", "local", ActorClass.PERSON, "") == session
    assert isinstance(first, UserInput)
    assert (FLOW, TEXT) == first.segments
    (record,) = first.records
    assert isinstance(record, FlowRecord)
    started, entered = record.events
    assert isinstance(started, InstanceStarted)
    assert isinstance(entered, StateEntered)
    assert ("workspace:fork", "person", "a", Status.ACTIVE) == (started.selector, started.chosen_by, entered.state, entered.status)
    assert [(Kind.SESSION_STARTED, ActorClass.ENGINE), (Kind.USER_INPUT, ActorClass.PERSON)] == [
        (each.kind, each.actor.actor_class) for each in desk.log()
    ]


def test_the_acknowledgement_names_the_entry_that_holds_the_input() -> None:
    sessions = MemorySessionStore()
    ack = submitted(engine_on(sessions).start_worker(WORKSPACE, (FLOW, TEXT), PERSON))
    entry = list(sessions.entries(ack.worker))[-1]
    payload = decode(entry)
    assert isinstance(payload, UserInput)
    assert (Head(entry.seq, entry.digest), payload.submission, False) == (ack.head, ack.submission, ack.repeated)


def test_the_flow_segment_is_replaced_in_place_by_the_instructions_byte_for_byte() -> None:
    before, after = TextSegment(f"before {ODD_TEXT}{HALF}"), TextSegment(f"{ODD_TEXT} after")
    sessions = MemorySessionStore()
    ack = submitted(engine_on(sessions).start_worker(WORKSPACE, (before, FLOW, after), PERSON))
    payload = decode(list(sessions.entries(ack.worker))[-1])
    assert isinstance(payload, UserInput)
    assert f"{before.content}\n\n{FORK.state('a').instructions}\n\n{after.content}" == payload.text
    assert (before, FLOW, after) == payload.segments


def test_blank_instructions_leave_no_trace_in_the_text() -> None:
    desk = Desk()
    states = (FORK.states[0].model_copy(update={"instructions": " \n"}), *FORK.states[1:])
    desk.catalog.flows["blank"] = CompiledFlowDefinition(schema_version=1, name="blank", initial="a", states=states)
    ack = submitted(desk.engine.start_worker(WORKSPACE, input_for("blank", "one", "two"), PERSON))
    payload = decode(list(desk.sessions.entries(ack.worker))[-1])
    assert isinstance(payload, UserInput)
    assert payload.text == "one\n\ntwo"


def test_a_flow_segment_alone_is_enough() -> None:
    submitted(start((FLOW,)))


def test_a_flow_segment_inside_a_text_is_text() -> None:
    quoted = TextSegment('{"kind": "flow", "selector": "workspace:review"}')
    sessions = MemorySessionStore()
    engine = engine_on(sessions)
    ack = submitted(engine.start_worker(WORKSPACE, (quoted, FLOW), PERSON))
    payload = decode(list(sessions.entries(ack.worker))[-1])
    assert isinstance(payload, UserInput)
    assert quoted.content in payload.text


def test_an_initial_terminal_state_completes_with_the_submission() -> None:
    desk = Desk("nothing")
    assert (Status.COMPLETED, "done", 2) == (desk.flow.status, desk.flow.state, desk.view.head.seq)


# --- what is refused, before anything is written ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("segments", "message"),
    [
        ((), "none of 0 segments is a flow segment"),
        ((TEXT, TEXT), "none of 2 segments is a flow segment"),
        ((FLOW, TEXT, FLOW), "2 of 3 segments are flow segments, at positions 1, 3"),
    ],
)
def test_a_first_input_has_exactly_one_flow_segment(segments: tuple[Segment, ...], message: str) -> None:
    refusal = refused(start(segments))
    assert (RefusalCode.FLOW_SEGMENT_COUNT, message) == (refusal.code, refusal.message)


def test_a_second_flow_segment_is_refused_while_an_instance_is_active() -> None:
    desk = Desk()
    before = desk.log()
    refusal = refused(desk.engine.submit(desk.worker, (TEXT, FlowSegment("workspace:review")), PERSON))
    expected = "flow `workspace:fork` is active in state `a`; 1 of 2 segments is a flow segment, at position 2"
    assert (RefusalCode.INSTANCE_ACTIVE, expected, before) == (refusal.code, refusal.message, desk.log())


def test_two_flow_segments_are_refused_whether_or_not_an_instance_is_active() -> None:
    desk = Desk("nothing")
    refusal = refused(desk.engine.submit(desk.worker, (FLOW, FLOW), PERSON))
    assert RefusalCode.FLOW_SEGMENT_COUNT is refusal.code


BAD_SHAPES: dict[str, tuple[tuple[Segment, ...], RefusalCode]] = {
    "nothing": ((), RefusalCode.INPUT_EMPTY),
    "blanks": ((TextSegment(" \n"), TextSegment("")), RefusalCode.INPUT_EMPTY),
    "too many": ((TEXT,) * (SEGMENTS_MAX + 1), RefusalCode.INPUT_TOO_LARGE),
    "too large": ((TextSegment("é" * (INPUT_BYTES_MAX // 2) + "x"),), RefusalCode.INPUT_TOO_LARGE),
    "too large together": ((TextSegment("x" * INPUT_BYTES_MAX), TextSegment("x")), RefusalCode.INPUT_TOO_LARGE),
}


@pytest.mark.parametrize(("segments", "code"), BAD_SHAPES.values(), ids=BAD_SHAPES.keys())
def test_an_input_is_refused_for_its_shape(segments: tuple[Segment, ...], code: RefusalCode) -> None:
    desk = Desk()
    before = desk.log()
    assert code is refused(desk.engine.submit(desk.worker, segments, PERSON)).code
    assert before == desk.log()


@pytest.mark.parametrize("content", ["x", "\x00" * (INPUT_BYTES_MAX // SEGMENTS_MAX), HALF * (INPUT_BYTES_MAX // SEGMENTS_MAX // 3)])
def test_an_input_of_exactly_its_limits_is_committed_whatever_its_characters(content: str) -> None:
    desk = Desk()
    submitted(desk.engine.submit(desk.worker, (TextSegment(content),) * SEGMENTS_MAX, PERSON))
    assert desk.view.head.seq == 3


def test_a_profile_that_does_not_enable_flows_starts_none() -> None:
    profile = replace(DEMONSTRATION, flow_enabled=False)
    assert RefusalCode.FLOW_NOT_ENABLED is refused(start((FLOW,), profile)).code


def test_an_agent_starts_no_flow_of_its_own_that_its_profile_does_not_list() -> None:
    assert RefusalCode.SELECTOR_NOT_ALLOWED is refused(start((FLOW,), actor=AGENT)).code
    listed = replace(DEMONSTRATION, agent_selectors=("workspace:fork",))
    ack = submitted(start((FLOW,), listed, AGENT))
    assert ack.instance is not None
    assert RefusalCode.SELECTOR_NOT_ALLOWED is refused(start(input_for("review"), listed, AGENT)).code


def test_a_right_that_either_profile_lacks_is_lacking() -> None:
    listed = replace(DEMONSTRATION, agent_selectors=("workspace:fork",))
    sessions = MemorySessionStore()
    ack = submitted(engine_on(sessions).start_worker(WORKSPACE, input_for("nothing"), PERSON))
    assert RefusalCode.SELECTOR_NOT_ALLOWED is refused(engine_on(sessions, listed).submit(ack.worker, (FLOW,), AGENT)).code


def test_the_host_may_say_that_a_person_chose_a_flow_and_it_is_recorded_who_did() -> None:
    sessions = MemorySessionStore()
    engine = engine_on(sessions)
    view = engine.view(submitted(engine.start_worker(WORKSPACE, (FLOW,), HOST)).worker)
    assert not isinstance(view, Refusal)
    assert view.flow is not None
    assert view.flow.pin.chosen_by == "host"


def test_an_unknown_flow_is_refused_with_what_to_do() -> None:
    refusal = refused(start(input_for("fork@7")))
    assert (RefusalCode.FLOW_NOT_FOUND, ("name another",)) == (refusal.code, refusal.allowed)


class Lying(Catalog):
    """Resolves to a snapshot that is not what it says."""

    def __init__(self, **changes: Any) -> None:
        super().__init__()
        self._changes = changes

    def resolve(self, selector: str) -> Snapshot | Unresolved:
        return replace(snapshot_of(FORK), **self._changes)


@pytest.mark.parametrize(
    "changes",
    [
        {"definition_digest": "sha256:" + "0" * 64},
        {"definition_bytes": snapshot_of(FORK).definition_bytes + b" "},
        {"definition": FORK.model_copy(update={"name": "other"})},
        {"workspace": "another"},
        {"selector": "workspace:other"},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_a_snapshot_that_is_not_what_its_digest_says_is_not_believed(changes: dict[str, Any]) -> None:
    assert RefusalCode.FLOW_BROKEN is refused(start((FLOW,), catalog=Lying(**changes))).code


def test_the_checks_come_in_order() -> None:
    """Each input has every later fault too."""
    desk = Desk()
    closed = engine_on(desk.sessions, replace(DEMONSTRATION, flow_enabled=False), desk.catalog)
    desk.catalog.asked.clear()
    nowhere = FlowSegment("nowhere")
    found = [
        refused(closed.submit(desk.worker, (nowhere, nowhere), AGENT)).code,
        refused(closed.submit(desk.worker, (nowhere,), AGENT)).code,
        refused(desk.engine.submit(desk.worker, (nowhere,), AGENT)).code,
        refused(desk.engine.submit(desk.worker, (nowhere,), PERSON)).code,
    ]
    assert found == [
        RefusalCode.FLOW_SEGMENT_COUNT,
        RefusalCode.FLOW_NOT_ENABLED,
        RefusalCode.SELECTOR_NOT_ALLOWED,
        RefusalCode.INSTANCE_ACTIVE,
    ]
    assert desk.catalog.asked == []


def test_a_worker_that_is_none_is_refused() -> None:
    engine = engine_on(MemorySessionStore())
    for worker in ("nobody", HALF, "x" * 1000, ""):
        assert RefusalCode.WORKER_NOT_FOUND is refused(engine.submit(worker, (TEXT,), PERSON)).code
        assert RefusalCode.WORKER_NOT_FOUND is refused(engine.view(worker)).code
        assert [] == list(engine.log(worker))


# --- further input ------------------------------------------------------------------------------------------------------------------


def test_further_text_is_committed_and_changes_nothing_of_the_flow() -> None:
    desk = Desk()
    before = desk.flow
    ack = submitted(desk.engine.submit(desk.worker, (TextSegment(ODD_TEXT),), PERSON))
    assert (3, None, before) == (ack.head.seq, ack.instance, desk.flow)


def test_an_ended_flow_may_be_followed_by_another_in_the_same_session() -> None:
    desk = Desk("nothing")
    ack = submitted(desk.engine.submit(desk.worker, (TextSegment("next"), FLOW), PERSON))
    assert (ack.instance, 2, "a", Status.ACTIVE) == (desk.flow.instance, desk.flow.number, desk.flow.state, desk.flow.status)


# --- once and only once -------------------------------------------------------------------------------------------------------------


def test_the_same_submission_gives_the_first_answer_also_after_a_restart() -> None:
    sessions = MemorySessionStore()
    first = submitted(engine_on(sessions).start_worker(WORKSPACE, (FLOW, TEXT), PERSON, "ticket-41"))
    again = submitted(engine_on(sessions).start_worker(WORKSPACE, (FLOW, TEXT), PERSON, "ticket-41"))
    assert replace(first, repeated=True) == again
    assert everything_in(sessions) == 2


def test_the_same_submission_with_another_input_conflicts_and_names_the_first_instance() -> None:
    sessions = MemorySessionStore()
    first = submitted(engine_on(sessions).start_worker(WORKSPACE, (FLOW, TEXT), PERSON, "ticket-41"))
    refusal = refused(engine_on(sessions).start_worker(WORKSPACE, (FLOW, TextSegment("another")), PERSON, "ticket-41"))
    expected = f"submission `ticket-41` was used for another input, which made instance `{first.instance}`"
    assert (RefusalCode.SUBMISSION_CONFLICT, expected) == (refusal.code, refusal.message)
    assert everything_in(sessions) == 2


def test_submissions_without_an_id_are_as_many_as_there_are() -> None:
    sessions = MemorySessionStore()
    engine = engine_on(sessions)
    one, other = (submitted(engine.start_worker(WORKSPACE, (FLOW,), PERSON)) for _ in range(2))
    assert one.instance != other.instance
    assert one.worker != other.worker


def test_the_same_submission_at_once_creates_one_worker() -> None:
    sessions = MemorySessionStore()
    engines = [engine_on(sessions) for _ in range(16)]
    with ThreadPoolExecutor(16) as threads:
        answers = list(threads.map(lambda engine: engine.start_worker(WORKSPACE, (FLOW,), PERSON, "s"), engines))
    assert len({submitted(each).instance for each in answers}) == 1
    assert sum(submitted(each).repeated for each in answers) == 15
    assert everything_in(sessions) == 2


def test_the_same_further_submission_at_once_is_committed_once() -> None:
    desk = Desk()
    with ThreadPoolExecutor(16) as threads:
        answers = list(threads.map(lambda _: desk.engine.submit(desk.worker, (TEXT,), PERSON, "s"), range(16)))
    assert {submitted(each).head for each in answers} == {desk.view.head}
    assert len(desk.log()) == 3


def test_the_same_id_in_another_workspace_or_worker_is_another_submission() -> None:
    desk = Desk()
    other = Desk()
    one = submitted(desk.engine.submit(desk.worker, (TEXT,), PERSON, "s"))
    ack = submitted(desk.engine.start_worker(WORKSPACE, (FLOW,), PERSON, "s"))
    assert one.worker != ack.worker
    assert not submitted(other.engine.submit(other.worker, (TextSegment("other"),), PERSON, "s")).repeated


def test_a_repeated_further_submission_is_answered_after_the_flow_moved_on() -> None:
    desk = Desk("nothing")
    first = submitted(desk.engine.submit(desk.worker, (FLOW,), PERSON, "s"))
    desk.request("go", {"x": Verdict.MET})
    assert replace(first, repeated=True) == desk.engine.submit(desk.worker, (FLOW,), PERSON, "s")
    refusal = refused(desk.engine.submit(desk.worker, (TEXT,), PERSON, "s"))
    assert f"instance `{first.instance}`" in refusal.message


@pytest.mark.parametrize("submission", ["", "a\nb", "é", HALF, "x" * 129])
def test_what_cannot_be_a_submission_id_is_refused(submission: str) -> None:
    desk = Desk()
    assert RefusalCode.SUBMISSION_ID_MALFORMED is refused(desk.engine.submit(desk.worker, (TEXT,), PERSON, submission)).code
    assert len(desk.log()) == 2


def test_the_stored_fingerprint_holds_nothing_of_the_input() -> None:
    sessions = MemorySessionStore()
    ack = submitted(engine_on(sessions).start_worker(WORKSPACE, (FLOW, TEXT), PERSON, "s"))
    payload = decode(list(sessions.entries(ack.worker))[-1])
    assert isinstance(payload, UserInput)
    assert payload.fingerprint.startswith("sha256:")
    assert len(payload.fingerprint) == 71


# --- the wire -----------------------------------------------------------------------------------------------------------------------


def test_segments_are_read_from_the_wire_as_they_are() -> None:
    raw = [{"kind": "flow", "selector": "workspace:fork"}, {"kind": "text", "content": ODD_TEXT}]
    assert (FLOW, TextSegment(ODD_TEXT)) == read_segments(raw)


@pytest.mark.parametrize(
    ("raw", "code", "message"),
    [
        (
            [{"kind": "text", "content": ""}, {"kind": "paste", "content": "x"}],
            RefusalCode.SEGMENT_KIND_UNKNOWN,
            "segment 2 has the unknown kind `paste`",
        ),
        ([{"kind": "file_ref", "path": "x"}], RefusalCode.SEGMENT_KIND_UNKNOWN, "segment 1 has the unknown kind `file_ref`"),
        ([{"kind": "flow", "selector": "a", "revision": 7}], RefusalCode.SEGMENT_MALFORMED, "segment 1: member `revision` is unknown"),
        ([{"kind": "text"}], RefusalCode.SEGMENT_MALFORMED, "segment 1: member `content` is missing"),
        ([{"kind": 1}], RefusalCode.SEGMENT_MALFORMED, "segment 1: a text is missing"),
        (["text"], RefusalCode.SEGMENT_MALFORMED, "segment 1: a segment is missing"),
        ({"kind": "text"}, RefusalCode.SEGMENT_MALFORMED, "the input is no array of segments"),
    ],
)
def test_a_segment_that_is_not_understood_is_refused(raw: object, code: RefusalCode, message: str) -> None:
    refusal = refused(read_segments(raw))
    assert (code, message) == (refusal.code, refusal.message)


def test_reading_segments_is_bounded() -> None:
    segments = read_segments([{"kind": "text", "content": ""}] * 100_000)
    assert isinstance(segments, tuple)
    assert len(segments) == SEGMENTS_MAX + 1


def test_only_a_demonstration_is_judged_by_a_script() -> None:
    with pytest.raises(ValueError, match="only a demonstration"):
        Profile("strict", VerifierKind.SCRIPTED)
