"""Texts that are put together from parts before it is known how far in they stand.

Invariants: laying out takes time in proportion to what comes out, whatever the depth, and stops at a length; parts keep line breaks of
their own as they are.
"""

from typing import Final, TypeAlias

from stateward.compiler.syntax.tree import node as record

INDENT: Final = "    "
FLAT_MAX: Final = 1_024
"""Characters of a text that are copied for what it stands in."""

PARTS_OF_A_CHARACTER: Final = 2
"""Parts of a row that hold a character at least: every other one separates."""


@record
class Row:
    """Parts one after the other. `breaks` tells whether a part is spread over lines."""

    parts: "tuple[Doc, ...]"
    breaks: bool


@record
class Block:
    """Brackets with lines between them, one step further in."""

    opener: str
    lines: "tuple[Doc, ...]"
    closer: str


Doc: TypeAlias = str | Row | Block


def row(*parts: Doc) -> Doc:
    """Put parts one after the other; a short text at once, so that it is not put together again for each part it is in."""
    texts = [part for part in parts if isinstance(part, str)]
    if len(texts) == len(parts) and sum(map(len, texts)) <= FLAT_MAX:
        return "".join(texts)
    return Row(parts, any(breaks(part) for part in parts))


def breaks(doc: Doc) -> bool:
    """Tell whether something is spread over lines by its layout."""
    return isinstance(doc, Block) or (isinstance(doc, Row) and doc.breaks)


def laid_out(doc: Doc, length_max: int) -> str | None:
    """Give the whole text, or None when it is longer than `length_max` characters."""
    texts: list[str] = []
    todo: list[tuple[int, Doc]] = [(0, doc)]
    while todo:
        level, part = todo.pop()
        if isinstance(part, str):
            texts.append(part)
            length_max -= len(part)
            if length_max < 0:
                return None
        elif isinstance(part, Row):
            if len(part.parts) // PARTS_OF_A_CHARACTER > length_max:
                return None
            todo.extend((level, each) for each in reversed(part.parts))
        else:
            outer, inner = f"\n{INDENT * level}", f"\n{INDENT * (level + 1)}"
            if len(part.lines) * len(inner) > length_max:
                return None
            todo.append((level, outer + part.closer))
            for line in reversed(part.lines):
                todo += ((level + 1, line), (level, inner))
            todo.append((level, part.opener))
    return "".join(texts)
