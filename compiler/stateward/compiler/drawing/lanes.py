"""Lines beside a column of boxes: one lane for all edges that lead to one box, side by side where they would meet.

Invariants: a row carries the horizontal line of at most one lane, so where a horizontal line meets the lane of another it crosses it,
and `┼` always means a crossing; edges for which there is no room have no lane (their target is named in the box in any case).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

_UP: Final = 1
_DOWN: Final = 2
_NEAR: Final = 4
"""Towards the box."""
_FAR: Final = 8

_JOINTS: Final[Mapping[int, tuple[str, str]]] = {
    _UP | _DOWN: ("│", "┆"),
    _NEAR | _FAR: ("─", "┄"),
    _UP | _DOWN | _NEAR | _FAR: ("┼", "┼"),
    _UP | _DOWN | _NEAR: ("┤", "├"),
    _DOWN | _NEAR: ("┐", "┌"),
    _UP | _NEAR: ("┘", "└"),
}
"""What is drawn at the right side, and at the left, where lines are broken and run the other way."""


@dataclass(frozen=True, slots=True)
class Bundle:
    """All edges of one side that lead to one box: the row they enter it at, and the rows they leave from."""

    target: int
    sources: tuple[int, ...]

    @property
    def first(self) -> int:
        """The uppermost row."""
        return min(self.target, *self.sources)

    @property
    def last(self) -> int:
        """The lowest row."""
        return max(self.target, *self.sources)


def bundled(edges: Iterable[tuple[int, int]]) -> list[Bundle]:
    """Bundle edges, given as the row they leave from and the row they enter at, by the latter."""
    by_target: dict[int, list[int]] = {}
    for source, target in edges:
        by_target.setdefault(target, []).append(source)
    return [Bundle(target, tuple(sources)) for target, sources in by_target.items()]


def allot(bundles: Sequence[Bundle], lanes_max: int) -> list[tuple[Bundle, int]]:
    """Give each bundle the innermost free lane, short ones first; those that find none are left out."""
    allotted: list[tuple[Bundle, int]] = []
    for bundle in sorted(bundles, key=lambda each: (each.last - each.first, each.first)):
        taken = {lane for other, lane in allotted if other.first <= bundle.last and bundle.first <= other.last}
        lane = next((lane for lane in range(lanes_max) if lane not in taken), None)
        if lane is not None:
            allotted.append((bundle, lane))
    return allotted


def draw_lanes(allotted: Sequence[tuple[Bundle, int]], height: int, *, left: bool) -> list[str]:
    """Draw all lanes of one side as one text a row, the box being at the left of a right side and the other way round."""
    width = 2 + 2 * (1 + max((lane for _, lane in allotted), default=-1)) if allotted else 0
    cells = [[0] * width for _ in range(height)]
    for bundle, lane in allotted:
        column = 2 + 2 * lane
        for row in range(bundle.first, bundle.last + 1):
            cells[row][column] |= (_UP if row > bundle.first else 0) | (_DOWN if row < bundle.last else 0)
        for row in (bundle.target, *bundle.sources):
            cells[row][column] |= _NEAR
            for between in range(column):
                cells[row][between] |= _NEAR | _FAR
    heads = {bundle.target for bundle, _ in allotted}
    rows = ["".join(_JOINTS[cell][left] if cell else " " for cell in row) for row in cells]
    if left:
        return [row[::-1][:-1] + "▶" if at in heads else row[::-1] for at, row in enumerate(rows)]
    return ["◀" + row[1:] if at in heads else row for at, row in enumerate(rows)]
