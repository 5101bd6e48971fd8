"""Sources and positions: the only place that knows how offsets, bytes, lines and columns relate.

Invariants: offsets are code points into `Source.text`; `text` never holds the byte-order mark; lines end at LF only; lines and
columns shown to people are 1-based and count code points; byte offsets count UTF-8 bytes of the file, the byte-order mark included.
"""

from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Final

BYTE_ORDER_MARK: Final = "\ufeff"
BYTE_ORDER_MARK_SIZE: Final = 3
_BLOCK: Final = 1024


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A half-open range of code points, `0 <= start <= end <= len(text)`."""

    start: int
    end: int

    def __post_init__(self) -> None:
        assert 0 <= self.start <= self.end, f"not a span: {self.start}..{self.end}"

    def covers(self, other: "Span") -> bool:
        """Tell whether `other` lies inside this span."""
        return self.start <= other.start and other.end <= self.end


@dataclass(frozen=True, eq=False)
class Source:
    """One text under a name, with what is needed to name positions in it. Compared by identity."""

    name: str
    """How people know it: a path, a selector, `<stdin>`."""
    text: str
    """The text without a leading byte-order mark, otherwise as it came."""
    has_mark: bool = False
    """Whether the file began with a byte-order mark."""

    @staticmethod
    def from_text(name: str, text: str) -> "Source":
        """Make a source of decoded text; a leading byte-order mark is taken off and remembered."""
        if text.startswith(BYTE_ORDER_MARK):
            return Source(name, text[1:], has_mark=True)
        return Source(name, text)

    @staticmethod
    def from_bytes(name: str, data: bytes) -> "Source":
        """Decode a file's bytes.

        Raises UnicodeDecodeError when they are no UTF-8; its `start` is the offset of the first bad byte.
        """
        return Source.from_text(name, data.decode("utf-8", "strict"))

    @cached_property
    def line_starts(self) -> list[int]:
        """Offsets at which each line begins."""
        starts = [0]
        at = self.text.find("\n")
        while at != -1:
            starts.append(at + 1)
            at = self.text.find("\n", at + 1)
        return starts

    @cached_property
    def is_ascii(self) -> bool:
        """Whether offsets and bytes coincide (but for a mark)."""
        return self.text.isascii()

    def line_column(self, offset: int) -> tuple[int, int]:
        """Give the 1-based line and the 1-based column, in code points, of an offset."""
        line = bisect_right(self.line_starts, offset)
        return line, offset - self.line_starts[line - 1] + 1

    def line_text(self, line: int) -> str:
        """Give the text of a 1-based line without its line end (a CR before the LF is part of the line end)."""
        start = self.line_starts[line - 1]
        end = self.line_starts[line] - 1 if line < len(self.line_starts) else len(self.text)
        return self.text[start:end].removesuffix("\r")

    def byte_offset(self, offset: int) -> int:
        """Give the offset in bytes of the file, the byte-order mark included."""
        mark = BYTE_ORDER_MARK_SIZE if self.has_mark else 0
        if self.is_ascii:
            return mark + offset
        block = offset // _BLOCK
        return mark + self._block_starts[block] + _size(self.text[block * _BLOCK : offset])

    @cached_property
    def _block_starts(self) -> list[int]:
        """The bytes before each block of characters, so that no offset costs more than one block."""
        blocks = (self.text[start : start + _BLOCK] for start in range(0, len(self.text), _BLOCK))
        return list(accumulate(map(_size, blocks), initial=0))

    def slice(self, span: Span) -> str:
        """Give the text a span covers."""
        return self.text[span.start : span.end]

    @property
    def end(self) -> Span:
        """The empty span at the end of the text."""
        return Span(len(self.text), len(self.text))


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


@dataclass(frozen=True, slots=True)
class Place:
    """A span in a source: where something was written."""

    source: Source
    span: Span
