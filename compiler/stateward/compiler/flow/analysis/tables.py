"""Truth tables of guards over a domain, and the search for a choice of points that several of them agree on.

Invariants: a table holds what `predicates.guards.holds` says, row by row; all work is counted against one `Budget`, so that the time of
an analysis is bounded whatever the guards are, and the same flow always gets the same answer.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Final, NamedTuple, TypeAlias

from stateward.compiler.flow.analysis.domains import Axis, Domain, Point, bag_of
from stateward.compiler.predicates.guards import Bag, Guard, holds, parts_of

ROWS_MAX: Final = 20_000
"""Rows of one table."""
NODES_MAX: Final = 400_000
"""Nodes of guards that are evaluated for one flow."""
STEPS_MAX: Final = 1_000_000
"""Rows that are looked at for one flow, by all searches together."""
SEARCH_MAX: Final = 20_000
"""Rows that one search looks at."""

Row: TypeAlias = tuple[int, ...]
"""Which point of each axis."""
Choice: TypeAlias = Mapping[str, int]
"""Which point of each axis, by its name."""


class Exhausted(Exception):
    """A search took more than it may, or than is left: nobody can tell."""


class Budget:
    """What is left to spend on one flow."""

    def __init__(self, nodes: int = NODES_MAX, steps: int = STEPS_MAX) -> None:
        self._nodes = nodes
        self._steps = steps

    def evaluate(self, nodes: int) -> bool:
        """Take nodes for evaluations of one guard; False, and nothing taken, where it asks for more than half of what is left.

        So one large guard leaves something to the others.
        """
        if nodes > self._nodes // 2:
            return False
        self._nodes -= nodes
        return True

    def step(self, steps: int = 1) -> None:
        """Take steps of searches. Raises Exhausted where fewer are left."""
        self._steps -= steps
        if self._steps < 0:
            raise Exhausted


class Table:
    """What a guard comes to at each choice of points of its axes."""

    def __init__(self, axes: tuple[Axis, ...], truths: Mapping[Row, bool | None]) -> None:
        self.axes = axes
        self.truths = truths
        self.names = tuple(axis.name for axis in axes)
        """The names of the axes."""
        self.exact = all(axis.exact for axis in axes)
        """Whether every run lies like one of the rows."""
        self._rare = [(at, axis.rare) for at, axis in enumerate(axes) if axis.rare]
        self._met: dict[tuple[str, ...], frozenset[Row]] = {}

    def points(self, row: Row) -> tuple[Point, ...]:
        """Give the points of a row."""
        return tuple(axis.points[at] for axis, at in zip(self.axes, row, strict=True))

    def rows(self, wanted: bool | None, *, with_rare: bool) -> list[Row]:
        """Give the rows at which the guard comes to what is wanted; those that need an operator only where they are asked for."""
        found = [row for row, truth in self.truths.items() if truth is wanted]
        return found if with_rare or not self._rare else [row for row in found if not self.is_rare(row)]

    def is_rare(self, row: Row) -> bool:
        """Tell whether a row is come to only where an operator grants what the flow does not."""
        return any(row[at] in rare for at, rare in self._rare)

    def met_at(self, shared: tuple[str, ...]) -> frozenset[Row]:
        """Give the choices of points of some of the axes at which the guard may hold, without an operator."""
        if shared not in self._met:
            places = [self.names.index(name) for name in shared]
            self._met[shared] = frozenset(tuple(row[at] for at in places) for row in self.rows(True, with_rare=False))
        return self._met[shared]


ALWAYS: Final = Table((), {(): True})
"""The table of a guard that is not there."""


def table_of(guard: Guard | None, domain: Domain, budget: Budget) -> Table | None:
    """Make the table of a guard; None where that cannot be done, or takes more than there is."""
    if guard is None:
        return ALWAYS
    axes = domain.of(guard)
    if axes is None:
        return None
    number = prod(len(axis.points) for axis in axes)
    if number > ROWS_MAX or not budget.evaluate(number * sum(1 for _ in parts_of(guard))):
        return None
    if len(axes) == 1:
        return Table(axes, {(at,): holds(guard, bag) for at, bag in enumerate(axes[0].bags)})
    rows = product(*(range(len(axis.points)) for axis in axes))
    return Table(axes, {row: holds(guard, bag_of(axis.points[at] for axis, at in zip(axes, row, strict=True))) for row in rows})


class Demand(NamedTuple):
    """Rows of a table of which one is to be chosen."""

    names: tuple[str, ...]
    rows: Sequence[Row]


def demand(table: Table, rows: Sequence[Row]) -> Demand:
    """Ask for one of these rows of a table."""
    return Demand(table.names, rows)


def chosen(demands: Iterable[Demand], budget: Budget) -> Choice | None:
    """Find a choice of points that meets all demands; None where there is none. Raises Exhausted."""
    found: dict[str, int] = {}
    for part in _parts(sorted(alike(demands, budget), key=lambda each: len(each.rows))):
        choice = _chosen(part, budget)
        if choice is None:
            return None
        found.update(choice)
    return found


def alike(demands: Iterable[Demand], budget: Budget) -> list[Demand]:
    """Bring demands on the same axes together. Raises Exhausted."""
    by_axes: dict[tuple[str, ...], Sequence[Row]] = {}
    for names, rows in demands:
        budget.step(len(rows))
        wanted = set(rows)
        by_axes[names] = [row for row in by_axes.get(names, rows) if row in wanted]
    return [Demand(names, rows) for names, rows in by_axes.items()]


def _parts(demands: Sequence[Demand]) -> Iterator[list[Demand]]:
    """Split demands so that no two parts have an axis in common, each in an order in which one hangs together with those before it."""
    left = list(demands)
    while left:
        part, names = [left.pop(0)], set[str]()
        names.update(part[0].names)
        while (at := next((at for at, each in enumerate(left) if not names.isdisjoint(each.names)), None)) is not None:
            part.append(left.pop(at))
            names.update(part[-1].names)
        yield part


def _chosen(part: Sequence[Demand], budget: Budget) -> Choice | None:
    """Search the rows of demands that hang together, the next ones by what was chosen on the axes that they share with those before."""
    levels = list(_levels(part, budget))
    choice: dict[str, int] = {}
    waiting: list[Iterator[Row]] = [iter(levels[0].found(choice))]
    for _ in range(SEARCH_MAX):
        if not waiting:
            return None
        budget.step()
        row = next(waiting[-1], None)
        if row is None:
            waiting.pop()
            continue
        choice.update(zip(levels[len(waiting) - 1].names, row, strict=True))
        if len(waiting) == len(levels):
            return choice
        waiting.append(iter(levels[len(waiting)].found(choice)))
    raise Exhausted


@dataclass(frozen=True, slots=True)
class _Level:
    names: tuple[str, ...]
    shared: tuple[str, ...]
    rows: Mapping[Row, Sequence[Row]]
    """By what they are on the shared axes."""

    def found(self, choice: Choice) -> Sequence[Row]:
        return self.rows.get(tuple(choice[name] for name in self.shared), ())


def _levels(part: Sequence[Demand], budget: Budget) -> Iterator[_Level]:
    before: set[str] = set()
    for each in part:
        shared = tuple(name for name in each.names if name in before)
        places = [each.names.index(name) for name in shared]
        budget.step(len(each.rows))
        rows: dict[Row, list[Row]] = {}
        for row in each.rows:
            rows.setdefault(tuple(row[at] for at in places), []).append(row)
        yield _Level(each.names, shared, rows)
        before.update(each.names)


def bag_at(tables: Iterable[Table], choice: Choice) -> Bag:
    """Give what a run holds at a choice of points."""
    axes = {axis.name: axis for table in tables for axis in table.axes}
    return bag_of(axis.points[choice[name]] for name, axis in axes.items() if name in choice)
