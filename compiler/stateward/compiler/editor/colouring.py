"""The classes of a text as an editor is told them: each part on one line."""

from collections.abc import Iterator

from stateward.compiler.editor.analysis import Analysis
from stateward.compiler.source import Span
from stateward.compiler.syntax.highlighting import Part, TokenClass, classes


def coloured(analysis: Analysis, span: Span | None = None) -> Iterator[Part]:
    """Give the parts of a text, or of what touches a span, in order; one that goes over several lines is given line by line."""
    text = analysis.source.text
    for start, end, told in classes(text):
        if span is None or (start < span.end and span.start < end):
            yield from _lines(text, start, end, told)


def _lines(text: str, start: int, end: int, told: TokenClass) -> Iterator[Part]:
    at = start
    for line in text[start:end].splitlines(keepends=True):
        shown = len(line.rstrip("\r\n\v\f\x1c\x1d\x1e\x85\u2028\u2029"))
        if shown:
            yield at, at + shown, told
        at += len(line)
