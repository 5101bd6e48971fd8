"""The order within layers: few crossings, by medians and by swapping neighbours.

Invariants: the order with the fewest crossings of all that were tried is kept, the first of equals; nothing is left to chance, so the same
layers have the same order; the work is bounded, by fewer tries where there are many links.
"""

from bisect import bisect_left, bisect_right, insort
from collections.abc import Sequence
from typing import Final
from zlib import crc32

from stateward.compiler.drawing.layers import Layered

_BEGINNINGS_MAX: Final = 24
_FOUND: Final = 8
"""How many of them are orders in which nodes are found; in the others they lie anyhow."""
_SWEEPS_MAX: Final = 12
"""Sweeps down and up the layers, from one beginning."""
_IDLE_MAX: Final = 4
"""Sweeps in a row that may help nothing."""
_SWAPS_MAX: Final = 4
"""Rounds in which neighbours are swapped."""
_WORK_MAX: Final = 60_000
"""Links that all sweeps together look at."""


def reduce_crossings(graph: Layered) -> None:
    """Order the nodes of every layer."""
    links = max(sum(map(len, graph.down)), 1)
    beginnings = max(1, min(_BEGINNINGS_MAX, _WORK_MAX // (links * _SWEEPS_MAX)))
    declared = [list(layer) for layer in graph.layers]
    fewest, best = crossings(graph), declared
    for beginning in range(beginnings):
        graph.layers[:] = [list(layer) for layer in declared]
        _begin(graph, beginning)
        found = _settle(graph, max(2, min(_SWEEPS_MAX, _WORK_MAX // links)))
        if found < fewest or beginning == 0:
            fewest, best = found, [list(layer) for layer in graph.layers]
        if fewest == 0:
            break
    graph.layers[:] = best


def _settle(graph: Layered, sweeps: int) -> int:
    """Sweep down and up until that helps no more, and count the crossings that are left."""
    fewest, best, idle = crossings(graph), [list(layer) for layer in graph.layers], 0
    for sweep in range(sweeps):
        if fewest == 0 or idle == _IDLE_MAX:
            break
        _sweep(graph, downwards=sweep % 2 == 0, mirrored=sweep % 4 > 1)
        _swap_neighbours(graph)
        found = crossings(graph)
        idle += 1
        if found < fewest:
            fewest, best, idle = found, [list(layer) for layer in graph.layers], 0
    graph.layers[:] = best
    return fewest


def crossings(graph: Layered) -> int:
    """Count the links that cross."""
    total = 0
    at = _positions(graph)
    for layer in graph.layers[:-1]:
        ends: list[int] = []
        for node in layer:
            lower = sorted(at[each] for each in graph.down[node])
            total += sum(len(ends) - bisect_right(ends, each) for each in lower)
            for each in lower:
                insort(ends, each)
    return total


def _begin(graph: Layered, beginning: int) -> None:
    """Begin with the order in which nodes are found: from the top or from the bottom, depth or breadth first, from left or right."""
    if beginning >= _FOUND:
        for layer in graph.layers:
            layer.sort(key=lambda node: crc32(f"{beginning} {node}".encode()))
        return
    from_below, mirrored, broad = beginning % 2 == 1, beginning % 4 > 1, beginning > 3
    links = graph.up if from_below else graph.down
    layers = graph.layers if from_below else graph.layers[::-1]
    seen: dict[int, int] = {}
    open_ = [node for layer in layers for node in reversed(layer)]
    while open_:  # each node is opened once, so each link is pushed once
        node = open_.pop()
        if node not in seen:
            seen[node] = len(seen)
            found = links[node] if mirrored else links[node][::-1]
            open_[:0] = found if broad else []
            open_ += [] if broad else found
    for layer in graph.layers:
        layer.sort(key=seen.__getitem__)


def _positions(graph: Layered) -> list[int]:
    at = [0] * len(graph.nodes)
    for layer in graph.layers:
        for position, node in enumerate(layer):
            at[node] = position
    return at


def _sweep(graph: Layered, *, downwards: bool, mirrored: bool) -> None:
    """Order each layer by the medians of what its nodes are linked to in the layer before; of equals the first, or the last, is first."""
    at = _positions(graph)
    links = graph.up if downwards else graph.down
    for layer in graph.layers if downwards else reversed(graph.layers):
        medians = {node: _median(sorted(at[each] for each in links[node])) for node in layer if links[node]}
        side = -1 if mirrored else 1
        movable = iter(sorted(medians, key=lambda node: (medians[node], side * at[node])))
        layer[:] = [next(movable) if node in medians else node for node in layer]
        for position, node in enumerate(layer):
            at[node] = position


def _median(positions: Sequence[int]) -> float:
    """Give the median, and between two the one nearer to where they lie dense."""
    middle = len(positions) // 2
    if len(positions) % 2:
        return positions[middle]
    if len(positions) == 2:
        return sum(positions) / 2
    left = positions[middle - 1] - positions[0]
    right = positions[-1] - positions[middle]
    if left + right == 0:
        return positions[middle]
    return (positions[middle - 1] * right + positions[middle] * left) / (left + right)


def _swap_neighbours(graph: Layered) -> None:
    """Swap neighbours as long as that takes crossings away."""
    at = _positions(graph)
    for _ in range(_SWAPS_MAX):
        swapped = False
        for layer in graph.layers:
            around = {node: (sorted(at[each] for each in graph.up[node]), sorted(at[each] for each in graph.down[node])) for node in layer}
            for position in range(len(layer) - 1):
                left, right = layer[position], layer[position + 1]
                if _gain(around[left], around[right]) > 0:
                    layer[position], layer[position + 1] = right, left
                    at[left], at[right] = position + 1, position
                    swapped = True
        if not swapped:
            return


def _gain(left: tuple[Sequence[int], Sequence[int]], right: tuple[Sequence[int], Sequence[int]]) -> int:
    """Count how many crossings fewer there are when two neighbours are swapped."""
    (above, below), (other_above, other_below) = left, right
    now = _between(above, other_above) + _between(below, other_below)
    return now - _between(other_above, above) - _between(other_below, below) if now else 0


def _between(left: Sequence[int], right: Sequence[int]) -> int:
    """Count the crossings of the links of two neighbours on one side, the left one being left."""
    if not left or not right or left[-1] <= right[0]:
        return 0
    return sum(bisect_left(right, each) for each in left)
