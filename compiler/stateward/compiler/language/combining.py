"""What `&`, `as`, `//` and `match` share: where they stand, how a fault of theirs is taken, how a value is held against a constraint.

Invariants: walking into values spends steps and has a depth, so shared structure cannot make it endless; an operand that failed makes
the outcome failed without a word.
"""

from collections.abc import Callable, Generator
from typing import Final, ParamSpec, TypeAlias

from stateward.compiler.diagnostics.wording import quoted
from stateward.compiler.language.arithmetic import CHARACTERS_PER_STEP
from stateward.compiler.language.faults import Fault, Kind, family_of, shown, told, with_article, written_at
from stateward.compiler.language.machine import Machine
from stateward.compiler.language.names import unknown_check
from stateward.compiler.language.symbols import refused
from stateward.compiler.language.values import (
    AnyValue,
    ArrayValue,
    Cell,
    Concrete,
    Failed,
    ObjectValue,
    Part,
    Request,
    ScalarValue,
    Scope,
    Slot,
    SymbolicValue,
    Task,
    known,
)
from stateward.compiler.predicates.constraints import (
    Anything,
    Atom,
    Bounded,
    ElementsOf,
    EntriesOf,
    Family,
    Fit,
    HostCheck,
    Matching,
    OfType,
    fits,
)
from stateward.compiler.source import Place
from stateward.compiler.syntax.tree import Node

P = ParamSpec("P")

STEPS_PER_PAIR: Final = 3
"""Steps that it costs to combine two values: more than to evaluate an expression."""


class Site:
    """The operator that combines values: an expression in the scope in which it stands.

    `story` is the scope that a fault is told from, where that is another one: the function's for an argument, which stands at its caller.
    """

    def __init__(self, machine: Machine, node: Node, scope: Scope, story: Scope | None = None) -> None:
        self.machine = machine
        self.node = node
        self.scope = scope
        self._story = story if story is not None else scope

    @property
    def is_over(self) -> bool:
        """Whether nothing more need be looked at."""
        return False

    def fail(self, describe: Callable[P, Fault], *args: P.args, **kwargs: P.kwargs) -> Failed:
        """Take a fault; it is described only where it is told."""
        return self._told(describe(*args, **kwargs))

    def silent(self) -> Failed:
        """Take an operand that failed."""
        return Failed(self.scope.module.source, self.node, None)

    def at_run_time(self, what: str, *values: AnyValue, place: Place | None = None) -> Failed:
        """Refuse to combine values of which one is known only at run time; `place` is what asks for it, if not the operator."""
        symbol = next(value for value in values if isinstance(value, SymbolicValue))
        return self._told(refused(what, place or Place(self.scope.module.source, self.node.span), symbol))

    def _told(self, fault: Fault) -> Failed:
        self.machine.fail(fault, self.node, self._story)
        return Failed(self.scope.module.source, self.node, None)

    def enter(self, depth: int, steps: int = STEPS_PER_PAIR) -> None:
        """Spend what it costs to combine two values that are `depth` levels below the operands."""
        self.machine.spend(steps, self.node, self.scope)
        self.machine.check_depth(depth, self.node, self.scope)


class Trial(Site):
    """A pattern held against a value: nothing is reported, the answer alone counts."""

    refused = False
    """Whether the value does not fit."""
    spoiled = False
    """Whether a part that was needed had failed."""

    @property
    def is_over(self) -> bool:
        """Whether the answer is no already."""
        return self.refused

    def fail(self, describe: Callable[P, Fault], *args: P.args, **kwargs: P.kwargs) -> Failed:
        """Note that the value does not fit."""
        self.refused = True
        return super().silent()

    def at_run_time(self, what: str, *values: AnyValue, place: Place | None = None) -> Failed:
        """Report that nobody can tell yet."""
        self.spoiled = True
        return super().at_run_time(what, *values, place=place)

    def silent(self) -> Failed:
        """Note that nobody can tell."""
        self.spoiled = True
        return super().silent()


Combine: TypeAlias = Callable[[AnyValue, AnyValue, Site, int], AnyValue | Task]
"""Holds a value against what its place demands: (value, demanded, site, depth)."""


def held_against(value: Concrete, parts: tuple[Part, ...], site: Site, depth: int, combine: Combine) -> AnyValue | Task:
    """Hold a concrete value against demands; elements and entries are combined with theirs, so the outcome may differ from the value."""
    site.enter(depth, STEPS_PER_PAIR + len(parts))
    outcome: AnyValue = value
    for part in parts:
        fit = _fit(value, part, site)
        if fit is not Fit.YES:
            outcome = site.fail(unavailable if fit is Fit.UNKNOWN else violation, value, part, site)
            if site.is_over or fit is Fit.WRONG_FAMILY:
                return outcome
    if isinstance(outcome, ArrayValue | ObjectValue):
        return _parts_held(outcome, parts, site, depth, combine)
    return outcome


def _parts_held(value: ArrayValue | ObjectValue, parts: tuple[Part, ...], site: Site, depth: int, combine: Combine) -> Task:
    """Hold the elements or entries of a value against what is demanded of each."""
    for part in parts:
        if isinstance(part.atom, ElementsOf) and isinstance(value, ArrayValue):
            value = yield from _elements(value, part.atom.item, site, depth, combine)
        elif isinstance(part.atom, EntriesOf) and isinstance(value, ObjectValue):
            value = yield from _entries(value, part.atom.item, site, depth, combine)
    return value


def _elements(value: ArrayValue, demanded: Cell, site: Site, depth: int, combine: Combine) -> Generator[Request, AnyValue, ArrayValue]:
    site.machine.make_items(len(value.items), site.node, site.scope)
    items = []
    for cell in value.items:
        item = yield cell
        item = yield combine(item, (yield demanded), site, depth + 1)
        if site.is_over:
            break
        items.append(known(item, cell))
    return ArrayValue(value.source, value.node, value.via, tuple(items))


def _entries(value: ObjectValue, demanded: Cell, site: Site, depth: int, combine: Combine) -> Generator[Request, AnyValue, ObjectValue]:
    fields = {}
    for name, slot in value.fields.items():
        entry = yield slot.cell
        entry = yield combine(entry, (yield demanded), site, depth + 1)
        if site.is_over:
            break
        fields[name] = Slot(slot.key, slot.source, known(entry, slot.cell))
    return ObjectValue(value.source, value.node, value.via, fields, value.rest)


def _fit(value: Concrete, part: Part, site: Site) -> Fit:
    scalar = value.value if isinstance(value, ScalarValue) else None
    if isinstance(scalar, str) and isinstance(part.atom, Matching):
        site.machine.spend(site.machine.patterns.searching(part.atom.pattern, len(scalar)), site.node, site.scope)
    return fits(part.atom, family_of(value), scalar)


def violation(value: AnyValue, part: Part, _site: Site) -> Fault:
    """Describe a value that does not meet a demand: at the demand, with the value beside it."""
    place = part.place
    message = f"{told(value)} {_does_not(part.atom, family_of(value))}"
    return Fault(Kind.CONSTRAINT_VIOLATION, message, place, _wants(part.atom), written_at(value, place, f"this is {told(value)}"))


def _does_not(atom: "Atom[Cell]", family: Family) -> str:
    match atom:
        case OfType(family=wanted):
            return f"is not {with_article(wanted)}"
        case Bounded() if family in {Family.INT, Family.FLOAT}:
            return f"does not meet `{atom.sign} {shown(atom.limit)}`"
        case Bounded():
            return "is not a number"
        case Matching() if family is Family.STRING:
            return f"does not match {quoted(f'/{atom.pattern}/')}"
        case Matching():
            return "is not a String, so no pattern fits it"
        case ElementsOf():
            return "is not an Array"
        case EntriesOf():
            return "is not an Object"
        case Anything() | HostCheck():
            return "does not fit"


def _wants(atom: "Atom[Cell]") -> str:
    match atom:
        case OfType(family=family):
            return f"{with_article(family)} is wanted"
        case Bounded():
            return "bounded here"
        case Matching():
            return "the pattern"
        case ElementsOf():
            return "an Array is wanted"
        case EntriesOf():
            return "an Object is wanted"
        case Anything() | HostCheck():
            return "wanted here"


def unavailable(_value: AnyValue, part: Part, site: Site) -> Fault:
    """Describe a check that no host supplies."""
    assert isinstance(part.atom, HostCheck)
    told_name = quoted(part.atom.name)
    notes, help_ = unknown_check(site.machine, part.atom)
    return Fault(Kind.UNSUPPORTED_FEATURE, f"the check {told_name} is not available", part.place, "no known type", (), notes, help_)


def same_scalar(left: ScalarValue, right: ScalarValue, site: Site) -> bool:
    """Tell whether two scalars are the same value of the same type: 1 is not 1.0 here."""
    if type(left.value) is not type(right.value):
        return False
    if isinstance(left.value, str):
        site.machine.spend(len(left.value) // CHARACTERS_PER_STEP, site.node, site.scope)
    return left.value == right.value
