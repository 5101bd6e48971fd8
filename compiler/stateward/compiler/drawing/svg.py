"""A layout as SVG: one file by itself, without scripts, without anything from elsewhere, made to be read aloud too.

Invariants: every text of the author is escaped, and what XML cannot hold is replaced; what was cut is whole in a `<title>`; the same
layout gives the same bytes; what several lines share is drawn once, what was taken over what was not.
"""

import re
from collections.abc import Iterable, Iterator
from html import escape
from itertools import pairwise
from typing import Final
from zlib import crc32

from stateward.compiler.diagnostics.cells import safe
from stateward.compiler.drawing.described import described, summary
from stateward.compiler.drawing.figure import GLYPH, NAME_LINE, NAME_SIZE, ROW_LINE, ROW_PAD, ROW_SIZE, Kind
from stateward.compiler.drawing.layout import HEAD, START_HEIGHT, Layout, Line, PlacedBox, PlacedRow, Rect, lay_out
from stateward.compiler.drawing.legend import Legend, legend
from stateward.compiler.drawing.marks import UNMARKED, Marks
from stateward.compiler.drawing.measure import cut, text_width
from stateward.compiler.drawing.signs import number as _n
from stateward.compiler.drawing.signs import sign
from stateward.compiler.drawing.theme import Theme, style_sheet
from stateward.compiler.drawing.ways import decided_by
from stateward.compiler.flow.definition import CompiledFlowDefinition

MARGIN: Final = 24.0
HEADER: Final = 50.0
"""The room of the name of the flow, above the graph."""
WIDTH_MIN: Final = 360.0
"""Of the canvas without its margins."""
_TOLD_MAX: Final = 400
"""Characters of a condition or of instructions that are shown where a pointer rests."""
_NO_XML: Final = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_CORNERS: Final = {"box": 8.0, "inner": 6.0}
"""How much of its corners a frame lacks."""
_BASELINE: Final = 0.36
"""How far below the middle of a line its letters stand, as a share of the font size."""


def draw_svg(definition: CompiledFlowDefinition, marks: Marks = UNMARKED, *, theme: Theme = Theme.AUTO, cancelled: bool = False) -> str:
    """Draw a flow; `cancelled` says whether every way to the synthetic end is shown."""
    layout = lay_out(definition, marks, cancelled=cancelled)
    width = max(layout.width, WIDTH_MIN)
    below = legend(layout, definition, width, cancelled=cancelled)
    height = HEADER + layout.height + below.height
    name = f"stateward-{crc32(definition.name.encode('utf-8', 'surrogatepass')):08x}"
    scope = f"stateward-{theme}"
    size = f'width="{_n(width + 2 * MARGIN)}" height="{_n(height + 2 * MARGIN)}"'
    box = f'viewBox="0 0 {_n(width + 2 * MARGIN)} {_n(height + 2 * MARGIN)}"'
    named = f'role="img" aria-labelledby="{name}-title {name}-desc"'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" class="{scope}" {named} {size} {box}>',
            f'<title id="{name}-title">{_text(definition.name)}</title>',
            f'<desc id="{name}-desc">{_text(described(definition, marks))}</desc>',
            f"<style>\n{style_sheet(theme, scope)}\n</style>",
            '<rect class="paper" width="100%" height="100%"/>',
            f'<g transform="translate({_n(MARGIN)} {_n(MARGIN)})">',
            *_header(definition, width),
            f'<g transform="translate({_n((width - layout.width) / 2)} {_n(HEADER)})">',
            *_graph(layout),
            "</g>",
            f'<g transform="translate(0 {_n(HEADER + layout.height)})">',
            *_legend(below),
            "</g>",
            "</g>",
            "</svg>",
            "",
        ]
    )


def _text(text: str) -> str:
    return escape(_NO_XML.sub("\ufffd", text), quote=True)


def _written(kind: str, text: str, x: float, y: float, size: float, *, bold: bool = False) -> str:
    """Write a text around the middle of a line, as wide as it was measured whatever font the viewer has."""
    wide = f' textLength="{_n(text_width(text, size, bold=bold))}" lengthAdjust="spacingAndGlyphs"' if text else ""
    return f'<text class="{kind}" x="{_n(x)}" y="{_n(y + size * _BASELINE)}"{wide}>{_text(text)}</text>'


def _header(definition: CompiledFlowDefinition, width: float) -> Iterator[str]:
    yield _written("title", cut(safe(definition.name), width, 17, bold=True), 0, 9, 17, bold=True)
    yield _written("note", summary(definition), 0, 30, ROW_SIZE)


def _graph(layout: Layout) -> Iterator[str]:
    yield from _lines(line for line in layout.lines if not line.edge.is_taken)
    yield from _lines(line for line in layout.lines if line.edge.is_taken)
    yield from _heads(layout.lines)
    for row in layout.rows:
        yield from _row(row)
    for box in layout.boxes:
        yield from _box(box)


def _kinds(line: Line) -> str:
    back = " back" if line.leads_back and not line.is_loop else ""
    return f"{back}{' cancel' if line.edge.is_synthetic else ''}{' taken' if line.edge.is_taken else ''}"


def _lines(lines: Iterable[Line]) -> Iterator[str]:
    """Draw lines, each up to where another that was drawn goes on the same way."""
    drawn: set[tuple[tuple[float, float], tuple[float, float]]] = set()
    for line in lines:
        if line.is_loop:
            yield f'<path class="loop{_kinds(line)}" d="{_loop_path(line)}"/>'
            continue
        points = _shortened(line)
        pieces = list(pairwise(points))
        own = [piece for piece in pieces if piece not in drawn]
        drawn.update(own)
        if own:
            yield f'<path class="line{_kinds(line)}" d="{_path([own[0][0], *(end for _, end in own)])}"/>'


def _shortened(line: Line) -> list[tuple[float, float]]:
    """Let a line end within its arrowhead, which ends on the border."""
    (_, before), (x, y) = line.points[-2:]
    return [*line.points[:-1], (x, y - (HEAD - 3) if before < y else y + (HEAD - 3))]


def _path(points: list[tuple[float, float]]) -> str:
    x, y = points[0]
    parts = [f"M{_n(x)} {_n(y)}"]
    for to_x, to_y in points[1:]:
        if abs(to_x - x) < 0.05:
            parts.append(f"V{_n(to_y)}")
        else:
            half = _n((y + to_y) / 2)
            parts.append(f"C{_n(x)} {half} {_n(to_x)} {half} {_n(to_x)} {_n(to_y)}")
        x, y = to_x, to_y
    return "".join(parts)


def _loop_path(line: Line) -> str:
    (x, top), (reach, _), (_, bottom) = line.points
    control = _n(x + (reach - x) * 4 / 3)
    return f"M{_n(x)} {_n(top)}C{control} {_n(top - 4)} {control} {_n(bottom + 1)} {_n(x + HEAD - 3)} {_n(bottom)}"


def _heads(lines: Iterable[Line]) -> Iterator[str]:
    """Draw one arrowhead where lines end, of those that were taken last."""
    heads: dict[tuple[float, float], Line] = {}
    for line in sorted(lines, key=lambda each: each.edge.is_taken):
        heads[line.points[-1]] = line
    for (x, y), line in heads.items():
        if line.is_loop:
            d = f"M{_n(x)} {_n(y)}l{_n(HEAD)} -4.5v9z"
        else:
            back = -HEAD if line.points[-2][1] < y else HEAD
            d = f"M{_n(x)} {_n(y)}l-4.5 {_n(back)}h9z"
        yield f'<path class="head{_kinds(line)}" d="{d}"/>'


def _box(placed: PlacedBox) -> Iterator[str]:
    box, rect = placed.box, placed.rect
    marked = f"{' visited' if box.is_visited else ''}{' current' if box.is_current else ''}"
    yield f'<g class="{box.kind}{marked}"><title>{_text(_told(box.id, box.state.instructions))}</title>'
    yield _frame("box", rect, box.kind)
    if box.kind is not Kind.STATE:
        yield _frame("inner", Rect(rect.x + 4, rect.y + 4, rect.width - 8, rect.height - 8), box.kind)
    if box.is_initial:
        yield from _start(rect.middle, rect.y)
    first = rect.y + rect.height / 2 - (len(box.lines) - 1) * NAME_LINE / 2
    widest = max(text_width(line, NAME_SIZE, bold=True) for line in box.lines)
    beside = text_width(box.count, ROW_SIZE) + 8 if box.count else 0.0
    left = rect.middle - (widest + beside) / 2
    for at, line in enumerate(box.lines):
        indent = (widest - text_width(line, NAME_SIZE, bold=True)) / 2
        yield _written("name", line, left + indent, first + at * NAME_LINE, NAME_SIZE, bold=True)
    if box.count:
        yield _written("count", box.count, left + widest + 8, rect.y + rect.height / 2, ROW_SIZE)
    yield "</g>"


def _frame(kind: str, rect: Rect, of: Kind) -> str:
    x, y, width, height = rect.x, rect.y, rect.width, rect.height
    corner = _CORNERS[kind]
    if of is not Kind.CANCELLED:
        return f'<rect class="{kind}" x="{_n(x)}" y="{_n(y)}" width="{_n(width)}" height="{_n(height)}" rx="{_n(corner)}"/>'
    across, along = _n(width - 2 * corner), _n(height - 2 * corner)
    cut_ = _n(corner)
    d = f"M{_n(x + corner)} {_n(y)}h{across}l{cut_} {cut_}v{along}l-{cut_} {cut_}h-{across}l-{cut_} -{cut_}v-{along}z"
    return f'<path class="{kind}" d="{d}"/>'


def _start(x: float, y: float) -> Iterator[str]:
    """Draw the sign that the flow begins in the box below."""
    top = y - START_HEIGHT + 7
    yield f'<circle class="start" cx="{_n(x)}" cy="{_n(top)}" r="6"/>'
    yield f'<path class="line" d="M{_n(x)} {_n(top)}V{_n(y - HEAD + 3)}"/>'
    yield f'<path class="head" d="M{_n(x)} {_n(y)}l-4.5 {_n(-HEAD)}h9z"/>'


def _row(placed: PlacedRow) -> Iterator[str]:
    row, rect = placed.row, placed.rect
    taken = " taken" if row.count else ""
    yield f"<g><title>{_text(_told(row.transition.id, decided_by(row.transition)))}</title>"
    yield f'<rect class="label" x="{_n(rect.x)}" y="{_n(rect.y)}" width="{_n(rect.width)}" height="{_n(rect.height)}"/>'
    left, middle = rect.x + ROW_PAD, rect.y + rect.height / 2
    if row.answer is not None:
        yield sign(row.answer, left + GLYPH / 2 - 2, middle)
        left += GLYPH
    first = middle - (len(row.lines) - 1) * ROW_LINE / 2
    for at, line in enumerate(row.lines):
        yield _written(f"row{taken}", line, left, first + at * ROW_LINE, ROW_SIZE)
    if row.count:
        widest = max(text_width(line, ROW_SIZE) for line in row.lines)
        yield _written("count taken", row.count, left + widest + 5, middle, ROW_SIZE)
    yield "</g>"


def _told(id_: str, text: str) -> str:
    short = text if len(text) <= _TOLD_MAX else f"{text[: _TOLD_MAX - 1]}…"
    return f"{id_}\n{short}" if short else id_


def _legend(below: Legend) -> Iterator[str]:
    for item in below.items:
        yield f'<g transform="translate({_n(item.x)} {_n(item.y)})">'
        yield item.sample
        yield _written("note", item.text, item.sample_width, 8, ROW_SIZE)
        yield "</g>"
