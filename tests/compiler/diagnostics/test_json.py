"""Diagnostics and reports for programs."""

import json
import re
from pathlib import Path

import pytest

import stateward.compiler
from stateward.compiler.diagnostics.json import diagnostic_json
from stateward.compiler.diagnostics.model import Diagnostic, Label, Severity
from stateward.compiler.diagnostics.report import Checked, Failure, Report, document, stricter, summary
from stateward.compiler.pipeline import compile_source
from stateward.compiler.source import Place, Source, Span
from tests.compiler.flow.sources import FAULTS, GOOD, changed

DOCUMENTED = Path(stateward.compiler.__file__).parents[3] / "docs" / "reference" / "compile-json.md"
BROKEN = changed(('target = "review"', 'target = "reveiw"'))


def checked(source: str, file: str = "flows/paper.dcdl") -> Checked:
    compilation = compile_source(source.encode(), name=file)
    definition = compilation.definition
    return Checked(
        file,
        definition.name if definition is not None else None,
        compilation.content_digest if definition is not None else None,
        compilation.definition_digest,
        compilation.diagnostics,
    )


def test_the_documented_example_is_what_is_printed() -> None:
    (example,) = re.findall(r"```json\n(.*?)```", DOCUMENTED.read_text("utf-8"), re.DOTALL)
    assert json.loads(example) == document(Report([checked(BROKEN)], [], 0))


def test_every_field_is_documented() -> None:
    text = DOCUMENTED.read_text("utf-8")
    fields = {*document(Report([checked(BROKEN)], [Failure("m", "r", 2)], 0)), *diagnostic_json(checked(BROKEN).diagnostics[0])}
    assert [field for field in sorted(fields) if f"`{field}`" not in text] == []


def test_positions_are_bytes_of_the_file_and_columns_of_people() -> None:
    source = Source.from_text("x", "\ufeff# é\n日 = \U0001f600;\n")
    start = source.text.index("\U0001f600")
    place = Place(source, Span(start, start + 1))
    written = diagnostic_json(Diagnostic("c", Severity.ERROR, "m", Label(place)))["primary"]
    assert (written["start"], written["end"]) == (
        {"byte": 3 + 5 + 3 + 3, "line": 2, "column": 5},
        {"byte": 3 + 5 + 3 + 3 + 4, "line": 2, "column": 6},
    )


@pytest.mark.parametrize("code", FAULTS)
def test_bytes_cut_the_very_text_that_is_meant(code: str) -> None:
    source = FAULTS[code]
    data = source if isinstance(source, bytes) else source.encode()
    if code in {"source_not_utf8", "source_too_large"}:
        return
    for diagnostic in compile_source(data).diagnostics:
        place, written = diagnostic.primary.place, diagnostic_json(diagnostic)["primary"]
        assert data[written["start"]["byte"] : written["end"]["byte"]].decode() == place.source.slice(place.span)


@pytest.mark.parametrize("code", FAULTS)
def test_everything_that_is_found_can_be_written(code: str) -> None:
    source = FAULTS[code]
    data = source if isinstance(source, bytes) else source.encode()
    for diagnostic in compile_source(data, slug="paper").diagnostics:
        assert json.loads(json.dumps(diagnostic_json(diagnostic)))["code"] == diagnostic.code


def test_a_flow_that_compiles_has_its_digests() -> None:
    written = document(Report([checked(GOOD)], [], 0))["files"][0]
    assert (written["flow"], written["content_digest"][:7], written["definition_digest"][:7], written["diagnostics"]) == (
        "paper",
        "sha256:",
        "sha256:",
        [],
    )


@pytest.mark.parametrize(
    ("errors", "warnings", "passed", "line"),
    [
        (0, 0, 0, "checked 1 flow: no problems"),
        (2, 1, 0, "checked 1 flow: 2 errors, 1 warning"),
        (1, 0, 1, "checked 1 flow: 1 error; passed over 1 file that is no flow"),
        (0, 3, 12, "checked 1 flow: 3 warnings; passed over 12 files that are no flow"),
    ],
)
def test_the_closing_line(errors: int, warnings: int, passed: int, line: str) -> None:
    place = Place(Source("x", ""), Span(0, 0))
    found = [Diagnostic("c", Severity.ERROR, "m", Label(place))] * errors + [
        Diagnostic("c", Severity.WARNING, "m", Label(place))
    ] * warnings
    assert summary(Report([Checked("x", None, None, None, tuple(found))], [], passed)) == line


def test_the_status_is_that_of_the_worst() -> None:
    clean, broken = checked(GOOD), checked(BROKEN)
    missing, denied = Failure("m", "r", 2), Failure("m", "r", 3)
    assert [Report(*each, 0).status for each in ([[clean], []], [[broken], []], [[broken], [missing]], [[clean], [missing, denied]])] == [
        0,
        1,
        2,
        3,
    ]


def test_a_failure_is_one_line_with_its_remedy() -> None:
    assert Failure("`x` does not exist", "check the path", 2).text() == "error: `x` does not exist\n  = help: check the path\n"


def test_stricter_makes_errors_of_warnings_and_changes_nothing_else() -> None:
    found = compile_source(GOOD.encode(), slug="essay").diagnostics
    assert [(each.severity, each.code) for each in stricter(found)] == [(Severity.ERROR, "name_differs_from_slug")]
