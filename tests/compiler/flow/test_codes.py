"""Every code is registered, and every registered code is met by a source."""

import ast
from pathlib import Path

import pytest

import stateward.compiler.pipeline
from stateward.compiler.diagnostics.cells import safe
from stateward.compiler.diagnostics.codes import CODES
from stateward.compiler.diagnostics.text import Look, render
from stateward.compiler.pipeline import Compilation, compile_source
from tests.compiler.diagnostics.snapshots import assert_snapshot, titled, visible
from tests.compiler.flow.sources import FAULTS, SLUG, SLUGS

SNAPSHOTS = Path(__file__).parent / "snapshots"
SHOWN_MAX = 60
"""Characters of a source line that a snapshot shows."""


def _compiled(code: str) -> Compilation:
    source = FAULTS[code]
    data = source if isinstance(source, bytes) else source.encode()
    return compile_source(data, name=f"flows/{SLUG}.dcdl", slug=SLUGS.get(code, SLUG))


@pytest.mark.parametrize("code", CODES)
def test_each_registered_code_is_met_alone(code: str) -> None:
    found = _compiled(code).diagnostics
    assert [(each.code, each.severity) for each in found] == [(code, CODES[code].severity)]


@pytest.mark.parametrize("code", CODES)
def test_renderings(code: str) -> None:
    source = FAULTS[code]
    text = source if isinstance(source, str) else source.decode("utf-8", "replace")
    lines = [line if len(line) <= SHOWN_MAX * 2 else line[:SHOWN_MAX] + "…" for line in visible(text).splitlines()]
    shown = lines if len(lines) <= 40 else [*lines[:6], "…", *lines[-6:]]
    assert_snapshot(
        SNAPSHOTS / "codes" / f"{code}.txt",
        titled([(f"flows/{SLUG}.dcdl", "\n".join(shown)), ("rendering", render(_compiled(code).diagnostics, Look(width=100)))]),
    )


def test_no_phase_writes_a_code_that_is_not_registered() -> None:
    root = Path(stateward.compiler.pipeline.__file__).parent
    written = {
        value.value for path in root.rglob("*.py") for node in ast.walk(ast.parse(path.read_text("utf-8"))) for value in _codes_in(node)
    }
    assert written <= CODES.keys()


def _codes_in(node: ast.AST) -> list[ast.Constant]:
    """Find what is given as `code=…`, or first to a `Diagnostic`."""
    if not isinstance(node, ast.Call):
        return []
    given = [keyword.value for keyword in node.keywords if keyword.arg == "code"]
    if isinstance(node.func, ast.Name) and node.func.id == "Diagnostic":
        given += node.args[:1]
    constants = [inner for value in given for inner in ast.walk(value) if isinstance(inner, ast.Constant)]
    return [each for each in constants if isinstance(each.value, str)]


@pytest.mark.parametrize("code", CODES)
def test_messages_follow_the_rules_of_wording(code: str) -> None:
    for diagnostic in _compiled(code).diagnostics:
        for text in (diagnostic.message, diagnostic.primary.text, *diagnostic.notes, *(label.text for label in diagnostic.secondary)):
            assert text == text.strip()
            assert not text.endswith(".")
            assert text[:1] == text[:1].lower() or text.startswith(("`", "U+", "Array", "Flow"))
            assert not set(text.lower().replace("?", "").split()) & {"illegal", "please", "you", "i", "invalid"}
            assert safe(text) == text
        assert diagnostic.message
        assert diagnostic.primary.text


@pytest.mark.parametrize("code", CODES)
def test_a_title_is_one_sentence(code: str) -> None:
    title = CODES[code].title
    assert title[0].isupper()
    assert title.endswith(".")
    assert "\n" not in title
