"""From boxes and edges to layers: which edges lead back, which layer each box lies in, and what an edge passes through in between.

Boxes lie in even layers and labels in odd ones, so a label has a place of its own. An edge passes every layer between its ends by a
point; edges that lead the same way to the same box share the points behind their labels and so flow together.

Invariants: the initial state is alone in layer 0; every link joins a layer to the next; all is decided by what is declared and in which
order, so the same flow has the same layers; every loop is bounded by the number of states.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import pairwise
from typing import Final

from stateward.compiler.drawing.figure import Edge, Figure

ROW_WIDTH_MAX: Final = 1500.0
"""What the boxes, or the labels, of one layer may take before others are sought for the rest."""
BESIDE: Final = 26.0
"""Between neighbours in a layer."""
LOOP_WIDTH: Final = 30.0
"""How far a loop on one state reaches out of its box."""
_ROUNDS_MAX: Final = 12
"""How often the layers are tightened."""


class What(StrEnum):
    """What a node of a layer is."""

    BOX = "box"
    LABEL = "label"
    POINT = "point"


@dataclass(frozen=True, slots=True)
class Node:
    """Something that takes room in a layer, around the line that passes it upright."""

    what: What
    layer: int
    left: float
    right: float
    """How far it reaches from that line."""
    height: float


@dataclass(frozen=True, slots=True)
class Route:
    """The nodes that an edge passes, from the upper to the lower; the first and the last are boxes."""

    edge: Edge
    nodes: tuple[int, ...]
    label: int | None
    """The node that holds its label."""
    leads_back: bool


@dataclass(slots=True)
class Layered:
    """Nodes in layers, and the links between neighbouring layers."""

    nodes: list[Node] = field(default_factory=list)
    layers: list[list[int]] = field(default_factory=list)
    up: list[list[int]] = field(default_factory=list)
    down: list[list[int]] = field(default_factory=list)
    """The nodes that each is linked to, in the layer above and in the layer below."""
    routes: list[Route] = field(default_factory=list)
    boxes: dict[str, int] = field(default_factory=dict)
    """The node of each state."""
    spine: dict[int, int] = field(default_factory=dict)
    """From a node to the one below it on the way that is to run straight down: at most one from each and to each."""

    def add(self, node: Node) -> int:
        """Add a node at the end of its layer."""
        self.nodes.append(node)
        self.up.append([])
        self.down.append([])
        self.layers[node.layer].append(len(self.nodes) - 1)
        return len(self.nodes) - 1

    def link(self, upper: int, lower: int) -> None:
        """Link two nodes, once."""
        if lower not in self.down[upper]:
            self.down[upper].append(lower)
            self.up[lower].append(upper)


def layered(drawn: Figure, order: Sequence[str]) -> Layered:
    """Give the layers of a figure; `order` names every state once, the initial one first, and says which edges lead back."""
    at = {state: position for position, state in enumerate(order)}
    depths = _depths(drawn, order, at)
    made = Layered(layers=[[] for _ in range(2 * max(depths.values()) + 1)])
    loops = {edge.source: edge for edge in drawn.edges if edge.source == edge.target}
    boxes = {box.id: box for box in drawn.boxes}
    for state in order:
        box, loop = boxes[state], loops.get(state)
        beside, height = (0.0, 0.0) if loop is None else (LOOP_WIDTH + loop.width, loop.height)
        node = Node(What.BOX, 2 * depths[state], box.width / 2, box.width / 2 + beside, max(box.height, height))
        made.boxes[state] = made.add(node)
    router = _Router(made)
    for edge in sorted(drawn.edges, key=lambda each: at[each.source]):
        if edge.source != edge.target:
            made.routes.append(router.route(edge, leads_back=at[edge.target] < at[edge.source]))
    _draw_spine(made, order)
    return made


def _draw_spine(made: Layered, order: Sequence[str]) -> None:
    """Choose for each box the edge that is to run straight down, the one towards the longest way on; none where several are as long.

    Of several that lead to one box the shortest is; where several are as short, the box lies between them.
    """
    down = [route for route in made.routes if not route.leads_back and not route.edge.is_synthetic]
    rest: dict[str, int] = {}
    chosen: dict[str, Route] = {}
    for state in reversed(order):
        ways = [route for route in down if route.edge.source == state]
        rest[state] = max((rest[route.edge.target] + 1 for route in ways), default=0)
        longest = [route for route in ways if rest[route.edge.target] == rest[state] - 1]
        if len(longest) == 1:
            chosen[state] = longest[0]
    for state in order:
        into = sorted((route for route in chosen.values() if route.edge.target == state), key=lambda each: len(each.nodes))
        if len(into) == 1 or (into and len(into[0].nodes) < len(into[1].nodes)):
            made.spine.update(pairwise(into[0].nodes))


class _Router:
    """Leads edges through the layers."""

    def __init__(self, made: Layered) -> None:
        self._made = made
        self._points: dict[tuple[object, int], int] = {}
        self._filled = [0.0] * len(made.layers)
        """What the labels of each layer take."""

    def route(self, edge: Edge, *, leads_back: bool) -> Route:
        """Lead an edge from its source to its target."""
        made = self._made
        source, target = made.boxes[edge.source], made.boxes[edge.target]
        begin, end = made.nodes[source].layer, made.nodes[target].layer
        step = -1 if leads_back else 1
        label_at = self._label_layer(edge, range(begin + step, end, 2 * step)) if edge.rows else begin
        label: int | None = None
        nodes = [source]
        for layer in range(begin + step, end, step):
            if layer == label_at:
                label = made.add(Node(What.LABEL, layer, edge.width / 2, edge.width / 2, edge.height))
                nodes.append(label)
            else:
                alone = (layer - label_at) * step < 0
                key = (edge.source, edge.target) if alone else (edge.target, leads_back, edge.is_synthetic)
                nodes.append(self._point(key, layer))
        nodes.append(target)
        if leads_back:
            nodes.reverse()
        for upper, lower in pairwise(nodes):
            made.link(upper, lower)
        return Route(edge, tuple(nodes), label, leads_back)

    def _label_layer(self, edge: Edge, layers: Sequence[int]) -> int:
        """Choose the layer nearest to the source that has room for a label, or the one with the most."""
        taken = edge.width + BESIDE
        chosen = next((layer for layer in layers if self._filled[layer] + taken <= ROW_WIDTH_MAX), None)
        if chosen is None:
            chosen = min(layers, key=lambda layer: self._filled[layer])
        self._filled[chosen] += taken
        return chosen

    def _point(self, key: object, layer: int) -> int:
        found = self._points.get((key, layer))
        if found is None:
            found = self._points[key, layer] = self._made.add(Node(What.POINT, layer, 0.0, 0.0, 0.0))
        return found


def _depths(drawn: Figure, order: Sequence[str], at: Mapping[str, int]) -> dict[str, int]:
    """Give how many boxes lie above each at least: few edges are long, and no layer of boxes is too wide."""
    below: dict[str, list[str]] = {state: [] for state in order}
    above: dict[str, list[str]] = {state: [] for state in order}
    for edge in drawn.edges:
        upper, lower = sorted((edge.source, edge.target), key=at.__getitem__)
        if upper != lower and lower not in below[upper]:
            below[upper].append(lower)
            above[lower].append(upper)
    widths = {box.id: box.width + BESIDE for box in drawn.boxes}
    depths = _narrowed(order, above, below, widths)
    _tighten(depths, order, above, below, widths)
    return _without_gaps(depths)


def _narrowed(
    order: Sequence[str], above: Mapping[str, list[str]], below: Mapping[str, list[str]], widths: Mapping[str, float]
) -> dict[str, int]:
    """Give every box the least depth, but that of a layer that is too wide those with the shortest ways on go further down."""
    least = {state: min(position, 1) for position, state in enumerate(order)}
    rest = _rest(order, below)
    depths = _longest(order, above, least)
    for depth in range(1, len(order)):
        moved = _too_many([state for state in order if depths[state] == depth], rest, widths)
        if moved:
            least.update(dict.fromkeys(moved, depth + 1))
            depths = _longest(order, above, least)
    return depths


def _too_many(layer: Sequence[str], rest: Mapping[str, int], widths: Mapping[str, float]) -> list[str]:
    """Choose what a layer has to give away: the shortest ways on first, and of equals each so-manieth, so that they can interleave."""
    over = sum(widths[state] for state in layer) - ROW_WIDTH_MAX
    moved: list[str] = []
    for length in sorted({rest[state] for state in layer}):
        if over <= 0:
            break
        equals = [state for state in layer if rest[state] == length]
        width = sum(widths[state] for state in equals)
        number = min(math.ceil(len(equals) * over / width), len(equals), len(layer) - 1 - len(moved))
        moved += [state for at, state in enumerate(equals) if (at + 1) * number // len(equals) > at * number // len(equals)]
        over -= width
    return moved


def _longest(order: Sequence[str], above: Mapping[str, list[str]], least: Mapping[str, int]) -> dict[str, int]:
    depths: dict[str, int] = {}
    for state in order:
        depths[state] = max([least[state], *(depths[each] + 1 for each in above[state])])
    return depths


def _rest(order: Sequence[str], below: Mapping[str, list[str]]) -> dict[str, int]:
    """Give the length of the longest way on from each state."""
    rest: dict[str, int] = {}
    for state in reversed(order):
        rest[state] = max((rest[each] + 1 for each in below[state]), default=0)
    return rest


def _tighten(
    depths: dict[str, int],
    order: Sequence[str],
    above: Mapping[str, list[str]],
    below: Mapping[str, list[str]],
    widths: Mapping[str, float],
) -> None:
    """Move boxes towards where most of their edges lead, as long as that shortens edges and the layer has room."""
    for _ in range(_ROUNDS_MAX):
        moved = False
        for state in order[1:]:
            low = max([1, *(depths[each] + 1 for each in above[state])])
            high = min((depths[each] - 1 for each in below[state]), default=depths[state])
            wish = _wish(low, high, len(below[state]) - len(above[state]), depths[state])
            if wish != depths[state] and _fits(depths, widths, state, wish):
                depths[state] = wish
                moved = True
        if not moved:
            return


def _wish(low: int, high: int, pull: int, now: int) -> int:
    """Choose a depth between two: down where more edges lead down, up where more lead up."""
    if pull == 0:
        return now
    return high if pull > 0 else low


def _fits(depths: Mapping[str, int], widths: Mapping[str, float], state: str, depth: int) -> bool:
    taken = sum(widths[each] for each, other in depths.items() if other == depth)
    return taken + widths[state] <= ROW_WIDTH_MAX


def _without_gaps(depths: Mapping[str, int]) -> dict[str, int]:
    used: Iterable[int] = sorted({*depths.values()})
    closer = {depth: at for at, depth in enumerate(used)}
    return {state: closer[depth] for state, depth in depths.items()}
