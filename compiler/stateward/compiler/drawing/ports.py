"""Where lines leave and enter boxes: at places of their own, in the order of what they lead to, and straight where that can be.

Invariants: every place lies on a side of its box, away from the corners; all lines that enter a box at one side enter it at one place.
"""

from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

from stateward.compiler.drawing.layers import Layered, Route

_Span: TypeAlias = tuple[float, float]
_STEP: Final = 16.0
"""Between two places, where there is room."""
_MARGIN: Final = 9.0
"""Between a place and a corner."""


def assign_ports(graph: Layered, columns: Sequence[float], spans: Mapping[int, _Span]) -> dict[tuple[int, int], float]:
    """Give the x at which a link leaves or enters a box, by box and other node; `spans` tells from where to where each box reaches."""
    entered = _entries(graph.routes)
    ports: dict[tuple[int, int], float] = {}
    for node, span in spans.items():
        for others in (graph.up[node], graph.down[node]):
            together = sorted({each for each in others if (node, each) in entered}, key=columns.__getitem__)
            groups = [[each] for each in others if (node, each) not in entered] + ([together] if together else [])
            for group, x in zip(groups, _spread(groups, span, columns), strict=True):
                ports.update({(node, each): x for each in group})
    return ports


def _entries(routes: Sequence[Route]) -> set[tuple[int, int]]:
    """Give the links, as box and other node, by which edges enter their targets."""
    return {(route.nodes[0], route.nodes[1]) if route.leads_back else (route.nodes[-1], route.nodes[-2]) for route in routes}


def _spread(groups: Sequence[Sequence[int]], span: _Span, columns: Sequence[float]) -> list[float]:
    """Give each group of links a place at one side of a box: in order, apart, and straight where it can be.

    The one that is nearest to the middle comes first; the others take what room is left of it and right of it.
    """
    low, high = span[0] + _MARGIN, span[1] - _MARGIN
    centre = (low + high) / 2
    wishes = [min(max(columns[group[0]] if len(group) == 1 else centre, low), high) for group in groups]
    order = sorted(range(len(groups)), key=lambda at: sum(columns[each] for each in groups[at]) / len(groups[at]))
    places = list(wishes)
    if not order:
        return places
    central = min(range(len(order)), key=lambda rank: abs(wishes[order[rank]] - centre))
    middle = wishes[order[central]]
    left = [wishes[at] for at in order[:central]]
    right = [wishes[at] for at in order[central + 1 :]]
    beside = [*(-x for x in _outwards([-x for x in reversed(left)], -middle, -low)), *_outwards(right, middle, high)]
    for at, x in zip([*reversed(order[:central]), *order[central + 1 :]], beside, strict=True):
        places[at] = x
    return places


def _outwards(wishes: Sequence[float], begin: float, end: float) -> list[float]:
    """Give places behind `begin` and up to `end`, in order, each near its wish and apart from the one before."""
    step = min(_STEP, (end - begin) / max(len(wishes), 1))
    places: list[float] = []
    least = begin
    for at, wish in enumerate(wishes):
        least = min(max(wish, least + step), end - step * (len(wishes) - 1 - at))
        places.append(least)
    return places
