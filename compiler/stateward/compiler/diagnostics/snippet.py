"""An excerpt of one source: the lines that its labels touch, with the labels drawn under them.

Invariants: every label is drawn, however long its line; rows hold safe text only and know nothing of colours. A label over several
lines is drawn by a line at the left side, from its first character to its last.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from stateward.compiler.diagnostics.cells import Line, lay_out, safe
from stateward.compiler.diagnostics.marks import Frame, Mark, Piece, Row, Style, Tag, View, cut_views, under
from stateward.compiler.source import Source, Span

_ROOM_MIN: Final = 30
"""A line is never cut to fewer columns than this."""


@dataclass(frozen=True, slots=True)
class _Bracket:
    """A label over several lines, with the columns of its first and of its last character and the lane that it is drawn in."""

    first: int
    last: int
    begin: Mark
    end: Mark
    lane: int

    @property
    def tag(self) -> Tag:
        return self.begin.tag


def lines_of(source: Source, span: Span) -> tuple[int, int]:
    """Give the first and the last line that a span touches; a line of which it holds only the beginning is not touched."""
    first, _ = source.line_column(span.start)
    last, column = source.line_column(span.end)
    return first, last - 1 if last > first and column == 1 else last


class Excerpt:
    """One excerpt; `rows` draws it."""

    def __init__(self, source: Source, tags: Sequence[Tag], *, frame: Frame, number_width: int, width: int) -> None:
        self._source = source
        self._frame = frame
        self._number_width = number_width
        self._marks: dict[int, list[Mark]] = {}
        self._brackets: list[_Bracket] = []
        self._open: set[int] = set()
        for tag in sorted(tags, key=lambda each: (each.span.start, -each.span.end)):
            self._place(tag)
        self._lanes = 1 + max((each.lane for each in self._brackets), default=-1)
        self._room = max(width - number_width - 4 - 2 * self._lanes, _ROOM_MIN)

    def _place(self, tag: Tag) -> None:
        first, last = lines_of(self._source, tag.span)
        begin, end = self._column(first, tag.span.start), self._column(last, tag.span.end)
        if first == last:
            self._marks.setdefault(first, []).append(Mark(begin, max(end, begin + 1), tag))
            return
        taken = {each.lane for each in self._brackets if each.last >= first}
        lane = next(lane for lane in range(len(taken) + 1) if lane not in taken)
        corner = Tag(tag.span, "", tag.primary)
        self._brackets.append(
            _Bracket(first, last, Mark(begin, begin + 1, tag), Mark(max(end - 1, 0), max(end, 1), corner), lane),
        )

    def _column(self, number: int, offset: int) -> int:
        line = self._line(number)
        return line.columns[min(offset - self._source.line_starts[number - 1], len(line.pieces))]

    def _line(self, number: int) -> Line:
        return lay_out(self._source.line_text(number))

    def rows(self) -> Iterator[Row]:
        """Draw from the first line that is touched to the last."""
        touched = {*self._marks, *(each.first for each in self._brackets), *(each.last for each in self._brackets)}
        before: int | None = None
        for number in sorted(touched):
            if before is not None and number == before + 2:
                yield from self._lines(before + 1)
            elif before is not None and number > before + 2:
                yield [self._gutter("", self._frame.gap), *self._side()]
            yield from self._lines(number)
            before = number

    def _lines(self, number: int) -> Iterator[Row]:
        """Draw one line of the source, in as many cuts as its labels need."""
        marks = self._marks.get(number, [])
        tops = [each for each in self._brackets if each.first == number]
        bottoms = [each for each in self._brackets if each.last == number]
        wanted = [*marks, *(each.begin for each in tops), *(each.end for each in bottoms)]
        shown_to = 0
        for view in cut_views(self._line(number), wanted, self._room, self._frame.cut):
            yield [self._gutter(str(number), self._frame.bar), *self._side(), (view.text, Style.PLAIN)]
            fresh = range(max(shown_to, view.begin), view.end)
            shown_to = view.end
            for row in under([view.shown(mark) for mark in marks if mark.begin in fresh], self._frame, self._room):
                yield [self._gutter("", self._frame.bar), *self._side(), *row]
            yield from self._turns(view, fresh, tops, bottoms)

    def _turns(self, view: View, fresh: range, tops: Sequence[_Bracket], bottoms: Sequence[_Bracket]) -> Iterator[Row]:
        """Draw the rows in which brackets begin and end; `fresh` are the columns that no earlier cut has shown."""
        for bracket in tops:
            if bracket.begin.begin in fresh:
                yield self._turn(bracket, view.column(bracket.begin.begin), self._frame.top, "")
                self._open.add(bracket.lane)
        for bracket in reversed(bottoms):
            if bracket.end.begin in fresh:
                self._open.discard(bracket.lane)
                yield self._turn(bracket, view.column(bracket.end.begin), self._frame.bottom, bracket.tag.text)

    def _turn(self, bracket: _Bracket, column: int, corner: str, text: str) -> Row:
        """Draw the row that leads from the lane of a bracket to its first or last character."""
        rule = self._frame.rule * (2 * (self._lanes - bracket.lane) - 1 + column)
        label = f"{corner}{rule}{bracket.tag.sign}" + (f" {safe(text)}" if text else "")
        return [self._gutter("", self._frame.bar), *self._side(bracket.lane), (label, bracket.tag.style)]

    def _side(self, lanes: int | None = None) -> Row:
        """Draw the lanes at the left side, all or the first few."""
        shown = range(self._lanes if lanes is None else lanes)
        styles = {each.lane: each.tag.style for each in self._brackets}
        return [(f"{self._frame.bar if lane in self._open else ' '} ", styles[lane]) for lane in shown]

    def _gutter(self, number: str, bar: str) -> Piece:
        return f" {number:>{self._number_width}} {bar} ", Style.FRAME


def heading(source: Source, span: Span, frame: Frame, number_width: int) -> Row:
    """Give the row that names the source, the line and the column."""
    line, column = source.line_column(span.start)
    return [(f" {'':>{number_width}} {frame.corner} ", Style.FRAME), (f"{safe(source.name)}:{line}:{column}", Style.PLAIN)]
