"""A figure with places: boxes, labels and lines in pixels, the same for every output that has them.

A line goes through points; between two of them it leaves and arrives upright, so it bends only between layers, where neither a box nor a
label lies. All lines that lead the same way into a box enter it at one place, under one arrowhead.

Invariants: nothing overlaps; a line begins and ends on the border of its boxes; all of it lies within the canvas.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from stateward.compiler.drawing.columns import assign_columns
from stateward.compiler.drawing.crossings import reduce_crossings
from stateward.compiler.drawing.figure import Box, Edge, Figure, Row, figure
from stateward.compiler.drawing.layers import LOOP_WIDTH, Layered, Route, What, layered
from stateward.compiler.drawing.marks import UNMARKED, Marks
from stateward.compiler.drawing.order import drawing_order
from stateward.compiler.drawing.ports import assign_ports
from stateward.compiler.flow.definition import CANCELLED_STATE, CompiledFlowDefinition

START_HEIGHT: Final = 34.0
"""The room above the initial state for the sign that the flow begins there."""
HEAD: Final = 9.0
"""The length of an arrowhead."""
_STUB: Final = 13.0
"""How far lines run straight above and below the boxes of a layer: all bend at the same height, so none crosses another twice."""
_GAP_MIN: Final = 14.0
_GAP_MAX: Final = 96.0
"""Between two layers, without what runs straight."""
_GAP_SHARE: Final = 0.14
"""How much of the way to the side that a line takes between two layers is added to their gap."""


@dataclass(frozen=True, slots=True)
class Rect:
    """A place; `x` and `y` are those of its upper left corner."""

    x: float
    y: float
    width: float
    height: float

    @property
    def right(self) -> float:
        """The x of the right border."""
        return self.x + self.width

    @property
    def bottom(self) -> float:
        """The y of the lower border."""
        return self.y + self.height

    @property
    def middle(self) -> float:
        """The x between left and right."""
        return self.x + self.width / 2


@dataclass(frozen=True, slots=True)
class PlacedBox:
    """A state and its place."""

    box: Box
    rect: Rect


@dataclass(frozen=True, slots=True)
class PlacedRow:
    """A transition as it is written, and its place."""

    edge: Edge
    row: Row
    rect: Rect


@dataclass(frozen=True, slots=True)
class Line:
    """An edge, from the border of its source to that of its target."""

    edge: Edge
    points: tuple[tuple[float, float], ...]
    """Two neighbours differ in y; for a loop: where it begins, how far it reaches, where it ends."""
    leads_back: bool

    @property
    def is_loop(self) -> bool:
        """Whether it leads to where it begins."""
        return self.edge.source == self.edge.target


@dataclass(frozen=True, slots=True)
class Layout:
    """The picture of a flow, without a form."""

    boxes: tuple[PlacedBox, ...]
    rows: tuple[PlacedRow, ...]
    lines: tuple[Line, ...]
    width: float
    height: float


def lay_out(definition: CompiledFlowDefinition, marks: Marks = UNMARKED, *, cancelled: bool = False) -> Layout:
    """Give everything in a flow its place; `cancelled` says whether the synthetic end is shown with every way to it."""
    drawn = figure(definition, marks, cancelled=cancelled)
    order = [state.id for state in drawing_order(definition)]
    if any(box.id == CANCELLED_STATE for box in drawn.boxes):
        order.append(CANCELLED_STATE)
    graph = layered(drawn, order)
    reduce_crossings(graph)
    columns = assign_columns(graph)
    return _Placing(drawn, graph, columns, _bands(graph, columns)).layout()


@dataclass(frozen=True, slots=True)
class _Band:
    """Between which heights the lines that pass a layer run straight."""

    top: float
    bottom: float

    @property
    def middle(self) -> float:
        return (self.top + self.bottom) / 2


def _bands(graph: Layered, columns: Sequence[float]) -> list[_Band]:
    bands: list[_Band] = []
    y = START_HEIGHT - _STUB
    for layer in graph.layers:
        stubs = 2 * _STUB if any(graph.nodes[node].what is What.BOX for node in layer) else 0.0
        height = max((graph.nodes[node].height for node in layer), default=0.0) + stubs
        bands.append(_Band(y, y + height))
        aside = max((abs(columns[node] - columns[other]) for node in layer for other in graph.down[node]), default=0.0)
        y += height + min(max(_GAP_MIN, aside * _GAP_SHARE), _GAP_MAX)
    return bands


class _Placing:
    """Gives boxes, rows and lines their places."""

    def __init__(self, drawn: Figure, graph: Layered, columns: Sequence[float], bands: Sequence[_Band]) -> None:
        self._drawn = drawn
        self._graph = graph
        self._columns = columns
        self._bands = bands
        self._rects = {box.id: self._around(graph.boxes[box.id], box.width, box.height) for box in drawn.boxes}
        spans = {node: (self._rects[state].x, self._rects[state].right) for state, node in graph.boxes.items()}
        self._ports = assign_ports(graph, columns, spans)

    def layout(self) -> Layout:
        """Give everything its place."""
        lines = [self._line(route) for route in self._graph.routes]
        rows = [row for route in self._graph.routes if route.label is not None for row in self._label(route.edge, route.label)]
        for edge in self._drawn.edges:
            if edge.source == edge.target:
                loop, beside = _loop(edge, self._rects[edge.source])
                lines.append(loop)
                rows += beside
        return Layout(
            boxes=tuple(PlacedBox(box, self._rects[box.id]) for box in self._drawn.boxes),
            rows=tuple(rows),
            lines=tuple(lines),
            width=max(self._columns[at] + node.right for at, node in enumerate(self._graph.nodes)),
            height=self._bands[-1].bottom - _STUB,
        )

    def _band(self, node: int) -> _Band:
        return self._bands[self._graph.nodes[node].layer]

    def _around(self, node: int, width: float, height: float) -> Rect:
        """Give a place in the middle of a layer, around the line of a node."""
        return Rect(self._columns[node] - width / 2, self._band(node).middle - height / 2, width, height)

    def _label(self, edge: Edge, node: int) -> list[PlacedRow]:
        rect = self._around(node, edge.width, edge.height)
        return [replace(each, rect=replace(each.rect, x=rect.middle - each.row.width / 2)) for each in _rows(edge, rect)]

    def _line(self, route: Route) -> Line:
        upper, lower = route.nodes[0], route.nodes[-1]
        above, below = (route.edge.target, route.edge.source) if route.leads_back else (route.edge.source, route.edge.target)
        begin, end = self._ports[upper, route.nodes[1]], self._ports[lower, route.nodes[-2]]
        points = [(begin, self._rects[above].bottom), (begin, self._band(upper).bottom)]
        for node in route.nodes[1:-1]:
            points += [(self._columns[node], self._band(node).top), (self._columns[node], self._band(node).bottom)]
        points += [(end, self._band(lower).top), (end, self._rects[below].y)]
        kept = [point for at, point in enumerate(points) if at == 0 or point != points[at - 1]]
        return Line(route.edge, tuple(reversed(kept) if route.leads_back else kept), route.leads_back)


def _rows(edge: Edge, rect: Rect) -> list[PlacedRow]:
    rows: list[PlacedRow] = []
    y = rect.y
    for row in edge.rows:
        rows.append(PlacedRow(edge, row, Rect(rect.x, y, row.width, row.height)))
        y += row.height
    return rows


def _loop(edge: Edge, box: Rect) -> tuple[Line, list[PlacedRow]]:
    """Draw an edge from the right border of a box to the same border, with its label to the right of that."""
    middle = box.y + box.height / 2
    reach = box.right + LOOP_WIDTH - 6
    rows = _rows(edge, Rect(box.right + LOOP_WIDTH, middle - edge.height / 2, edge.width, edge.height))
    return Line(edge, ((box.right, middle - 9), (reach, middle), (box.right, middle + 9)), leads_back=True), rows
