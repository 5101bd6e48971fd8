"""Two flows compared as graphs: what an author changed, said state by state and transition by transition.

A state that is gone and one that is new are told as one that was renamed when, but for their ids, they are the same and no other pair is.
What leads to a renamed state did not change. Synthetic transitions are left out, since nobody wrote them.

Invariants: the same two definitions give the same changes; no change is given exactly when both are the same but for the order in which
things are declared.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import NamedTuple, TypeAlias

from stateward.compiler.flow.definition import CompiledFlowDefinition, CompiledState, CompiledTransition


class Renamed(NamedTuple):
    """A state that has another id, or the flow another name or beginning (`what` says which)."""

    what: str
    """`flow`, `initial state` or `state`."""
    old: str
    new: str


class Came(NamedTuple):
    """A state, or a transition of a state that is in both, that only the new flow has."""

    state: str
    transition: str | None = None
    target: str | None = None


class Went(NamedTuple):
    """A state, or a transition of a state that is in both, that only the old flow has."""

    state: str
    transition: str | None = None
    target: str | None = None


class Retargeted(NamedTuple):
    """A transition that leads elsewhere."""

    state: str
    transition: str
    old: str
    new: str


class Reworded(NamedTuple):
    """The instructions of a state, or the condition of a transition, in other words."""

    state: str
    transition: str | None
    old: str
    new: str


class EndChanged(NamedTuple):
    """A state that became an end, or is one no more."""

    state: str
    terminal: bool
    """What it is now."""


Change: TypeAlias = Renamed | Came | Went | Retargeted | Reworded | EndChanged


def changes(old: CompiledFlowDefinition, new: CompiledFlowDefinition) -> tuple[Change, ...]:
    """Give what changed from one flow to the other; states are named as the new flow has them, where it has them."""
    return tuple(_changes(old, new))


def _changes(old: CompiledFlowDefinition, new: CompiledFlowDefinition) -> Iterator[Change]:
    before, after = ({state.id: state for state in each.states} for each in (old, new))
    names = _names(before, after)
    if old.name != new.name:
        yield Renamed("flow", old.name, new.name)
    yield from (Renamed("state", was, now) for was, now in names.items() if was != now)
    if names.get(old.initial, old.initial) != new.initial:
        yield Renamed("initial state", old.initial, new.initial)
    yield from (Went(each) for each in before if each not in names)
    kept = {now: was for was, now in names.items()}
    for state in new.states:
        if state.id in kept:
            yield from _within(before[kept[state.id]], state, names)
        else:
            yield Came(state.id)


def _names(before: Mapping[str, CompiledState], after: Mapping[str, CompiledState]) -> dict[str, str]:
    """Say what each old state that is still there is called now."""
    names = {each: each for each in before if each in after}
    gone, fresh = ({_shape(state): state.id for state in one.values() if state.id not in names} for one in (before, after))
    counts = (Counter(_shape(state) for state in one.values() if state.id not in names) for one in (before, after))
    alone = [{shape for shape, count in each.items() if count == 1} for each in counts]
    return names | {gone[shape]: fresh[shape] for shape in gone if shape in alone[0] & alone[1]}


def _shape(state: CompiledState) -> tuple[str, bool, tuple[tuple[str, str, bool], ...]]:
    """Give what makes a state itself whatever it is called; where its transitions lead is not looked at, since that may be renamed too."""
    ways = tuple((each.id, each.condition, each.target == state.id) for each in _authored(state))
    return state.instructions, state.terminal, tuple(sorted(ways))


def _within(old: CompiledState, new: CompiledState, names: Mapping[str, str]) -> Iterator[Change]:
    if old.terminal != new.terminal:
        yield EndChanged(new.id, new.terminal)
    if old.instructions != new.instructions:
        yield Reworded(new.id, None, old.instructions, new.instructions)
    before, after = ({each.id: each for each in _authored(state)} for state in (old, new))
    for each in before.values():
        if each.id not in after:
            yield Went(new.id, each.id, names.get(each.target, each.target))
    for each in after.values():
        was = before.get(each.id)
        if was is None:
            yield Came(new.id, each.id, each.target)
            continue
        target = names.get(was.target, was.target)
        if target != each.target:
            yield Retargeted(new.id, each.id, target, each.target)
        if was.condition != each.condition:
            yield Reworded(new.id, each.id, was.condition, each.condition)


def _authored(state: CompiledState) -> Iterator[CompiledTransition]:
    return (each for each in state.transitions if not each.synthetic)
