"""Labels within one line: where a long line is cut, and the rows that go under it.

Invariants: each mark begins in exactly one of the cuts of its line; marks, connectors and texts never cover each other's columns;
everything is counted in columns of the terminal.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import Final, TypeAlias

from stateward.compiler.diagnostics.cells import Line, safe, text_width
from stateward.compiler.source import Span


class Style(Enum):
    """What a piece of a row is, for those who colour it."""

    PLAIN = auto()
    STRONG = auto()
    SEVERITY = auto()
    FRAME = auto()
    SECONDARY = auto()
    REMARK = auto()


Piece: TypeAlias = tuple[str, Style]
Row: TypeAlias = list[Piece]


@dataclass(frozen=True, slots=True)
class Frame:
    """The characters that lines are drawn with, each one column wide but for the corner."""

    corner: str
    bar: str
    gap: str
    top: str
    bottom: str
    rule: str
    cut: str


BOX: Final = Frame(corner="┌─", bar="│", gap="·", top="╭", bottom="╰", rule="─", cut="…")
ASCII: Final = Frame(corner="-->", bar="|", gap=".", top=",", bottom="'", rule="-", cut="~")

_CONTEXT: Final = 12
"""Columns that are kept before the first mark of a cut line."""
_WIDE: Final = 24
"""An underline of so many columns has its text under it rather than past the edge."""


@dataclass(frozen=True, slots=True)
class Tag:
    """A label, as far as it matters to drawing."""

    span: Span
    text: str
    primary: bool

    @property
    def style(self) -> Style:
        """How its marks are drawn."""
        return Style.SEVERITY if self.primary else Style.SECONDARY

    @property
    def sign(self) -> str:
        """The character that underlines it."""
        return "^" if self.primary else "-"


@dataclass(frozen=True, slots=True)
class Mark:
    """A label within one line, in columns; at least one column wide."""

    begin: int
    end: int
    tag: Tag


@dataclass(frozen=True, slots=True)
class View:
    """A cut of a line: the text of the columns from `begin` to `end`, with the signs of the cuts."""

    text: str
    begin: int
    end: int
    lead: int
    """Columns that the sign of the cut takes in front."""

    def holds(self, column: int) -> bool:
        """Tell whether a column of the line is shown here."""
        return self.begin <= column < self.end

    def column(self, column: int) -> int:
        """Give where a column of the line is shown."""
        return column - self.begin + self.lead

    def shown(self, mark: Mark) -> Mark:
        """Give a mark in the columns of the cut, ended where the cut ends."""
        end = max(min(mark.end, self.end), mark.begin + 1)
        return replace(mark, begin=self.column(mark.begin), end=self.column(end))


def cut_views(line: Line, wanted: Sequence[Mark], room: int, sign: str) -> list[View]:
    """Show a line whole, or cut around what is wanted so that each mark begins in one of the cuts."""
    if line.width <= room or not wanted:
        return [_view(line, 0, min(line.width, room), sign)]
    views: list[View] = []
    inner = room - 2
    for mark in sorted(wanted, key=lambda each: each.begin):
        if views and views[-1].holds(mark.begin):
            continue
        length = min(mark.end - mark.begin + 1 + text_width(safe(mark.tag.text)), inner - _CONTEXT)
        begin = max(mark.begin + length - inner, 0)
        views.append(_view(line, begin, min(begin + inner, line.width), sign))
    return views


def _view(line: Line, begin: int, end: int, sign: str) -> View:
    text = (sign if begin else "") + line.cut(begin, end) + (sign if end < line.width else "")
    return View(text, begin, end if end < line.width else end + 1, len(sign) if begin else 0)


def under(marks: Sequence[Mark], frame: Frame, room: int) -> Iterator[Row]:
    """Give the rows under a cut: the underlines with the text of the last one, then the other texts hanging from connectors."""
    if not marks:
        return
    last = max(marks, key=lambda mark: (mark.end, mark.begin))
    fits = last.end + 1 + text_width(safe(last.tag.text)) <= room or last.end - last.begin < _WIDE
    hanging = sorted((mark for mark in marks if mark.tag.text and not (fits and mark is last)), key=lambda mark: -mark.begin)
    row = _Canvas()
    for mark in sorted(marks, key=lambda each: each.tag.primary):
        row.write(mark.begin, mark.tag.sign * (mark.end - mark.begin), mark.tag.style)
    if last.tag.text and fits:
        row.write(last.end + 1, safe(last.tag.text), last.tag.style)
    yield row.row()
    if hanging and hanging != [last]:
        yield _connectors(hanging, frame).row()
    for at, mark in enumerate(hanging):
        row = _connectors([each for each in hanging[at + 1 :] if each.begin < mark.begin], frame)
        row.write(mark.begin, safe(mark.tag.text), mark.tag.style)
        yield row.row()


def _connectors(marks: Sequence[Mark], frame: Frame) -> "_Canvas":
    canvas = _Canvas()
    for mark in marks:
        canvas.write(mark.begin, frame.bar, mark.tag.style)
    return canvas


class _Canvas:
    """A row that is written at columns, left to right or over what was written before."""

    def __init__(self) -> None:
        self._cells: list[Piece] = []

    def write(self, column: int, text: str, style: Style) -> None:
        """Write text from a column on, a cell for each character (the last write to a cell stays)."""
        self._cells += [(" ", Style.PLAIN)] * (column + len(text) - len(self._cells))
        self._cells[column : column + len(text)] = [(char, style) for char in text]

    def row(self) -> Row:
        """Give the row with neighbours of one style joined."""
        pieces: Row = []
        for char, style in self._cells:
            if pieces and pieces[-1][1] is style:
                pieces[-1] = (pieces[-1][0] + char, style)
            else:
                pieces.append((char, style))
        return pieces
