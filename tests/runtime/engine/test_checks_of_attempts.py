"""Checks of a flow are run by the host at a request, and what came of them decides, is kept, is shown and is reused."""

from dataclasses import replace
from datetime import timedelta
from itertools import count

import pytest

from stateward.runtime.core.bounds import Bounds
from stateward.runtime.core.events import ChecksRun, EntryCitation, Part, PartKind, Verdict
from stateward.runtime.core.instance import AttemptStatus
from stateward.runtime.core.operating import Verb
from stateward.runtime.core.refusal import Refusal, RefusalCode
from stateward.runtime.ports import Answered, VerificationRequest, VerifierAnswered, VerifierOutcome
from stateward.runtime.ports.checking import CheckRights
from stateward.runtime.profile import DEMONSTRATION, VerifierKind
from stateward.runtime.session.answers import Answer, TransitionAnswer
from stateward.runtime.session.browse import SessionView
from stateward.runtime.session.checks import CheckEnd, CheckRecord
from stateward.runtime.session.entries import ActorClass, reference
from stateward.runtime.session.evidence import EvidenceClass
from stateward.runtime.session.masking import Secrets
from stateward.runtime.session.payloads import Extension, decode, encode
from tests.runtime.checks import ALLOWED, ALONE, BOTH, JUDGED, ORDERED, SURE, Checks, desk
from tests.runtime.engines import MODEL, NOON, PERSON, Desk, Judge, saying
from tests.runtime.judgements import judgement
from tests.runtime.workdirs import TextsWorkdir


def nobody() -> Judge:
    """Give a judge who says no to everything."""
    return Judge(saying({}))


@pytest.fixture
def checks() -> Checks:
    return Checks(TextsWorkdir(a="text"))


def records(at: Desk) -> list[tuple[int, CheckRecord]]:
    """Give the runs of checks that a log holds."""
    found = []
    for entry in at.log():
        payload = decode(entry)
        if isinstance(payload, Extension) and isinstance(payload.record, CheckRecord):
            assert ActorClass.ENGINE is entry.actor.actor_class
            found.append((entry.seq, payload.record))
    return found


def parts(at: Desk) -> list[Part]:
    """Give what the log says of checks."""
    return [part for each in at.engine.events(at.worker) if isinstance(each.event, ChecksRun) for part in each.event.parts]


def result(answer: Answer, transition: str) -> TransitionAnswer:
    return next(each for each in answer.results if each.transition == transition)


# --- what a status decides ------------------------------------------------------------------------------------------------------------


def test_a_check_that_passes_takes_its_transition_and_nobody_is_asked(checks: Checks) -> None:
    at, judge = desk(ALONE, checks), nobody()
    answer = at.request("done", judge).answer
    assert (AttemptStatus.ENTERED, "done", "ready", []) == (answer.outcome, answer.state, answer.transition, judge.asked)
    ((entry, record),) = records(at)
    assert ("pytest", ("pytest", "-q"), CheckEnd.EXITED, 0, "pytest said\n") == (
        record.check, record.command, record.ended, record.exit_status, record.output,
    )  # fmt: skip
    assert checks.tree == record.tree == record.tree_after != ""
    assert [Part("ready", PartKind.CHECK, Verdict.MET, "pytest", (), entry)] == parts(at)
    assert [ALLOWED] == checks.rights


def test_a_check_that_fails_is_told_with_what_it_said_last(checks: Checks) -> None:
    checks.statuses["pytest"] = 3
    at, judge = desk(ALONE, checks), nobody()
    answer = at.request("done", judge).answer
    (asked,) = judge.asked
    assert (["$cancel"], "work") == ([each.transition for each in asked.questions], answer.state)
    ((entry, _),) = records(at)
    told = result(answer, "ready")
    assert TransitionAnswer(
        "ready",
        Verdict.NOT_MET,
        "check `pytest` failed",
        ("check `pytest`: `pytest -q` ended with exit status 3\npytest said",),
        f"check `pytest`: see {reference(entry)}",
    ) == told  # fmt: skip


INCONCLUSIVE = {
    "not run": {"ended": CheckEnd.NOT_RUN, "status": None, "problem": "no profile lets it", "allowed": ("allow it",)},
    "late": {"ended": CheckEnd.TIMED_OUT, "status": None, "problem": "it did not end"},
    "killed": {"ended": CheckEnd.KILLED, "status": None, "problem": "it was killed"},
    "masked": {"status": 0, "problem": "its exit status may be masked"},
    "of a tree that changed": {"status": 0, "problem": "the Workdir changed while it ran"},
}


@pytest.mark.parametrize("how", INCONCLUSIVE)
def test_a_check_without_an_answer_is_could_not_check_and_never_no(checks: Checks, how: str) -> None:
    checks.changed = INCONCLUSIVE[how]
    at = desk(ALONE, checks)
    answer = at.request("done", nobody()).answer
    told = result(answer, "ready")
    assert ("work", "indeterminate", Verdict.INDETERMINATE) == (answer.state, answer.code, told.verdict)
    assert str(INCONCLUSIVE[how]["problem"]) in told.missing[0]
    assert all(each in told.missing[0] for each in map(str, INCONCLUSIVE[how].get("allowed", ())))  # type: ignore[call-overload]
    assert [Verdict.INDETERMINATE] == [each.verdict for each in parts(at)]


def test_a_check_that_changes_what_is_to_be_judged_ends_the_verification_and_nobody_is_asked(checks: Checks) -> None:
    checks.changed = {"tree_after": "another", "problem": "the Workdir changed while it ran"}
    at, judge = desk(BOTH, checks, replace(MODEL, checks=ALLOWED)), Judge(saying({}), VerifierKind.MODEL)
    answer = at.request("done", judge).answer
    assert (AttemptStatus.FAILED, "workdir_changed", "work", []) == (answer.outcome, answer.cause, answer.state, judge.asked)
    assert "check `pytest`: the Workdir changed while it ran" == answer.message
    assert ("check `pytest`: the Workdir changed while it ran",) == result(answer, "ready").missing[:1]
    assert at.flow.last is not None
    assert 0 == at.flow.last.tokens


def test_a_failure_that_could_not_be_found_out_does_not_open_the_way_for_what_is_left(checks: Checks) -> None:
    checks.changed = INCONCLUSIVE["late"]
    at = desk(ORDERED, checks)
    answer = at.request("done", nobody()).answer
    assert ("work", "indeterminate") == (answer.state, answer.code)
    assert "check `pytest` could not be run to an answer" == result(answer, "ready").rationale


@pytest.mark.parametrize(("statuses", "taken"), [({}, "ready"), ({"pytest": 1}, "tidy"), ({"pytest": 1, "lint": 1}, "as-is")])
def test_of_ordered_ways_out_the_first_is_taken_whose_checks_pass(checks: Checks, statuses: dict[str, int], taken: str) -> None:
    checks.statuses = statuses
    at, judge = desk(ORDERED, checks), nobody()
    assert (taken, []) == (at.request("done", judge).answer.transition, judge.asked)


def test_without_a_workdir_a_check_could_not_be_run() -> None:
    at = desk(ALONE, None)
    told = result(at.request("done", nobody()).answer, "ready")
    assert (Verdict.INDETERMINATE, ("check `pytest`: this Worker has no Workdir",)) == (told.verdict, told.missing)


def test_where_nobody_runs_checks_they_could_not_be_run(checks: Checks) -> None:
    at = Desk("alone", SURE, catalog=desk(ALONE, checks).catalog, workdirs=checks.workdir)
    told = result(at.request("done", nobody()).answer, "ready")
    assert (Verdict.INDETERMINATE, ("check `pytest`: no checks are run here",)) == (told.verdict, told.missing)


def test_a_folder_that_is_no_work_tree_is_checked_as_it_is(checks: Checks) -> None:
    checks.workdir.is_tree = False
    at = desk(ALONE, checks)
    assert "done" == at.request("done", nobody()).answer.state


def test_a_check_on_another_tree_than_the_request_does_not_count(checks: Checks) -> None:
    at = desk(ALONE, checks)
    begun = at.begin("done")
    checks.workdir.texts["a"] = "another"
    checks.changed = {"tree": "another", "tree_after": "another"}
    checks.workdir.texts["a"] = "text"
    told = result(at.request("done", nobody()).answer, "ready")
    assert begun.request.checks == ("pytest",)
    assert (Verdict.INDETERMINATE, "check `pytest`: the Workdir is not what it was when the transition was requested") == (
        told.verdict, told.missing[0],
    )  # fmt: skip


# --- together with a judge ------------------------------------------------------------------------------------------------------------


def test_a_judge_is_asked_only_after_the_checks_and_not_where_they_fail(checks: Checks) -> None:
    checks.statuses["lint"] = 1
    at, judge = desk(BOTH, checks), nobody()
    answer = at.request("done", judge).answer
    (asked,) = judge.asked
    assert ["small", "$cancel"] == [each.transition for each in asked.questions]
    assert ["check `pytest` passed; check `lint` failed"] == [each.rationale for each in answer.results if each.transition == "ready"]


def test_what_passed_and_what_a_judge_says_are_told_together(checks: Checks) -> None:
    at = desk(BOTH, checks)
    answer = at.request("done", {}).answer
    told = result(answer, "ready")
    assert Verdict.NOT_MET is told.verdict
    assert told.rationale.startswith("check `pytest` passed; check `lint` passed; ")
    assert told.missing


def test_a_judge_reads_what_came_of_the_checks_and_cites_it(checks: Checks) -> None:
    model = replace(MODEL, checks=ALLOWED)
    at = desk(BOTH, checks, model)

    def cite(request: VerificationRequest) -> VerifierOutcome:
        runs = [each.reference for each in request.captured if b'"check.run.v1"' in each.payload]
        assert 2 == len(runs)
        met = replace(judgement("ready", Verdict.MET), citations=(EntryCitation(runs[0]),))
        others = (judgement(each.transition, Verdict.NOT_MET) for each in request.questions if each.transition != "ready")
        return VerifierAnswered((met, *others))

    answer = at.request("done", Judge(cite, VerifierKind.MODEL)).answer
    assert ("next", "ready") == (answer.state, answer.transition)
    assert reference(max(entry for entry, _ in records(at))) == answer.judged


def test_a_judge_sees_that_the_status_of_a_check_says_nothing(checks: Checks) -> None:
    checks.changed = INCONCLUSIVE["masked"]
    at, judge = desk(ALONE, checks), nobody()
    at.request("done", judge)
    (asked,) = judge.asked
    view = SessionView(asked.captured)
    ((entry, _),) = records(at)
    piece = view.read(reference(entry))
    assert "its exit status may be masked" == piece.seen.masked
    assert "record.run.exit_status = 0\nrecord.run.problem: its exit status may be masked\n" in piece.text
    assert "record.run.output:\n  | pytest said\n" in piece.text


def test_the_run_of_a_check_is_evidence_of_the_engine_and_no_news(checks: Checks) -> None:
    at = desk(ALONE, checks)
    checks.statuses["pytest"] = 1
    at.request("done", nobody())
    ((entry, _),) = records(at)
    (logged,) = [each for each in at.engine.log(at.worker) if each.entry.seq == entry]
    assert EvidenceClass.ENGINE is logged.evidence
    at.restart(SURE)
    assert at.request("done", nobody()).repeated


def test_where_a_person_judges_the_checks_are_run_when_the_person_does(checks: Checks) -> None:
    at = desk(ALONE, checks, JUDGED)
    begun = at.begin("done")
    assert ((("pytest",), ()), []) == ((begun.request.checks, begun.request.questions), checks.ran)
    judge = Judge(saying({}), VerifierKind.PERSON)
    answered = at.engine.request_transition(at.worker, "done", PERSON, judge, at.flow.seen)
    assert isinstance(answered, Answered)
    assert ("done", ["pytest"], []) == (answered.answer.state, checks.ran, judge.asked)


# --- what is run again ----------------------------------------------------------------------------------------------------------------


def test_what_passed_on_a_tree_is_not_run_on_it_again(checks: Checks) -> None:
    at = desk(BOTH, checks)
    at.request("first", {})
    at.request("second", {})
    assert ["pytest", "lint"] == checks.ran
    at.request("third", {"ready": Verdict.MET})
    assert "next" == at.flow.state
    answer = at.request("leave", nobody()).answer
    assert (["pytest", "lint"], "done") == (checks.ran, answer.state)


def test_it_is_fresh_again_when_the_tree_is_the_same_again(checks: Checks) -> None:
    at = desk(BOTH, checks)
    for text in ("text", "other", "text", "other"):
        checks.workdir.texts["a"] = text
        at.request(f"as {text} {len(checks.ran)}", {})
    assert ["pytest", "lint"] * 2 == checks.ran


def test_it_is_run_again_for_another_instance(checks: Checks) -> None:
    one, other = (desk(BOTH, checks) for _ in range(2))
    for each in (one, other):
        each.request("done", {})
    assert ["pytest", "lint"] * 2 == checks.ran


def test_it_is_run_again_where_a_rewind_set_it_aside(checks: Checks) -> None:
    at = desk(BOTH, checks)
    at.request("done", {"ready": Verdict.MET})
    at.engine.operate(at.worker, Verb.REWIND, "again", PERSON, state="work")
    at.request("done", {"ready": Verdict.MET})
    assert (["pytest", "lint"] * 2, "next") == (checks.ran, at.flow.state)


def test_what_failed_is_run_again_only_after_something_was_recorded_that_may_have_mended_it(checks: Checks) -> None:
    checks.statuses["lint"] = 1
    at = desk(BOTH, checks)
    at.request("first", {})
    at.request("second", {})
    assert ["pytest", "lint"] == checks.ran
    at.record_evidence(b"installed what was missing")
    checks.statuses["lint"] = 0
    at.request("third", {})
    assert ["pytest", "lint", "lint"] == checks.ran


def test_what_came_to_no_answer_is_run_again(checks: Checks) -> None:
    checks.changed = INCONCLUSIVE["late"]
    at = desk(ALONE, checks)
    at.request("first", nobody())
    checks.changed = {}
    assert "done" == at.request("second", nobody()).answer.state


def test_the_same_reason_is_judged_anew_where_a_check_came_to_no_answer(checks: Checks) -> None:
    checks.changed = INCONCLUSIVE["not run"]
    at = desk(ALONE, checks)
    at.request("done", nobody())
    checks.changed = {}
    answered = at.request("done", nobody())
    assert ("done", False, ["pytest", "pytest"]) == (answered.answer.state, answered.repeated, checks.ran)


def test_what_checks_decide_alone_costs_no_tokens(checks: Checks) -> None:
    at = desk(ALONE, checks, replace(MODEL, checks=ALLOWED))
    at.request("done", Judge(saying({}), VerifierKind.MODEL))
    loaded = at.engine._means.folds.load(at.worker)
    assert loaded is not None
    assert loaded.flow.instance is not None
    assert ("done", 0) == (loaded.flow.instance.state, loaded.flow.instance.tokens)


def test_checks_are_gone_on_with_behind_a_checkpoint(checks: Checks) -> None:
    at = desk(BOTH, checks, checkpoint_entries=1)
    runs = count()
    checks.meanwhile = lambda: kill() if next(runs) == 1 else None
    with pytest.raises(_Killed):
        at.request("done", {})
    at.restart(SURE)
    assert "next" == at.request("done", {"ready": Verdict.MET}).answer.state
    at.restart(SURE)
    assert "done" == at.request("leave", nobody()).answer.state
    assert ["pytest", "lint", "lint"] == checks.ran


def test_where_the_facts_are_not_all_of_the_tree_nothing_is_reused(checks: Checks) -> None:
    checks.workdir.caveats = ("nested_repositories",)
    checks.statuses["lint"] = 1
    at = desk(BOTH, checks)
    at.request("first", {})
    at.request("second", {})
    assert ["pytest", "lint"] * 2 == checks.ran


def test_without_a_tree_nothing_is_reused(checks: Checks) -> None:
    checks.workdir.is_tree = False
    at = desk(BOTH, checks)
    at.request("first", {})
    at.request("second", {})
    assert ["pytest", "lint"] * 2 == checks.ran


# --- what interrupts it ---------------------------------------------------------------------------------------------------------------


class _Killed(BaseException):
    pass


def kill() -> None:
    raise _Killed


def test_a_crash_between_checks_runs_again_what_was_not_recorded(checks: Checks) -> None:
    at = desk(BOTH, checks)
    runs = count()
    checks.meanwhile = lambda: kill() if next(runs) == 1 else None
    with pytest.raises(_Killed):
        at.request("done", {})
    assert ["pytest"] == [record.check for _, record in records(at)]
    at.restart(SURE)
    opened = at.flow.attempt
    assert opened is not None
    answer = at.request("done", {"ready": Verdict.MET}).answer
    assert (["pytest", "lint", "lint"], opened.id, "next") == (checks.ran, answer.attempt, answer.state)


def test_checks_that_are_stopped_leave_the_attempt_open_and_no_record(checks: Checks) -> None:
    at = desk(ALONE, checks)
    checks.changed = {"ended": CheckEnd.STOPPED, "status": None, "problem": "it was stopped"}
    refused = at.engine.request_transition(at.worker, "done", PERSON, nobody())
    assert isinstance(refused, Refusal)
    assert (RefusalCode.VERIFICATION_STOPPED, []) == (refused.code, records(at))
    assert at.flow.attempt is not None
    checks.changed = {}
    assert "done" == at.request("done", nobody()).answer.state


def test_an_attempt_that_an_operator_closes_meanwhile_comes_to_nothing(checks: Checks) -> None:
    at, judge = desk(ALONE, checks), nobody()

    def withdraw() -> None:
        at.engine.operate(at.worker, Verb.WITHDRAW, "no more", PERSON)

    checks.meanwhile = withdraw
    answered = at.request("done", judge)
    assert (AttemptStatus.CANCELLED, "work", [], []) == (answered.answer.outcome, at.flow.state, records(at), judge.asked)


def test_a_lease_that_is_lost_meanwhile_records_nothing(checks: Checks) -> None:
    at = desk(ALONE, checks)

    def lose() -> None:
        opened = at.flow.attempt
        assert opened is not None
        at.leases.take(at.worker, opened.id, "another process", NOON + timedelta(hours=1), 15)

    checks.meanwhile = lose
    refused = at.engine.request_transition(at.worker, "done", PERSON, nobody())
    assert isinstance(refused, Refusal)
    assert (RefusalCode.LEASE_LOST, []) == (refused.code, records(at))


def test_checks_are_told_before_they_are_run(checks: Checks) -> None:
    at = desk(ALONE, checks)
    told: list[VerificationRequest] = []
    checks.meanwhile = lambda: told.append(told[0])
    at.engine.request_transition(at.worker, "done", PERSON, nobody(), begun_with=told.append)
    assert [("pytest",), ("pytest",)] == [each.checks for each in told]


def test_no_check_is_run_once_the_verifications_of_a_visit_are_spent(checks: Checks) -> None:
    checks.statuses["pytest"] = 1
    at, judge = desk(ALONE, checks, replace(SURE, bounds=Bounds(hold_after=9, visit_verifications_max=3))), nobody()
    for number in range(3):
        at.record_evidence(b"something was tried")
        at.request(f"try {number}", judge)
    at.record_evidence(b"something was tried")
    refused = at.engine.request_transition(at.worker, "once more", PERSON, judge)
    assert isinstance(refused, Refusal)
    assert (RefusalCode.BUDGET_EXHAUSTED, 3, 3) == (refused.code, len(checks.ran), len(judge.asked))
    assert "3 of 3 verifications of this visit of state `work` are spent" == refused.message


# --- what may be run ------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pinned", "in_force", "both"),
    [
        (ALLOWED, CheckRights((("pytest", "-q"),), workdir_programs=True), CheckRights((("pytest", "-q"),))),
        (CheckRights(), ALLOWED, CheckRights()),
        (ALLOWED, CheckRights(), CheckRights()),
    ],
)
def test_a_check_has_the_rights_that_the_pinned_profile_and_the_one_in_force_share(
    checks: Checks, pinned: CheckRights, in_force: CheckRights, both: CheckRights
) -> None:
    at = desk(ALONE, checks, replace(DEMONSTRATION, checks=pinned))
    at.restart(replace(DEMONSTRATION, checks=in_force))
    at.request("done", nobody())
    assert [both] == checks.rights


def test_a_worker_that_pins_less_than_is_allowed_now_is_told_to_be_started_anew(checks: Checks) -> None:
    checks.changed = {**INCONCLUSIVE["not run"]}
    at = desk(ALONE, checks, DEMONSTRATION)
    at.restart(SURE)
    told = result(at.request("done", nobody()).answer, "ready")
    assert "start a new Worker: the profile that this one pins does not let it be run" in told.missing[0]


# --- what is kept ---------------------------------------------------------------------------------------------------------------------


def test_no_secret_is_kept_of_a_check(checks: Checks) -> None:
    secret = "correct horse battery staple"  # noqa: S105 -- of nobody
    checks.changed = {"program": f"/opt/{secret}/pytest"}
    at = desk(ALONE, checks, SURE, secrets=Secrets({"KEY": secret}))
    at.request("done", nobody())
    assert not any(secret.encode() in each.payload for each in at.log())


def test_of_what_a_check_said_the_last_lines_are_told_and_can_all_be_seen(checks: Checks) -> None:
    lines = [f"line {each} \x1b[31m" for each in range(50)]
    checks.statuses["pytest"] = 1
    checks.changed = {"output": "the beginning", "output_end": "\n".join(lines)}
    at = desk(ALONE, checks)
    (missing,) = result(at.request("done", nobody()).answer, "ready").missing
    told = missing.split("\n")
    assert "check `pytest`: `pytest -q` ended with exit status 1" == told[0]
    assert ("line 30 ‹U+001B›[31m", "line 49 ‹U+001B›[31m") == (told[1], told[-1])


def test_a_log_with_checks_is_read_back_as_it_was_written(checks: Checks) -> None:
    at = desk(BOTH, checks)
    at.request("done", {"ready": Verdict.MET})
    before = at.flow
    at.restart(SURE)
    assert before == at.flow
    for entry in at.log():
        payload = decode(entry)
        if isinstance(payload, Extension):
            assert entry.payload == encode(payload)


def test_a_preview_runs_nothing(checks: Checks) -> None:
    at = desk(ALONE, checks)
    shown = at.engine.preview(at.worker, "done")
    assert isinstance(shown, VerificationRequest)
    assert (("pytest",), []) == (shown.checks, checks.ran)


def test_nobody_but_the_engine_says_what_came_of_a_check(checks: Checks) -> None:
    at = desk(ALONE, checks)
    at.request("first", nobody())
    assert all(each.actor.actor_class is ActorClass.ENGINE for each in at.log() if b'"check.run.v1"' in each.payload)
