"""What hosts record: once for its key, from whom it may be, and what it counts for."""

import pytest

from stateward.runtime.core.refusal import Refusal, RefusalCode
from stateward.runtime.ports import RecordedEntry, RecordKey
from stateward.runtime.session.acts import RunEnded, RunOutcome, RunStarted, WorkerStopped
from stateward.runtime.session.entries import PAYLOAD_BYTES_MAX, Actor, ActorClass, Kind
from stateward.runtime.session.evidence import EvidenceClass
from tests.runtime.engines import AGENT, HOST, PERSON, Desk, Judge, saying

KEY = RecordKey("host", "session", "use-1", "result")


def recorded(answer: object) -> RecordedEntry:
    assert isinstance(answer, RecordedEntry), answer
    return answer


def code(answer: object) -> RefusalCode:
    assert isinstance(answer, Refusal), answer
    return answer.code


def test_bytes_are_kept_as_they_came() -> None:
    desk = Desk()
    payload = b'{"n": 9007199254740993, "f": 1.0, "half": "\\ud800"} \xff'
    head = recorded(desk.engine.record(desk.worker, Kind.TOOL_RESULT, payload, HOST, KEY)).head
    (logged,) = desk.engine.log(desk.worker, head.seq - 1)
    assert (payload, HOST, EvidenceClass.HOST) == (logged.entry.payload, logged.entry.actor, logged.evidence)


def test_a_record_that_is_sent_again_is_there_once() -> None:
    desk = Desk()
    first = recorded(desk.engine.record(desk.worker, Kind.TOOL_RESULT, b"exit 0", HOST, KEY))
    again = recorded(desk.engine.record(desk.worker, Kind.TOOL_RESULT, b"exit 0", HOST, KEY))
    assert (first.head, False, True) == (again.head, first.repeated, again.repeated)
    assert RefusalCode.RECORD_CONFLICT is code(desk.engine.record(desk.worker, Kind.TOOL_RESULT, b"exit 1", HOST, KEY))


@pytest.mark.parametrize(
    "other",
    [RecordKey("h", "ost/session", "use-1"), RecordKey("host", "session", "use-1"), RecordKey("host", "session/use", "1", "result")],
)
def test_keys_that_differ_in_any_part_are_different(other: RecordKey) -> None:
    assert other.digest != KEY.digest


def test_a_tool_result_of_the_host_makes_the_same_request_a_new_one_and_a_note_does_not() -> None:
    desk, judge = Desk(actor=AGENT), Judge(saying({}))
    desk.request("done", judge)
    recorded(desk.engine.record(desk.worker, Kind.NOTE, b"I am sure", AGENT, RecordKey("h", "s", "n")))
    recorded(desk.engine.record(desk.worker, Kind.ASSISTANT_MESSAGE, b"sure", HOST, RecordKey("h", "s", "m")))
    recorded(desk.engine.record(desk.worker, Kind.TOOL_RESULT, b"my own", AGENT, RecordKey("h", "s", "t")))
    assert desk.request("done", judge).repeated
    recorded(desk.engine.record(desk.worker, Kind.TOOL_RESULT, b"exit 0", HOST, KEY))
    desk.request("done", judge)
    assert 2 == len(judge.asked)


@pytest.mark.parametrize(
    ("kind", "actor"),
    [
        (Kind.OPERATOR_ACT, HOST),
        (Kind.CHECKPOINT, HOST),
        ("telemetry", HOST),
        (Kind.TOOL_RESULT, PERSON),
        (Kind.NOTE, Actor(ActorClass.VERIFIER, "in_process")),
        (Kind.TOOL_RESULT, Actor(ActorClass.ENGINE, "in_process")),
    ],
)
def test_nobody_records_what_is_not_theirs(kind: str, actor: Actor) -> None:
    desk = Desk()
    assert RefusalCode.RECORD_NOT_ALLOWED is code(desk.engine.record(desk.worker, kind, b"{}", actor, KEY))
    assert 2 == len(desk.log())


def test_what_is_over_a_limit_is_refused() -> None:
    desk = Desk()
    assert isinstance(desk.engine.record(desk.worker, Kind.NOTE, b"x" * PAYLOAD_BYTES_MAX, AGENT, KEY), RecordedEntry)
    over = desk.engine.record(desk.worker, Kind.NOTE, b"x" * (PAYLOAD_BYTES_MAX + 1), AGENT, RecordKey("h", "s", "u"))
    assert RefusalCode.RECORD_TOO_LARGE is code(over)
    for key in (RecordKey("h", "s", ""), RecordKey("h" * 1025, "s", "u")):
        assert RefusalCode.RECORD_MALFORMED is code(desk.engine.record(desk.worker, Kind.NOTE, b"", AGENT, key))


def test_a_run_that_was_cancelled_before_any_output_leaves_the_flow_where_it_is() -> None:
    desk = Desk()
    before = desk.flow
    recorded(desk.engine.start_run(desk.worker, "run-1", HOST))
    recorded(desk.engine.end_run(desk.worker, "run-1", RunOutcome.CANCELLED, HOST, "the host went away"))
    recorded(desk.engine.stop(desk.worker, "for today", PERSON))
    assert before == desk.flow
    payloads = [each.payload for each in desk.engine.log(desk.worker, 2)]
    ended = RunEnded("run-1", RunOutcome.CANCELLED, "the host went away")
    assert [RunStarted("run-1"), ended, WorkerStopped("for today")] == payloads
    assert recorded(desk.engine.start_run(desk.worker, "run-1", HOST)).repeated
