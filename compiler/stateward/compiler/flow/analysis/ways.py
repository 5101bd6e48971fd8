"""What the guards of one state come to beside each other: which always or never hold, which is never taken, which meet, what none covers.

A way out that has a condition or checks beside its guard may not be taken where its guard holds: it hides no other, and it is known not to
be taken only where its guard does not hold. Invariants: `always`, `never` and `hidden_by` are proved for every run; overlaps and gaps
come with an example that needs no operator. A gap is where all guards are certainly false: where a value is missing, it is to be written
first.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import NamedTuple

from stateward.compiler.flow.analysis.domains import Axis, Domain, Setting
from stateward.compiler.flow.analysis.gaps import gap_in
from stateward.compiler.flow.analysis.given import Standing, Way
from stateward.compiler.flow.analysis.tables import Budget, Demand, Exhausted, Table, bag_at, chosen, demand, table_of
from stateward.compiler.predicates.guards import KNOWN, VARS, Bag, Guard, references


@dataclass(frozen=True, slots=True)
class Judged:
    """A way out, and what its guard comes to."""

    way: Way
    table: Table | None
    """None where nothing can be told."""
    implied: frozenset[str] = frozenset()
    """The variables that certainly hold something where it is taken."""
    needed: tuple[str, ...] = ()
    """The variables without whose value its guard cannot be told, though it could be with it."""
    always: bool = False
    never: bool = False
    hidden_by: tuple[Way, ...] = ()
    """Ways out one of which is taken, or holds it back, wherever it could be taken; empty where there are none."""

    @property
    def is_dead(self) -> bool:
        """Whether it is never taken."""
        return self.never or bool(self.hidden_by)


class Overlap(NamedTuple):
    """Ways out that can be met together with another."""

    first: tuple[Way, ...]
    second: Way
    example: Bag
    """Where the first of the first ones is met together with the second."""


class Looked(NamedTuple):
    """What was found of a state."""

    ways: tuple[Judged, ...]
    overlaps: tuple[Overlap, ...]
    gap: Bag | None
    """Where none of the guards holds."""


def look_at(state: Standing, setting: Setting, budget: Budget) -> Looked:
    """Judge the ways out of a state beside each other."""
    guards = [way.guard for way in state.ways if way.is_decided and way.guard is not None]
    domain = Domain(guards, setting)
    judged = [_judged(way, domain, budget) for way in state.ways]
    judged = [each if each.never else replace(each, hidden_by=_hidden_by(each, judged, state, budget)) for each in judged]
    overlaps = () if state.is_ordered else tuple(_overlaps(judged, budget))
    return Looked(tuple(judged), overlaps, _gap(state, judged, setting, budget))


def _judged(way: Way, domain: Domain, budget: Budget) -> Judged:
    table = table_of(way.guard, domain, budget) if way.is_decided else None
    if way.guard is None:
        return Judged(way, table)
    needed = _needed(way.guard, table)
    if table is None:
        return Judged(way, table, needed=needed)
    truths = set(table.truths.values()) if table.exact else set()
    return Judged(way, table, _implied(table), needed, always=truths == {True}, never=bool(truths) and True not in truths)


def _is_plain(each: Judged) -> bool:
    """Tell whether a way out is taken just where its guard holds, as far as it goes by itself."""
    way = each.way
    return way.guard is not None and not (way.is_judged or way.checks or way.otherwise)


# --- never taken --------------------------------------------------------------------------------------------------------------------


def _hidden_by(each: Judged, all_: Sequence[Judged], state: Standing, budget: Budget) -> tuple[Way, ...]:
    """Find the ways out that leave nothing to one: those before it, or all others where it is taken when no other is."""
    if each.way.otherwise:
        others = [other for other in all_ if other.way is not each.way]
    elif state.is_ordered:
        others = list(all_[: next(at for at, other in enumerate(all_) if other.way is each.way)])
    else:
        others = []
    rivals = [
        (other.way, _where(other.table, truth=False))
        for other in others
        if _is_plain(other) and other.table is not None and other.table.exact
    ]
    if not each.way.is_decided or not rivals:
        return ()
    own = [_where(each.table, truth=True)] if each.table is not None and each.table.exact else []
    try:
        if chosen([*own, *(wanted for _, wanted in rivals)], budget) is not None:
            return ()
        alone = next((way for way, wanted in rivals if chosen([*own, wanted], budget) is None), None)
    except Exhausted:
        return ()
    return (alone,) if alone is not None else tuple(way for way, _ in rivals)


def _where(table: Table, *, truth: bool) -> Demand:
    """Ask for a row at which a guard comes to this, with an operator's help too."""
    return demand(table, table.rows(truth, with_rare=True))


# --- several met --------------------------------------------------------------------------------------------------------------------


def _overlaps(judged: Sequence[Judged], budget: Budget) -> Iterator[Overlap]:
    found: dict[int, list[int]] = {}
    able = [at for at, each in enumerate(judged) if _decides_by_itself(each)]
    for one, other in combinations(able, 2):
        if _meet(judged[one], judged[other]):
            found.setdefault(other, []).append(one)
    for other, ones in sorted(found.items()):
        first, second = judged[ones[0]], judged[other]
        try:
            example = _example([first, second], budget)
        except Exhausted:
            return
        yield Overlap(tuple(judged[one].way for one in ones), second.way, example)


def _decides_by_itself(each: Judged) -> bool:
    """Tell whether a way out is met by guard and checks alone."""
    return each.table is not None and not (each.way.is_judged or each.way.otherwise)


def _meet(one: Judged, other: Judged) -> bool:
    if (one.way.guard is None and other.way.guard is None) or one.table is None or other.table is None:
        return False
    shared = tuple(name for name in one.table.names if name in other.table.names)
    return not one.table.met_at(shared).isdisjoint(other.table.met_at(shared))


def _example(both: Sequence[Judged], budget: Budget) -> Bag:
    tables = [each.table for each in both if each.table is not None]
    choice = chosen([demand(table, table.rows(True, with_rare=False)) for table in tables], budget)
    assert choice is not None, "they meet"
    return bag_at(tables, choice)


# --- none met -----------------------------------------------------------------------------------------------------------------------


def _gap(state: Standing, judged: Sequence[Judged], setting: Setting, budget: Budget) -> Bag | None:
    """Find where no guard holds, whatever else the ways out ask."""
    tables = [each.table for each in judged if each.table is not None and each.way.guard is not None and not each.never]
    if not state.complete or not judged or len(tables) < len(judged):
        return None
    names = [each.name for each in state.writes if each.name in setting.variables]
    try:
        choice = gap_in(tables, {f"{VARS}.{name}": setting.variables[name].default for name in names}, budget)
    except Exhausted:
        return None
    return None if choice is None else bag_at(tables, choice)


# --- what is read -------------------------------------------------------------------------------------------------------------------


def variables_of(guard: Guard) -> tuple[str, ...]:
    """Name the variables that a guard looks at, by their value or by whether there is one."""
    return tuple(dict.fromkeys(ref.path[1] for ref in references(guard) if ref.path[0] in {VARS, KNOWN}))


def _needed(guard: Guard, table: Table | None) -> tuple[str, ...]:
    refs = references(guard)
    read = tuple(dict.fromkeys(ref.path[1] for ref in refs if ref.path[0] == VARS))
    if table is None:
        asked = {ref.path[1] for ref in refs if ref.path[0] == KNOWN}
        return tuple(name for name in read if name not in asked)
    left_open: set[str] = set()
    for row, truth in table.truths.items():
        if truth is None:
            missing = [name for point in table.points(row) for root, name, value in point.given if root == VARS and value is None]
            left_open.update(missing if len(missing) == 1 else ())
    return tuple(name for name in read if name in left_open)


def _implied(table: Table) -> frozenset[str]:
    found = {axis.name: axis.points[0].given[0][1] for axis in table.axes if _is_variable(axis) and _others_are_exact(table, axis)}
    for row, truth in table.truths.items():
        if truth is True:
            for axis, at in zip(table.axes, row, strict=True):
                if axis.points[at].given[0][2] is None:
                    found.pop(axis.name, None)
    return frozenset(found.values())


def _is_variable(axis: Axis) -> bool:
    return axis.points[0].given[0][0] == VARS


def _others_are_exact(table: Table, axis: Axis) -> bool:
    return all(other.exact for other in table.axes if other is not axis)
