"""The Workdir is looked at when a request is begun and when it was judged; what changed in between moves nothing."""

import json

import pytest

from stateward.runtime.core.events import FailureCause, FileCitation
from stateward.runtime.core.instance import AttemptStatus
from stateward.runtime.ports import Answered, VerificationRequest, VerifierAnswered, VerifierCancelled, VerifierOutcome
from stateward.runtime.profile import DEMONSTRATION
from stateward.runtime.session.entries import ActorClass, Kind
from stateward.runtime.session.evidence import EvidenceClass, evidence_class
from stateward.runtime.session.payloads import Extension, WorkdirRecord, decode
from tests.runtime.engines import AGENT, MODEL, Desk, Judge, failing, saying, verdicts
from tests.runtime.judgements import MET, NOT_MET, judgement
from tests.runtime.workdirs import TextsWorkdir


@pytest.fixture
def workdir() -> TextsWorkdir:
    return TextsWorkdir(a="one\ntwo\n")


@pytest.fixture
def desk(workdir: TextsWorkdir) -> Desk:
    return Desk(actor=AGENT, workdirs=workdir)


def told(desk: Desk, request: VerificationRequest, outcome: VerifierOutcome) -> tuple[str, str, str]:
    answered = desk.engine.report(desk.worker, request.attempt, outcome)
    assert isinstance(answered, Answered)
    return answered.answer.code, answered.answer.cause, answered.answer.message


def test_the_facts_are_an_entry_of_the_engine_in_the_capture_and_their_digest_is_in_the_request(desk: Desk, workdir: TextsWorkdir) -> None:
    request = desk.begin("done").request
    taken = workdir.facts("/the/work")
    assert taken is not None
    facts, requested = request.captured[-2], request.captured[-1]
    payload = decode(facts)
    assert isinstance(payload, Extension)
    assert isinstance(payload.record, WorkdirRecord)
    assert json.loads(taken.stated) == json.loads(payload.record.facts)
    assert (Kind.EXTENSION, ActorClass.ENGINE) == (facts.kind, facts.actor.actor_class)
    assert EvidenceClass.ENGINE is evidence_class(facts.kind, facts.actor.actor_class)
    opened = desk.flow.attempt
    assert opened is not None
    assert (taken.digest, requested.seq) == (opened.tree, opened.requested.seq)


def test_the_facts_are_no_news_by_themselves(desk: Desk) -> None:
    judge = Judge(saying({}))
    desk.request("done", judge)
    assert desk.request("done", judge).repeated
    assert 1 == len(judge.asked)


def test_a_tree_that_changed_while_it_was_judged_moves_nothing(desk: Desk, workdir: TextsWorkdir) -> None:
    request = desk.begin("done").request
    workdir.texts["a"] = "another"
    expected = ("verifier_failed", "workdir_changed", "the Workdir changed while the request was judged")
    assert expected == told(desk, request, verdicts(request, {"x": MET}))
    assert "a" == desk.flow.state


def test_a_tree_that_is_gone_or_cannot_be_looked_at_again_counts_as_changed(desk: Desk, workdir: TextsWorkdir) -> None:
    request = desk.begin("done").request
    workdir.is_tree = False
    assert "workdir_changed" == told(desk, request, verdicts(request, {"x": MET}))[1]
    request = desk.begin("done").request
    workdir.is_tree = True
    assert "" == told(desk, request, verdicts(request, {"x": MET}))[1]


def test_where_there_was_no_tree_or_nothing_could_be_found_out_nothing_is_compared(desk: Desk, workdir: TextsWorkdir) -> None:
    workdir.is_readable = False
    request = desk.begin("done").request
    assert isinstance(decode(request.captured[-2]), Extension)
    workdir.texts["a"], workdir.is_readable = "another", True
    assert "" == told(desk, request, verdicts(request, {"x": MET}))[1]


def test_a_verifier_that_failed_or_gave_up_is_told_as_that_whatever_changed(desk: Desk, workdir: TextsWorkdir) -> None:
    request = desk.begin("done").request
    workdir.texts["a"] = "another"
    assert "timeout" == told(desk, request, failing(FailureCause.TIMEOUT)(request))[1]
    request = desk.begin("done").request
    workdir.texts["a"] = "yet another"
    assert "cancelled" == told(desk, request, VerifierCancelled())[1]


def test_a_changed_tree_is_judged_anew_for_the_same_reason(desk: Desk, workdir: TextsWorkdir) -> None:
    judge = Judge(saying({}))
    desk.request("done", judge)
    workdir.texts["a"] = "another"
    assert not desk.request("done", judge).repeated
    assert 2 == len(judge.asked)


def test_an_open_request_on_another_tree_is_superseded(desk: Desk, workdir: TextsWorkdir) -> None:
    first = desk.begin("done").request
    assert desk.begin("done").continued
    workdir.texts["a"] = "another"
    second = desk.begin("done")
    assert not second.continued
    late = desk.engine.report(desk.worker, first.attempt, verdicts(first, {"x": MET}))
    assert isinstance(late, Answered)
    assert (AttemptStatus.CANCELLED, "superseded") == (late.answer.outcome, late.answer.cause)


def test_a_held_flow_is_freed_by_a_changed_tree(desk: Desk, workdir: TextsWorkdir) -> None:
    for number in range(DEMONSTRATION.bounds.hold_after):
        desk.request(f"look {number}", {})
    assert desk.flow.held is not None
    workdir.texts["a"] = "another"
    assert "b" == desk.request("now", {"x": MET}).answer.state


def test_the_facts_are_restored_with_the_request(desk: Desk, workdir: TextsWorkdir) -> None:
    request = desk.begin("done").request
    desk.restart()
    workdir.texts["a"] = "another"
    assert "workdir_changed" == told(desk, request, verdicts(request, {"x": MET}))[1]


def test_a_restore_from_a_checkpoint_knows_the_tree_too(workdir: TextsWorkdir) -> None:
    desk = Desk(actor=AGENT, workdirs=workdir, checkpoint_entries=3)
    desk.request("look", {})
    desk.record_evidence()
    request = desk.begin("done").request
    desk.record_evidence()
    desk.record_evidence()
    desk.engine.stop(desk.worker, "for today", AGENT)
    before = desk.flow
    desk.restart()
    assert before == desk.flow
    workdir.texts["a"] = "another"
    assert "workdir_changed" == told(desk, request, verdicts(request, {"x": MET}))[1]


# --- files that were cited ----------------------------------------------------------------------------------------------------------

CITED = FileCitation("a", 2, 2, "two")


def citing(request: VerificationRequest, met: str = "x") -> VerifierAnswered:
    given = [judgement(each.transition, MET if each.transition == met else NOT_MET, citations=(CITED,)) for each in request.questions]
    return VerifierAnswered(tuple(given), frozenset({CITED}))


@pytest.mark.parametrize("is_tree", [False, True])
def test_a_cited_file_that_changed_since_it_was_read_moves_nothing(workdir: TextsWorkdir, is_tree: bool) -> None:
    workdir.is_tree = is_tree
    desk = Desk(profile=MODEL, actor=AGENT, workdirs=workdir)
    request = desk.begin("done").request
    workdir.texts["a"] = "one\nthree\n"
    expected = "the Workdir changed while the request was judged" if is_tree else "`a` changed since it was read"
    assert ("verifier_failed", "workdir_changed", expected) == told(desk, request, citing(request))


def test_a_cited_file_that_is_as_it_was_read_is_evidence(workdir: TextsWorkdir) -> None:
    desk = Desk(profile=MODEL, actor=AGENT, workdirs=workdir)
    request = desk.begin("done").request
    assert ("", "", "") == told(desk, request, citing(request))
    assert "b" == desk.flow.state


def test_a_changed_file_that_only_a_no_cites_changes_nothing(workdir: TextsWorkdir) -> None:
    workdir.is_tree = False
    desk = Desk(profile=MODEL, actor=AGENT, workdirs=workdir)
    request = desk.begin("done").request
    workdir.texts["a"] = ""
    assert "no_condition_met" == told(desk, request, citing(request, met="none"))[0]
