"""Positions as editors count them: the one place that knows lines and units of the wire.

Invariants: an editor's lines end at LF, CR LF or CR, and its columns count the units of the encoding that was agreed on; offsets are code
points of the text as the editor holds it, a byte-order mark included. Converting an offset to a position and back gives the offset, but
within a CR LF, which is one line end: there it gives the end of the line.
"""

import re
from bisect import bisect_right
from enum import StrEnum
from functools import cached_property
from typing import Final, NamedTuple

_LINE_END: Final = re.compile(r"\r\n|\n|\r")
_ASTRAL: Final = 0x10000


class Encoding(StrEnum):
    """In which units the columns of a session are counted."""

    UTF8 = "utf-8"
    UTF16 = "utf-16"
    UTF32 = "utf-32"


class Position(NamedTuple):
    """A 0-based line and the units before a place on it."""

    line: int
    character: int


class Lines:
    """The lines of one text."""

    def __init__(self, text: str, encoding: Encoding) -> None:
        self.text = text
        self._encoding = encoding
        self._last = (0, 0, 0)

    @cached_property
    def _ends(self) -> list[tuple[int, int]]:
        """Where the line ends begin and end."""
        return [found.span() for found in _LINE_END.finditer(self.text)]

    @cached_property
    def starts(self) -> list[int]:
        """Where each line begins."""
        return [0, *(end for _, end in self._ends)]

    def position(self, offset: int) -> Position:
        """Give the position of an offset. One that follows the last one that was asked for on its line is counted from there."""
        offset -= self.splits_line_end(offset)
        line = bisect_right(self.starts, offset) - 1
        last_line, at, units = self._last
        if line != last_line or offset < at:
            at, units = self.starts[line], 0
        units += self._units(self.text[at:offset])
        self._last = (line, offset, units)
        return Position(line, units)

    def offset(self, position: Position) -> int | None:
        """Give the offset of a position; None where the text has no such line, or the position lies inside of a character.

        A column behind the end of its line is the end of the line.
        """
        if not 0 <= position.line < len(self.starts) or position.character < 0:
            return None
        start = self.starts[position.line]
        end = self._ends[position.line][0] if position.line < len(self._ends) else len(self.text)
        line = self.text[start:end]
        if self._encoding is Encoding.UTF32 or line.isascii():
            return start + min(position.character, len(line))
        units = 0
        for at, char in enumerate(line):
            if units >= position.character:
                return start + at if units == position.character else None
            units += self._units(char)
        return end if units <= position.character else None

    def splits_line_end(self, offset: int) -> bool:
        """Tell whether an offset lies between the CR and the LF of one line end."""
        return self.text[offset - 1 : offset + 1] == "\r\n" if offset else False

    def _units(self, text: str) -> int:
        match self._encoding:
            case Encoding.UTF8:
                return len(text.encode("utf-8", "surrogatepass"))
            case Encoding.UTF16:
                return len(text) + sum(ord(char) >= _ASTRAL for char in text) if not text.isascii() else len(text)
            case Encoding.UTF32:
                return len(text)
