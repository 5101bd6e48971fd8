"""What the guards of one state see of a run, as axes: each takes one of finitely many points, whatever the others take.

An axis is a variable (with all that is read below it, and whether it is known), an input, the visits of a state, or what was spent: a flag
that hangs together with the visits of the states that the ways out lead to. Invariants: every choice of points is what a run may hold;
where all axes of a guard are `exact`, every run lies like one of these choices to the guard. A guard on an axis that could not be made
has no domain, and nothing is claimed of it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod
from typing import Final, NamedTuple

from stateward.compiler.flow.analysis.uses import Use, hold_against, uses_of
from stateward.compiler.flow.analysis.values import Question, Values, families_of, is_scalar, numbers_in, representatives, texts_in
from stateward.compiler.predicates.constraints import Bounded, EntriesOf, Family, Matching, OfType
from stateward.compiler.predicates.declarations import Declaration
from stateward.compiler.predicates.guards import EXCEEDED, INPUT, KNOWN, SPENT, VARS, VISITS, Bag, Guard, Ref, references
from stateward.compiler.predicates.schema import AllOf, Plain, RecordOf, Schema

POINTS_MAX: Final = 4_096
"""Points of one axis."""
PEERS_MAX: Final = 16
"""References that are compared with each other, directly or by way of others."""
_PRESENT: Final = True
"""Stands for a value that no guard looks at: it is asked only whether there is one."""


class Setting(NamedTuple):
    """Where guards are evaluated."""

    variables: Mapping[str, Declaration]
    inputs: Mapping[str, Declaration]
    state: str
    visits_max: Mapping[str, int]
    """Of the states that have such a limit."""
    targets: frozenset[str]
    """The states that the ways out lead to."""
    has_all_targets: bool = True
    passed: frozenset[str] = frozenset()
    """States that every way to this one leads through."""


class Point(NamedTuple):
    """What an axis may come to."""

    given: tuple[tuple[str, str, "Plain | None"], ...]
    """Roots and names with what they hold; None: nothing."""
    is_rare: bool = False
    """Whether it comes to that only where an operator does what the flow does not: grant a visit, or move a run past a state."""


@dataclass(frozen=True)
class Axis:
    """Points that stand for all that something may be."""

    name: str
    points: tuple[Point, ...]
    exact: bool

    @cached_property
    def rare(self) -> frozenset[int]:
        """The points that are come to only with an operator's help."""
        return frozenset(at for at, point in enumerate(self.points) if point.is_rare)

    @cached_property
    def bags(self) -> "tuple[Bag, ...]":
        """What a run holds at each point, where nothing else matters."""
        return tuple(bag_of([point]) for point in self.points)


class Domain:
    """The axes of some guards that are evaluated in one place."""

    def __init__(self, guards: Sequence[Guard], setting: Setting) -> None:
        self._setting = setting
        self._uses = uses_of(guards)
        for (root, name, *below), use in ((ref.path, use) for ref, use in self._uses.items()):
            declared = (setting.variables if root == VARS else setting.inputs).get(name) if root in {VARS, INPUT} else None
            if declared is not None and not below:
                hold_against(use, declared.default)
        self._is_spent_read = any(ref.path[0] == SPENT for ref in self._uses)
        self.axes: Mapping[str, Axis | None] = {name: self._axis(name, refs) for name, refs in self._by_axis().items()}
        """By name; None where it could not be made."""

    def of(self, guard: Guard) -> tuple[Axis, ...] | None:
        """Give the axes of one of the guards; None where one could not be made."""
        axes = [self.axes[name] for name in dict.fromkeys(map(self.axis_of, references(guard)))]
        made = tuple(axis for axis in axes if axis is not None)
        return made if len(made) == len(axes) else None

    def axis_of(self, ref: Ref) -> str:
        """Name the axis on which a reference lies."""
        root, name = ref.path[:2]
        if root == KNOWN:
            root = VARS
        if root == SPENT or (root == VISITS and self._is_spent_read and name in self._limited):
            return SPENT
        return f"{root}.{name}"

    @property
    def _limited(self) -> frozenset[str]:
        """The states that the ways out lead to and that may be entered only so often."""
        return self._setting.targets & self._setting.visits_max.keys()

    def _by_axis(self) -> dict[str, list[Ref]]:
        found: dict[str, list[Ref]] = {}
        for ref in self._uses:
            found.setdefault(self.axis_of(ref), []).append(ref)
        return found

    def _axis(self, name: str, refs: list[Ref]) -> Axis | None:
        root = VARS if refs[0].path[0] == KNOWN else refs[0].path[0]
        if name == SPENT:
            return self._spent(refs)
        if root == VISITS:
            points, exact = self._visits(refs[0])
            return Axis(name, tuple(points), exact)
        declared = (self._setting.variables if root == VARS else self._setting.inputs).get(refs[0].path[1])
        return None if declared is None else self._value(name, root, declared, refs)

    # --- variables and inputs -------------------------------------------------------------------------------------------------------

    def _value(self, name: str, root: str, declared: Declaration, refs: list[Ref]) -> Axis | None:
        read = [ref for ref in refs if ref.path[0] != KNOWN]
        if any(one != other and one.path == other.path[: len(one.path)] for one in read for other in read):
            return None
        leaves = [self._leaf(ref, declared.schema) for ref in read]
        made = [leaf for leaf in leaves if leaf is not None]
        choices = [(*leaf.values, None) if may_be_missing else leaf.values for may_be_missing, leaf in made]
        if len(made) < len(leaves) or prod(map(len, choices)) >= POINTS_MAX:
            return None
        tails = [ref.path[2:] for ref in read]
        values = [_assembled(tails, each) for each in product(*choices)] if read else [_PRESENT]
        # an example shows the first that serves: best what it holds anyway
        values.sort(key=lambda value: type(value) is not type(declared.default) or value != declared.default)
        points = [Point(((root, declared.name, value),)) for value in values]
        if root == VARS and self._may_be_missing(declared):
            points.append(Point(((root, declared.name, None),)))
        return Axis(name, tuple(points), all(leaf.exact for _, leaf in made))

    def _may_be_missing(self, declared: Declaration) -> bool:
        """Tell whether a variable may hold nothing: an input is always given."""
        return declared.default is None and declared.name not in self._setting.inputs

    def _leaf(self, ref: Ref, schema: Schema) -> tuple[bool, Values] | None:
        """Give whether there may be nothing where a reference leads, and else what; None where that cannot be told."""
        found = _below(schema, ref.path[2:])
        if found is None:
            return None
        schema, may_be_missing, exact = found
        use = self._uses[ref]
        if use.is_whole and not is_scalar(schema):
            return None
        values = representatives(schema, self._question(ref, schema, use))
        return (may_be_missing, values._replace(exact=values.exact and exact)) if values.values else None

    def _question(self, ref: Ref, schema: Schema, use: Use) -> Question:
        peers = self._peers(ref)
        loose = use.loose or (use.is_computed and families_of(schema) != {Family.INT})
        if not peers:
            return Question(frozenset(use.numbers), frozenset(use.texts), 1, loose)
        numbers, texts, families = set(use.numbers) | numbers_in(schema), set(use.texts), [families_of(schema)]
        texts.update(texts_in(schema) or ())
        loose = loose or _is_open(schema)
        for peer in peers:
            other = self._schema_of(peer)
            if other is None:
                return Question(frozenset(), frozenset(), 1, is_loose=True)
            numbers |= self._uses[peer].numbers | numbers_in(other)
            texts |= self._uses[peer].texts | set(texts_in(other) or ())
            families.append(families_of(other))
            loose = loose or self._uses[peer].loose or self._uses[peer].is_computed or _is_open(other)
        loose = loose or use.is_computed or any(each != families[0] for each in families) or len(families[0]) > 1
        return Question(frozenset(numbers), frozenset(texts), len(peers) + 1, loose or len(peers) >= PEERS_MAX)

    def _peers(self, ref: Ref) -> list[Ref]:
        """Give what a reference is compared with, directly or by way of others."""
        found, waiting = {ref: None}, [ref]
        while waiting and len(found) <= PEERS_MAX:
            for peer in self._uses[waiting.pop()].peers:
                if peer not in found:
                    found[peer] = None
                    waiting.append(peer)
        return list(found)[1:]

    def _schema_of(self, ref: Ref) -> Schema | None:
        root, name, *below = ref.path
        if root == VISITS:
            return self._visits_schema(name)
        declared = {VARS: self._setting.variables, INPUT: self._setting.inputs}.get(root, {}).get(name)
        found = None if declared is None else _below(declared.schema, tuple(below))
        return None if found is None else found[0]

    # --- visits and what was spent --------------------------------------------------------------------------------------------------

    def _visits_schema(self, state: str) -> AllOf:
        return AllOf((OfType(Family.INT), Bounded(">=", 1 if state == self._setting.state else 0)))

    def _visits(self, ref: Ref) -> tuple[list[Point], bool]:
        state = ref.path[1]
        schema = self._visits_schema(state)
        question = self._question(ref, schema, self._uses[ref])
        most = self._setting.visits_max.get(state)
        if most is not None:
            question = question._replace(numbers=question.numbers | {most})
        values = representatives(schema, question)
        numbers = sorted(each for each in values.values if isinstance(each, int))
        is_passed = state in self._setting.passed
        return [
            Point(((VISITS, state, each),), (most is not None and each > most) or (is_passed and each == 0)) for each in numbers
        ], values.exact

    def _spent(self, refs: list[Ref]) -> Axis | None:
        """Bring the flag together with the visits that it hangs on: it is set only where one of them has come to its limit.

        Where one has, the flag may still not be set: an operator may have granted a further visit.
        """
        counted = [ref for ref in refs if ref.path[0] == VISITS]
        parts = [self._visits(ref) for ref in counted]
        if prod(len(points) for points, _ in parts) * 2 > POINTS_MAX:
            return None
        others = self._limited - {ref.path[1] for ref in counted}
        may_always_be = bool(others) or not self._setting.has_all_targets
        points = []
        for chosen in product(*(points for points, _ in parts)):
            given = tuple(each for point in chosen for each in point.given)
            is_full = any(isinstance(number, int) and number >= self._setting.visits_max[state] for _, state, number in given)
            is_rare = any(point.is_rare for point in chosen)
            points.append(Point((*given, (SPENT, EXCEEDED, False)), is_rare or is_full))
            if is_full or may_always_be:
                points.append(Point((*given, (SPENT, EXCEEDED, True)), is_rare))
        return Axis(SPENT, tuple(points), all(exact for _, exact in parts))


def bag_of(points: Iterable[Point]) -> Bag:
    """Give what a run holds that lies at these points."""
    held: dict[str, dict[str, Plain]] = {VARS: {}, INPUT: {}, VISITS: {}, SPENT: {}}
    for point in points:
        for root, name, value in point.given:
            if value is not None:
                held[root][name] = value
    visits = {name: value for name, value in held[VISITS].items() if isinstance(value, int)}
    return Bag(held[VARS], held[INPUT], visits, held[SPENT].get(EXCEEDED) is True)


def _is_open(schema: Schema) -> bool:
    """Tell whether a constraint demands texts of some form without naming them."""
    return isinstance(schema, AllOf) and any(isinstance(atom, Matching) for atom in schema.atoms) and texts_in(schema) is None


def _below(schema: Schema, path: tuple[str, ...]) -> tuple[Schema, bool, bool] | None:
    """Give what must be met below a constraint, whether there may be nothing, and whether that is all there is to say."""
    may_be_missing, exact = False, True
    for at, name in enumerate(path):
        match schema:
            case RecordOf(members=members, rest=rest):
                member = next((each.schema for each in members if each.name == name), None)
                found = member if member is not None else rest
                is_free = member is None
            case AllOf(atoms=atoms):
                entries = [atom.item for atom in atoms if isinstance(atom, EntriesOf)]
                found = entries[0] if len(entries) == 1 else None
                is_free = True
            case _:
                return None
        if found is None:
            return None
        schema = found
        if is_free:
            # what hangs below something that may be missing is missing with all beside it: there, only what is present is looked at
            may_be_missing, exact = at == len(path) - 1 and exact, exact and at == len(path) - 1
    return schema, may_be_missing, exact


def _assembled(tails: Sequence[tuple[str, ...]], values: "Sequence[Plain | None]") -> Plain:
    """Put values where they are read; None leaves a place empty."""
    if tails[0] == ():
        assert values[0] is not None
        return values[0]
    whole: dict[str, Plain] = {}
    for tail, value in zip(tails, values, strict=True):
        inner = whole
        for name in tail[:-1]:
            below = inner.setdefault(name, {})
            assert isinstance(below, dict)
            inner = below
        if value is not None:
            inner[tail[-1]] = value
    return whole
