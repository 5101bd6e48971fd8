"""What every way for an agent to reach its Worker does (the port `WorkerChannel`), wherever the Worker is kept.

A test module for an adapter imports everything here and offers two fixtures: `bench`, a Worker on the flow `review` under a profile whose
judge is a program (`kind` `command`), and `people`, the same where a person judges; both with some `evidence` in the log.
"""

from dataclasses import dataclass, field
from threading import Event

import pytest

from stateward.runtime.core.events import EntryCitation, Verdict
from stateward.runtime.core.operating import Verb
from stateward.runtime.core.refusal import Refusal, RefusalCode
from stateward.runtime.engine.worker import Engine
from stateward.runtime.ports import (
    LOG_PAGE_MAX,
    Answered,
    Asked,
    FlowStanding,
    InProgress,
    LogPage,
    RecordedEntry,
    RecordKey,
    Submitted,
    VerificationRequest,
    VerifierAnswered,
    VerifierCancelled,
    VerifierOutcome,
    Waiting,
    WorkerChannel,
)
from stateward.runtime.profile import Profile, VerifierKind
from stateward.runtime.session.answers import Answer
from stateward.runtime.session.entries import ActorClass, Kind
from stateward.runtime.session.segments import FlowSegment, TextSegment
from tests.runtime.engines import HOST, PERSON
from tests.runtime.flows import REVIEW
from tests.runtime.judgements import judgement

PROGRAM = Profile("judged by a program", VerifierKind.COMMAND, program=("/bin/true",), agent_selectors=("workspace:review",))
PEOPLE = Profile("judged by a person", VerifierKind.PERSON)
LONG = 30.0
"""Seconds that nobody waits: everything here answers or is asked not to wait."""


class GatedJudge:
    """A judge that can be made to think until it is let go on, or told to give up."""

    kind = "command"

    def __init__(self) -> None:
        self.asked: list[VerificationRequest] = []
        self.says: dict[str, Verdict] = {}
        self.gate = Event()
        self.gate.set()
        self._given_up = False

    def verify(self, request: VerificationRequest) -> VerifierOutcome:
        """Judge as it was told to, when it may."""
        self.asked.append(request)
        self._given_up = False
        while not self.gate.wait(0.01):
            if self._given_up:
                return VerifierCancelled()
        cited = tuple(EntryCitation(each.reference) for each in request.captured if each.actor.actor_class is ActorClass.HOST)
        given = [judgement(each.transition, self.says.get(each.transition, Verdict.NOT_MET), citations=cited) for each in request.questions]
        return VerifierAnswered(tuple(given))

    def cancel(self) -> None:
        """Give up."""
        self._given_up = True


@dataclass
class Bench:
    """A Worker, its channel, its judge, and the engine of the store beside the channel."""

    channel: WorkerChannel
    engine: Engine
    judge: GatedJudge = field(default_factory=GatedJudge)

    @property
    def flow(self) -> FlowStanding:
        standing = self.channel.standing()
        assert not isinstance(standing, Refusal), standing
        assert standing.flow is not None
        return standing.flow

    def asked(self, reason: str, **says: Verdict) -> Asked:
        self.judge.says = says
        return self.channel.ask(reason, LONG)

    def kinds(self) -> list[str]:
        return [each.kind for each in page(self.channel.log())]


def evidence(engine: Engine, worker: str, use: str = "use-0") -> None:
    """Let a host record what a verdict can rest on."""
    engine.record(worker, Kind.TOOL_RESULT, b"exit status 0", HOST, RecordKey("host", "session", use))


def page(answer: LogPage | Refusal) -> tuple:
    assert isinstance(answer, LogPage), answer
    return answer.entries


def told(asked: Asked) -> Answer:
    assert isinstance(asked, Answered), asked
    return asked.answer


def test_a_worker_is_shown_where_it_stands(bench: Bench) -> None:
    standing = bench.channel.standing()
    assert not isinstance(standing, Refusal)
    flow, here = bench.flow, REVIEW.state("implement")
    assert (bench.channel.worker, "command", True) == (standing.worker, standing.verifier, standing.is_active)
    assert ("review", "implement", here.instructions, 1, "active") == (flow.name, flow.state, flow.instructions, flow.visit, flow.status)
    assert [(each.id, each.target, each.condition, each.synthetic) for each in here.transitions] == [
        (each.transition, each.target, each.condition, each.synthetic) for each in flow.ways
    ]
    assert (None, None, "", "") == (flow.open, flow.last, flow.paused, flow.held)
    assert ("workspace:review",) == standing.self_selectors


def test_a_request_whose_condition_is_met_moves_the_worker(bench: Bench) -> None:
    answer = told(bench.asked("It is written.", ready=Verdict.MET))
    assert ("entered", "ready", "check", REVIEW.state("check").instructions) == (
        answer.outcome,
        answer.transition,
        answer.state,
        answer.instructions,
    )
    assert ("check", 2, 1) == (bench.flow.state, bench.flow.visit, bench.flow.attempts)


def test_what_is_missing_is_told_and_told_again_where_the_worker_stands(bench: Bench) -> None:
    answer = told(bench.asked("Trust me.", ready=Verdict.NOT_MET))
    assert ("rejected", "no_condition_met", "implement") == (answer.outcome, answer.code, answer.state)
    assert [("ready", Verdict.NOT_MET, ("a record of it",)), ("$cancel", Verdict.NOT_MET, ("a record of it",))] == [
        (each.transition, each.verdict, each.missing) for each in answer.results
    ]
    assert answer == bench.flow.last


def test_a_request_that_takes_longer_than_anybody_waits_goes_on_and_is_joined_by_the_next_call(bench: Bench) -> None:
    bench.judge.gate.clear()
    bench.judge.says = {"ready": Verdict.MET}
    going = bench.channel.ask("It is written.", 0.0)
    assert isinstance(going, InProgress), going
    assert ("It is written.", bench.channel.worker) == (going.reason, going.worker)
    again = bench.channel.ask("It is written.", 0.0)
    assert isinstance(again, InProgress), again
    assert going.attempt == again.attempt
    opened = bench.flow.open
    assert opened is not None
    assert (going.attempt, "It is written.") == (opened.attempt, opened.reason)
    bench.judge.gate.set()
    answer = told(bench.channel.ask("It is written.", LONG))
    assert (going.attempt, "entered", 1) == (answer.attempt, answer.outcome, len(bench.judge.asked))


def test_another_reason_given_meanwhile_is_not_judged(bench: Bench) -> None:
    bench.judge.gate.clear()
    first = bench.channel.ask("The first reason.", 0.0)
    assert isinstance(first, InProgress), first
    second = bench.channel.ask("The second reason.", 0.0)
    assert isinstance(second, InProgress), second
    assert (first.attempt, "The first reason.") == (second.attempt, second.reason)
    bench.judge.gate.set()
    assert "The first reason." == told(bench.channel.ask("The third reason.", LONG)).reason
    assert 1 == len(bench.judge.asked)


def test_an_answer_that_nobody_waited_for_is_told_before_anything_else_is_asked(bench: Bench) -> None:
    bench.judge.gate.clear()
    bench.judge.says = {"ready": Verdict.MET}
    going = bench.channel.ask("It is written.", 0.0)
    assert isinstance(going, InProgress), going
    bench.judge.gate.set()
    answer = told(bench.channel.ask("It is written, and checked.", LONG))
    assert (going.attempt, "check") == (answer.attempt, answer.state)
    assert 1 == len(bench.judge.asked)


def test_the_same_request_is_not_judged_twice(bench: Bench) -> None:
    first = told(bench.asked("Trust me.", ready=Verdict.NOT_MET))
    again = bench.asked("Trust me.", ready=Verdict.MET)
    assert isinstance(again, Answered), again
    assert (first, True, 1) == (again.answer, again.repeated, len(bench.judge.asked))


def test_a_request_that_is_stopped_stays_open_and_is_gone_on_with(bench: Bench) -> None:
    bench.judge.gate.clear()
    bench.judge.says = {"ready": Verdict.MET}
    going = bench.channel.ask("It is written.", 0.0)
    assert isinstance(going, InProgress), going
    assert bench.channel.cancel()
    opened = bench.flow.open
    assert opened is not None
    assert going.attempt == opened.attempt
    noted = page(bench.channel.log())[-1]
    assert ("note", "agent", "claim", f"verifying attempt {going.attempt} was stopped by whoever asked") == (
        noted.kind,
        noted.actor_class,
        noted.evidence,
        noted.payload,
    )
    bench.judge.gate.set()
    answer = told(bench.channel.ask("It is written.", LONG))
    assert (going.attempt, "entered") == (answer.attempt, answer.outcome)


def test_an_answer_whose_asker_gave_up_is_told_again_and_then_not_any_more(bench: Bench) -> None:
    first = told(bench.asked("It is written.", ready=Verdict.MET))
    assert not bench.channel.cancel()
    assert (first, 1) == (told(bench.asked("It is checked.")), len(bench.judge.asked))
    assert ("It is checked.", 2) == (told(bench.asked("It is checked.")).reason, len(bench.judge.asked))


@pytest.mark.parametrize("verb", [Verb.REWIND, Verb.CANCEL])
def test_an_answer_that_waited_to_be_told_is_not_told_where_others_moved_the_flow_since(bench: Bench, verb: Verb) -> None:
    bench.judge.gate.clear()
    bench.judge.says = {"ready": Verdict.MET}
    assert isinstance(bench.channel.ask("It is written.", 0.0), InProgress)
    bench.judge.gate.set()
    while bench.flow.open is not None:
        pass
    bench.engine.operate(bench.channel.worker, verb, "not so", PERSON, state="implement" if verb is Verb.REWIND else "")
    asked = bench.channel.ask("It is checked.", LONG)
    assert isinstance(asked, Refusal), asked
    assert ("state_changed", True) == (asked.code, f"in state `{bench.flow.state}` now (visit {bench.flow.visit}" in asked.message)
    assert 1 == len(bench.judge.asked)


def test_nothing_is_stopped_where_nothing_goes_on(bench: Bench) -> None:
    assert not bench.channel.cancel()
    told(bench.asked("Trust me.", ready=Verdict.NOT_MET))
    before = bench.kinds()
    assert not bench.channel.cancel()
    assert before == bench.kinds()


def test_an_attempt_is_found_by_its_id(bench: Bench) -> None:
    answer = told(bench.asked("Trust me.", ready=Verdict.NOT_MET))
    found = bench.channel.attempt(answer.attempt)
    assert found is not None
    assert (answer.attempt, "implement", 1, "Trust me.", "rejected", answer) == (
        found.attempt,
        found.state,
        found.visit,
        found.reason,
        found.status,
        found.answer,
    )
    assert bench.channel.attempt("0198c0de-0000-7000-8000-ffffffffffff") is None


def test_an_attempt_that_is_open_is_found_as_being_verified(bench: Bench) -> None:
    bench.judge.gate.clear()
    going = bench.channel.ask("It is written.", 0.0)
    assert isinstance(going, InProgress), going
    found = bench.channel.attempt(going.attempt)
    assert found is not None
    assert ("verifying", None) == (found.status, found.answer)
    bench.judge.gate.set()


def test_a_blank_reason_and_one_that_is_too_long_are_refused(bench: Bench) -> None:
    for reason, code in ((" \n\t", RefusalCode.REASON_BLANK), ("x" * (16 * 1024 + 1), RefusalCode.REASON_TOO_LARGE)):
        refused = bench.asked(reason)
        assert isinstance(refused, Refusal), refused
        assert code == refused.code
    assert [] == bench.judge.asked


def test_a_paused_worker_is_told_by_whom_and_why(bench: Bench) -> None:
    bench.engine.operate(bench.channel.worker, Verb.PAUSE, "lunch", PERSON)
    refused = bench.asked("It is written.", ready=Verdict.MET)
    assert isinstance(refused, Refusal), refused
    assert RefusalCode.INSTANCE_PAUSED == refused.code
    assert "lunch" in bench.flow.paused


def test_a_note_is_a_claim_and_kept_once_for_its_use(bench: Bench) -> None:
    first = bench.channel.note("All tests pass.", "use-1")
    again = bench.channel.note("All tests pass.", "use-1")
    assert isinstance(first, RecordedEntry), first
    assert isinstance(again, RecordedEntry), again
    assert (first.head, False, True) == (again.head, first.repeated, again.repeated)
    (noted,) = [each for each in page(bench.channel.log()) if each.kind == Kind.NOTE]
    assert ("All tests pass.", "claim", "agent") == (noted.payload, noted.evidence, noted.actor_class)


def test_a_note_that_says_nothing_or_too_much_is_refused(bench: Bench) -> None:
    for text, code in ((" ", RefusalCode.RECORD_MALFORMED), ("x" * (16 * 1024 + 1), RefusalCode.RECORD_TOO_LARGE)):
        refused = bench.channel.note(text)
        assert isinstance(refused, Refusal), refused
        assert code == refused.code


def test_the_log_is_read_in_pages_without_a_gap(bench: Bench) -> None:
    for number in range(7):
        bench.channel.note(f"note {number}", f"use-{number}")
    whole = bench.channel.log()
    assert isinstance(whole, LogPage), whole
    assert whole.head.seq == whole.entries[-1].seq
    seen: list[int] = []
    while part := page(bench.channel.log(seen[-1] if seen else 0, 3)):
        assert len(part) <= 3
        seen += [each.seq for each in part]
    assert [each.seq for each in whole.entries] == seen == list(range(1, whole.head.seq + 1))
    assert () == page(bench.channel.log(whole.head.seq, LOG_PAGE_MAX))


def test_a_second_flow_is_refused_while_one_is_active_and_a_text_is_taken(bench: Bench) -> None:
    refused = bench.channel.submit((FlowSegment("workspace:review"),))
    assert isinstance(refused, Refusal), refused
    assert RefusalCode.INSTANCE_ACTIVE == refused.code
    first = bench.channel.submit((TextSegment("Mind the gap."),), "submission-1")
    again = bench.channel.submit((TextSegment("Mind the gap."),), "submission-1")
    assert isinstance(first, Submitted), first
    assert isinstance(again, Submitted), again
    assert (first.head, True) == (again.head, again.repeated)
    conflict = bench.channel.submit((TextSegment("Another."),), "submission-1")
    assert isinstance(conflict, Refusal), conflict
    assert RefusalCode.SUBMISSION_CONFLICT == conflict.code


def test_a_flow_that_the_profile_does_not_list_is_not_submitted_by_an_agent(bench: Bench) -> None:
    refused = bench.channel.submit((FlowSegment("workspace:fork"),))
    assert isinstance(refused, Refusal), refused
    assert RefusalCode.SELECTOR_NOT_ALLOWED == refused.code


def test_a_worker_whose_flow_ended_can_begin_another(bench: Bench) -> None:
    for reason, way in (("Written.", "ready"), ("Checked.", "good")):
        told(bench.asked(reason, **{way: Verdict.MET}))
    assert "completed" == bench.flow.status
    refused = bench.asked("Once more.", ready=Verdict.MET)
    assert isinstance(refused, Refusal), refused
    assert RefusalCode.NO_ACTIVE_INSTANCE == refused.code
    begun = bench.channel.submit((FlowSegment("workspace:review"),))
    assert isinstance(begun, Submitted), begun
    assert (begun.instance, "implement", "active") == (bench.flow.instance, bench.flow.state, bench.flow.status)


def test_where_a_person_judges_the_request_waits_for_them(people: Bench) -> None:
    waiting = people.channel.ask("It is written.", LONG)
    assert isinstance(waiting, Waiting), waiting
    assert ("It is written.", False) == (waiting.reason, waiting.continued)
    again = people.channel.ask("It is written.", LONG)
    assert isinstance(again, Waiting), again
    assert (waiting.attempt, True) == (again.attempt, again.continued)
    opened = people.flow.open
    assert opened is not None
    assert waiting.attempt == opened.attempt
