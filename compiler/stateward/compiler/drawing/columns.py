"""Where in its layer each node lies: the method of Brandes and Köpf (Fast and Simple Horizontal Coordinate Assignment, 2001).

Nodes are joined with a median neighbour to upright blocks in four ways (from above and from below, from the left and from the right);
each way is packed, and each node comes to lie between its two middle places. The spine of the graph is upright before
anything else, and links between points before others are.

Invariants: the order of each layer is kept, and neighbours are at least `BESIDE` apart (points less), since that holds in each of the
four ways and so between them too.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Final

from stateward.compiler.drawing.layers import BESIDE, Layered, Node, What

_POINTS_BESIDE: Final = 16.0
"""Between two lines that pass a layer."""


def assign_columns(graph: Layered) -> list[float]:
    """Give the x of each node, the least of what any reaches to being 0."""
    conflicts = _conflicts(graph)
    ways: list[list[float]] = []
    for from_above in (True, False):
        for from_left in (True, False):
            layers = graph.layers if from_above else graph.layers[::-1]
            layers = [list(layer) if from_left else layer[::-1] for layer in layers]
            ways.append(_way(graph, layers, conflicts, from_above=from_above, from_left=from_left))
    _align(graph.nodes, ways)
    columns = [sum(sorted(way[node] for way in ways)[1:3]) / 2 for node in range(len(graph.nodes))]
    least = min(x - node.left for x, node in zip(columns, graph.nodes, strict=True))
    return [x - least for x in columns]


def apart(left: Node, right: Node) -> float:
    """Give how far the lines of two neighbours are apart at least."""
    points = left.what is What.POINT and right.what is What.POINT
    return left.right + right.left + (_POINTS_BESIDE if points else BESIDE)


def _rank(graph: Layered, upper: int, lower: int) -> int:
    """Say how much a link is to be upright."""
    if graph.spine.get(upper) == lower:
        return 2
    return int(graph.nodes[upper].what is What.POINT and graph.nodes[lower].what is What.POINT)


def _conflicts(graph: Layered) -> set[tuple[int, int]]:
    """Find the links that cross one that is more to be upright: they give way to it."""
    found: set[tuple[int, int]] = set()
    for upper, lower in pairwise(graph.layers):
        at = {node: position for position, node in enumerate(upper)}
        links = [(at[above], position, _rank(graph, above, node)) for position, node in enumerate(lower) for above in graph.up[node]]
        for rank in (1, 2):
            highest, lowest = _reach([link[:2] for link in links if link[2] >= rank], len(upper), len(lower))
            found.update((upper[up], lower[low]) for up, low, own in links if own < rank and (highest[up] > low or lowest[up] < low))
    return found


def _reach(links: Sequence[tuple[int, int]], upper: int, lower: int) -> tuple[list[int], list[int]]:
    """Give for each upper position how far to the right a link from left of it leads, and how far to the left one from right of it."""
    highest, lowest = [-1] * (upper + 1), [lower] * (upper + 1)
    for up, low in links:
        highest[up + 1] = max(highest[up + 1], low)
        lowest[up] = min(lowest[up], low)
    return list(accumulate(highest, max))[:upper], [*list(accumulate(reversed(lowest[:upper]), min))[::-1], lower][1:]


@dataclass(slots=True)
class _Blocks:
    """Which nodes lie upright above each other."""

    root: list[int]
    """The first node of the block of each."""
    next: list[int]
    """The node after it in its block, in a circle."""


def _way(
    graph: Layered, layers: Sequence[Sequence[int]], conflicts: set[tuple[int, int]], *, from_above: bool, from_left: bool
) -> list[float]:
    """Join nodes to blocks and pack these, in one of the four ways."""
    blocks = _joined(graph, layers, conflicts, graph.up if from_above else graph.down, from_above=from_above)
    columns = _packed(graph.nodes, layers, blocks, from_left=from_left)
    return columns if from_left else [-x for x in columns]


def _joined(
    graph: Layered,
    layers: Sequence[Sequence[int]],
    conflicts: set[tuple[int, int]],
    links: Sequence[Sequence[int]],
    *,
    from_above: bool,
) -> _Blocks:
    blocks = _Blocks(list(range(len(graph.nodes))), list(range(len(graph.nodes))))
    for before, layer in pairwise(layers):
        at = {node: position for position, node in enumerate(before)}
        last = -1
        for node in layer:
            for wish in _wishes(graph, node, sorted(links[node], key=at.__getitem__), from_above=from_above):
                link = (wish, node) if from_above else (node, wish)
                if blocks.next[node] == node and last < at[wish] and link not in conflicts:
                    blocks.next[wish] = node
                    blocks.root[node] = blocks.root[wish]
                    blocks.next[node] = blocks.root[node]
                    last = at[wish]
    return blocks


def _wishes(graph: Layered, node: int, linked: Sequence[int], *, from_above: bool) -> Sequence[int]:
    """Give the neighbours that a node would lie upright to: that of its spine, a point of its own line, or those in the middle.

    A neighbour that has a spine of its own is left to it, and a point to the points of its line.
    """
    spine = [each for each in linked if (graph.spine.get(each) == node if from_above else graph.spine.get(node) == each)]
    if spine:
        return spine
    if graph.nodes[node].what is What.POINT:
        points = [each for each in linked if graph.nodes[each].what is What.POINT]
        linked = points or linked
    else:
        linked = [each for each in linked if not _goes_on(graph, each, from_above=from_above)]
    taken = graph.spine.keys() if from_above else graph.spine.values()
    return [each for each in linked[(len(linked) - 1) // 2 : len(linked) // 2 + 1] if each not in taken]


def _goes_on(graph: Layered, node: int, *, from_above: bool) -> bool:
    """Tell whether a node is a point whose line goes on to a point in the layer that looks for its neighbours."""
    others = graph.down[node] if from_above else graph.up[node]
    return graph.nodes[node].what is What.POINT and any(graph.nodes[each].what is What.POINT for each in others)


def _packed(nodes: Sequence[Node], layers: Sequence[Sequence[int]], blocks: _Blocks, *, from_left: bool) -> list[float]:
    """Lay blocks as far to the side as they go, then those with room back towards what comes after them."""
    after: dict[int, dict[int, float]] = {blocks.root[node]: {} for layer in layers for node in layer}
    before: dict[int, list[int]] = {root: [] for root in after}
    for layer in layers:
        for left, right in pairwise(layer):
            one, other = blocks.root[left], blocks.root[right]
            room = apart(nodes[left], nodes[right]) if from_left else apart(nodes[right], nodes[left])
            if other not in after[one]:
                before[other].append(one)
            after[one][other] = max(room, after[one].get(other, 0.0))
    order = _sorted(after, before)
    at: dict[int, float] = {}
    for root in order:
        at[root] = max((at[each] + after[each][root] for each in before[root]), default=0.0)
    for root in reversed(order):
        room = min((at[each] - apart_ for each, apart_ in after[root].items()), default=at[root])
        at[root] = max(at[root], room)
    return [at[root] for root in blocks.root]


def _sorted(after: Mapping[int, Mapping[int, float]], before: Mapping[int, Sequence[int]]) -> list[int]:
    """Order blocks so that each comes behind all that lie before it."""
    missing = {root: len(others) for root, others in before.items()}
    order = [root for root, number in missing.items() if number == 0]
    for root in order:  # grows while it is walked: every block is added once
        for other in after[root]:
            missing[other] -= 1
            if missing[other] == 0:
                order.append(other)
    assert len(order) == len(after), "blocks do not cross"
    return order


def _align(nodes: Sequence[Node], ways: Sequence[list[float]]) -> None:
    """Move each way to an edge of the narrowest, those from the left to its left edge and the others to its right."""
    spans = [
        (min(x - node.left for x, node in zip(way, nodes, strict=True)), max(x + node.right for x, node in zip(way, nodes, strict=True)))
        for way in ways
    ]
    narrowest = min(range(len(ways)), key=lambda at: spans[at][1] - spans[at][0])
    for at, way in enumerate(ways):
        side = at % 2
        shift = spans[narrowest][side] - spans[at][side]
        way[:] = [x + shift for x in way]
