"""The values of the language and the lazy cells that hold them.

Invariants: a value is never changed after it was made; a cell is forced at most once and then keeps its value, a failed one too; every
value knows the text it was written as and the uses it came through. Objects and arrays hold cells, so that they are as lazy as the
source they came from.
"""

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from stateward.compiler.language.data import Origin
from stateward.compiler.predicates.constraints import Atom
from stateward.compiler.source import Place, Source, Span
from stateward.compiler.syntax.tree import Expr, Key, Lambda, Module, Node
from stateward.compiler.syntax.tree import node as record

if TYPE_CHECKING:
    from stateward.compiler.language.machine import Machine
    from stateward.compiler.language.residues import Residue

THROUGH_MAX: Final = 8
"""Uses that an origin tells."""


@record
class Use:
    """An expression in the scope in which it was evaluated: a name, a call, an import."""

    node: Node
    scope: "Scope"

    @property
    def place(self) -> Place:
        """Where it stands."""
        return Place(self.scope.module.source, self.node.span)


@dataclass(slots=True, eq=False)
class Via:
    """The uses a value came through, the last one first. `places` is filled when they are first told."""

    source: Source
    node: Node
    earlier: "Via | None"
    places: tuple[Place, ...] | None = None


@record
class Value:
    """What every value has: the text it was written as, and the uses it came through."""

    source: Source
    node: Node
    via: Via | None

    @property
    def place(self) -> Place:
        """Where it was written."""
        return Place(self.source, self.node.span)

    @property
    def origin(self) -> Origin:
        """Where it was written, and the last uses it came through."""
        node, via = self.node, self.via
        place = Place(self.source, Span(node.start, node.end))
        if via is None:
            return Origin(place)
        if via.places is None:
            via.places = tuple(_uses(via))
        return Origin(place, via.places)


def _uses(via: Via | None) -> Iterator[Place]:
    for _ in range(THROUGH_MAX):
        if via is None:
            return
        yield Place(via.source, via.node.span)
        via = via.earlier


@record
class ScalarValue(Value):
    """A Bool, Int, Float or String; `type(value)` tells which."""

    value: bool | int | float | str


@record
class ArrayValue(Value):
    """An array."""

    items: "tuple[Cell, ...]"


@record
class Slot:
    """A field of an object: its key, the source the key stands in, its cell."""

    key: Key
    source: Source
    cell: "Cell"

    @property
    def place(self) -> Place:
        """Where the field is named."""
        return Place(self.source, self.key.span)


@record
class ObjectValue(Value):
    """An object, or the type of objects; fields keep their order. `rest` is what further fields must be; None allows none under `as`."""

    fields: dict[str, Slot]
    rest: "Cell | None"


@record
class FunctionValue(Value):
    """A function, closed over its scope."""

    function: Lambda
    scope: "Scope"


@record
class Part:
    """One demand of a constraint and where it was declared."""

    atom: "Atom[Cell]"
    source: Source
    node: Node

    @property
    def place(self) -> Place:
        """Where it was declared."""
        return Place(self.source, self.node.span)


@record
class ConstraintValue(Value):
    """Demands that all must be met; at least one."""

    parts: tuple[Part, ...]


@record
class DefaultValue(Value):
    """A constraint with the value to take where nothing concrete is given. `settled` is that value after it was checked."""

    base: ConstraintValue
    default: "Cell"
    settled: "Cell"


@record
class SymbolicValue(Value):
    """What is known only at run time, or is computed from it."""

    residue: "Residue"


@record
class Failed(Value):
    """A value that could not be made; why has been reported. `also` are cells that nobody can use but that may hold faults of their own."""

    also: "tuple[Cell, ...]" = ()


AnyValue: TypeAlias = ScalarValue | ArrayValue | ObjectValue | FunctionValue | ConstraintValue | DefaultValue | SymbolicValue | Failed
Concrete: TypeAlias = ScalarValue | ArrayValue | ObjectValue | FunctionValue

Task: TypeAlias = Generator["Request", AnyValue, AnyValue]
"""A computation under way: it asks for what it needs and is sent the value."""
Request: TypeAlias = "tuple[Expr, Scope] | Cell | Task | AnyValue"
"""What a task may ask for: an expression in a scope, the value of a cell, the outcome of another task, or what is there already."""
Making: TypeAlias = Callable[["Machine"], "AnyValue | Task"]


@dataclass(slots=True, eq=False)
class Cell:
    """A value that is made when it is first needed: from an expression in a scope, or by `make`."""

    node: Expr
    scope: "Scope"
    value: AnyValue | None = None
    make: Making | None = None
    busy: bool = False
    """Whether it is being made right now: to need it then is a cycle."""
    use: Use | None = None
    """The use that first needed it, while it is being made."""

    @property
    def place(self) -> Place:
        """The expression it is made from."""
        return Place(self.scope.module.source, self.node.span)


@dataclass(slots=True, eq=False)
class ModuleContext:
    """The module an expression belongs to."""

    source: Source
    tree: Module
    imported: Use | None = None
    """The import that first needed it; None for the root."""
    swallowed: frozenset[str] | None = None
    """The names that broken text sets or binds; None until somebody asks."""


class LostNames(NamedTuple):
    """The names that broken text may have been meant to bind."""

    words: frozenset[str]
    is_any: bool
    """Whether it may have been any name."""


@dataclass(slots=True, eq=False)
class Scope:
    """The names that an expression sees. `call` is the call that made this scope or the nearest one around it."""

    module: ModuleContext
    parent: "Scope | None" = None
    call: Use | None = None
    names: dict[str, Cell] = field(default_factory=dict)
    lost: LostNames | None = None
    """What broken text was to add."""


def through(value: AnyValue, source: Source, node: Node) -> AnyValue:
    """Give the value as it arrives by one more use."""
    via = Via(source, node, value.via)
    match value:
        case ScalarValue():
            return ScalarValue(value.source, value.node, via, value.value)
        case ObjectValue():
            return ObjectValue(value.source, value.node, via, value.fields, value.rest)
        case ArrayValue():
            return ArrayValue(value.source, value.node, via, value.items)
        case FunctionValue():
            return FunctionValue(value.source, value.node, via, value.function, value.scope)
        case ConstraintValue():
            return ConstraintValue(value.source, value.node, via, value.parts)
        case DefaultValue():
            return DefaultValue(value.source, value.node, via, value.base, value.default, value.settled)
        case SymbolicValue():
            return SymbolicValue(value.source, value.node, via, value.residue)
        case Failed():
            return value


def known(value: AnyValue, like: Cell) -> Cell:
    """Put a value that is there already into a cell, placed where another cell is."""
    return Cell(like.node, like.scope, value)
