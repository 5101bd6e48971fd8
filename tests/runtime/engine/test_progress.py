"""No progress: what is judged again and again with nothing new to see is held; what is spent is capped."""

from dataclasses import replace

from stateward.runtime.core.bounds import Bounds
from stateward.runtime.core.operating import Verb
from stateward.runtime.core.refusal import Refusal, RefusalCode
from stateward.runtime.ports import Answered
from stateward.runtime.profile import DEMONSTRATION
from tests.runtime.engines import AGENT, PERSON, Desk, Judge, saying
from tests.runtime.judgements import INDETERMINATE, MET


def asked(desk: Desk, judge: Judge, reason: str) -> Answered | Refusal:
    answer = desk.engine.request_transition(desk.worker, reason, desk.actor, judge)
    assert isinstance(answer, Answered | Refusal)
    return answer


def test_after_three_judgements_of_the_same_evidence_the_verifier_is_not_asked_again() -> None:
    desk, judge = Desk(actor=AGENT), Judge(saying({}))
    answers = [asked(desk, judge, f"done {number}") for number in range(30)]
    assert 3 == len(judge.asked)
    told = answers[2]
    assert isinstance(told, Answered)
    assert "no condition is met; held: 3 judgements saw the same evidence and moved nothing" == told.answer.message
    refused = answers[3]
    assert isinstance(refused, Refusal)
    assert (RefusalCode.INSTANCE_HELD, ("record new evidence", "ask an operator to clear the hold")) == (refused.code, refused.allowed)
    assert 1 == len(set(answers[3:]))


def test_new_evidence_frees_a_held_flow() -> None:
    desk, judge = Desk(actor=AGENT), Judge(saying({}))
    for number in range(4):
        asked(desk, judge, f"done {number}")
    desk.record_evidence()
    assert isinstance(asked(desk, judge, "done 4"), Answered)
    assert (4, None) == (len(judge.asked), desk.flow.held)


def test_an_operator_frees_a_held_flow_for_as_many_judgements_more() -> None:
    desk, judge = Desk(actor=AGENT), Judge(saying({"x": INDETERMINATE}))
    for number in range(4):
        asked(desk, judge, f"done {number}")
    desk.engine.operate(desk.worker, Verb.CLEAR, "look again", PERSON)
    for number in range(4, 10):
        asked(desk, judge, f"done {number}")
    assert 6 == len(judge.asked)


def test_evidence_that_came_while_the_verifier_worked_prevents_a_hold() -> None:
    desk = Desk(actor=AGENT)
    for number in range(2):
        desk.request(f"done {number}", {})
    request = desk.begin("done 2").request
    desk.record_evidence()
    desk.engine.report(desk.worker, request.attempt, saying({})(request))
    assert None is desk.flow.held


def test_words_of_the_worker_are_no_new_evidence() -> None:
    desk, judge = Desk(actor=AGENT), Judge(saying({}))
    for number in range(6):
        asked(desk, judge, f"all {number} tests pass, verified")
    assert 3 == len(judge.asked)


def test_a_move_begins_to_count_anew() -> None:
    desk = Desk(actor=AGENT)
    for step in range(3):
        for number in range(2):
            desk.request(f"done {step} {number}", {})
        desk.request(f"go {step}", {"z": MET})
    assert None is desk.flow.held


def test_a_hold_is_restored() -> None:
    desk = Desk(actor=AGENT)
    for number in range(3):
        desk.request(f"done {number}", {})
    held = desk.flow.held
    desk.restart()
    assert held is not None
    assert (held, 3) == (desk.flow.held, held.judgements)


def test_the_profile_says_after_how_many_judgements_a_flow_is_held() -> None:
    desk = Desk(profile=replace(DEMONSTRATION, bounds=Bounds(hold_after=1)), actor=AGENT)
    desk.request("done", {})
    assert desk.flow.held is not None


def test_the_verification_over_a_cap_is_not_made_and_says_what_is_spent() -> None:
    bounds = Bounds(hold_after=64, visit_verifications_max=3, instance_verifications_max=5)
    desk, judge = Desk(profile=replace(DEMONSTRATION, bounds=bounds), actor=AGENT), Judge(saying({}))
    answers = [asked(desk, judge, f"done {number}") for number in range(5)]
    refused = answers[3]
    assert isinstance(refused, Refusal)
    assert (3, RefusalCode.BUDGET_EXHAUSTED) == (len(judge.asked), refused.code)
    assert "3 of 3 verifications of this visit of state `a` are spent" == refused.message
    desk.engine.operate(desk.worker, Verb.REWIND, "once more", PERSON, state="a")
    answers = [asked(desk, judge, f"done {number}") for number in range(5, 9)]
    last = answers[-1]
    assert isinstance(last, Refusal)
    assert (5, "5 of 5 verifications of this flow instance are spent") == (len(judge.asked), last.message)
