"""`as`: the left side must be narrower than the right one, which closes it and fills in what it lacks. `match` asks only whether it is.

Invariants: all fields that both sides have are checked at once; a missing field comes from the right side as it is; what is abstract on
the left stays as it is when it is provably narrower.
"""

from collections.abc import Iterator
from typing import Final

from stateward.compiler.diagnostics.model import Label
from stateward.compiler.diagnostics.wording import counted, quoted
from stateward.compiler.language.combining import Site, Trial, held_against, same_scalar, unavailable
from stateward.compiler.language.faults import Fault, Kind, shown, told, with_article, written_at
from stateward.compiler.language.machine import Machine
from stateward.compiler.language.names import failed_at
from stateward.compiler.language.objects import FIELDS_PER_STEP
from stateward.compiler.language.residues import Wanted
from stateward.compiler.language.symbols import Operand, choice, obliged
from stateward.compiler.language.values import (
    AnyValue,
    ArrayValue,
    Cell,
    ConstraintValue,
    DefaultValue,
    Failed,
    FunctionValue,
    ObjectValue,
    Part,
    ScalarValue,
    Scope,
    Slot,
    SymbolicValue,
    Task,
    known,
)
from stateward.compiler.predicates.constraints import ElementsOf, EntriesOf, Family, HostCheck, implies
from stateward.compiler.source import Place
from stateward.compiler.syntax.tree import Bad, Binary, Expr, Match, Node, Wildcard

DEMANDS_PER_STEP: Final = 4
"""Demands that one demand may be looked for among for the price of one step."""


def refinement(machine: Machine, node: Binary, scope: Scope) -> Task:
    """Evaluate `left as right`."""
    left = yield node.left, scope
    right = yield node.right, scope
    return (yield refine(left, right, Site(machine, node, scope), 0))


def refine(left: AnyValue, right: AnyValue, site: Site, depth: int) -> AnyValue | Task:
    """Hold the left value against the right one and fill in what it lacks."""
    site.enter(depth)
    if isinstance(left, Failed) or isinstance(right, Failed):
        return site.silent()
    if isinstance(left, SymbolicValue) or isinstance(right, SymbolicValue):
        return _with_symbol(left, right, site)
    match right:
        case FunctionValue():
            return site.fail(_no_type, right)
        case DefaultValue():
            return refine(left, right.base, site, depth)
        case ConstraintValue():
            if isinstance(left, ConstraintValue | DefaultValue):
                return _narrower(left, right, site, depth)
            return held_against(left, right.parts, site, depth, refine)
        case ScalarValue():
            return left if isinstance(left, ScalarValue) and same_scalar(left, right, site) else site.fail(_differs, left, right)
        case ArrayValue() if isinstance(left, ArrayValue):
            return _tuple(left, right, site, depth)
        case ObjectValue() if isinstance(left, ObjectValue):
            return _record(left, right, site, depth)
        case ArrayValue() | ObjectValue():
            return site.fail(_wrong_shape, left, right)


def _with_symbol(left: AnyValue, right: AnyValue, site: Site) -> AnyValue:
    """Hold a symbol against a constraint, which is proved when its type is known; nothing else has an answer yet."""
    if isinstance(site, Trial) or not isinstance(left, SymbolicValue):
        return site.at_run_time("a pattern" if isinstance(site, Trial) else "a constraint", right, left)
    if isinstance(right, FunctionValue):
        return site.fail(_no_type, right)
    if isinstance(right, SymbolicValue):
        return site.at_run_time("a constraint", right)
    if isinstance(right, DefaultValue):
        return site.at_run_time("`default`", left, place=right.place)
    return obliged(site.machine, left, Wanted(right, site.node, site.scope), site.node, site.scope)


def _tuple(left: ArrayValue, right: ArrayValue, site: Site, depth: int) -> Task:
    if len(left.items) != len(right.items):
        if any(isinstance(cell.node, Bad) for cell in (*left.items, *right.items)):
            return site.silent()
        return site.fail(_wrong_length, left, right)
    site.machine.make_items(len(left.items), site.node, site.scope)
    items = []
    for cell, demanded in zip(left.items, right.items, strict=True):
        item = yield cell
        item = yield refine(item, (yield demanded), site, depth + 1)
        if site.is_over:
            break
        items.append(known(item, cell))
    return ArrayValue(left.source, left.node, left.via, tuple(items))


def _record(left: ObjectValue, right: ObjectValue, site: Site, depth: int) -> Task:
    site.enter(depth, (len(left.fields) + len(right.fields)) // FIELDS_PER_STEP)
    fields: dict[str, Slot] = {}
    rest = (yield right.rest) if right.rest is not None else None
    for name, slot in left.fields.items():
        if site.is_over:
            return left
        demanded = right.fields.get(name)
        if demanded is None and rest is None and isinstance(slot.cell.value, Failed) and not isinstance(site, Trial):
            fields[name] = slot  # it was told once what is wrong with it
            continue
        if demanded is None and rest is None:
            fields.update(_refused_field(slot, left, right, site))
            continue
        value = yield slot.cell
        wanted = (yield demanded.cell) if demanded is not None else rest
        assert wanted is not None
        value = yield refine(value, wanted, site, depth + 1)
        fields[name] = Slot(slot.key, slot.source, known(value, slot.cell))
    unknown = None
    if left.rest is not None and isinstance((yield _open(left.rest, rest, right, site, depth)), Failed):
        unknown = site.silent()
    for name, slot in right.fields.items():
        if name not in fields:
            fields[name] = slot if unknown is None else Slot(slot.key, slot.source, known(unknown, slot.cell))
    return ObjectValue(left.source, left.node, left.via, fields, left.rest)


def _refused_field(slot: Slot, left: ObjectValue, right: ObjectValue, site: Site) -> dict[str, Slot]:
    """Refuse a field; where it is a slip for one that is missing, that one is a hole as well, so that one slip is told once."""
    name = slot.key.text
    missing = [] if isinstance(site, Trial) else [field for field in right.fields if field not in left.fields]
    near = site.machine.reporter.nearest(name, missing) if missing else None
    hole = Slot(slot.key, slot.source, known(site.fail(_not_allowed, slot, right, near), slot.cell))
    return {name: hole} if near is None else {name: hole, near: hole}


def _open(left: Cell, right: AnyValue | None, demanding: ObjectValue, site: Site, depth: int) -> Task:
    """Hold the rest of an open object against that of the other side. Where it failed, nobody knows which fields the object has."""
    value = yield left
    if isinstance(value, Failed):
        return site.silent()
    if right is None:
        return site.fail(_open_against_closed, left, demanding)
    return (yield refine(value, right, site, depth + 1))


def _narrower(left: ConstraintValue | DefaultValue, right: ConstraintValue, site: Site, depth: int) -> Task:
    base = left.base if isinstance(left, DefaultValue) else left
    atoms = [part.atom for part in base.parts]
    site.machine.spend(len(atoms) * len(right.parts) // DEMANDS_PER_STEP, site.node, site.scope)
    for part in right.parts:
        if implies(atoms, part.atom):
            for inner, outer in _items(base.parts, part):
                if inner is not outer:
                    value = yield inner
                    yield refine(value, (yield outer), site, depth + 1)
        elif isinstance(part.atom, HostCheck):
            return site.fail(unavailable, left, part, site)
        else:
            return site.fail(_not_narrower, left, part)
    return left


def _items(parts: tuple[Part, ...], wanted: Part) -> Iterator[tuple[Cell, Cell]]:
    """Pair the items of the first like constraint on the left with the item wanted."""
    for part in parts:
        match part.atom, wanted.atom:
            case (ElementsOf(item=inner), ElementsOf(item=outer)) | (EntriesOf(item=inner), EntriesOf(item=outer)):
                yield inner, outer
                return


def matching(machine: Machine, node: Match, scope: Scope) -> Task:
    """Evaluate `match`: the first arm that the subject fits. Whether it fits a broken one nobody knows."""
    subject = yield node.subject, scope
    if isinstance(subject, Failed):
        return failed_at(node, scope)
    if isinstance(subject, SymbolicValue):
        return (yield _chosen(machine, node, subject, scope))
    for arm in node.arms:
        if node.broken and node.broken[0].start < arm.start:
            break
        if not isinstance(arm.pattern, Wildcard):
            wanted = yield arm.pattern, scope
            if isinstance(wanted, Failed):
                return failed_at(node, scope)
            if isinstance(subject, ConstraintValue | DefaultValue):
                continue
            trial = Trial(machine, arm.pattern, scope)
            yield refine(subject, wanted, trial, 0)
            if trial.refused:
                continue
            if trial.spoiled:
                return failed_at(node, scope)
        return (yield arm.body, scope)
    if node.broken:
        return failed_at(node, scope)
    return machine.fail(_no_arm(node, subject, scope), node, scope)


def _chosen(machine: Machine, node: Match, subject: SymbolicValue, scope: Scope) -> Task:
    """Evaluate a `match` whose subject is known only at run time: every arm may be the one, so all are evaluated."""
    arms: list[tuple[Node, Wanted | None, Operand]] = []
    for arm in node.arms:
        wanted = None
        if not isinstance(arm.pattern, Wildcard):
            pattern = yield arm.pattern, scope
            wanted = _pattern(machine, pattern, arm.pattern, scope)
        body = yield arm.body, scope
        if isinstance(body, ScalarValue | SymbolicValue):
            if wanted is not None or isinstance(arm.pattern, Wildcard):
                arms.append((arm.pattern, wanted, body))
        elif not isinstance(body, Failed):
            machine.fail(_no_scalar(arm.body, body, subject, scope), arm.body, scope)
    if node.broken or len(arms) < len(node.arms):
        return failed_at(node, scope)
    return choice(machine, node, subject, arms, scope)


def _pattern(machine: Machine, value: AnyValue, node: Expr, scope: Scope) -> Wanted | None:
    """Take a pattern; None when it is none, which was told."""
    if isinstance(value, Failed):
        return None
    site = Site(machine, node, scope)
    if isinstance(value, SymbolicValue):
        site.at_run_time("a pattern", value)
    elif isinstance(value, FunctionValue):
        site.fail(_no_type, value)
    else:
        return Wanted(value.base if isinstance(value, DefaultValue) else value, node, scope)
    return None


def _no_scalar(node: Expr, body: AnyValue, subject: SymbolicValue, scope: Scope) -> Fault:
    place = Place(scope.module.source, node.span)
    labels = (Label(subject.place, "known only at run time"), *written_at(body, place, "written here"))
    return Fault(Kind.TYPE_MISMATCH, f"an arm that is chosen at run time comes to {told(body)}", place, "not a scalar", labels)


def _no_arm(node: Match, subject: AnyValue, scope: Scope) -> Fault:
    place = Place(scope.module.source, node.span)
    given = Place(scope.module.source, node.subject.span)
    labels = (Label(given, f"this is {told(subject)}"), *written_at(subject, given, "written here"))
    return Fault(
        Kind.MATCH_FAILURE, f"no arm fits {told(subject)}", place, "nothing fits", labels, help="add an arm `_: …` for everything else"
    )


def _no_type(function: FunctionValue) -> Fault:
    return Fault(Kind.UNSUPPORTED_FEATURE, "a function is no type", function.place, "not a type")


def _differs(left: AnyValue, right: ScalarValue) -> Fault:
    label = Label(right.place, "fixed here")
    return Fault(Kind.CONSTRAINT_VIOLATION, f"{told(left)} is not `{shown(right.value)}`", left.place, "differs", (label,))


def _wrong_shape(left: AnyValue, right: ArrayValue | ObjectValue) -> Fault:
    family = Family.ARRAY if isinstance(right, ArrayValue) else Family.OBJECT
    label = Label(right.place, f"{with_article(family)} is wanted")
    return Fault(Kind.TYPE_MISMATCH, f"{told(left)} is not {with_article(family)}", left.place, f"not {with_article(family)}", (label,))


def _wrong_length(left: ArrayValue, right: ArrayValue) -> Fault:
    has, wants = counted(len(left.items), "item"), counted(len(right.items), "item")
    label = Label(right.place, f"{wants} wanted")
    return Fault(Kind.CONSTRAINT_VIOLATION, f"the Array has {has}, not {wants}", left.place, f"{has} given", (label,))


def _not_allowed(slot: Slot, right: ObjectValue, near: str | None) -> Fault:
    return Fault(
        Kind.CONSTRAINT_VIOLATION,
        f"the field {quoted(slot.key.text)} is not allowed here",
        slot.place,
        "not allowed",
        (Label(right.place, "the fields that are"),),
        help=f"did you mean {quoted(near)}?" if near else None,
    )


def _open_against_closed(rest: Cell, demanding: ObjectValue) -> Fault:
    label = Label(demanding.place, "allows no further fields")
    return Fault(Kind.CONSTRAINT_VIOLATION, "an open object stands against a closed one", rest.place, "allows further fields", (label,))


def _not_narrower(left: ConstraintValue | DefaultValue, part: Part) -> Fault:
    label = Label(part.place, "this demand")
    text = part.source.slice(part.node.span)
    message = f"{told(left)} is not provably narrower than {quoted(text)}"
    return Fault(Kind.CONSTRAINT_VIOLATION, message, left.place, "not provably narrower", (label,))
