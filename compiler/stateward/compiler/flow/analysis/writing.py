"""Which variable may be read before anything writes it, which is written and never read, and what is not used at all.

A state that may write a variable counts as having written it once it is entered, for what is read in it, too: whether the worker did so is
not known. Invariants: that nothing has written a variable is said of all ways there are; that it may not have been written comes with a
way on which no state writes it and no guard that was met needs it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from stateward.compiler.flow.analysis.given import Declared, Given, Named, Standing
from stateward.compiler.flow.analysis.roads import Roads
from stateward.compiler.flow.analysis.ways import variables_of


class Read(NamedTuple):
    """A place where a variable is read."""

    state: str
    where: Named
    is_guard: bool


@dataclass(frozen=True, slots=True)
class Unwritten:
    """A variable that is read where nothing can have written it."""

    variable: str
    reads: tuple[Read, ...]
    """At least one."""
    writers: tuple[Read, ...]
    """Where it is written after all."""


@dataclass(frozen=True, slots=True)
class PerhapsUnwritten:
    """A variable that is read where something may have written it, or not."""

    variable: str
    reads: tuple[Read, ...]
    """At least one."""
    writers: tuple[Read, ...]
    road: tuple[str, ...]
    """The states on a way to the first of the reads."""


@dataclass(frozen=True, slots=True)
class NeverRead:
    """A variable that is written, and read nowhere after that."""

    declared: Declared
    writers: tuple[Read, ...]
    """At least one."""


@dataclass(frozen=True, slots=True)
class Unused:
    """A variable that nothing reads or writes, or a check that nothing names."""

    declared: Declared
    is_check: bool


Finding = Unwritten | PerhapsUnwritten | NeverRead | Unused


def look_at_variables(given: Given, roads: Roads) -> Iterator[Finding]:
    """Give what is to be said of variables and checks."""
    if not given.is_known:
        return
    usage = _usage(given, roads)
    for declared in given.variables:
        yield from _variable(declared, usage, given, roads)
    named = {each.name for state in given.states for way in state.ways for each in way.checks}
    yield from (Unused(declared, is_check=True) for declared in given.checks if declared.name not in named)


@dataclass(frozen=True, slots=True)
class _Usage:
    """Where each variable is used, by its name."""

    needed: dict[str, list[Read]]
    """Where a worker is to be shown its value, or a guard cannot be told without it."""
    asked: dict[str, set[str]]
    """States in which it matters."""
    written: dict[str, list[Read]]


def _usage(given: Given, roads: Roads) -> _Usage:
    usage = _Usage({}, {}, {})
    for state in given.states:
        _use(state, roads, usage)
    return usage


def _use(state: Standing, roads: Roads, usage: _Usage) -> None:
    for each in state.writes:
        usage.written.setdefault(each.name, []).append(Read(state.id, each, is_guard=False))
    for each in state.reads:
        usage.needed.setdefault(each.name, []).append(Read(state.id, each, is_guard=False))
        usage.asked.setdefault(each.name, set()).add(state.id)
    for judged in roads.looks.get(state.id, ()):
        guard = judged.way.guard
        for name in variables_of(guard) if guard is not None else ():
            usage.asked.setdefault(name, set()).add(state.id)
        for name in judged.needed:
            usage.needed.setdefault(name, []).append(Read(state.id, Named(name, judged.way.place), is_guard=True))


def _variable(declared: Declared, usage: _Usage, given: Given, roads: Roads) -> Iterator[Finding]:
    name = declared.name
    written = tuple(usage.written.get(name, ()))
    asked = usage.asked.get(name, set())
    has_first_value = declared.declaration is None or declared.declaration.default is not None
    unwritten: list[Unwritten | PerhapsUnwritten] = []
    if given.initial is not None and not has_first_value and name not in {each.name for each in given.inputs}:
        unwritten += _unwritten(name, tuple(usage.needed.get(name, ())), written, given.initial, roads)
    yield from unwritten
    if not written and not asked:
        yield Unused(declared, is_check=False)
    elif written and not unwritten and not roads.from_(each.state for each in written) & asked:
        yield NeverRead(declared, written)


def _unwritten(
    name: str, needed: tuple[Read, ...], written: tuple[Read, ...], initial: str, roads: Roads
) -> Iterator[Unwritten | PerhapsUnwritten]:
    begun = roads.from_([initial])
    writers = frozenset(each.state for each in written) & begun
    after = roads.from_(writers)
    reads = [each for each in needed if each.state in begun]
    never = tuple(each for each in reads if each.state not in after)
    if never:
        yield Unwritten(name, never, written)
    road = roads.around(writers, lambda judged: name in judged.implied)
    perhaps = [(each, way) for each in reads if each.state in after and (way := road.to(each.state)) is not None]
    if perhaps:
        yield PerhapsUnwritten(name, tuple(each for each, _ in perhaps), written, perhaps[0][1])
