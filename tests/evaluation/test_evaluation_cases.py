"""The cases of the evaluation set: what they have to cover, and what is no case."""

from pathlib import Path

import pytest

from benchmarks.verifier.cases import FILE_BYTES_MAX, FOLDER, BadCaseError, Case, Long, read_cases, read_file, shipped_cases
from stateward.compiler.formatting.printer import format_source
from stateward.compiler.source import Source
from tests.evaluation.sets import SMALL

KINDS = {
    "ambiguous",
    "channels",
    "claimed",
    "contradictory",
    "giving-up",
    "injected",
    "masked-status",
    "operator",
    "partial",
    "plain-met",
    "plain-unmet",
    "repository",
    "set-aside",
    "stale",
    "unreadable",
    "wrong-place",
}
WHOLE = (SMALL / "small.dcdl").read_text("utf-8")


def test_there_are_enough_cases_of_every_kind() -> None:
    cases = shipped_cases()
    assert len(cases) >= 60
    assert dict.fromkeys(KINDS, True) == {kind: sum(each.kind == kind for each in cases) >= 4 for kind in {each.kind for each in cases}}


def test_about_half_of_them_let_the_worker_on() -> None:
    cases = shipped_cases()
    assert 0.4 <= sum(bool(each.moves) for each in cases) / len(cases) <= 0.6


def test_the_areas_that_a_judge_can_get_wrong_are_there() -> None:
    assert {"JUD", "EVI", "SEC", "WRK"} == {area for each in shipped_cases() for area in each.areas}


def test_giving_up_is_right_in_some_and_wrong_in_others_that_want_it() -> None:
    assert {"met", "not_met"} == {each.best("$cancel") for each in shipped_cases() if each.wants == "$cancel"}


def test_what_is_met_and_what_is_not_is_wanted_in_many_flows() -> None:
    flows = {each.flow for each in shipped_cases()}
    assert len(flows) >= 20


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.dcdl")), ids=lambda path: path.stem)
def test_a_file_holds_the_kind_it_is_named_for_and_is_in_canonical_form(path: Path) -> None:
    text = path.read_text("utf-8")
    assert {path.stem} == {each.kind for each in read_file(path)}
    assert text == format_source(Source(path.name, text))


@pytest.mark.parametrize("case", shipped_cases(), ids=lambda each: each.id)
def test_a_case_says_why(case: Case) -> None:
    assert case.why.endswith(".")
    assert case.reason.strip()


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("schema_version = 1", "schema_version = 2", "schema_version"),
        ('kind = "small"', "kind = 3", "kind"),
        ('why = "The file names it.";', "", "goes`: why"),
        ('why = "The file names it.";', 'why = "x"; who = "y";', "goes`: who"),
        ('finish = ["report.md:1-1"];', "", "nothing is named that shows `finish`"),
        ('["report.md:1-1"]', '["other.md:1-1"]', "`other.md:1-1` is neither a label nor lines of a file"),
        ('["check"]', '["chekc"]', "`chekc` is neither"),
        ('wants = "loud"', 'wants = "quiet"', "`quiet` is none of the ways"),
        ('long = ["met"];', "", "the right verdicts are not those of the ways"),
        ('finish = ["not_met"];', "finish = [];", "a way has no right verdict"),
        ('finish = ["not_met"];', 'finish = ["maybe"];', "stays`: right.finish.0"),
        ('label = "check";', 'label = "task";', "a label stands twice"),
        ("status = 1;", "statsu = 1;", "stays`: session.0"),
        ("goes = {", "goes {", "small.dcdl:5"),
        ("goes = {", "goes = nowhere & {", "small.dcdl:5: `nowhere`"),
    ],
)
def test_what_is_no_case_is_refused_with_its_place(old: str, new: str, told: str, tmp_path: Path) -> None:
    assert old in WHOLE
    (tmp_path / "small.dcdl").write_text(WHOLE.replace(old, new), "utf-8")
    with pytest.raises(BadCaseError) as raised:
        read_cases(tmp_path)
    assert told in str(raised.value)


def test_a_case_stands_once_over_all_files(tmp_path: Path) -> None:
    for name in ("one.dcdl", "two.dcdl"):
        (tmp_path / name).write_text(WHOLE, "utf-8")
    with pytest.raises(BadCaseError, match="case `goes` stands twice"):
        read_cases(tmp_path)


def test_a_folder_without_cases_is_told(tmp_path: Path) -> None:
    with pytest.raises(BadCaseError, match="holds 0 files of cases"):
        read_cases(tmp_path)


def test_a_file_over_its_limit_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "large.dcdl"
    path.write_text(f"# {'x' * FILE_BYTES_MAX}\n{WHOLE}", "utf-8")
    with pytest.raises(BadCaseError, match=r"large\.dcdl: "):
        read_file(path)


def test_a_text_made_by_repetition_is_bounded() -> None:
    assert "a" + "bc" * 3 + "d" == Long(before="a", repeat="bc", times=3, after="d").whole
    with pytest.raises(ValueError, match="more than 4194304 characters"):
        Long(repeat="x" * 5, times=1_000_000)
