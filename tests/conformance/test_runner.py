"""The conformance command and the rules of its comparisons."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.__main__ import main
from tests.conformance.cases import BadDataError, Case, CaseKind, generated, read_cases
from tests.conformance.eval_cases import judge_evaluation
from tests.conformance.test_conformance import FILES, HERE

GOOD = {"id": "good", "source": "1 + 1", "expect": {"value": 2}}
BAD = {"id": "bad", "source": "1 + 1", "expect": {"value": {"$float": "2.0"}}}


def written(folder: Path, *cases: Mapping[str, object]) -> Path:
    path = folder / "cases.jsonl"
    path.write_text("".join(json.dumps(case) + "\n" for case in cases), "utf-8")
    return path


def evaluation(source: str, **expect: object) -> Case:
    return Case(CaseKind.EVALUATE, "case", {"id": "case", "source": source, "expect": expect})


def passes(source: str, **expect: object) -> bool:
    return judge_evaluation(evaluation(source, **expect)) is None


def test_the_kinds_are_told_from_the_fields() -> None:
    assert [CaseKind.EVALUATE, CaseKind.FORMAT, CaseKind.COMPILE] == [read_cases(HERE / name)[0].kind for name in FILES]


def test_every_line_of_a_file_is_a_case() -> None:
    for name in FILES:
        cases = read_cases(HERE / name)
        assert len((HERE / name).read_text("utf-8").splitlines()) == len(cases)
        assert len({case.id for case in cases}) == len(cases)


def test_all_that_pass_give_status_0(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert 0 == main([str(written(tmp_path, GOOD))])
    assert "1 passed, 0 failed\n" == capsys.readouterr().out


def test_each_that_fails_is_a_line_and_gives_status_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert 1 == main([str(written(tmp_path, GOOD, BAD, {**BAD, "id": "worse"}))])
    out = capsys.readouterr().out.splitlines()
    assert ['bad: expected {"$float": "2.0"}, got 2', 'worse: expected {"$float": "2.0"}, got 2', "1 passed, 2 failed"] == out


MALFORMED: list[dict[str, object]] = [
    {"id": 7},
    {"source": 1},
    {"source": None},
    {"expect": "value"},
    {"expect": {}},
    {"expect": None},
    {"expect": {"error": "conflict", "span": [1]}},
    {"expect": {"error": "conflict", "span": "here"}},
    {"expect": {"error": 1}},
    {"files": ["a"]},
    {"files": {"a": 1}},
    {"expect": {"ok": {}}},
    {"expect": {"ok": {"states": [{"id": "a", "transitions": [["b"]]}]}}},
    {"expect": {"diagnostics": ["code"]}},
    {"expect": None, "formatted": 1},
]


@pytest.mark.parametrize("fields", MALFORMED)
def test_a_case_of_no_known_form_is_one_line_and_gives_status_2(
    tmp_path: Path, fields: Mapping[str, object], capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path, GOOD, {**GOOD, **fields})
    assert 2 == main([str(path)])
    captured = capsys.readouterr()
    assert captured.err.startswith(f"{path}:2: is no case: ")
    assert 1 == captured.err.count("\n")


@pytest.mark.parametrize("recipe", ["a", {"repeat": ["a", 2]}, [{"repeat": ["a"]}], [{"repeat": ["a", "2"]}], [{"repeat": ["a", 10**12]}]])
def test_a_recipe_that_gives_no_text_is_one_line_and_gives_status_2(
    tmp_path: Path, recipe: object, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path, {"id": "made", "generate": recipe, "expect": {"value": 2}})
    assert 2 == main([str(path)])
    assert capsys.readouterr().err.startswith(f"{path}:1: is no case: ")


def crashing(case: Case) -> None:
    if case.id != "good":
        raise ValueError("no such thing")


def test_a_case_fails_alone_where_judging_it_crashes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert 1 == main([str(written(tmp_path, {**GOOD, "id": "one\nline"}, GOOD))], crashing)
    expected = ["one\\nline: expected an answer, got ValueError: no such thing", "1 passed, 1 failed"]
    assert expected == capsys.readouterr().out.splitlines()


@pytest.mark.parametrize("text", ["", "\n", "no json\n", '{"id": "x"}\n', "[]\n", '{"id": NaN}\n', f"{'[' * 100_000}\n"])
def test_a_file_without_cases_gives_status_2(tmp_path: Path, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "cases.jsonl"
    path.write_text(text)
    assert 2 == main([str(path)])
    assert str(path) in capsys.readouterr().err


def test_a_file_that_is_not_there_gives_status_2(tmp_path: Path) -> None:
    assert 2 == main([str(tmp_path / "none.jsonl")])
    with pytest.raises(BadDataError):
        read_cases(tmp_path / "none.jsonl")


def test_a_recipe_is_put_together() -> None:
    recipe: list[str | dict[str, Any]] = ["a", {"repeat": ["b", 2]}, {"each": ["{i-1}{i}{i+1};", 9, 10]}]
    assert "abb8910;91011;" == "".join(generated(recipe))


def test_a_value_counts_with_its_type() -> None:
    assert passes("1", value=1)
    assert not passes("1.0", value=1)
    assert not passes("true", value=1)
    assert passes("0.0 * -1.0", value={"$float": "-0.0"})
    assert not passes("0.0", value={"$float": "-0.0"})
    assert passes("{ b = 1; a = 2; }", value={"a": 2, "b": 1})
    assert not passes("[1, 2]", value=[2, 1])


def test_a_span_may_lie_inside_but_not_beside_and_not_be_empty() -> None:
    assert passes("1 + nope", error="unresolved_identifier", span=[4, 8])
    assert passes("1 + nope", error="unresolved_identifier", span=[0, 8])
    assert not passes("1 + nope", error="unresolved_identifier", span=[0, 7])
    assert not passes("1 + nope", error="type_mismatch", span=[4, 8])
    assert passes("1 + nope", error="unresolved_identifier", span=None)
    assert not passes('"é" + nope', error="unresolved_identifier", span=[6, 10])
    assert passes('"é" + nope', error="unresolved_identifier", span=[7, 11])


def test_a_path_counts_where_it_is_given() -> None:
    assert passes("{ a = [Int]; }", error="materialize", span=[7, 10], field_path="a[0]")
    assert not passes("{ a = [Int]; }", error="materialize", span=[7, 10], field_path="a[1]")


def test_an_error_must_come_where_one_is_expected() -> None:
    assert not passes("1", error="conflict", span=None)
