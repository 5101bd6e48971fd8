"""How text takes room on a terminal: the width of characters, tab stops, and what stands for characters that must not reach it.

Invariants: what is shown holds no control character, no character that turns the direction of writing and none that cannot be seen,
whoever wrote it; each code point of the text is at a known column, so that underlines sit under what they mean.
"""

import unicodedata
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

TAB_STOP: Final = 4
_HIDDEN: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""General categories of what is not shown as it is: controls, formats, surrogates, private and unassigned, separators."""
_NO_WIDTH: Final = frozenset({"Mn", "Me"})
_PRESENTATIONS: Final = frozenset("\ufe0e\ufe0f")
"""Signs that ask for a picture or a letter: terminals do not agree on how wide what they follow is then, so they are left out."""
_FILLERS: Final = frozenset("\u115f\u1160\u2800\u3164\uffa0")
"""Letters and signs that are blank: what they look like is not what they are."""
_JOINED: Final = (range(0x1160, 0x1200), range(0xD7B0, 0xD800))
"""Vowels and final consonants of Hangul, which are written into the syllable before them."""
_CONTROL_PICTURES: Final = 0x2400


def shown(char: str) -> str:
    """Give what stands for a character on a terminal: itself, a control picture, or its code point."""
    code = ord(char)
    if 0x20 <= code < 0x7F:
        return char
    if code < 0x20:
        return chr(_CONTROL_PICTURES + code)
    if code == 0x7F:
        return "\u2421"
    if char in _PRESENTATIONS:
        return ""
    if char in _FILLERS or unicodedata.category(char) in _HIDDEN:
        return f"<U+{code:04X}>"
    return char


def safe(text: str) -> str:
    """Give a text with nothing in it that a terminal would obey."""
    return text if text.isascii() and text.isprintable() else "".join(map(shown, text))


def width_of(char: str) -> int:
    """Give the columns that one shown character takes."""
    if char.isascii():
        return 1
    if unicodedata.category(char) in _NO_WIDTH or any(ord(char) in each for each in _JOINED):
        return 0
    return 2 if unicodedata.east_asian_width(char) in {"W", "F"} else 1


def text_width(text: str) -> int:
    """Give the columns that a safe text takes."""
    return len(text) if text.isascii() else sum(map(width_of, text))


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a source as it is shown."""

    pieces: Sequence[str]
    """What stands for each code point."""
    columns: Sequence[int]
    """The 0-based column at which each code point begins, and at last the width of the line."""

    @property
    def width(self) -> int:
        """The columns that the whole line takes."""
        return self.columns[-1]

    def cut(self, begin: int, end: int) -> str:
        """Give what is shown from one column to another; a wide character across an edge becomes blanks."""
        parts: list[str] = []
        for at in range(max(bisect_left(self.columns, begin) - 1, 0), min(bisect_left(self.columns, end), len(self.pieces))):
            start, stop = self.columns[at], self.columns[at + 1]
            if stop == begin and start < stop:
                continue
            if start < begin or stop > end:
                parts.append(" " * (min(stop, end) - max(start, begin)))
            else:
                parts.append(self.pieces[at])
        return "".join(parts)


@lru_cache(maxsize=4)
def lay_out(text: str) -> Line:
    """Lay out a line of a source. Kept for a few lines: in a source of one long line every label asks for the same."""
    if text.isascii() and text.isprintable():
        return Line(text, range(len(text) + 1))
    pieces: list[str] = []
    columns = [0]
    for char in text:
        at = columns[-1]
        piece = " " * (TAB_STOP - at % TAB_STOP) if char == "\t" else shown(char)
        pieces.append(piece)
        columns.append(at + text_width(piece))
    return Line(tuple(pieces), tuple(columns))
