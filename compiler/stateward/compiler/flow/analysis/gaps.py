"""Where none of the guards of a state holds, though the worker is done.

A worker that is not done yet is no gap: guards are also what a state waits for. So what the state writes itself counts only as far as it
makes the difference between the ways out. Nothing is told where a variable that it writes

- still holds what it begins with (a default, or `false` where a Bool has none), and another value opens a way out;
- is not as all ways out alike demand it;

nor where by what it writes one way out can be opened and no other: that is the one it waits for. Invariants: an example is what a run may
come to without an operator; none of the guards holds there, each for certain.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, islice
from typing import Final

from stateward.compiler.flow.analysis.domains import Axis
from stateward.compiler.flow.analysis.tables import Budget, Choice, Row, Table, alike, chosen, demand
from stateward.compiler.predicates.schema import Plain

VARIANTS_MAX: Final = 64
"""Further searches for one state, after the first example turned out to be one where the state waits."""


@dataclass(frozen=True, slots=True)
class _Guarded:
    """A way out by its table, where its guard is false."""

    table: Table
    open_: Mapping[Row, bool]
    """The rows that count, each with whether what the state writes can open the way out there."""

    def rows(self, *, can_open: bool) -> list[Row]:
        return [row for row, able in self.open_.items() if able is can_open]

    def can_open(self, choice: Choice) -> bool:
        return self.open_[tuple(choice[name] for name in self.table.names)]


def gap_in(tables: Sequence[Table], written: Mapping[str, "Plain | None"], budget: Budget) -> Choice | None:
    """Find a choice of points at which no guard holds; None where there is none.

    `written` names the axes of what the state writes, each with what it begins with. Raises Exhausted.
    """
    together = alike([demand(table, table.rows(False, with_rare=False)) for table in tables], budget)
    if chosen(together, budget) is None:
        return None
    demanded = _demanded(tables, written)
    rows = dict(together)
    guarded = [_guarded(table, rows[table.names], written, demanded) for table in tables]
    first = chosen([demand(each.table, list(each.open_)) for each in guarded], budget)
    if first is None or sum(each.can_open(first) for each in guarded) != 1:
        return first
    for opened in islice(_opened(len(guarded)), VARIANTS_MAX):
        demands = [
            demand(each.table, list(each.open_) if at not in opened and opened else each.rows(can_open=at in opened))
            for at, each in enumerate(guarded)
        ]
        found = chosen(demands, budget)
        if found is not None:
            return found
    return None


def _opened(number: int) -> Iterator[tuple[int, ...]]:
    """Give which ways out are to be such that they can be opened: none, or two and perhaps more."""
    yield ()
    yield from combinations(range(number), 2)


def _guarded(
    table: Table, candidates: Sequence[Row], written: Mapping[str, "Plain | None"], demanded: Mapping[str, frozenset[int]]
) -> _Guarded:
    own = [at for at, axis in enumerate(table.axes) if axis.name in written]
    begun = {at: _beginning(table.axes[at], written[table.axes[at].name]) for at in own}
    holding = [row for row, truth in table.truths.items() if truth is not False]
    beside: dict[tuple[int, ...], frozenset[Row]] = {}
    rows: dict[Row, bool] = {}
    for row in candidates:
        if any(row[at] not in demanded.get(table.axes[at].name, frozenset((row[at],))) for at in own):
            continue
        if not _opens(row, [at for at in own if row[at] == begun[at]], holding, beside):
            rows[row] = _opens(row, own, holding, beside)
    return _Guarded(table, rows)


def _opens(row: Row, places: Sequence[int], holding: Sequence[Row], beside: dict[tuple[int, ...], frozenset[Row]]) -> bool:
    """Tell whether a guard may hold where other points are taken at some places; `beside` keeps what is found for each of these."""
    key = tuple(places)
    if key not in beside:
        beside[key] = frozenset(_without(each, key) for each in holding) if key else frozenset()
    return _without(row, key) in beside[key]


def _without(row: Row, places: Sequence[int]) -> Row:
    return tuple(point for at, point in enumerate(row) if at not in places)


def _beginning(axis: Axis, default: "Plain | None") -> int | None:
    """Find the point of what a variable begins with."""
    wanted = False if default is None else default
    points = enumerate(axis.points)
    return next((at for at, point in points if type(point.given[0][2]) is type(wanted) and point.given[0][2] == wanted), None)


def _demanded(tables: Sequence[Table], written: Mapping[str, "Plain | None"]) -> dict[str, frozenset[int]]:
    """Give for what the state writes the points at which each guard may hold, where that are the same ones for all guards."""
    found = {}
    for name in dict.fromkeys(axis.name for table in tables for axis in table.axes if axis.name in written):
        several = {table.met_at((name,)) if name in table.names else None for table in tables}
        met = several.pop()
        if not several and met is not None:
            found[name] = frozenset(at for (at,) in met)
    return found
