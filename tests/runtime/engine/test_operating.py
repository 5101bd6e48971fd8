"""What operators do: pause, resume, withdraw, cancel, clear, rewind."""

from dataclasses import replace

import pytest

from stateward.runtime.core.events import EntryCitation, Status
from stateward.runtime.core.instance import AttemptStatus
from stateward.runtime.core.operating import Verb
from stateward.runtime.core.refusal import Refusal, RefusalCode
from stateward.runtime.engine.operating import Operated
from stateward.runtime.ports import Answered, VerifierAnswered
from stateward.runtime.profile import DEMONSTRATION
from stateward.runtime.session.entries import Actor, ActorClass, Assurance, Kind
from stateward.runtime.session.payloads import OperatorAct, decode
from tests.runtime.engines import AGENT, HOST, PERSON, Desk, Judge, input_for, verdicts
from tests.runtime.judgements import MET


def operated(desk: Desk, verb: Verb, reason: str = "because", *, state: str = "", operation: str | None = None) -> Operated:
    done = desk.engine.operate(desk.worker, verb, reason, PERSON, operation, state=state)
    assert isinstance(done, Operated), done
    return done


def refused(answer: object) -> RefusalCode:
    assert isinstance(answer, Refusal), answer
    return answer.code


def test_a_paused_flow_refuses_requests_saying_by_whom_and_why_and_takes_them_again_when_resumed() -> None:
    desk = Desk()
    operated(desk, Verb.PAUSE, "lunch")
    answer = desk.engine.begin(desk.worker, "done", AGENT)
    assert isinstance(answer, Refusal)
    expected = (RefusalCode.INSTANCE_PAUSED, "the flow was paused by person ada (assurance none): lunch")
    assert expected == (answer.code, answer.message)
    operated(desk, Verb.RESUME)
    assert "b" == desk.request("done", {"x": MET}).answer.state


def test_what_was_being_verified_when_a_flow_was_paused_is_still_reported() -> None:
    desk = Desk()
    request = desk.begin("done").request
    operated(desk, Verb.PAUSE)
    answered = desk.engine.report(desk.worker, request.attempt, verdicts(request, {"x": MET}))
    assert isinstance(answered, Answered)
    assert ("b", True) == (desk.flow.state, desk.flow.paused is not None)


def test_a_withdrawn_request_is_cancelled_and_its_late_result_ignored() -> None:
    desk = Desk()
    request = desk.begin("done").request
    operated(desk, Verb.WITHDRAW)
    assert None is desk.flow.attempt
    late = desk.engine.report(desk.worker, request.attempt, verdicts(request, {"x": MET}))
    assert isinstance(late, Answered)
    told = (late.late, late.answer.outcome, late.answer.code, late.answer.cause, late.answer.state)
    assert (True, AttemptStatus.CANCELLED, "verifier_cancelled", "withdrawn", "a") == told


def test_an_operator_cancels_without_worker_or_verifier() -> None:
    desk = Desk()
    desk.begin("done")
    operated(desk, Verb.CANCEL)
    assert ("$cancelled", Status.CANCELLED, None, 2) == (desk.flow.state, desk.flow.status, desk.flow.attempt, desk.flow.visit)
    assert not isinstance(desk.engine.submit(desk.worker, input_for("fork"), PERSON), Refusal)


@pytest.mark.parametrize("verb", Verb)
def test_an_instance_that_ended_is_left_alone(verb: Verb) -> None:
    desk = Desk("nothing")
    assert RefusalCode.NO_ACTIVE_INSTANCE is refused(desk.engine.operate(desk.worker, verb, "why not", PERSON, state="done"))


def test_what_would_change_nothing_is_refused() -> None:
    desk = Desk()
    for verb, code in (
        (Verb.RESUME, RefusalCode.NOT_PAUSED),
        (Verb.CLEAR, RefusalCode.NOT_HELD),
        (Verb.WITHDRAW, RefusalCode.NO_OPEN_ATTEMPT),
    ):
        assert code is refused(desk.engine.operate(desk.worker, verb, "why not", PERSON))
    operated(desk, Verb.PAUSE)
    assert RefusalCode.ALREADY_PAUSED is refused(desk.engine.operate(desk.worker, Verb.PAUSE, "again", PERSON))
    assert RefusalCode.REASON_BLANK is refused(desk.engine.operate(desk.worker, Verb.RESUME, " ", PERSON))


# --- rewinding ----------------------------------------------------------------------------------------------------------------------


def test_a_rewind_enters_an_earlier_state_at_a_new_visit_and_withdraws_an_open_request() -> None:
    desk = Desk()
    desk.request("go", {"x": MET})
    attempt = desk.begin("the end").request.attempt
    done = operated(desk, Verb.REWIND, state="a")
    assert ("a", 3, None, {"a": 2, "b": 1}) == (desk.flow.state, desk.flow.visit, desk.flow.attempt, desk.flow.visits)
    assert done.before is not None
    assert done.after is not None
    assert (("b", attempt), ("a", None)) == ((done.before.state, done.before.attempt), (done.after.state, done.after.attempt))
    assert "c" == desk.request("go", {"y": MET}).answer.state


def test_what_was_set_aside_is_labelled_and_no_evidence() -> None:
    desk = Desk()
    desk.record_evidence()
    desk.request("go", {"x": MET})
    operated(desk, Verb.REWIND, state="a")
    assert [1, 2, 6] == [each.entry.seq for each in desk.engine.log(desk.worker) if not each.set_aside]
    answers = []
    for reference in ("E00000003", "E00000002"):
        request = desk.begin(f"because of {reference}").request
        assert 1 == len(request.aside)
        given = verdicts(request, {"x": MET})
        assert isinstance(given, VerifierAnswered)
        first, *others = given.judgements
        cited = VerifierAnswered((replace(first, citations=(EntryCitation(reference),)), *others))
        answer = desk.engine.report(desk.worker, request.attempt, cited)
        assert isinstance(answer, Answered)
        answers.append(answer.answer.code)
    assert ["indeterminate", ""] == answers


def test_a_move_that_was_rewound_is_not_answered_with_again() -> None:
    desk = Desk()
    desk.request("go", {"x": MET})
    operated(desk, Verb.REWIND, state="a")
    assert desk.begin("go").request.state == "a"


def test_only_a_state_that_was_entered_can_be_gone_back_to() -> None:
    desk = Desk()
    desk.request("go", {"x": MET})
    operated(desk, Verb.REWIND, state="a")
    answer = desk.engine.operate(desk.worker, Verb.REWIND, "back", PERSON, state="b")
    assert isinstance(answer, Refusal)
    assert (RefusalCode.STATE_NOT_ENTERED, ("rewind to `a`",)) == (answer.code, answer.allowed)


def test_rewinding_again_and_again_sets_each_part_aside_once() -> None:
    desk = Desk()
    for number in range(3):
        desk.request(f"go {number}", {"x": MET})
        operated(desk, Verb.REWIND, state="a")
    assert [(2, 5), (5, 8), (8, 11)] == [(each.after, each.before) for each in desk.view.aside]
    desk.restart()
    assert 7 == desk.flow.visit


# --- who, and how often -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("actor", [AGENT, HOST, Actor(ActorClass.VERIFIER, "in_process")])
def test_only_a_person_operates(actor: Actor) -> None:
    desk = Desk()
    assert RefusalCode.OPERATOR_ONLY is refused(desk.engine.operate(desk.worker, Verb.PAUSE, "me", actor))
    assert RefusalCode.OPERATOR_ONLY is refused(desk.engine.fork(desk.worker, "me", actor))
    assert RefusalCode.OPERATOR_ONLY is refused(desk.engine.delete(desk.worker, actor))


def test_a_profile_may_require_an_assurance() -> None:
    desk = Desk(profile=replace(DEMONSTRATION, operator_assurance=Assurance.TOKEN))
    assert RefusalCode.OPERATOR_ONLY is refused(desk.engine.operate(desk.worker, Verb.PAUSE, "me", PERSON))
    sure = replace(PERSON, assurance=Assurance.SEPARATED)
    assert isinstance(desk.engine.operate(desk.worker, Verb.PAUSE, "me", sure), Operated)


def test_one_operation_id_stands_for_one_act() -> None:
    desk = Desk()
    first = operated(desk, Verb.PAUSE, "lunch", operation="op-1")
    assert replace(first, repeated=True) == operated(desk, Verb.PAUSE, "lunch ", operation="op-1")
    other = desk.engine.operate(desk.worker, Verb.RESUME, "lunch", PERSON, "op-1")
    assert RefusalCode.OPERATION_CONFLICT is refused(other)
    assert 3 == len(desk.log())


def test_an_act_is_one_entry_with_verb_reason_before_and_after() -> None:
    desk = Desk()
    operated(desk, Verb.PAUSE, "lunch")
    (entry,) = [each for each in desk.log() if each.kind == Kind.OPERATOR_ACT]
    act = decode(entry)
    assert isinstance(act, OperatorAct)
    assert act.before is not None
    assert act.after is not None
    assert (PERSON, "pause", "lunch", False, True) == (entry.actor, act.verb, act.reason, act.before.paused, act.after.paused)


def test_operators_acts_are_no_new_evidence() -> None:
    desk = Desk(actor=AGENT)
    judge = Judge(lambda request: verdicts(request, {}))
    desk.request("done", judge)
    operated(desk, Verb.PAUSE)
    operated(desk, Verb.RESUME)
    assert desk.request("done", judge).repeated


def test_a_flow_that_ended_while_it_was_paused_is_refused_for_having_ended() -> None:
    desk = Desk()
    request = desk.begin("done").request
    operated(desk, Verb.PAUSE)
    desk.engine.report(desk.worker, request.attempt, verdicts(request, {"$cancel": MET}))
    assert RefusalCode.NO_ACTIVE_INSTANCE is refused(desk.engine.begin(desk.worker, "more", PERSON))
