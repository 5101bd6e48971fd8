"""Texts with a cursor in them, for tests of what an editor asks."""

from stateward.compiler.diagnostics.model import Edit
from stateward.compiler.editor.analysis import Analysis
from stateward.compiler.source import Span

CURSOR = "‸"


def cursor(text: str) -> tuple[Analysis, int]:
    """Analyse a text, and give where the cursor stands in it."""
    assert text.count(CURSOR) == 1, "there is one cursor"
    return Analysis("paper.dcdl", text.replace(CURSOR, ""), "paper"), text.index(CURSOR)


def marked(analysis: Analysis, spans: list[Span]) -> str:
    """Show a text with parts of it in brackets."""
    text = analysis.source.text
    for each in sorted(spans, reverse=True, key=lambda span: span.start):
        text = f"{text[: each.start]}⟦{text[each.start : each.end]}⟧{text[each.end :]}"
    return text


def edited(text: str, edits: list[Edit]) -> str:
    """Make edits."""
    for each in sorted(edits, reverse=True, key=lambda edit: edit.span.start):
        text = text[: each.span.start] + each.replacement + text[each.span.end :]
    return text
