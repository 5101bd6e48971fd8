"""Scores, and the report of a small set as it is written."""

import json
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from benchmarks.verifier.__main__ import evaluated, main
from benchmarks.verifier.chart import chart
from benchmarks.verifier.report import as_data, as_json, as_markdown
from benchmarks.verifier.running import SCRIPTED, Run, scripted_judge
from benchmarks.verifier.scoring import Outcome, Stability, confusion, mistakes, outcome_of, score, stability, upper_bound
from tests.evaluation.sets import at_fixed_cost, measured, ruled, run, small_cases

HERE = Path(__file__).resolve().parent / "small"


@pytest.mark.parametrize("script", ["careful", "careless", "adversarial"])
def test_the_report_of_a_small_set_is_as_it_was(script: str) -> None:
    """To take a change over, write what is asserted here into the files of the folder `small`."""
    found = at_fixed_cost(measured(script, small_cases(), repeats=2))
    assert (HERE / f"{script}.md").read_text("utf-8") == as_markdown(found)
    assert (HERE / f"{script}.svg").read_text("utf-8") == chart(f"A small set: {script}", found.runs)


def test_the_json_holds_the_scores_and_every_run() -> None:
    found = at_fixed_cost(measured("careful", small_cases()))
    data = json.loads(as_json([found]))
    (report,) = data["reports"]
    assert (1, "scripted:careful", 3, 1) == (data["version"], report["judge"], report["set"]["cases"], report["set"]["moving"])
    assert ["goes", "open", "stays"] == sorted(each["case"] for each in report["runs"])
    assert (3, 3, 0) == (report["score"]["runs"], report["score"]["right"], report["score"]["wrong_met_left"])


def test_the_digest_of_a_set_changes_with_any_case() -> None:
    found = measured("careful", small_cases()[:1])
    (case,) = found.cases
    other = replace(found, cases=(case.model_copy(update={"why": "For another reason."}),))
    assert as_data(found)["set"]["digest"] != as_data(other)["set"]["digest"]


@pytest.mark.parametrize(
    ("made", "outcome"),
    [
        (run("x", "x", ruled("met", "met")), Outcome.RIGHT),
        (run("", "", ruled("indeterminate not_met", "not_met")), Outcome.RIGHT),
        (run("x", "", ruled("met", "not_met")), Outcome.HELD_BACK),
        (run("x", "", ruled("met", "met", "indeterminate")), Outcome.HELD_BACK),
        (run("", "", ruled("not_met", "indeterminate")), Outcome.HELD_BACK),
        (run("", "", ruled("not_met", "", ""), cause="timeout"), Outcome.FAILED),
        (run("", "", ruled("not_met", "met", "indeterminate")), Outcome.STOPPED),
        (run("", "", ruled("indeterminate not_met", "met", "indeterminate")), Outcome.STOPPED),
        (run("", "x", ruled("not_met", "met")), Outcome.LET_THROUGH),
        (run("", "x", ruled("met", "met"), ruled("met", "not_met")), Outcome.LET_THROUGH),
    ],
)
def test_a_run_is_worth_the_worst_that_is_true_of_it(made, outcome) -> None:  # type: ignore[no-untyped-def]  # values above
    assert outcome == outcome_of(made)
    assert (outcome is Outcome.RIGHT) == made.is_right == (not list(mistakes([made])))


def test_a_wrong_met_is_counted_as_given_and_as_left() -> None:
    runs = [
        run("", "", ruled("not_met", "met", "indeterminate")),
        run("", "x", ruled("not_met", "met")),
        run("x", "", ruled("met", "not_met")),
        run("", "", ruled("not_met", "", ""), cause="budget"),
    ]
    total = score(runs)
    assert (2, 1, 1, 1, 1) == (
        total.wrong_met_given,
        total.wrong_met_stopped,
        total.wrong_met_left,
        total.wrong_moves,
        total.held_back,
    )
    assert ({"budget": 1}, 8, 40) == (total.failures, total.requests, total.input_tokens)


@pytest.mark.parametrize(("part", "of", "bound"), [(0, 100, 0.0263), (5, 100, 0.0992), (100, 100, 1.0), (0, 0, 1.0)])
def test_few_verdicts_prove_little(part: int, of: int, bound: float) -> None:
    assert bound == pytest.approx(upper_bound(part, of), abs=0.0005)


def test_an_interrupted_evaluation_keeps_what_was_measured() -> None:
    def interrupt(_: Run) -> None:
        raise KeyboardInterrupt

    cases = small_cases()
    found = evaluated("scripted:careful", cases, 1, SCRIPTED, scripted_judge("careful", {}), told=interrupt)
    assert (["goes"], False) == ([each.case for each in found.runs], found.is_whole)
    assert "3 cases, each once, interrupted" in as_markdown(found)


def test_confusion_counts_every_verdict_once_and_what_was_never_said_apart() -> None:
    runs = [
        run("", "", ruled("not_met", "met", "indeterminate"), ruled("met", "met")),
        run("", "", ruled("not_met", "", ""), cause="timeout"),
    ]
    nothing = {"met": 0, "not_met": 0, "indeterminate": 0, "none": 0}
    expected = {"met": {**nothing, "met": 1}, "not_met": {**nothing, "met": 1, "none": 1}, "indeterminate": nothing}
    assert expected == confusion(runs, checked=False)
    assert {**expected, "not_met": {**nothing, "indeterminate": 1, "none": 1}} == confusion(runs, checked=True)


def test_repeats_are_compared_with_the_most_common_of_their_case() -> None:
    right, wrong = ruled("met", "met"), ruled("met", "not_met")
    runs = [run("x", "x", right, case="one", repeat=at) for at in range(3)]
    runs += [run("x", "x", right, case="two"), run("x", "x", right, case="two", repeat=1), run("x", "", wrong, case="two", repeat=2)]
    assert Stability(2, 1, 5 / 6, ("two",)) == stability(runs)


def test_a_chart_is_well_formed_whatever_it_is_called() -> None:
    drawn = chart("<judge> & 'co'", [run("x", "x", ruled("met", "met"))])
    root = ElementTree.fromstring(drawn)  # noqa: S314 -- our own
    assert "<judge> & 'co'" == root.find("{http://www.w3.org/2000/svg}title").text  # type: ignore[union-attr]


# --- the command --------------------------------------------------------------------------------------------------------------------


def test_the_command_writes_a_page_a_chart_and_the_json_of_the_cases_that_were_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    named = ["--case", "tests-fail", "--case", "cleaning-counts-agree"]
    assert 0 == main(["--scripted", "careful", "--repeat", "2", *named, "--report", str(tmp_path), "--json", str(tmp_path / "all.json")])
    assert {"report.md", "chart.svg"} == {each.name for each in (tmp_path / "scripted-careful").iterdir()}
    (report,) = json.loads((tmp_path / "all.json").read_text("utf-8"))["reports"]
    assert (4, 4) == (report["score"]["right"], len(report["runs"]))
    assert "right    4 of 4" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "told"),
    [(["--case", "nothing"], "there is no case `nothing`"), (["--profile", "default"], "is judged by a `person`")],
)
def test_what_cannot_be_measured_is_said(
    arguments: list[str], told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    assert 2 == main([*arguments, "--report", str(tmp_path / "report")])
    assert told in capsys.readouterr().err
    assert not (tmp_path / "report").exists()


@pytest.mark.parametrize("number", ["0", "51", "x", "-1"])
def test_a_case_is_run_a_bounded_number_of_times(number: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["--repeat", number])
    assert "is not between 1 and 50" in capsys.readouterr().err
