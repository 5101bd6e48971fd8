"""What the tests of the syntax ask: parse a text, list what was said, apply a fix."""

from stateward.compiler.diagnostics.model import Diagnostic, Fix, Severity
from stateward.compiler.limits import LIMITS, Limits
from stateward.compiler.source import Source
from stateward.compiler.syntax.parser import Parse, parse


def parsed(text: str, limits: Limits = LIMITS) -> Parse:
    """Parse a text."""
    return parse(Source.from_text("main.dcdl", text), limits)


def errors(text: str, limits: Limits = LIMITS) -> list[Diagnostic]:
    """Give the errors of a text."""
    return [each for each in parsed(text, limits).diagnostics if each.severity is Severity.ERROR]


def said(text: str) -> list[tuple[int, str]]:
    """Give where each error of a text begins, and its message."""
    return [(each.primary.place.span.start, each.message) for each in errors(text)]


def marked(text: str, diagnostic: Diagnostic) -> str:
    """Give a text with the primary span of a diagnostic between ⟦ and ⟧."""
    span = diagnostic.primary.place.span
    return f"{text[: span.start]}⟦{text[span.start : span.end]}⟧{text[span.end :]}"


def mended(text: str, fix: Fix) -> str:
    """Apply a fix."""
    for edit in sorted(fix.edits, key=lambda edit: edit.span, reverse=True):
        text = text[: edit.span.start] + edit.replacement + text[edit.span.end :]
    return text
