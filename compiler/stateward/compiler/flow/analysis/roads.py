"""How states hang together: what is reached, by which way, and what only by ways that are never taken. Plain searches."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple, TypeAlias

from stateward.compiler.flow.analysis.given import Given
from stateward.compiler.flow.analysis.ways import Judged
from stateward.compiler.flow.walking import reached

Looks: TypeAlias = Mapping[str, Sequence[Judged]]
"""The ways out of each state."""


class Consequence(NamedTuple):
    """What follows from it that a way out is never taken."""

    lost: tuple[str, ...] = ()
    """States that are entered by no way that can be taken, this one's target and what is reached from there alone."""
    trapped: tuple[str, ...] = ()
    """States that no end can be reached from by ways that can be taken."""


class Roads:
    """The states of a flow and the ways between them."""

    def __init__(self, given: Given, looks: Looks) -> None:
        self.given = given
        self.looks = looks
        self._ids = tuple(state.id for state in given.states)
        self._all = self._edges(lambda _: True)
        self._able = self._edges(lambda each: not each.is_dead)
        self._lost: dict[str, frozenset[str]] = {}

    def _edges(self, wanted: Callable[[Judged], bool]) -> dict[str, tuple[str, ...]]:
        known = set(self._ids)
        return {state: _unique(known, (each for each in self.looks.get(state, ()) if wanted(each))) for state in self._ids}

    def from_(self, starts: Iterable[str]) -> set[str]:
        """Give all that is reached, the starts too, ways that are never taken included."""
        return reached(self._all, starts)

    def around(self, without: Collection[str], needing: Callable[[Judged], bool]) -> "Road":
        """Go from the beginning wherever there is a way that enters none of some states and takes no transition that needs something."""
        start = self.given.initial
        came: dict[str, str | None] = {}
        if start is not None and start not in without:
            came[start] = None
        waiting = list(came)
        for at in waiting:
            for each in self.looks.get(at, ()):
                target = each.way.target
                if target is not None and target not in came and target not in without and not each.is_dead and not needing(each):
                    came[target] = at
                    waiting.append(target)
        return Road(came)

    def consequence(self, state: str, dead: Judged) -> Consequence:
        """Tell what follows from it that a way out of a state is never taken, beside others of which that is so, too."""
        target = dead.way.target
        if target is None or not self._is_known or state not in self._entered:
            return Consequence()
        trapped = set[str]()
        if state not in self._can_end and target in self._could_end:
            trapped = reached(self._able, [state]) - self._can_end
        return Consequence(self._sorted(self._lost_with(target)), self._sorted(trapped))

    def _lost_with(self, target: str) -> frozenset[str]:
        if target in self._entered:
            return frozenset()
        if target not in self._lost:
            self._lost[target] = frozenset(reached(self._all, [target]) - self._entered)
        return self._lost[target]

    @cached_property
    def _is_known(self) -> bool:
        return self.given.is_known

    @cached_property
    def _entered(self) -> set[str]:
        """The states that are entered by ways that can be taken."""
        return reached(self._able, [self.given.initial] if self.given.initial is not None else [])

    @cached_property
    def _can_end(self) -> set[str]:
        """The states that an end can be reached from by ways that can be taken."""
        return reached(_turned(self._able), self._ends)

    @cached_property
    def _could_end(self) -> set[str]:
        return reached(_turned(self._all), self._ends)

    @property
    def _ends(self) -> list[str]:
        return [each.id for each in self.given.states if each.is_end]

    def _sorted(self, states: Collection[str]) -> tuple[str, ...]:
        return tuple(each for each in self._ids if each in states)


class Road(NamedTuple):
    """Where one comes from the beginning of a flow, and from which state to which."""

    came: Mapping[str, str | None]

    def to(self, state: str) -> tuple[str, ...] | None:
        """Give the states on the shortest way to one; None where there is none."""
        if state not in self.came:
            return None
        path: list[str] = []
        here: str | None = state
        while here is not None:
            path.append(here)
            here = self.came[here]
        return tuple(reversed(path))


def reached_without(avoided: str, given: Given) -> set[str]:
    """Give the states that are reached from the beginning of a flow by ways that do not lead through one of them."""
    ways = {state.id: [way.target for way in state.ways if way.target is not None] for state in given.states}
    return reached(ways, [given.initial] if given.initial is not None else [], {avoided})


def _unique(known: Collection[str], ways: Iterable[Judged]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(each.way.target for each in ways if each.way.target is not None and each.way.target in known))


def _turned(ways: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    turned: dict[str, list[str]] = {state: [] for state in ways}
    for tail, heads in ways.items():
        for head in heads:
            turned[head].append(tail)
    return turned
