"""The forms in which programs are told: JSON by its published schema, lines, SARIF, annotations of GitHub."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateward.compiler.diagnostics.cells import safe
from stateward.compiler.diagnostics.codes import CODES
from stateward.compiler.diagnostics.github import annotations
from stateward.compiler.diagnostics.line import lines
from stateward.compiler.diagnostics.model import Applicability, Diagnostic, Edit, Fix, Label, Severity
from stateward.compiler.diagnostics.report import Checked, Failure, Fixed, Report, document
from stateward.compiler.diagnostics.sarif import sarif
from stateward.compiler.pipeline import compile_source
from stateward.compiler.source import Place, Source, Span
from tests.compiler.diagnostics.snapshots import assert_snapshot, titled, visible
from tests.compiler.flow.sources import FAULTS, changed
from tests.compiler.flow.test_cases import CASES

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
PUBLISHED = json.loads((ROOT / "docs" / "reference" / "compile.schema.json").read_text("utf-8"))
SARIF = json.loads((HERE / "sarif.schema.json").read_text("utf-8"))
SOURCES = {**FAULTS, **CASES}
TWO = changed(('target = "review"', 'target = "reveiw"'), ('"Read it.";\n', '"Read it."\n'))


def checked(source: str | bytes, file: str = "flows/paper.dcdl") -> Checked:
    data = source if isinstance(source, bytes) else source.encode()
    found = compile_source(data, name=file, slug="paper")
    return Checked(file, found.flow, found.content_digest, found.definition_digest, found.diagnostics)


def report_of(*sources: str | bytes, file: str = "flows/paper.dcdl") -> Report:
    return Report([checked(each, file) for each in sources], [], 0)


FAILED = Report(
    [checked(TWO)._replace(fixed=(Fixed("wrong_type", "write `true`", "unsafe", 3, 7),), allowed=2)],
    [Failure("`nope.dcdl` does not exist", "check the path", 2), Failure("`x` cannot be read", "", 3)],
    passed_over=1,
)


def wrong_with(schema: Any, data: Any) -> list[str]:
    validator = jsonschema.validators.validator_for(schema)
    validator.check_schema(schema)
    return [f"{each.json_path}: {each.message}" for each in validator(schema).iter_errors(data)]


def closed(schema: Any) -> Any:
    """Give a schema that refuses what it does not name, to see whether it names everything."""
    if isinstance(schema, list):
        return [closed(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    inner = {name: closed(each) for name, each in schema.items()}
    return {**inner, "additionalProperties": False} if "properties" in schema and schema.get("type") == "object" else inner


# --- JSON -------------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SOURCES)
def test_a_report_keeps_to_the_published_schema_and_holds_nothing_that_it_does_not_name(name: str) -> None:
    assert [] == wrong_with(closed(PUBLISHED), document(report_of(SOURCES[name])))


def test_failures_and_changes_keep_to_the_published_schema() -> None:
    assert [] == wrong_with(closed(PUBLISHED), document(FAILED))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("version",), 2),
        (("files", 0, "flow"), 3),
        (("files", 0, "content_digest"), "md5:00"),
        (("files", 0, "diagnostics", 0, "severity"), "note"),
        (("files", 0, "diagnostics", 0, "primary", "start", "line"), 0),
        (("files", 0, "diagnostics", 0, "fixes", 0, "edits", 0, "replacement"), None),
        (("files", 0, "fixed", 0, "applicability"), "display"),
        (("failures", 0, "status"), 1),
        (("summary", "errors"), -1),
    ],
)
def test_the_published_schema_refuses_what_is_no_report(path: tuple[str | int, ...], value: object) -> None:
    data = document(FAILED)
    place: Any = data
    for part in path[:-1]:
        place = place[part]
    place[path[-1]] = value
    assert 1 == len(wrong_with(PUBLISHED, data))


def test_the_published_schema_lets_new_fields_come() -> None:
    assert [] == wrong_with(PUBLISHED, {**document(FAILED), "since": "2.0"})


# --- lines ------------------------------------------------------------------------------------------------------------------------------


def test_each_diagnostic_is_one_line_that_an_editor_can_jump_to() -> None:
    assert (
        lines(report_of(TWO))
        == """\
flows/paper.dcdl:7:45: error[transition_target_not_found] no state is named `reveiw`
flows/paper.dcdl:10:34: error[dcdl_syntax] a semicolon is missing after the field `instructions`
"""
    )


@pytest.mark.parametrize("name", SOURCES)
def test_lines_have_one_form_whatever_is_wrong(name: str) -> None:
    report = report_of(SOURCES[name])
    form = re.compile(r"flows/paper\.dcdl:[1-9]\d*:[1-9]\d*: (?:error|warning)\[[a-z0-9_]+\] \S.*")
    told = lines(report).split("\n")
    assert len(report.checked[0].diagnostics) == len(told) - 1
    assert [] == [line for line in told[:-1] if form.fullmatch(line) is None]


def test_no_name_breaks_a_line() -> None:
    assert "a\u240ab:1:1: error[dcdl_syntax] the source is empty\n" == lines(report_of("", file="a\nb"))


# --- GitHub -----------------------------------------------------------------------------------------------------------------------------


def test_annotations() -> None:
    assert (
        annotations(FAILED)
        == """\
::error title=transition_target_not_found,file=flows/paper.dcdl,line=7,endLine=7,col=45,endColumn=53::no state is named `reveiw`\
%0Anote: flow `paper` declares `draft`, `review` and `done`%0Ahelp: did you mean `review`?
::error title=dcdl_syntax,file=flows/paper.dcdl,line=10,endLine=10,col=34,endColumn=34::a semicolon is missing after \
the field `instructions`
::error title=compile::`nope.dcdl` does not exist%0Ahelp: check the path
::error title=compile::`x` cannot be read
"""
    )


def read_command(line: str) -> tuple[str, dict[str, str], str]:
    """Read a workflow command as a runner does."""
    found = re.fullmatch(r"::(\w+) ([^:]*)::(.*)", line)
    assert found is not None, line
    properties = dict(each.split("=", 1) for each in found[2].split(","))

    def unescaped(text: str) -> str:
        for code, char in (("%2C", ","), ("%3A", ":"), ("%0A", "\n"), ("%0D", "\r"), ("%25", "%")):
            text = text.replace(code, char)
        return text

    return found[1], {name: unescaped(each) for name, each in properties.items()}, unescaped(found[3])


def test_what_an_author_wrote_never_begins_or_ends_a_command() -> None:
    nasty = "a\n::error::x,line=3:%0A%25"
    source = Source(nasty, "x")
    fault = Diagnostic("dcdl_syntax", Severity.WARNING, nasty, Label(Place(source, Span(0, 1))), notes=(nasty,), help=nasty)
    (line,) = annotations(Report([Checked(nasty, None, None, None, (fault,))], [], 0)).splitlines()
    shown = nasty.replace("\n", "\u240a")
    assert ("warning", shown, f"{shown}\nnote: {shown}\nhelp: {shown}") == (
        read_command(line)[0],
        read_command(line)[1]["file"],
        read_command(line)[2],
    )


@pytest.mark.parametrize("name", SOURCES)
def test_every_diagnostic_is_an_annotation_that_can_be_read_back(name: str) -> None:
    report = report_of(SOURCES[name], file="flöws/a,b: c%.dcdl")
    read = [read_command(line) for line in annotations(report).splitlines()]
    found = report.checked[0].diagnostics
    assert [(each.severity, each.code, safe(each.message)) for each in found] == [
        (severity, properties["title"], text.split("\n")[0]) for severity, properties, text in read
    ]
    assert {"flöws/a,b: c%.dcdl"} == {properties["file"] for _, properties, _ in read}


def test_columns_are_left_out_where_a_span_has_several_lines() -> None:
    source = Source("x", "ab\ncd\n")
    fault = Diagnostic("dcdl_syntax", Severity.ERROR, "m", Label(Place(source, Span(1, 4))))
    told = annotations(Report([Checked("x", None, None, None, (fault,))], [], 0))
    assert "::error title=dcdl_syntax,file=x,line=1,endLine=2::m\n" == told


# --- SARIF ------------------------------------------------------------------------------------------------------------------------------


def results(log: Any) -> Iterator[Any]:
    yield from log["runs"][0]["results"]


@pytest.mark.parametrize("name", SOURCES)
def test_a_log_keeps_to_what_sarif_asks_for(name: str) -> None:
    assert [] == wrong_with(SARIF, sarif(report_of(SOURCES[name]), program_version="1.2.3"))


def test_a_log_of_everything_at_once_keeps_to_what_sarif_asks_for() -> None:
    report = Report([checked(source) for source in SOURCES.values()], FAILED.failures, 0)
    log = sarif(report, program_version="1.2.3")
    assert [] == wrong_with(SARIF, log)
    rules = [rule["id"] for rule in log["runs"][0]["tool"]["driver"]["rules"]]
    assert list(CODES) == rules
    assert [] == [each for each in results(log) if rules[each["ruleIndex"]] != each["ruleId"]]


def test_a_log() -> None:
    log = sarif(FAILED, program_version="1.2.3")
    for rule in log["runs"][0]["tool"]["driver"]["rules"]:
        for text in (rule["fullDescription"], rule["help"]):
            text.update({name: f"{each[:40]}…" for name, each in text.items()})
    sections = [("flows/paper.dcdl", visible(TWO)), ("SARIF", json.dumps(log, indent=2, ensure_ascii=False))]
    assert_snapshot(HERE / "snapshots" / "sarif.txt", titled(sections))


@pytest.mark.parametrize(
    ("file", "uri"),
    [
        ("flows/paper.dcdl", "flows/paper.dcdl"),
        ("a b/é#?.dcdl", "a%20b/%C3%A9%23%3F.dcdl"),
        ("c:paper.dcdl", "c%3Apaper.dcdl"),
        ("/srv/x.dcdl", "file:///srv/x.dcdl"),
        ("../x.dcdl", "../x.dcdl"),
        ("<stdin>", "%3Cstdin%3E"),
    ],
)
def test_a_path_is_an_address(file: str, uri: str) -> None:
    (found,) = results(sarif(report_of("", file=file), program_version="1"))
    assert uri == found["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]


def test_fingerprints_stay_when_lines_move_and_tell_alike_results_apart() -> None:
    def prints(source: str) -> list[str]:
        log = sarif(report_of(source), program_version="1")
        return [each["partialFingerprints"]["stateward/v1"] for each in results(log)]

    twice = 'a = "\\d";\nb = "\\d";\n'
    assert prints(TWO) == prints(f"# a remark\n\n{TWO}")
    assert len({*prints(twice)}) == len(prints(twice)) > 1


def test_a_fix_for_the_eye_alone_is_no_fix_of_a_log() -> None:
    source = Source("x", "x")
    fix = Fix("look", (Edit(Span(0, 1), "y"),), Applicability.DISPLAY)
    fault = Diagnostic("dcdl_syntax", Severity.ERROR, "m", Label(Place(source, Span(0, 1))), fixes=(fix,))
    (found,) = results(sarif(Report([Checked("x", None, None, None, (fault,))], [], 0), program_version="1"))
    assert [] == found["fixes"]


@given(st.text(st.characters(codec=None)))
def test_any_name_of_a_file_can_be_told_in_every_form(name: str) -> None:
    report = report_of("", file=name or "x")
    assert 1 == lines(report).count("\n") == annotations(report).count("\n")
    (found,) = results(sarif(report, program_version="1"))
    assert found["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].isascii()
