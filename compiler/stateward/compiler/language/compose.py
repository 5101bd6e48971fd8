"""`&`: symmetric composition. Nothing is overridden; what does not agree is a conflict."""

from typing import Final

from stateward.compiler.diagnostics.model import Label
from stateward.compiler.language.combining import Site, held_against, same_scalar
from stateward.compiler.language.defaults import with_default
from stateward.compiler.language.faults import Fault, Kind, told
from stateward.compiler.language.machine import Machine
from stateward.compiler.language.objects import FIELDS_PER_STEP
from stateward.compiler.language.values import (
    AnyValue,
    Cell,
    ConstraintValue,
    DefaultValue,
    Failed,
    ObjectValue,
    Part,
    ScalarValue,
    Scope,
    Slot,
    SymbolicValue,
    Task,
    known,
)
from stateward.compiler.predicates.constraints import Clash, Clashing, clashing, essential
from stateward.compiler.source import Place
from stateward.compiler.syntax.tree import Binary

STEPS_PER_PART: Final = 2
"""Steps that it costs to hold one demand of a constraint against the others."""


def composition(machine: Machine, node: Binary, scope: Scope) -> Task:
    """Evaluate `left & right`."""
    left = yield node.left, scope
    right = yield node.right, scope
    return (yield compose(left, right, Site(machine, node, scope), 0))


def compose(left: AnyValue, right: AnyValue, site: Site, depth: int) -> AnyValue | Task:
    """Unite two values."""
    site.enter(depth)
    if isinstance(left, Failed) or isinstance(right, Failed):
        return site.silent()
    if isinstance(left, SymbolicValue) or isinstance(right, SymbolicValue):
        return site.at_run_time("`&`", left, right)
    if isinstance(left, DefaultValue):
        return _with_default(left, right, site, depth)
    if isinstance(right, DefaultValue):
        return _with_default(right, left, site, depth)
    if isinstance(left, ConstraintValue):
        if isinstance(right, ConstraintValue):
            return _both(left, right, site)
        return held_against(right, left.parts, site, depth, compose)
    if isinstance(right, ConstraintValue):
        return held_against(left, right.parts, site, depth, compose)
    if isinstance(left, ObjectValue) and isinstance(right, ObjectValue):
        return _objects(left, right, site, depth)
    if isinstance(left, ScalarValue) and isinstance(right, ScalarValue) and same_scalar(left, right, site):
        return left
    return site.fail(_conflict, left, right, site)


def _with_default(given: DefaultValue, other: AnyValue, site: Site, depth: int) -> Task:
    """Unite a constraint that has a default with anything: a concrete value takes its place, unlooked at."""
    if isinstance(other, DefaultValue):
        return site.fail(_two_defaults, given, other, site)
    outcome = yield compose(given.base, other, site, depth)
    if isinstance(outcome, ConstraintValue):
        return with_default(outcome, given.default, site.node, site.scope)
    return outcome


def _both(left: ConstraintValue, right: ConstraintValue, site: Site) -> AnyValue:
    parts = left.parts + right.parts
    site.machine.spend(len(parts) * STEPS_PER_PART, site.node, site.scope)
    atoms = [part.atom for part in parts]
    clash = clashing(atoms)
    if clash is not None:
        return site.fail(_clash, clash, parts, site)
    return ConstraintValue(site.scope.module.source, site.node, None, tuple(parts[at] for at in essential(atoms)))


def _clash(clash: Clashing, parts: tuple[Part, ...], site: Site) -> Fault:
    first, second = parts[clash.first], parts[clash.second]
    texts = [part.source.slice(part.node.span) for part in (first, second)]
    match clash.reason:
        case Clash.FAMILIES:
            message = f"no value is both `{texts[0]}` and `{texts[1]}`"
        case Clash.RANGE_OF_NO_NUMBER:
            message = "a range stands beside a type that is no number"
        case Clash.FRACTION:
            message = "a range of Int has a bound that is no whole number"
        case Clash.EMPTY:
            message = "no number is left in the range"
    place = Place(site.scope.module.source, site.node.span)
    labels = tuple(Label(part.place, "this demand") for part in ((first, second) if first is not second else (first,)))
    return Fault(Kind.CONFLICT, message, place, "nothing can meet this", labels)


def _objects(left: ObjectValue, right: ObjectValue, site: Site, depth: int) -> Task:
    """Unite two objects: shared fields at once, the others as they are, held against the other side's rest where it has one."""
    site.enter(depth, (len(left.fields) + len(right.fields)) // FIELDS_PER_STEP)
    fields = dict(left.fields)
    for name, slot in left.fields.items():
        other = right.fields.get(name)
        demanded = other.cell if other is not None else right.rest
        if demanded is not None:
            value = yield slot.cell
            value = yield compose(value, (yield demanded), site, depth + 1)
            fields[name] = Slot(slot.key, slot.source, known(value, slot.cell))
    for name, slot in right.fields.items():
        if name not in fields:
            fields[name] = slot
            if left.rest is not None:
                value = yield slot.cell
                value = yield compose((yield left.rest), value, site, depth + 1)
                fields[name] = Slot(slot.key, slot.source, known(value, slot.cell))
    return ObjectValue(site.scope.module.source, site.node, None, fields, _rest(left.rest, right.rest, site, depth))


def _rest(left: Cell | None, right: Cell | None, site: Site, depth: int) -> Cell | None:
    if left is None or right is None:
        return left or right
    return Cell(left.node, left.scope, make=lambda _machine: _composed(left, right, site, depth))


def _composed(left: Cell, right: Cell, site: Site, depth: int) -> Task:
    first = yield left
    return (yield compose(first, (yield right), site, depth + 1))


def _conflict(left: AnyValue, right: AnyValue, site: Site) -> Fault:
    place = Place(site.scope.module.source, site.node.span)
    labels = (Label(left.place, told(left)), Label(right.place, told(right)))
    return Fault(Kind.CONFLICT, f"{told(left)} and {told(right)} do not agree", place, "these do not combine", labels)


def _two_defaults(left: DefaultValue, right: DefaultValue, site: Site) -> Fault:
    place = Place(site.scope.module.source, site.node.span)
    labels = (Label(left.default.place, "one default"), Label(right.default.place, "another default"))
    return Fault(Kind.DEFAULT_CONFLICT, "two defaults meet", place, "both sides have one", labels)
