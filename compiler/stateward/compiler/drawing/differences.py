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
from stateward.compiler.predicates.forms import read_guard
from stateward.compiler.predicates.guards import VISITS, Ref, references
from stateward.compiler.predicates.recounting import recounted
from stateward.compiler.predicates.text import guard_text, schema_text, value_text


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


class Restated(NamedTuple):
    """What is said otherwise of what decides, is read or is written: a guard, a list of names, a declaration."""

    part: str
    """`when`, `checks`, `reads`, …; of the flow `variable x`, `schema version`, …"""
    state: str | None
    transition: str | None
    old: str
    """Empty where nothing was said."""
    new: str
    """Empty where nothing is said any more."""


Change: TypeAlias = Renamed | Came | Went | Retargeted | Reworded | EndChanged | Restated


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
    yield from _restated(None, None, _declared(old), _declared(new))
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


def _shape(state: CompiledState) -> tuple[object, ...]:
    """Give what makes a state itself whatever it is called; which states it names is not looked at, since those may be renamed too."""
    nobody = dict.fromkeys([state.id, *(each.path[1] for way in state.transitions for each in _counted(way))], "")
    ways = ((each.id, each.condition, each.target == state.id, tuple(_decided(each, nobody).items())) for each in _authored(state))
    return state.instructions, state.terminal, tuple(_kept(state).items()), tuple(sorted(ways))


def _counted(transition: CompiledTransition) -> Iterator[Ref]:
    if transition.when is not None:
        yield from (each for each in references(read_guard(transition.when)) if each.path[0] == VISITS)


def _within(old: CompiledState, new: CompiledState, names: Mapping[str, str]) -> Iterator[Change]:
    if old.terminal != new.terminal:
        yield EndChanged(new.id, new.terminal)
    if old.instructions != new.instructions:
        yield Reworded(new.id, None, old.instructions, new.instructions)
    yield from _restated(new.id, None, _kept(old), _kept(new))
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
        yield from _restated(new.id, each.id, _decided(was, names), _decided(each, {}))


def _restated(state: str | None, transition: str | None, old: Mapping[str, str], new: Mapping[str, str]) -> Iterator[Restated]:
    for part in dict.fromkeys([*old, *new]):
        was, now = old.get(part, ""), new.get(part, "")
        if was != now:
            yield Restated(part, state, transition, was, now)


def _declared(flow: CompiledFlowDefinition) -> dict[str, str]:
    """Give all that a flow says beside its states, as it is written."""
    said = {"schema version": str(flow.schema_version)}
    for what, declarations in (("variable", flow.declared_variables), ("input", flow.declared_inputs)):
        for each in declarations:
            default = f" default {value_text(each.default)}" if each.default is not None else ""
            said[f"{what} {each.name}"] = f"{schema_text(each.schema)}{default}"
    for check in flow.checks:
        said[f"check {check.name}"] = f"{value_text(list(check.command))} within {check.timeout_seconds} s"
    return said


def _kept(state: CompiledState) -> dict[str, str]:
    """Give what a state reads, writes, selects and spends; in which order names are listed is of no matter."""
    return {
        "reads": ", ".join(sorted(state.reads)),
        "writes": ", ".join(sorted(state.writes)),
        "select": state.select,
        "visits": "" if state.visits_max is None else str(state.visits_max),
    }


def _decided(transition: CompiledTransition, names: Mapping[str, str]) -> dict[str, str]:
    """Give what decides a transition beside its condition, with states named as they are now."""
    guard = "" if transition.when is None else guard_text(read_guard(recounted(transition.when, names)))
    return {"when": guard, "checks": ", ".join(sorted(transition.checks)), "otherwise": "true" if transition.otherwise else ""}


def _authored(state: CompiledState) -> Iterator[CompiledTransition]:
    return (each for each in state.transitions if not each.synthetic)
