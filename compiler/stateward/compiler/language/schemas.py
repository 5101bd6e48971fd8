"""A constraint of the language taken down to a closed one: what a variable may hold, or what a value is held against at run time.

Invariants: what comes out holds no cell, name or place; what cannot come out (a function, a symbol, a check of the host, a circle, what is
too deep or too large) is reported once, where it stands, and the whole is None then. The walk recurses at most `DEPTH_MAX` deep.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, assert_never

from stateward.compiler.diagnostics.model import Label, PathPart
from stateward.compiler.language.combining import Site, unavailable
from stateward.compiler.language.data import is_whole, plain
from stateward.compiler.language.faults import Fault, Kind, told
from stateward.compiler.language.machine import Machine
from stateward.compiler.language.materialize import Materializer
from stateward.compiler.language.symbols import refused
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
    SymbolicValue,
)
from stateward.compiler.predicates.constraints import (
    Anything,
    Atom,
    Bounded,
    ElementsOf,
    EntriesOf,
    HostCheck,
    Matching,
    OfType,
)
from stateward.compiler.predicates.schema import (
    DEPTH_MAX,
    INT_EXACT_MAX,
    AllOf,
    Exactly,
    Member,
    Misfit,
    Plain,
    RecordOf,
    Schema,
    TupleOf,
    misfit,
)
from stateward.compiler.source import Place
from stateward.compiler.syntax.tree import Binary, Node, Paren

PARTS_MAX: Final = 1_024
"""Parts of one closed constraint, counted as a tree."""


@dataclass(frozen=True, slots=True)
class _Spot:
    """Where in the source a part of a constraint is asked for, and where in the constraint that is."""

    node: Node
    scope: Scope
    path: tuple[PathPart, ...]

    @property
    def place(self) -> Place:
        return Place(self.scope.module.source, self.node.span)

    def below(self, cell: Cell, *parts: PathPart) -> "_Spot":
        return _Spot(cell.node, cell.scope, (*self.path, *parts))


class SchemaMaker:
    """One walk over one constraint."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._left = PARTS_MAX
        self._around: set[int] = set()
        """The values around the one being taken down, by the identity of their parts."""

    def declared(self, cell: Cell, path: tuple[PathPart, ...]) -> "tuple[Schema, Plain | None] | None":
        """Take down what a variable may hold, with what it holds from the beginning; None when that failed."""
        spot = _Spot(cell.node, cell.scope, path)
        value = self._machine.force(cell)
        schema = self.schema(value, cell.node, cell.scope, path)
        if schema is None:
            return None
        if not isinstance(value, DefaultValue):
            fault = _unused_default(value, cell)
            if fault is None:
                return schema, None
            self._tell(fault, spot)
            return None
        default = self._default(value, schema, spot)
        return None if default is None else (schema, default)

    def schema(self, value: AnyValue, node: Node, scope: Scope, path: tuple[PathPart, ...] = ()) -> Schema | None:
        """Take down a value that is a constraint, asked for at an expression; a default of the whole is passed over."""
        return self._taken(value, _Spot(node, scope, path), 0)

    def _taken(self, value: AnyValue, spot: _Spot, depth: int) -> Schema | None:
        self._left -= 1
        if self._left < -1 or not self._is_affordable(spot):
            return None
        if self._left < 0:
            self._beyond(f"has more than {PARTS_MAX:,} parts", "one part too many", spot)
            return None
        if depth > DEPTH_MAX:
            self._beyond(f"is nested deeper than {DEPTH_MAX}", "one level too deep", spot)
            return None
        match value:
            case Failed():
                return None
            case FunctionValue():
                self._tell(Fault(Kind.UNSUPPORTED_FEATURE, "a function is no type", value.place, "not a type"), spot)
                return None
            case SymbolicValue():
                self._tell(refused("a constraint", spot.place, value), spot)
                return None
            case ScalarValue():
                return self._exactly(value, spot)
            case DefaultValue():
                return self._taken(value.base, spot, depth)
            case ConstraintValue() | ArrayValue() | ObjectValue():
                return self._compound(value, spot, depth)
        assert_never(value)

    def _compound(self, value: ConstraintValue | ArrayValue | ObjectValue, spot: _Spot, depth: int) -> Schema | None:
        identity = id(_parts_of(value))
        if identity in self._around:
            self._tell(Fault(Kind.CYCLE, "the constraint contains itself", spot.place, "closes the circle"), spot)
            return None
        self._around.add(identity)
        try:
            match value:
                case ConstraintValue():
                    return self._all(value, spot, depth)
                case ArrayValue():
                    return self._tuple(value, spot, depth)
                case ObjectValue():
                    return self._record(value, spot, depth)
        finally:
            self._around.discard(identity)

    def _exactly(self, value: ScalarValue, spot: _Spot) -> Schema | None:
        if type(value.value) is int and abs(value.value) > INT_EXACT_MAX:
            fault = Fault(Kind.CONSTRAINT_VIOLATION, "no variable holds an Int beyond 2^53 - 1", value.place, "beyond 2^53 - 1")
            self._tell(fault, spot)
            return None
        return Exactly(value.value)

    def _all(self, value: ConstraintValue, spot: _Spot, depth: int) -> Schema | None:
        atoms = [self._atom(part, spot, depth) for part in value.parts]
        sound = [atom for atom in atoms if atom is not None]
        if len(sound) < len(atoms):
            return None
        united = _united(sound)
        if united is None:
            self._tell(_demanded_twice(value, spot), spot)
            return None
        return AllOf(united)

    def _atom(self, part: Part, spot: _Spot, depth: int) -> "Atom[Schema] | None":
        match part.atom:
            case Anything() | OfType() | Bounded() | Matching():
                return part.atom
            case HostCheck():
                site = Site(self._machine, part.node, spot.scope)
                self._tell(unavailable(ConstraintValue(part.source, part.node, None, (part,)), part, site), spot)
                return None
            case ElementsOf(item=cell):
                inner = self._below(cell, spot.below(cell), depth)
                return None if inner is None else ElementsOf(inner)
            case EntriesOf(item=cell):
                inner = self._below(cell, spot.below(cell), depth)
                return None if inner is None else EntriesOf(inner)
        assert_never(part.atom)

    def _below(self, cell: Cell, spot: _Spot, depth: int) -> Schema | None:
        return self._taken(self._machine.force(cell), spot, depth + 1)

    def _tuple(self, value: ArrayValue, spot: _Spot, depth: int) -> Schema | None:
        items = [self._below(cell, spot.below(cell, at), depth) for at, cell in enumerate(value.items)]
        sound = tuple(item for item in items if item is not None)
        return TupleOf(sound) if len(sound) == len(items) else None

    def _record(self, value: ObjectValue, spot: _Spot, depth: int) -> Schema | None:
        members = [self._member(name, slot.cell, spot.below(slot.cell, name), depth) for name, slot in value.fields.items()]
        sound = tuple(member for member in members if member is not None)
        rest = self._below(value.rest, spot.below(value.rest), depth) if value.rest is not None else None
        if len(sound) < len(members) or (rest is None) != (value.rest is None):
            return None
        return RecordOf(sound, rest)

    def _member(self, name: str, cell: Cell, spot: _Spot, depth: int) -> Member | None:
        value = self._machine.force(cell)
        schema = self._taken(value, spot, depth + 1)
        if schema is None or not isinstance(value, DefaultValue):
            return None if schema is None else Member(name, schema)
        default = self._default(value, schema, spot)
        return None if default is None else Member(name, schema, default)

    def _default(self, value: DefaultValue, schema: Schema, spot: _Spot) -> "Plain | None":
        """Take the default of a constraint, which the language has held against it; what only variables cannot hold is told here."""
        data = Materializer(self._machine, spot.path).data(value.settled)
        if not is_whole(data):
            return None
        default = plain(data)
        found = misfit(schema, default)
        if found is None:
            return default
        self._tell(_unheld(value, found), spot)
        return None

    def _is_affordable(self, spot: _Spot) -> bool:
        """Count a part among the nodes of all that is materialized; false when there are too many."""
        nodes = self._machine.nodes
        nodes.left -= 1
        if nodes.left < 0 and not nodes.is_told:
            nodes.is_told = True
            message = f"the value has more than {self._machine.limits.nodes:,} nodes"
            self._tell(Fault(Kind.LIMIT, message, spot.place, "one node too many"), spot)
        return nodes.left >= 0

    def _beyond(self, what: str, label: str, spot: _Spot) -> None:
        self._tell(Fault(Kind.LIMIT, f"the constraint {what}", spot.place, label), spot)

    def _tell(self, fault: Fault, spot: _Spot) -> None:
        reporter = self._machine.reporter
        before, reporter.prefix = reporter.prefix, spot.path
        reporter.report(fault, spot.scope)
        reporter.prefix = before


def _united(atoms: "Sequence[Atom[Schema]]") -> "tuple[Atom[Schema], ...] | None":
    """Demand of all elements at once what is demanded of them in several places, and of all entries; None where that is no constraint.

    So whoever compares two constraints goes through each once.
    """
    made: list[Atom[Schema]] = []
    for kind in (ElementsOf, EntriesOf):
        items = [atom.item for atom in atoms if isinstance(atom, kind)]
        if len(items) == 1:
            made.append(kind(items[0]))
        elif items:
            demands = [item.atoms for item in items if isinstance(item, AllOf)]
            inner = _united([atom for each in demands for atom in each])
            if len(demands) < len(items) or inner is None:
                return None
            made.append(kind(AllOf(inner)))
    return (*(atom for atom in atoms if not isinstance(atom, ElementsOf | EntriesOf)), *made)


def _demanded_twice(value: ConstraintValue, spot: _Spot) -> Fault:
    labels = tuple(Label(part.place, "one demand") for part in value.parts if isinstance(part.atom, ElementsOf | EntriesOf))
    return Fault(Kind.UNSUPPORTED_FEATURE, "parts of a value are demanded to be of two types", spot.place, "two types of parts", labels)


def _parts_of(value: ConstraintValue | ArrayValue | ObjectValue) -> object:
    """Give what all uses of one value share."""
    match value:
        case ConstraintValue():
            return value.parts
        case ArrayValue():
            return value.items
        case ObjectValue():
            return value.fields


def _unused_default(value: AnyValue, cell: Cell) -> Fault | None:
    """Describe a default that the language passes over: what is no mere constraint takes none."""
    node = cell.node
    while isinstance(node, Paren):
        node = node.inner
    if not isinstance(node, Binary) or node.operator != "default":
        return None
    place = Place(cell.scope.module.source, node.right.span)
    label = Label(Place(place.source, node.left.span), f"this is {told(value)}")
    return Fault(Kind.UNSUPPORTED_FEATURE, f"{told(value)} takes no default", place, "is passed over", (label,))


def _unheld(value: DefaultValue, found: Misfit) -> Fault:
    where = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in found.path).removeprefix(".")
    message = f"the default cannot be held: {found.why}" if not where else f"the default cannot be held: at `{where}`, {found.why}"
    return Fault(Kind.CONSTRAINT_VIOLATION, message, value.default.place, "no variable holds this")
