"""Flows to analyse, written shortly: every part has a place of its own in a made-up source."""

from collections.abc import Mapping, Sequence
from typing import Final

from stateward.compiler.flow.analysis.given import Declared, Given, Named, Standing, Way
from stateward.compiler.predicates.constraints import Bounded, Family, Matching, OfType
from stateward.compiler.predicates.declarations import Declaration
from stateward.compiler.predicates.guards import And, Compare, Guard, Lit, Not, Ref
from stateward.compiler.predicates.schema import AllOf, Plain, Scalar, Schema
from stateward.compiler.source import Place, Source, Span

SOURCE: Final = Source("made-up.dcdl", " " * 100_000)
BOOL: Final = AllOf((OfType(Family.BOOL),))
INT: Final = AllOf((OfType(Family.INT),))
FLOAT: Final = AllOf((OfType(Family.FLOAT),))
STRING: Final = AllOf((OfType(Family.STRING),))


def ints(least: int, most: int) -> Schema:
    return AllOf((OfType(Family.INT), Bounded(">=", least), Bounded("<=", most)))


def one_of(*texts: str) -> Schema:
    return AllOf((Matching(f"^({'|'.join(texts)})$"),))


def ref(text: str) -> Ref:
    return Ref(tuple(text.split(".")))


def compare(left: str | Guard, sign: str, right: Scalar | Guard) -> Compare:
    return Compare(
        sign,
        ref(left) if isinstance(left, str) else left,
        Lit(right) if isinstance(right, bool | int | float | str) else right,
    )


def both(*guards: Guard) -> And:
    return And(guards)


def known(name: str) -> Ref:
    return ref(f"known.{name}")


def no(guard: Guard) -> Not:
    return Not(guard)


class Places:
    """Hands out places, one after the other."""

    def __init__(self) -> None:
        self._at = 0

    def next(self) -> Place:
        self._at += 2
        return Place(SOURCE, Span(self._at, self._at + 1))


class State:
    """A state as a test writes it."""

    def __init__(
        self,
        *ways: "tuple[str, str, Guard | None] | WayOut",
        reads: str = "",
        writes: str = "",
        first: bool = False,
        visits_max: int | None = None,
        complete: bool = True,
    ) -> None:
        self.ways = [each if isinstance(each, WayOut) else WayOut(*each) for each in ways]
        self.reads, self.writes = reads.split(), writes.split()
        self.first, self.visits_max, self.complete = first, visits_max, complete


class WayOut:
    """A transition as a test writes it."""

    def __init__(
        self,
        id_: str,
        target: str,
        guard: Guard | None = None,
        *,
        judged: bool = False,
        checks: str = "",
        otherwise: bool = False,
        sound: bool = True,
    ) -> None:
        self.id, self.target, self.guard = id_, target, guard
        self.judged, self.checks, self.otherwise, self.sound = judged, checks.split(), otherwise, sound


def flow(
    states: Mapping[str, State],
    variables: "Mapping[str, Schema | tuple[Schema, Plain]] | None" = None,
    inputs: "Mapping[str, Schema | tuple[Schema, Plain]] | None" = None,
    checks: Sequence[str] = (),
    *,
    complete: bool = True,
) -> Given:
    """Make a flow that begins in its first state; a state without a way out is an end."""
    places = Places()
    return Given(
        tuple(_standing(id_, state, places) for id_, state in states.items()),
        next(iter(states)),
        _declared("variables", variables or {}, places),
        _declared("inputs", inputs or {}, places),
        tuple(Declared(name, places.next(), ("checks", name)) for name in checks),
        complete,
    )


def _declared(field: str, declared: "Mapping[str, Schema | tuple[Schema, Plain]]", places: Places) -> tuple[Declared, ...]:
    made = []
    for name, each in declared.items():
        declaration = Declaration(name, *each) if isinstance(each, tuple) else Declaration(name, each)
        made.append(Declared(name, places.next(), (field, name), declaration))
    return tuple(made)


def _standing(id_: str, state: State, places: Places) -> Standing:
    key = places.next()
    return Standing(
        id_,
        key,
        ("states", id_),
        not state.ways,
        tuple(_way(id_, each, places) for each in state.ways),
        state.first,
        tuple(Named(name, places.next()) for name in state.reads),
        tuple(Named(name, places.next()) for name in state.writes),
        state.visits_max,
        state.complete,
    )


def _way(state: str, way: WayOut, places: Places) -> Way:
    key = places.next()
    return Way(
        way.id,
        key,
        ("states", state, "transitions", way.id),
        way.target,
        way.guard,
        places.next() if way.guard is not None else key,
        way.judged,
        tuple(Named(name, places.next()) for name in way.checks),
        way.otherwise,
        way.sound,
    )
