"""Requesting a transition and reporting: what the worker is told is what is stored, and everything happens once."""

from dataclasses import replace

import pytest

from stateward.runtime.core import limits
from stateward.runtime.core.events import (
    EntryCitation,
    FailureCause,
    FileCitation,
    LateResultIgnored,
    RejectionCode,
    Status,
    TransitionCheckPassed,
    TransitionCheckRejected,
    TransitionRequested,
    TransitionVerificationCancelled,
    Verdict,
)
from stateward.runtime.core.instance import AttemptStatus
from stateward.runtime.core.refusal import Refusal, RefusalCode
from stateward.runtime.core.texts import size_of
from stateward.runtime.ports import Answered, VerificationRequest, VerifierAnswered, VerifierCancelled, VerifierFailed, VerifierOutcome
from stateward.runtime.profile import DEFAULT, DEMONSTRATION
from stateward.runtime.session.entries import ActorClass, Kind
from stateward.runtime.session.payloads import ToolResult, decode
from stateward.runtime.session.segments import TextSegment
from stateward.store.memory_sessions import MemorySessionStore
from tests.runtime.engines import AGENT, PERSON, Desk, Judge, engine_on, failing, input_for, saying, verdicts
from tests.runtime.flows import CANCEL_TEXT, FORK, HALF, ODD_TEXT, REVIEW
from tests.runtime.judgements import INDETERMINATE, MET, judgement

REASON = f"All of it is done. {ODD_TEXT}{HALF}."


def refused(answer: object) -> Refusal:
    assert isinstance(answer, Refusal), answer
    return answer


def told(desk: Desk) -> ToolResult:
    """Give the last thing that the worker was told, as stored."""
    own = [each for each in desk.log() if each.kind == Kind.TOOL_RESULT and each.actor.actor_class is ActorClass.ENGINE]
    result = decode(own[-1])
    assert isinstance(result, ToolResult)
    return result


# --- a move -------------------------------------------------------------------------------------------------------------------------


def test_a_move_tells_the_worker_the_state_and_its_instructions_byte_for_byte() -> None:
    desk = Desk()
    answered = desk.request(REASON, {"x": MET})
    answer = answered.answer
    assert (AttemptStatus.ENTERED, "b", 2, Status.ACTIVE, "x") == (
        answer.outcome,
        answer.state,
        answer.visit,
        answer.status,
        answer.transition,
    )
    assert FORK.state("b").instructions == answer.instructions
    assert (REASON, "", (), False, False) == (answer.reason, answer.code, answer.results, answered.repeated, answered.late)
    assert ("b", 2) == (desk.flow.state, desk.flow.visit)


def test_a_request_and_its_answer_are_one_commit_each() -> None:
    desk = Desk()
    desk.request(REASON, {"x": MET})
    _, _, asked, answered = desk.log()
    events = [type(each.event) for each in desk.engine.events(desk.worker, after=2)]
    assert [TransitionRequested, TransitionCheckPassed] == events[:2]
    assert [(Kind.EXTENSION, ActorClass.PERSON), (Kind.TOOL_RESULT, ActorClass.ENGINE)] == [
        (each.kind, each.actor.actor_class) for each in (asked, answered)
    ]
    assert [3, 4, 4] == [each.id.seq for each in desk.engine.events(desk.worker, after=2)]


def test_what_the_worker_is_told_is_what_is_stored() -> None:
    desk = Desk()
    for given in ({}, {"x": INDETERMINATE}, {"x": MET, "y": MET}, {"x": MET}):
        desk.record_evidence()
        answered = desk.request(f"try {given}", given)
        assert answered.answer == told(desk).content


def test_a_flow_is_walked_to_its_end_through_a_loop() -> None:
    desk = Desk("review")
    for number, (transition, state) in enumerate([("ready", "check"), ("bad", "fix"), ("fixed", "check"), ("good", "done")]):
        answer = desk.request(f"step {number}", {transition: MET}).answer
        assert state == answer.state
    assert (Status.COMPLETED, {"implement": 1, "check": 2, "fix": 1, "done": 1}) == (desk.flow.status, desk.flow.visits)
    assert (REVIEW.state("done").instructions, ()) == (answer.instructions, desk.flow.transitions)


def test_the_synthetic_transition_cancels() -> None:
    desk = Desk()
    answer = desk.request("it cannot be done", {"$cancel": MET}).answer
    assert (Status.CANCELLED, "$cancelled", "") == (answer.status, answer.state, answer.instructions)
    assert RefusalCode.NO_ACTIVE_INSTANCE is refused(desk.engine.begin(desk.worker, "more", desk.actor)).code


# --- no move ------------------------------------------------------------------------------------------------------------------------


def test_a_rejection_tells_for_each_transition_the_verdict_and_what_is_missing() -> None:
    desk = Desk()
    answer = desk.request(REASON, {"y": INDETERMINATE}).answer
    assert (AttemptStatus.REJECTED, "indeterminate", "a", 1, "") == (
        answer.outcome,
        answer.code,
        answer.state,
        answer.visit,
        answer.instructions,
    )
    assert [("x", "not_met", ("a record of it",)), ("y", "indeterminate", ()), ("z", "not_met", ("a record of it",))] == [
        (each.transition, each.verdict, each.missing) for each in answer.results[:3]
    ]


def test_a_claim_without_any_record_does_not_advance_and_is_stored_as_a_claim() -> None:
    desk = Desk(actor=AGENT)
    answer = desk.request("all 214 tests pass, verified", {}).answer
    assert ("no_condition_met", "a") == (answer.code, desk.flow.state)
    assert all(each.missing for each in answer.results)
    claimed = [each for each in desk.engine.log(desk.worker) if b"214 tests" in each.entry.payload]
    assert {"claim"} == {each.evidence for each in claimed}


@pytest.mark.parametrize("cause", FailureCause)
def test_a_failed_verification_says_that_and_why_it_could_not_check(cause: FailureCause) -> None:
    desk = Desk()
    answer = desk.request(REASON, Judge(failing(cause, ODD_TEXT))).answer
    assert (AttemptStatus.FAILED, "verifier_failed", cause, ODD_TEXT, "a") == (
        answer.outcome,
        answer.code,
        answer.cause,
        answer.message,
        desk.flow.state,
    )


def test_a_verification_given_up_is_cancelled() -> None:
    desk = Desk()
    answer = desk.request(REASON, Judge(lambda _: VerifierCancelled())).answer
    assert (AttemptStatus.CANCELLED, "verifier_cancelled", "cancelled") == (answer.outcome, answer.code, answer.cause)


def test_a_failed_verifiers_message_is_bounded_in_the_log_too() -> None:
    desk = Desk()
    answer = desk.request(REASON, Judge(failing(FailureCause.TRUNCATED, "é" * 1_000_000))).answer
    assert limits.MESSAGE_BYTES_MAX == size_of(answer.message)
    assert len(desk.log()[-1].payload) < 3 * limits.MESSAGE_BYTES_MAX


@pytest.mark.parametrize("named", ["fnish", "x\n", "end", "I think x holds.", ""])
def test_a_result_for_no_known_transition_moves_nothing_and_names_the_known_ones(named: str) -> None:
    desk = Desk()
    answer = desk.request(REASON, Judge(lambda _: VerifierAnswered((judgement(named, MET),)))).answer
    assert ("invalid_verifier_output", "a") == (answer.code, desk.flow.state)
    assert answer.message.endswith("which is none of `x`, `y`, `z` and `$cancel`")


def test_an_empty_list_of_results_moves_nothing() -> None:
    desk = Desk()
    answer = desk.request(REASON, Judge(lambda _: VerifierAnswered(()))).answer
    assert ("invalid_verifier_output", "a") == (answer.code, desk.flow.state)


@pytest.mark.parametrize(
    "contradiction",
    [
        replace(judgement("x", MET), missing=("tests not run",)),
        replace(judgement("x", Verdict.NOT_MET), missing=(), rationale="all good"),
        replace(judgement("x", MET), rationale=" "),
    ],
)
def test_a_result_that_contradicts_itself_moves_nothing(contradiction: object) -> None:
    def answer(request: VerificationRequest) -> VerifierOutcome:
        given = verdicts(request, {})
        assert isinstance(given, VerifierAnswered)
        return VerifierAnswered((contradiction, *given.judgements[1:]))  # type: ignore[arg-type]  # one of the parameters above

    desk = Desk()
    found = desk.request(REASON, Judge(answer)).answer
    assert ("invalid_verifier_output", "a") == (found.code, desk.flow.state)


def test_a_verifier_that_marks_its_own_results_as_checked_is_not_believed() -> None:
    marked = replace(judgement("x", INDETERMINATE), checked=MET)
    others = tuple(judgement(each, Verdict.NOT_MET) for each in ("y", "z", "$cancel"))
    desk = Desk()
    answer = desk.request(REASON, Judge(lambda _: VerifierAnswered((marked, *others)))).answer
    assert ("indeterminate", "a") == (answer.code, desk.flow.state)


# --- citations ----------------------------------------------------------------------------------------------------------------------


def citing(*references: str) -> Judge:
    def answer(request: VerificationRequest) -> VerifierOutcome:
        met = judgement("x", MET, citations=tuple(map(EntryCitation, references)))
        return VerifierAnswered((met, *(judgement(each.transition, Verdict.NOT_MET) for each in request.questions[1:])))

    return Judge(answer)


@pytest.mark.parametrize("references", [("E00000001",), ("E00000002", "E00000003")])
def test_a_citation_of_a_captured_entry_resolves(references: tuple[str, ...]) -> None:
    desk = Desk()
    assert desk.request(REASON, citing(*references)).answer.state == "b"


@pytest.mark.parametrize(
    "reference",
    [
        *("E00000004", "E00000000", "E1", "e00000001", "E-0000001", "E000000001", "E0000001", "", "1", "E00000001 ", "E00000001\n"),
        "E\u0660\u0660\u0660\u0660\u0660\u0660\u0660\u0661",
        "E" + "9" * 60,
        "E" + "9" * 9000,
    ],
)
def test_a_citation_of_anything_else_weakens_its_verdict_and_moves_nothing(reference: str) -> None:
    desk = Desk()
    answer = desk.request(REASON, citing("E00000001", reference)).answer
    assert desk.flow.state == "a"
    assert answer.code in {"indeterminate", "invalid_verifier_output"}


def test_an_entry_committed_after_the_capture_cannot_be_cited() -> None:
    desk = Desk()
    begun = desk.begin(REASON)
    desk.record_evidence()
    outcome = citing("E00000004").verify(begun.request)
    answered = desk.engine.report(desk.worker, begun.request.attempt, outcome)
    assert isinstance(answered, Answered)
    assert (RejectionCode.INDETERMINATE, "cites `E00000004`, which does not resolve") == (
        answered.answer.code,
        answered.answer.results[0].note,
    )


def test_lines_of_a_file_do_not_resolve_while_no_verifier_is_shown_any() -> None:
    def answer(request: VerificationRequest) -> VerifierOutcome:
        met = judgement("x", MET, citations=(FileCitation("src/a.py", 1, 2, "quote"),))
        return VerifierAnswered((met, *(judgement(each.transition, Verdict.NOT_MET) for each in request.questions[1:])))

    desk = Desk()
    assert desk.request(REASON, Judge(answer)).answer.code == "indeterminate"


# --- what the verifier is asked -----------------------------------------------------------------------------------------------------


def test_the_verifier_is_asked_with_the_texts_of_the_pinned_definition_byte_for_byte() -> None:
    desk = Desk()
    judge = Judge(saying({}))
    desk.request(REASON, judge)
    (asked,) = judge.asked
    assert (desk.worker, "fork", "a", 1, FORK.state("a").instructions, REASON, 1) == (
        asked.worker,
        asked.flow,
        asked.state,
        asked.visit,
        asked.instructions,
        asked.reason,
        asked.attempt_number,
    )
    assert [(each.id, each.target, each.condition, each.synthetic) for each in FORK.state("a").transitions] == [
        (each.transition, each.target, each.condition, each.synthetic) for each in asked.questions
    ]
    assert ("$cancel", CANCEL_TEXT, True) == (asked.questions[-1].transition, asked.questions[-1].condition, asked.questions[-1].synthetic)


def test_the_captured_log_ends_with_the_request_and_holds_what_was_committed_a_moment_before() -> None:
    desk = Desk()
    desk.record_evidence(b"just now")
    begun = desk.begin(REASON)
    desk.record_evidence(b"too late")
    captured = begun.request.captured
    assert desk.log()[:4] == list(captured)
    assert (4, b"just now") == (len(captured), captured[-2].payload)


def test_attempts_are_numbered_within_their_instance() -> None:
    desk = Desk("nothing")
    desk.engine.submit(desk.worker, input_for("fork", "go"), PERSON)
    judge = Judge(saying({}))
    for number in range(3):
        desk.request(f"try {number}", judge)
    assert [1, 2, 3] == [each.attempt_number for each in judge.asked]


# --- repeat -------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("given", [{}, {"x": MET}], ids=["rejected", "moved"])
def test_the_same_request_again_is_told_the_stored_answer_and_not_judged(given: dict[str, Verdict]) -> None:
    desk = Desk()
    first = desk.request(REASON, given)
    before = desk.log()
    desk.restart()
    judge = Judge(saying({"end": MET}))
    again = desk.request(f"  {REASON}\n", judge)
    assert replace(first, repeated=True) == again
    assert ([], before) == (judge.asked, desk.log())


def test_thirty_times_the_same_claim_is_judged_once_and_with_new_evidence_once_more() -> None:
    desk = Desk()
    judge = Judge(saying({}))
    for _ in range(30):
        desk.request("done", judge)
    assert len(judge.asked) == 1
    desk.record_evidence()
    desk.request("done", judge)
    assert len(judge.asked) == 2


def test_what_stateward_itself_answers_is_no_new_evidence() -> None:
    desk = Desk()
    judge = Judge(saying({}))
    desk.request("one", judge)
    desk.request("two", judge)
    desk.request("two", judge)
    assert len(judge.asked) == 2


def test_a_worker_that_waits_for_a_long_job_is_judged_each_time_its_record_grows() -> None:
    desk = Desk()
    judge = Judge(saying({}))
    for number in range(10):
        desk.record_evidence(f"still running at {number}".encode())
        desk.request("waiting for the job", judge)
    assert len(judge.asked) == 10


def test_an_input_of_a_person_makes_the_same_request_a_new_one() -> None:
    desk = Desk(actor=AGENT)
    judge = Judge(saying({}))
    desk.request("done", judge)
    desk.engine.submit(desk.worker, (TextSegment("I looked at it myself."),), PERSON)
    desk.request("done", judge)
    desk.engine.submit(desk.worker, (TextSegment("I looked at it too."),), AGENT)
    desk.request("done", judge)
    assert len(judge.asked) == 2


def test_after_a_failed_verification_the_same_request_is_verified_again() -> None:
    desk = Desk()
    desk.request(REASON, Judge(failing(FailureCause.UNAVAILABLE)))
    assert desk.request(REASON, {"x": MET}).answer.state == "b"


# --- continue and supersede ---------------------------------------------------------------------------------------------------------


def test_an_open_attempt_is_continued_by_an_engine_that_remembers_nothing() -> None:
    desk = Desk()
    first = desk.begin(REASON)
    before = desk.log()
    desk.restart()
    again = desk.begin("asked otherwise")
    assert (first.request.attempt, REASON, True, first.request.questions) == (
        again.request.attempt,
        again.request.reason,
        again.continued,
        again.request.questions,
    )
    assert list(first.request.captured) == list(again.request.captured)
    assert (before, 1) == (desk.log(), again.request.attempt_number)


def test_an_interrupted_verification_leaves_the_attempt_open_for_the_next_request() -> None:
    def interrupted(_: VerificationRequest) -> VerifierOutcome:
        raise KeyboardInterrupt

    desk = Desk()
    with pytest.raises(KeyboardInterrupt):
        desk.request(REASON, Judge(interrupted))
    opened = desk.flow.attempt
    assert opened is not None
    answer = desk.request(REASON, {"x": MET}).answer
    assert (opened.id, "b") == (answer.attempt, answer.state)


def test_an_open_attempt_is_superseded_once_evidence_was_recorded_since_and_in_one_commit() -> None:
    desk = Desk()
    old = desk.begin("done").request.attempt
    desk.record_evidence()
    before = desk.view.head.seq
    new = desk.begin("done, and tested")
    assert (before + 2, False, 2) == (desk.view.head.seq, new.continued, new.request.attempt_number)
    closed, begun = [each.event for each in desk.engine.events(desk.worker, after=before)]
    assert isinstance(closed, TransitionVerificationCancelled)
    assert isinstance(begun, TransitionRequested)
    assert (old, "superseded", new.request.attempt) == (closed.attempt, closed.cause, begun.attempt)
    assert desk.log() == list(new.request.captured)


def test_who_verified_a_superseded_attempt_is_told_that_it_was() -> None:
    desk = Desk()
    old = desk.begin("done").request
    desk.record_evidence()
    desk.begin("done, and tested")
    answered = desk.engine.report(desk.worker, old.attempt, verdicts(old, {"x": MET}))
    assert isinstance(answered, Answered)
    assert (True, "verifier_cancelled", "superseded", "a") == (answered.late, answered.answer.code, answered.answer.cause, desk.flow.state)


# --- late and foreign results -------------------------------------------------------------------------------------------------------


def test_a_second_report_is_told_the_first_ones_answer_and_noted_once() -> None:
    desk = Desk()
    begun = desk.begin(REASON).request
    first = desk.engine.report(desk.worker, begun.attempt, verdicts(begun, {"x": MET}))
    assert isinstance(first, Answered)
    for _ in range(5):
        assert replace(first, late=True) == desk.engine.report(desk.worker, begun.attempt, verdicts(begun, {"y": MET}))
    noted = [each.event for each in desk.engine.events(desk.worker) if isinstance(each.event, LateResultIgnored)]
    assert (1, "b", 5) == (len(noted), desk.flow.state, desk.view.head.seq)


def test_a_late_result_of_an_earlier_instance_is_told_its_own_answer() -> None:
    desk = Desk()
    begun = desk.begin("stop").request
    first = desk.engine.report(desk.worker, begun.attempt, verdicts(begun, {"$cancel": MET}))
    assert isinstance(first, Answered)
    desk.engine.submit(desk.worker, input_for("fork", "again"), PERSON)
    assert replace(first, late=True) == desk.engine.report(desk.worker, begun.attempt, VerifierCancelled())
    assert (Status.ACTIVE, "a", 2) == (desk.flow.status, desk.flow.state, desk.flow.number)


@pytest.mark.parametrize("attempt", ["made up", "", HALF, "x" * 5000])
def test_a_result_for_an_attempt_that_never_was_is_refused_and_writes_nothing(attempt: str) -> None:
    desk = Desk()
    desk.begin(REASON)
    before = desk.log()
    assert RefusalCode.ATTEMPT_UNKNOWN is refused(desk.engine.report(desk.worker, attempt, VerifierCancelled())).code
    assert before == desk.log()


# --- who may judge ------------------------------------------------------------------------------------------------------------------


def test_a_verifier_of_another_kind_than_the_pinned_one_is_refused_before_it_is_asked() -> None:
    desk = Desk()
    judge = Judge(saying({"x": MET}), "person")
    refusal = refused(desk.engine.request_transition(desk.worker, REASON, desk.actor, judge))
    assert (RefusalCode.VERIFIER_NOT_ALLOWED, [], 2) == (refusal.code, judge.asked, desk.view.head.seq)


def test_a_scripted_worker_is_judged_only_while_the_profile_in_force_is_a_demonstration_too() -> None:
    desk = Desk()
    desk.restart(DEFAULT)
    assert RefusalCode.VERIFIER_NOT_ALLOWED is refused(desk.engine.begin(desk.worker, REASON, desk.actor)).code
    desk.restart(replace(DEMONSTRATION, flow_enabled=False))
    assert RefusalCode.FLOW_NOT_ENABLED is refused(desk.engine.begin(desk.worker, REASON, desk.actor)).code
    assert desk.view.head.seq == 2


@pytest.mark.parametrize(
    ("actor", "profile", "expected"), [(PERSON, DEFAULT, True), (AGENT, DEFAULT, False), (PERSON, DEMONSTRATION, False)]
)
def test_a_person_who_judges_their_own_request_is_recorded_as_self_judged(actor: object, profile: object, expected: bool) -> None:
    desk = Desk(profile=profile, actor=actor)  # type: ignore[arg-type]  # one of the parameters above
    assert expected is desk.view.self_judged
    assert expected is desk.request(REASON, {"x": MET}).answer.self_judged
    assert expected is told(desk).content.self_judged


def test_a_person_who_makes_one_request_of_an_agents_worker_makes_it_self_judged() -> None:
    desk = Desk(profile=DEFAULT, actor=AGENT)
    desk.actor = PERSON
    desk.request(REASON, {"x": MET})
    assert desk.view.self_judged


# --- reasons ------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reason", "code"),
    [
        ("", RefusalCode.REASON_BLANK),
        (" \n\t", RefusalCode.REASON_BLANK),
        ("x" * (limits.REASON_BYTES_MAX + 1), RefusalCode.REASON_TOO_LARGE),
    ],
)
def test_a_reason_that_is_none_is_refused_and_writes_nothing(reason: str, code: RefusalCode) -> None:
    desk = Desk()
    refusal = refused(desk.engine.begin(desk.worker, reason, desk.actor))
    assert (code, ("give a reason of 1 to 16384 bytes",), 2) == (refusal.code, refusal.allowed, desk.view.head.seq)


def test_a_failure_to_answer_leaves_the_attempt_open() -> None:
    def broken(_: VerificationRequest) -> VerifierOutcome:
        raise ZeroDivisionError

    desk = Desk()
    with pytest.raises(ZeroDivisionError):
        desk.request(REASON, Judge(broken))
    assert desk.flow.attempt is not None


def test_asking_of_a_worker_that_is_none_is_refused() -> None:
    engine = engine_on(MemorySessionStore())
    judge = Judge(saying({}))
    assert RefusalCode.WORKER_NOT_FOUND is refused(engine.begin("nobody", REASON, PERSON)).code
    assert RefusalCode.WORKER_NOT_FOUND is refused(engine.report("nobody", "a", VerifierCancelled())).code
    assert RefusalCode.WORKER_NOT_FOUND is refused(engine.request_transition("nobody", REASON, PERSON, judge)).code


def test_a_rejection_is_in_the_log_with_its_verdicts() -> None:
    desk = Desk()
    desk.request(REASON, {"x": MET, "y": MET})
    event = [each.event for each in desk.engine.events(desk.worker)][-1]
    assert isinstance(event, TransitionCheckRejected)
    assert (RejectionCode.MULTIPLE_CONDITIONS_MET, [MET, MET, Verdict.NOT_MET, Verdict.NOT_MET]) == (
        event.code,
        [each.verdict for each in event.judgements],
    )


def test_a_verifiers_failure_is_an_outcome_of_its_attempt_and_of_no_other() -> None:
    desk = Desk()
    one = desk.begin("one").request
    desk.engine.report(desk.worker, one.attempt, VerifierFailed(FailureCause.TIMEOUT, "slow"))
    two = desk.begin("two").request
    assert one.attempt != two.attempt
    assert desk.flow.attempts == 2
