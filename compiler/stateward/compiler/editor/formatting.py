"""A text brought into its canonical form, as the least that has to change in it."""

from itertools import takewhile

from stateward.compiler.diagnostics.model import Edit
from stateward.compiler.editor.analysis import Analysis
from stateward.compiler.formatting.printer import format_source
from stateward.compiler.source import Span


def format_edits(analysis: Analysis) -> list[Edit]:
    """Give at most one edit, from the first to the last difference; none where the text cannot be read."""
    old = analysis.source.text
    new = format_source(analysis.source)
    if not isinstance(new, str) or new == old:
        return []
    head = _alike(old, new)
    tail = _alike(old[head:][::-1], new[head:][::-1])
    return [Edit(Span(head, len(old) - tail), new[head : len(new) - tail])]


def _alike(left: str, right: str) -> int:
    """Count the characters with which two texts begin alike."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(left, right, strict=False)))
