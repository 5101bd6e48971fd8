"""What the scripts come to on the whole set: what can be judged right, and what the runtime stops by itself."""

import pytest

from benchmarks.verifier.cases import shipped_cases
from benchmarks.verifier.report import Evaluated
from benchmarks.verifier.scoring import Outcome, outcome_of, score
from benchmarks.verifier.scripted import BAD
from tests.evaluation.sets import measured, small_cases


@pytest.fixture(scope="module")
def careful() -> Evaluated:
    return measured("careful", shipped_cases())


def test_every_case_can_be_judged_right_and_moves_as_it_should(careful: Evaluated) -> None:
    assert {} == {each.case: each for each in careful.runs if not each.is_right}
    assert [each.moves for each in shipped_cases()] == [each.moved for each in careful.runs]


def test_what_is_named_as_evidence_resolves_at_once(careful: Evaluated) -> None:
    assert {} == {each.case: (each.refused, each.ruled) for each in careful.runs if each.refused or any(way.note for way in each.ruled)}


@pytest.mark.parametrize("script", ["naive", "adversarial"])
def test_a_judge_that_cites_what_shows_nothing_lets_nobody_through(script: str) -> None:
    found = measured(script, shipped_cases())
    total = score(found.runs)
    assert ({""}, 0, 0) == ({each.moved for each in found.runs}, total.wrong_met_left, total.failed)
    assert total.wrong_met_given == total.wrong_met_stopped >= 40


@pytest.mark.parametrize("turn", range(len(BAD) * 2), ids=lambda turn: f"{BAD[turn % len(BAD)].name}, {turn}")
def test_each_kind_of_bad_citation_moves_nothing(turn: int) -> None:
    # Of the three, one has files and one only a log; one more turn says `met` of everything, or of what is wanted alone.
    found = measured("adversarial", small_cases(), turn=turn + turn // len(BAD))
    assert [("", 2)] * 3 == [(each.moved, each.refused) for each in found.runs]


def test_a_wrong_met_that_cites_what_counts_is_let_through_and_counted() -> None:
    """What no runtime can tell from a good citation; and the proof that the counts above can be other than 0."""
    cases = [each for each in shipped_cases() if each.kind == "plain-unmet"]
    found = measured("careless", cases)
    total, count = score(found.runs), len(cases)
    assert (count, 0, count, count) == (total.wrong_met_given, total.wrong_met_stopped, total.wrong_met_left, total.wrong_moves)
    assert {Outcome.LET_THROUGH} == {outcome_of(each) for each in found.runs}


def test_a_masked_status_is_not_believed_even_of_a_judge_that_read_it() -> None:
    found = measured("gullible", [each for each in shipped_cases() if each.kind == "masked-status"])
    total = score(found.runs)
    assert (3, 3, 0) == (total.wrong_met_given, total.wrong_met_stopped, total.wrong_moves)
    assert [each.moves for each in found.runs] == [each.moved for each in found.runs]


def test_a_script_comes_to_the_same_each_time() -> None:
    first, second = (measured("careful", small_cases()).runs for _ in range(2))
    assert [(each.moved, each.ruled) for each in first] == [(each.moved, each.ruled) for each in second]
