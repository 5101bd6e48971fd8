"""What every way for a harness to reach the Worker of its agent does (the port `HostChannel`), wherever the Worker is kept.

A test module for an adapter imports everything here and offers a fixture `hosted`: a Worker on the flow `review`, whose log nobody wrote to
since it was started, reached by an actor of class `host` whose session is `s-1`. The secret SECRET is kept out of it.
"""

from dataclasses import dataclass

from stateward.runtime.core.operating import Verb
from stateward.runtime.core.refusal import Refusal, RefusalCode
from stateward.runtime.engine.worker import Engine
from stateward.runtime.ports import RECORDS_MAX, Cursor, HostChannel, HostRecord, Recorded, RecordedEntry, RecordKey
from stateward.runtime.session.acts import RunOutcome
from stateward.runtime.session.entries import Entry, Kind
from tests.runtime.engines import PERSON
from tests.runtime.flows import REVIEW

SECRET = "hunter2hunter2"  # noqa: S105 -- what is to be found nowhere
STARTED = 2
"""Entries of a Worker that was just started."""


@dataclass
class Hosted:
    """A Worker, its channel, and the engine of the store beside the channel."""

    channel: HostChannel
    engine: Engine

    def entries(self) -> list[Entry]:
        """What was written through the channel."""
        return [each.entry for each in self.engine.log(self.channel.worker, STARTED)]


def result(use: str, payload: bytes = b"exit status 0", by: str = "") -> HostRecord:
    return HostRecord(Kind.TOOL_RESULT, payload, RecordKey("claude", "s-1", use, "result"), by)


def at(offset: int) -> Cursor:
    return Cursor("claude", "s-1", "/home/ada/s-1.jsonl", offset, f"line-{offset}")


def recorded(answer: object) -> Recorded:
    assert isinstance(answer, Recorded), answer
    return answer


def entry(answer: object) -> RecordedEntry:
    assert isinstance(answer, RecordedEntry), answer
    return answer


def code(answer: object) -> RefusalCode:
    assert isinstance(answer, Refusal), answer
    return answer.code


def test_a_harness_is_shown_where_the_worker_stands(hosted: Hosted) -> None:
    standing = hosted.channel.standing()
    assert not isinstance(standing, Refusal)
    assert standing.flow is not None
    here = REVIEW.state("implement")
    assert ("implement", here.instructions, 1, "active", None) == (
        standing.flow.state,
        standing.flow.instructions,
        standing.flow.visit,
        standing.flow.status,
        standing.flow.open,
    )
    assert [each.condition for each in here.transitions] == [each.condition for each in standing.flow.ways]
    assert hosted.channel.worker == standing.worker


def test_records_are_committed_as_evidence_of_the_host_with_its_session(hosted: Hosted) -> None:
    call = HostRecord(Kind.TOOL_CALL, b'{"command":"pytest"}', RecordKey("claude", "s-1", "u-1", "call"))
    answer = recorded(hosted.channel.record((call, result("u-1"))))
    written = hosted.entries()
    assert (2, written[-1].seq, written[-1].digest) == (answer.new, answer.head.seq, answer.head.digest)
    assert [(Kind.TOOL_CALL, call.payload), (Kind.TOOL_RESULT, b"exit status 0")] == [(each.kind, each.payload) for each in written]
    assert {("host", "s-1")} == {(str(each.actor.actor_class), each.actor.host_session) for each in written}


def test_a_record_is_committed_once_whatever_it_holds_the_second_time(hosted: Hosted) -> None:
    recorded(hosted.channel.record((result("u-1"),)))
    again = recorded(hosted.channel.record((result("u-1", b"in another form"), result("u-2"))))
    assert 1 == again.new
    assert [b"exit status 0", b"exit status 0"] == [each.payload for each in hosted.entries()]


def test_payloads_are_kept_as_the_bytes_they_are(hosted: Hosted) -> None:
    odd = b'{"big":9007199254740993,"half":"\\ud800","one":1.0}\xff\x00'
    recorded(hosted.channel.record((result("u-1", odd), result("u-2", b""))))
    assert [odd, b""] == [each.payload for each in hosted.entries()]


def test_a_record_of_a_sub_agent_carries_its_id(hosted: Hosted) -> None:
    recorded(hosted.channel.record((result("u-1", by="agent-7"),)))
    assert "agent-7" == hosted.entries()[0].actor.principal


def test_secrets_never_reach_the_log(hosted: Hosted) -> None:
    recorded(hosted.channel.record((result("u-1", f"key {SECRET}".encode()),), Cursor("claude", "s-1", f"/{SECRET}", 1, "l")))
    hosted.channel.stop(f"it said {SECRET}", "stop-1")
    assert not any(SECRET.encode() in each.payload for each in hosted.entries())


def test_how_far_a_transcript_was_taken_in_is_known_again(hosted: Hosted) -> None:
    assert hosted.channel.cursor("claude", "s-1") is None
    recorded(hosted.channel.record((result("u-1"),), at(10)))
    recorded(hosted.channel.record((), at(20)))
    assert at(20) == hosted.channel.cursor("claude", "s-1")
    assert hosted.channel.cursor("claude", "s-2") is None
    assert [Kind.TOOL_RESULT, Kind.EXTENSION, Kind.EXTENSION] == [each.kind for each in hosted.entries()]


def test_nothing_of_a_batch_is_committed_where_one_record_may_not_be(hosted: Hosted) -> None:
    forged = HostRecord(Kind.OPERATOR_ACT, b"{}", RecordKey("claude", "s-1", "u-2"))
    assert RefusalCode.RECORD_NOT_ALLOWED is code(hosted.channel.record((result("u-1"), forged)))
    nameless = HostRecord(Kind.NOTE, b"{}", RecordKey("claude", "s-1", ""))
    assert RefusalCode.RECORD_MALFORMED is code(hosted.channel.record((result("u-1"), nameless)))
    many = tuple(result(f"u-{number}") for number in range(RECORDS_MAX + 1))
    assert RefusalCode.RECORD_TOO_LARGE is code(hosted.channel.record(many))
    assert [] == hosted.entries()


def test_runs_are_recorded_once_each(hosted: Hosted) -> None:
    first, again = entry(hosted.channel.start_run("run-1")), entry(hosted.channel.start_run("run-1"))
    assert (first.head, False, True) == (again.head, first.repeated, again.repeated)
    entry(hosted.channel.end_run("run-1", RunOutcome.COMPLETED, "it is over"))
    assert [Kind.RUN_STARTED, Kind.RUN_ENDED] == [each.kind for each in hosted.entries()]
    assert RefusalCode.RECORD_MALFORMED is code(hosted.channel.start_run("no id\n"))


def test_that_the_agent_stopped_is_recorded_and_the_worker_stays_active(hosted: Hosted) -> None:
    first, again = entry(hosted.channel.stop("unfinished", "stop-1")), entry(hosted.channel.stop("unfinished", "stop-1"))
    assert (first.head, True) == (again.head, again.repeated)
    (stopped,) = hosted.entries()
    assert (Kind.WORKER_STOPPED, "host") == (stopped.kind, str(stopped.actor.actor_class))
    assert b"unfinished" in stopped.payload
    standing = hosted.channel.standing()
    assert not isinstance(standing, Refusal)
    assert standing.is_active


def test_what_an_operator_does_is_seen(hosted: Hosted) -> None:
    hosted.engine.operate(hosted.channel.worker, Verb.PAUSE, "lunch", PERSON)
    standing = hosted.channel.standing()
    assert not isinstance(standing, Refusal)
    assert standing.flow is not None
    assert "lunch" in standing.flow.paused
    assert hosted.channel.is_active() is True
    hosted.engine.operate(hosted.channel.worker, Verb.CANCEL, "enough", PERSON)
    ended = hosted.channel.standing()
    assert not isinstance(ended, Refusal)
    assert not ended.is_active
    assert hosted.channel.is_active() is False


def test_records_are_taken_after_the_flow_has_ended(hosted: Hosted) -> None:
    hosted.engine.operate(hosted.channel.worker, Verb.CANCEL, "enough", PERSON)
    assert 1 == recorded(hosted.channel.record((result("u-1"),))).new
