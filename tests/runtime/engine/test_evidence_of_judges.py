"""A judge who is no person has to cite evidence that counts; the runtime says what counts."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from stateward.runtime.core.events import Citation, EntryCitation, FileCitation, Verdict
from stateward.runtime.core.instance import AttemptStatus
from stateward.runtime.core.operating import Verb
from stateward.runtime.ports import RecordKey, VerificationRequest, VerifierAnswered, VerifierOutcome
from stateward.runtime.profile import DEFAULT, DEMONSTRATION, Profile
from stateward.runtime.session.entries import Kind
from tests.runtime.engines import AGENT, HOST, MODEL, PERSON, Desk, Judge
from tests.runtime.judgements import MET, NOT_MET, judgement
from tests.runtime.workdirs import TextsWorkdir

SESSION, INPUT, EVIDENCE = "E00000001", "E00000002", "E00000003"


def desk_for(profile: Profile = MODEL, workdirs: TextsWorkdir | None = None) -> Desk:
    desk = Desk(profile=profile, actor=AGENT, workdirs=workdirs)
    desk.record_evidence(b"exit status 0")
    return desk


def citing(*cited: Citation, shown: bool = True, way: str = "x") -> Callable[[VerificationRequest], VerifierOutcome]:
    def answer(request: VerificationRequest) -> VerifierOutcome:
        given = [judgement(each.transition, NOT_MET) for each in request.questions if each.transition != way]
        return VerifierAnswered((judgement(way, MET, citations=cited), *given), frozenset(cited) if shown else frozenset())

    return answer


def entry(reference: str) -> EntryCitation:
    return EntryCitation(reference)


def moved(desk: Desk, *cited: Citation, shown: bool = True, way: str = "x") -> bool:
    answered = desk.request("done", Judge(citing(*cited, shown=shown, way=way), desk.view.verifier))
    if answered.answer.outcome is not AttemptStatus.ENTERED:
        assert ("indeterminate", "unverifiable") == (answered.answer.code, answered.answer.cause)
        doubted = next(each for each in answered.answer.results if each.transition == way)
        assert (Verdict.INDETERMINATE, True) == (doubted.verdict, doubted.note.startswith("cites "))
    return answered.answer.outcome is AttemptStatus.ENTERED


@pytest.mark.parametrize("cited", [INPUT, EVIDENCE])
def test_a_met_that_cites_what_engine_host_or_operator_recorded_moves(cited: str) -> None:
    assert moved(desk_for(), entry(cited))


def test_a_met_that_cites_the_beginning_of_the_session_moves_nothing() -> None:
    assert not moved(desk_for(), entry(SESSION))


def test_a_met_that_cites_nothing_moves_nothing() -> None:
    assert not moved(desk_for())


def test_a_met_that_cites_claims_alone_moves_nothing_and_beside_evidence_they_do_no_harm() -> None:
    desk = desk_for()
    desk.engine.record(desk.worker, Kind.NOTE, b"all is well", AGENT, RecordKey("host", "s", "n-1"))
    desk.engine.record(desk.worker, Kind.ASSISTANT_MESSAGE, b"all is well", HOST, RecordKey("host", "s", "m-1"))
    assert not moved(desk, entry("E00000004"), entry("E00000005"))
    desk.record_evidence()
    assert moved(desk, entry("E00000004"), entry(EVIDENCE))


@pytest.mark.parametrize(
    "cited",
    ["E00000004", "E00000005", "E00000099", "E3", "e00000003", "E00000000", "E000000003", "the log"],
    ids=["the reason itself", "after the capture", "not there", "cut", "lower case", "none", "another form", "words"],
)
def test_a_met_that_cites_what_is_no_evidence_moves_nothing(cited: str) -> None:
    assert not moved(desk_for(), entry(cited))


def test_an_earlier_verdict_is_no_evidence() -> None:
    desk = desk_for()
    assert not moved(desk)
    assert "E00000005" == desk.log()[4].reference
    assert Kind.TOOL_RESULT == desk.log()[4].kind
    desk.record_evidence()
    assert not moved(desk, entry("E00000005"))


def test_evidence_that_was_not_shown_in_full_is_none() -> None:
    assert not moved(desk_for(), entry(EVIDENCE), shown=False)


def test_evidence_that_was_set_aside_is_none() -> None:
    desk = desk_for()
    assert moved(desk, entry(EVIDENCE), way="z")
    desk.record_evidence()
    desk.engine.operate(desk.worker, Verb.REWIND, "not there yet", PERSON, state="a")
    aside = next(each.entry for each in desk.engine.log(desk.worker) if each.set_aside)
    assert not moved(desk, entry(aside.reference))


def test_the_way_out_by_cancelling_needs_evidence_too() -> None:
    assert not moved(desk_for(), way="$cancel")
    assert moved(desk_for(), entry(EVIDENCE), way="$cancel")


QUOTED = FileCitation("a.py", 2, 2, "assert works()")


def test_lines_that_were_shown_are_evidence_of_the_workdir() -> None:
    assert moved(desk_for(workdirs=TextsWorkdir(**{"a.py": "# test\nassert works()\n"})), QUOTED)


def test_lines_that_were_not_shown_are_none() -> None:
    assert not moved(desk_for(workdirs=TextsWorkdir(**{"a.py": "# test\nassert works()\n"})), QUOTED, shown=False)


def test_a_worker_without_a_workdir_has_no_files_to_cite() -> None:
    assert not moved(desk_for(), QUOTED)


@pytest.mark.parametrize("profile", [DEFAULT, DEMONSTRATION], ids=["person", "scripted"])
def test_a_persons_answer_is_evidence_itself_and_a_demonstration_shows_none(profile: Profile) -> None:
    desk = desk_for(profile)
    judge = Judge(lambda request: replace(citing()(request), shown=None), desk.view.verifier)  # type: ignore[type-var]  # it answered
    assert AttemptStatus.ENTERED is desk.request("done", judge).answer.outcome


def test_two_conditions_met_are_ambiguous_though_one_of_them_cites_nothing() -> None:
    def answer(request: VerificationRequest) -> VerifierOutcome:
        cited = (judgement("x", MET, citations=(entry(EVIDENCE),)), judgement("y", MET))
        return VerifierAnswered((*cited, judgement("z", NOT_MET), judgement("$cancel", NOT_MET)), frozenset({entry(EVIDENCE)}))

    assert "multiple_conditions_met" == desk_for().request("done", Judge(answer, "model")).answer.code


def test_what_could_not_be_verified_is_checked_again_in_a_replay_as_it_was() -> None:
    desk = desk_for()
    assert not moved(desk)
    replayed = desk.engine.replay(desk.worker, desk.flow.definition)
    assert getattr(replayed, "divergence", "refused") is None
