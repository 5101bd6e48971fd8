"""What may happen next, row by row."""

from dataclasses import replace
from typing import Any

import pytest

from stateward.runtime.core import limits
from stateward.runtime.core.decide import Continue, Decided, Failed, GivenUp, Judged, Outcome, Repeat, Report, Request, decide
from stateward.runtime.core.events import (
    CancelCause,
    FailureCause,
    InstanceStarted,
    LateResultIgnored,
    RejectionCode,
    StateEntered,
    Status,
    TransitionCheckPassed,
    TransitionCheckRejected,
    TransitionRequested,
    TransitionVerificationCancelled,
    TransitionVerificationFailed,
)
from stateward.runtime.core.instance import NOTHING_YET, AttemptStatus
from stateward.runtime.core.refusal import Refusal, RefusalCode
from stateward.runtime.core.texts import size_of
from tests.runtime.flows import FORK, HALF, NOTHING_TO_DO, ODD_TEXT, REVIEW
from tests.runtime.histories import History, begun, pin_of, walked
from tests.runtime.judgements import INDETERMINATE, MET, NOT_MET, judgement, judgements

# --- start --------------------------------------------------------------------------------------------------------------------------


def test_an_instance_begins_in_the_initial_state_at_visit_1() -> None:
    history = History(REVIEW)
    pin = pin_of(REVIEW)
    expected = (
        InstanceStarted(
            instance="instance-1",
            visit=0,
            workspace=pin.workspace,
            selector=pin.selector,
            flow_id=pin.flow_id,
            flow_revision=pin.flow_revision,
            content_digest=pin.content_digest,
            definition_digest=pin.definition_digest,
            chosen_by="person",
        ),
        StateEntered(instance="instance-1", visit=1, state="implement", status=Status.ACTIVE),
    )
    assert Decided(expected) == history.start()
    assert (pin, "implement", 1, Status.ACTIVE) == (
        history.instance.pin,
        history.instance.state,
        history.instance.visit,
        history.instance.status,
    )


def test_an_initial_terminal_state_completes_at_once() -> None:
    history = begun(NOTHING_TO_DO)
    assert ("done", Status.COMPLETED, 1) == (history.instance.state, history.instance.status, history.instance.visit)


def test_a_second_instance_is_refused_while_one_is_active() -> None:
    refused = begun(REVIEW).start()
    assert isinstance(refused, Refusal)
    assert (RefusalCode.INSTANCE_ACTIVE, "flow `workspace:review` is active in state `implement`") == (refused.code, refused.message)


@pytest.mark.parametrize(("way", "status"), [(("x", "end"), Status.COMPLETED), (("$cancel",), Status.CANCELLED)])
def test_an_instance_that_ended_may_be_followed_by_a_new_one(way: tuple[str, ...], status: Status) -> None:
    history = walked(FORK, *way)
    assert status is history.instance.status
    history.start()
    assert (2, "a", 1, 0, None) == (
        history.state.instances,
        history.instance.state,
        history.instance.visit,
        history.instance.attempts,
        history.instance.last,
    )


# --- request ------------------------------------------------------------------------------------------------------------------------


def test_a_request_begins_an_attempt_with_the_trimmed_reason_byte_for_byte() -> None:
    history = begun(FORK)
    history.request(f" \n{ODD_TEXT}{HALF}. \n")
    opened = history.instance.attempt
    assert opened is not None
    assert (f"{ODD_TEXT}{HALF}.".strip(), "a", 1, 2) == (opened.reason, opened.state, opened.visit, opened.requested.seq)


@pytest.mark.parametrize("reason", ["", " \t\n"])
def test_a_blank_reason_is_refused(reason: str) -> None:
    refused = begun(FORK).request(reason)
    assert isinstance(refused, Refusal)
    assert RefusalCode.REASON_BLANK is refused.code


def test_a_reason_of_exactly_its_limit_is_accepted_and_one_byte_more_is_refused() -> None:
    history = begun(FORK)
    refused = history.request("é" * (limits.REASON_BYTES_MAX // 2) + "x")
    assert isinstance(refused, Refusal)
    assert RefusalCode.REASON_TOO_LARGE is refused.code
    accepted = history.request("  " + "é" * (limits.REASON_BYTES_MAX // 2) + "  ")
    assert isinstance(accepted, Decided)


def test_without_an_instance_a_request_fails_closed() -> None:
    refused = decide(FORK, NOTHING_YET, Request("attempt-1", "done"))
    assert isinstance(refused, Refusal)
    assert RefusalCode.NO_ACTIVE_INSTANCE is refused.code


@pytest.mark.parametrize("way", [("x", "end"), ("$cancel",)])
def test_a_terminal_state_is_never_left(way: tuple[str, ...]) -> None:
    history = walked(FORK, *way)
    before = history.state
    refused = history.request("one more thing")
    assert isinstance(refused, Refusal)
    assert (RefusalCode.NO_ACTIVE_INSTANCE, before) == (refused.code, history.state)


# --- repeat -------------------------------------------------------------------------------------------------------------------------


def test_a_request_whose_answer_was_lost_is_not_judged_in_the_next_state() -> None:
    history = walked(FORK, "x")
    repeated = history.request("step 0")
    assert isinstance(repeated, Repeat)
    assert history.instance.last == repeated.resolution
    assert "b" == history.instance.state


def test_the_answer_of_the_move_that_ended_the_flow_is_repeated_too() -> None:
    history = walked(FORK, "x", "end")
    assert isinstance(history.request(" step 1 "), Repeat)


def test_after_a_move_evidence_recorded_since_makes_the_same_reason_a_new_request() -> None:
    history = walked(FORK, "x")
    history.note_evidence()
    assert isinstance(history.request("step 0"), Decided)


def test_evidence_recorded_while_the_move_was_verified_does_not_make_a_lost_answer_a_request_in_the_next_state() -> None:
    history = begun(FORK)
    history.request("done")
    history.note_evidence()
    history.answer({"x": MET})
    assert isinstance(history.request("done"), Repeat)


def test_a_rejection_is_repeated_until_something_is_recorded_that_its_verifier_did_not_see() -> None:
    history = begun(FORK)
    history.request("done")
    history.answer({})
    assert isinstance(history.request("done"), Repeat)
    history.note_evidence()
    assert isinstance(history.request("done"), Decided)


def test_evidence_recorded_while_a_request_was_verified_makes_it_judged_again_after_a_rejection() -> None:
    history = begun(FORK)
    history.request("done")
    history.note_evidence()
    history.answer({})
    assert isinstance(history.request("done"), Decided)


def test_another_reason_is_another_request() -> None:
    history = begun(FORK)
    history.request("done")
    history.answer({})
    assert isinstance(history.request("done now"), Decided)


@pytest.mark.parametrize("given", [{}, {"x": INDETERMINATE}, {"x": MET, "y": MET}], ids=["none", "unclear", "ambiguous"])
def test_every_judgement_is_an_answer_that_is_repeated(given: dict[str, Any]) -> None:
    history = begun(FORK)
    history.request("done")
    history.answer(given)
    assert isinstance(history.request("done"), Repeat)


@pytest.mark.parametrize(
    "outcome",
    [Failed(FailureCause.TIMEOUT, "too slow"), GivenUp(CancelCause.WITHDRAWN), Judged(())],
    ids=lambda each: type(each).__name__,
)
def test_what_came_to_no_judgement_is_verified_again_for_the_same_reason(outcome: Outcome) -> None:
    history = begun(FORK)
    history.request("done")
    history.report(outcome)
    assert isinstance(history.request("done"), Decided)


# --- continue or supersede ----------------------------------------------------------------------------------------------------------


def test_an_open_attempt_is_continued_whatever_the_new_reason_says() -> None:
    history = begun(FORK)
    history.request("done")
    opened = history.instance.attempt
    assert opened is not None
    assert Continue(opened) == history.request("something else")


def test_an_open_attempt_is_superseded_when_evidence_was_recorded_since_its_capture() -> None:
    history = begun(FORK)
    history.request("done")
    history.note_evidence()
    decided = history.request("done, and tested")
    expected = (
        TransitionVerificationCancelled(instance="instance-1", visit=1, attempt="attempt-2", cause=CancelCause.SUPERSEDED),
        TransitionRequested(instance="instance-1", visit=1, attempt="attempt-3", state="a", reason="done, and tested"),
    )
    assert Decided(expected) == decided
    last, opened = history.instance.last, history.instance.attempt
    assert last is not None
    assert opened is not None
    assert (AttemptStatus.CANCELLED, "attempt-3", 2) == (last.status, opened.id, history.instance.attempts)


def test_a_request_decided_again_with_its_own_attempt_id_continues_it_and_never_uses_the_id_twice() -> None:
    history = begun(FORK)
    request = Request("mine", "done")
    history.do(request)
    history.note_evidence()
    assert isinstance(history.do(replace(request, evidence=history.evidence)), Continue)
    history.answer({})
    assert isinstance(history.do(replace(request, evidence=history.evidence)), Repeat)


# --- report -------------------------------------------------------------------------------------------------------------------------


def test_exactly_one_condition_met_moves_in_one_record() -> None:
    history = begun(FORK)
    history.request("done")
    given = judgements(FORK, "a", {"y": MET})
    expected = (
        TransitionCheckPassed(instance="instance-1", visit=1, attempt="attempt-2", transition="y", judgements=given),
        StateEntered(instance="instance-1", visit=2, state="c", status=Status.ACTIVE, transition="y", attempt="attempt-2"),
    )
    assert Decided(expected) == history.report(Judged(given))
    assert ("c", 2, {"a": 1, "c": 1}) == (history.instance.state, history.instance.visit, history.instance.visits)


def test_a_transition_into_its_own_state_is_a_new_visit() -> None:
    history = walked(FORK, "z")
    assert ("a", 2, {"a": 2}) == (history.instance.state, history.instance.visit, history.instance.visits)


@pytest.mark.parametrize(
    ("transition", "state", "status"), [("end", "done", Status.COMPLETED), ("$cancel", "$cancelled", Status.CANCELLED)]
)
def test_an_authored_terminal_completes_and_the_synthetic_one_cancels(transition: str, state: str, status: Status) -> None:
    history = walked(FORK, "x", transition)
    assert (state, status) == (history.instance.state, history.instance.status)


REJECTIONS = {
    "no result": ((), RejectionCode.INVALID_VERIFIER_OUTPUT),
    "inconsistent": (
        (replace(judgement("x", MET), missing=("tests",)), *judgements(FORK, "a", {})[1:]),
        RejectionCode.INVALID_VERIFIER_OUTPUT,
    ),
    "ambiguous": (judgements(FORK, "a", {"x": MET, "$cancel": MET}), RejectionCode.MULTIPLE_CONDITIONS_MET),
    "unclear": (judgements(FORK, "a", {"x": INDETERMINATE}), RejectionCode.INDETERMINATE),
    "none": (judgements(FORK, "a", {}), RejectionCode.NO_CONDITION_MET),
}


@pytest.mark.parametrize(("given", "code"), REJECTIONS.values(), ids=REJECTIONS.keys())
def test_a_rejection_has_its_code_and_moves_nothing(given: tuple[Any, ...], code: RejectionCode) -> None:
    history = begun(FORK)
    history.request("done")
    decided = history.report(Judged(given))
    assert isinstance(decided, Decided)
    (event,) = decided.events
    assert isinstance(event, TransitionCheckRejected)
    last = history.instance.last
    assert last is not None
    assert (code, AttemptStatus.REJECTED, None, "a", 1) == (
        event.code,
        last.status,
        history.instance.attempt,
        history.instance.state,
        history.instance.visit,
    )


@pytest.mark.parametrize("cause", FailureCause)
def test_a_failed_verifier_fails_the_attempt_with_its_cause_and_moves_nothing(cause: FailureCause) -> None:
    history = begun(FORK)
    history.request("done")
    expected = TransitionVerificationFailed(instance="instance-1", visit=1, attempt="attempt-2", cause=cause, message="it broke")
    assert Decided((expected,)) == history.report(Failed(cause, "it broke"))
    assert ("a", AttemptStatus.FAILED) == (history.instance.state, history.instance.last and history.instance.last.status)


def test_a_failed_verifiers_message_is_cut_at_its_limit_between_two_characters() -> None:
    history = begun(FORK)
    history.request("done")
    decided = history.report(Failed(FailureCause.TRUNCATED, "x" + "é" * limits.MESSAGE_BYTES_MAX))
    assert isinstance(decided, Decided)
    (event,) = decided.events
    assert isinstance(event, TransitionVerificationFailed)
    assert (limits.MESSAGE_BYTES_MAX - 1, {"x", "é"}) == (size_of(event.message), set(event.message))


@pytest.mark.parametrize("cause", CancelCause)
def test_a_verification_given_up_cancels_the_attempt_and_moves_nothing(cause: CancelCause) -> None:
    history = begun(FORK)
    history.request("done")
    expected = TransitionVerificationCancelled(instance="instance-1", visit=1, attempt="attempt-2", cause=cause)
    assert Decided((expected,)) == history.report(GivenUp(cause))
    assert ("a", None) == (history.instance.state, history.instance.attempt)


@pytest.mark.parametrize("ended", [{"x": MET}, {}], ids=["moved", "rejected"])
def test_a_late_result_is_ignored_and_leaves_the_attempt_as_it_was(ended: dict[str, Any]) -> None:
    history = begun(FORK)
    history.request("done")
    history.answer(ended)
    before = history.state
    expected = LateResultIgnored(instance="instance-1", visit=history.instance.visit, attempt="attempt-2")
    assert Decided((expected,)) == history.report(Judged(judgements(FORK, "a", {"y": MET})), "attempt-2")
    assert before == history.state


def test_a_foreign_result_is_ignored_and_leaves_the_open_attempt_open() -> None:
    history = begun(FORK)
    history.request("done")
    before = history.state
    decided = history.report(Judged(judgements(FORK, "a", {"y": MET})), "of somebody else")
    assert isinstance(decided, Decided)
    assert ([LateResultIgnored], before) == ([type(each) for each in decided.events], history.state)


def test_a_result_after_the_flow_ended_is_ignored() -> None:
    history = walked(FORK, "x", "end")
    before = history.state
    history.report(GivenUp(CancelCause.WITHDRAWN), "attempt-2")
    assert before == history.state


def test_a_report_where_nothing_was_ever_requested_is_refused() -> None:
    refused = decide(FORK, NOTHING_YET, Report("attempt-1", GivenUp(CancelCause.CANCELLED)))
    assert isinstance(refused, Refusal)
    assert RefusalCode.ATTEMPT_UNKNOWN is refused.code


@pytest.mark.parametrize("moved", [{"status": Status.CANCELLED}, {"state": "b"}, {"visit": 2}], ids=["ended", "state", "visit"])
def test_a_result_for_a_state_that_is_no_more_is_stale_whatever_it_says(moved: dict[str, Any]) -> None:
    history = begun(FORK)
    history.request("done")
    state = replace(history.state, instance=replace(history.instance, **moved))
    for outcome in (Judged(judgements(FORK, "a", {"x": MET})), Failed(FailureCause.BUDGET, "spent"), GivenUp(CancelCause.WITHDRAWN)):
        decided = decide(FORK, state, Report("attempt-2", outcome))
        assert isinstance(decided, Decided)
        (event,) = decided.events
        assert isinstance(event, TransitionCheckRejected)
        assert RejectionCode.STALE_STATE is event.code


def test_not_met_is_never_a_move_by_default() -> None:
    history = begun(FORK)
    history.request("done")
    history.answer({"x": NOT_MET, "y": NOT_MET, "z": NOT_MET})
    assert "a" == history.instance.state
