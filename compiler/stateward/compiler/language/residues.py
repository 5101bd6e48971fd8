"""What is left of an expression over values that are known only at run time: one closed tree, every part of which knows its place.

Invariants: nothing here has a type yet; a tree is never changed after it was made, but for the constraints in it, which are taken down to
closed ones when the whole is asked for; `size` counts it as a tree, however much of it is shared, and is at most `NODES_MAX` of the
guards, since whoever makes a larger one is refused.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, assert_never

from stateward.compiler.predicates.schema import Scalar, Schema
from stateward.compiler.source import Place, Source
from stateward.compiler.syntax.tree import Node
from stateward.compiler.syntax.tree import node as record

if TYPE_CHECKING:
    from stateward.compiler.language.values import AnyValue, Scope


@record
class Placed:
    """What every part has: the text it was written as, the scope for the story of a fault, its size as a tree."""

    source: Source
    node: Node
    scope: "Scope"
    size: int

    @property
    def place(self) -> Place:
        """Where it was written."""
        return Place(self.source, self.node.span)


@dataclass(slots=True, eq=False)
class Wanted:
    """A constraint that a residue is held against: as the language has it, and as a closed one from when it was taken down."""

    value: "AnyValue"
    node: Node
    scope: "Scope"
    """Where the constraint is used."""
    schema: Schema | None = None

    @property
    def place(self) -> Place:
        """Where it was declared."""
        return self.value.place


@record
class Demand:
    """An obligation: what was read must provably meet a constraint. `depth` is how much of the path had been read when it was stated."""

    depth: int
    wanted: Wanted
    node: Node
    scope: "Scope"


@record
class Step:
    """How one name of a path was written: the root itself, or an access."""

    node: Node
    scope: "Scope"

    @property
    def place(self) -> Place:
        """Where it stands."""
        return Place(self.scope.module.source, self.node.span)


@record
class Literal(Placed):
    """A scalar."""

    value: Scalar


@record
class Reference(Placed):
    """A root and the names below it."""

    path: tuple[str, ...]
    steps: tuple[Step, ...]
    """How each name of the path was written."""
    demands: tuple[Demand, ...]

    @property
    def text(self) -> str:
        """As it is written."""
        return ".".join(self.path)


@record
class Negation(Placed):
    """`!`."""

    operand: "Residue"


@record
class Junction(Placed):
    """`&&` and `||`."""

    sign: str
    left: "Residue"
    right: "Residue"


@record
class Comparison(Placed):
    """`==`, `!=`, `<`, `<=`, `>`, `>=`."""

    sign: str
    left: "Residue"
    right: "Residue"


@record
class Computation(Placed):
    """`+`, `-`, `*`."""

    sign: str
    left: "Residue"
    right: "Residue"


@record
class Branch:
    """An arm: `wanted` is None for `_`."""

    wanted: Wanted | None
    node: Node
    """The pattern."""
    body: "Residue"


@record
class Choice(Placed):
    """`match`."""

    subject: "Residue"
    branches: tuple[Branch, ...]


@record
class Obligation(Placed):
    """`as`, or an annotated parameter, on what is no mere reference."""

    operand: "Residue"
    demand: Demand


Residue: TypeAlias = Literal | Reference | Negation | Junction | Comparison | Computation | Choice | Obligation


def below(residue: Residue) -> tuple[Residue, ...]:
    """Give the parts directly below one."""
    match residue:
        case Literal() | Reference():
            return ()
        case Negation(operand=operand) | Obligation(operand=operand):
            return (operand,)
        case Junction(left=left, right=right) | Comparison(left=left, right=right) | Computation(left=left, right=right):
            return (left, right)
        case Choice(subject=subject, branches=branches):
            return (subject, *(branch.body for branch in branches))
    assert_never(residue)


def parts_of(residue: Residue) -> Iterator[Residue]:
    """Give a residue and everything below it, from left to right."""
    waiting = [residue]
    while waiting:
        each = waiting.pop()
        yield each
        waiting.extend(reversed(below(each)))


def wanted_in(residue: Residue) -> Iterator[Wanted]:
    """Give the constraints in a residue."""
    for each in parts_of(residue):
        match each:
            case Reference(demands=demands):
                yield from (demand.wanted for demand in demands)
            case Obligation(demand=demand):
                yield demand.wanted
            case Choice(branches=branches):
                yield from (branch.wanted for branch in branches if branch.wanted is not None)
            case _:
                pass


def first_reference(residue: Residue) -> Reference:
    """Give the leftmost reference of what comes of symbols."""
    return next(each for each in parts_of(residue) if isinstance(each, Reference))
