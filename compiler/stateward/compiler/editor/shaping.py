"""The shape of a text: what can be folded away, and what is selected next around the cursor.

Invariants: walks without recursion; selections grow strictly, and each holds the one before it.
"""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final, NamedTuple

from stateward.compiler.editor.analysis import Analysis
from stateward.compiler.language.nesting import children
from stateward.compiler.source import Span
from stateward.compiler.syntax.tree import Array, Field, Match, Node, Object, StringLit

FOLDS_MAX: Final = 20_000
SELECTIONS_MAX: Final = 64
"""Parts around one place: the smallest ones, and the whole text. Editors are told of them one within the other."""
_CLOSING: Final = frozenset('}])"')
_WORD: Final = re.compile(r"[\w-]+")


class Fold(NamedTuple):
    """A part that can be folded to its first line, and to the line that ends it where that begins with its end."""

    span: Span
    last: int
    """Where what is hidden ends: on the line that is the last one of it."""
    is_comment: bool = False


def folds(analysis: Analysis) -> list[Fold]:
    """Give what goes over several lines: values in brackets, texts, runs of comments."""
    found = sorted({*_values(analysis), *_comments(analysis)}, key=lambda each: (each.span.start, -each.span.end))
    return found[:FOLDS_MAX]


def _values(analysis: Analysis) -> Iterator[Fold]:
    text = analysis.source.text
    open_: list[Node] = [analysis.parsed.module]
    while open_:
        node = open_.pop()
        is_one = isinstance(node, Array | Match | StringLit) or (isinstance(node, Object) and node.braced)
        if is_one and "\n" in text[node.start : node.end]:
            yield Fold(node.span, _last(text, node))
        open_ += children(node)


def _last(text: str, node: Node) -> int:
    """Give the end of what is hidden: the line of the bracket or quote that closes is shown where nothing stands before it."""
    closing = node.end - 1
    if text[closing] not in _CLOSING or closing <= node.start:
        return node.end
    line = text.rfind("\n", 0, closing) + 1
    return line - 1 if not text[line:closing].strip() else node.end


def _comments(analysis: Analysis) -> Iterator[Fold]:
    text, start = analysis.source.text, None
    comments = analysis.parsed.trivia.comments
    for each, following in pairwise((*comments, None)):
        assert each is not None, "only what follows the last one is none"
        start = each.start if start is None else start
        if following is None or text[each.end : following.start].strip(" \t\r") != "\n":
            if "\n" in text[start : each.end]:
                yield Fold(Span(start, each.end), each.end, is_comment=True)
            start = None


def selections(analysis: Analysis, offset: int) -> list[Span]:
    """Give the parts around an offset, the smallest first: a word, a text, its quotes, a value, a field, brackets, all."""
    text = analysis.source.text
    around = [Span(0, len(text)), *_around(analysis, offset)]
    word = next((found for found in _WORD.finditer(text, *_line(text, offset)) if found.start() <= offset <= found.end()), None)
    if word is not None:
        around.append(Span(*word.span()))
    grown: list[Span] = []
    for span in reversed(around):
        if span.start <= offset <= span.end and (not grown or (span.covers(grown[-1]) and span != grown[-1])):
            grown.append(span)
    return grown if len(grown) <= SELECTIONS_MAX else [*grown[: SELECTIONS_MAX - 1], grown[-1]]


def _line(text: str, offset: int) -> tuple[int, int]:
    end = text.find("\n", offset)
    return text.rfind("\n", 0, offset) + 1, len(text) if end < 0 else end


def _around(analysis: Analysis, offset: int) -> Iterator[Span]:
    """Give the nodes around an offset, the outermost first."""
    text = analysis.source.text
    node: Node | None = analysis.parsed.module
    while node is not None:
        end = node.end
        if isinstance(node, Field) and text[end : end + 1] == ";":
            yield Span(node.start, end + 1)
        yield node.span
        if isinstance(node, Object | Array) and text[node.start : node.start + 1] in {"{", "["} and end - node.start >= 2:
            yield Span(node.start + 1, end - 1)
        if isinstance(node, StringLit) and end - node.start >= 2:
            yield Span(node.start + 1, end - 1)
        node = next((each for each in children(node) if each.start <= offset <= each.end), None)
