"""Symbols: values that are known only at run time, and what may be done with them while the source is evaluated.

Invariants: an operation on a symbol gives a residue and decides nothing, whatever its other operand is; what needs the value now is
refused, at the use, with the symbol beside it. A residue that would be larger than a guard may be is refused where it is made, so that
sharing makes nothing endless.
"""

from collections.abc import Sequence
from typing import Final, TypeAlias

from stateward.compiler.diagnostics.model import Label
from stateward.compiler.diagnostics.wording import nearest, quoted
from stateward.compiler.language.faults import Fault, Kind
from stateward.compiler.language.machine import Machine
from stateward.compiler.language.residues import (
    Branch,
    Choice,
    Comparison,
    Computation,
    Demand,
    Junction,
    Literal,
    Negation,
    Obligation,
    Reference,
    Residue,
    Step,
    Wanted,
    first_reference,
)
from stateward.compiler.language.values import AnyValue, Failed, ScalarValue, Scope, SymbolicValue
from stateward.compiler.predicates.guards import EXCEEDED, INPUT, KNOWN, NODES_MAX, SPENT, VARS, VISITS
from stateward.compiler.predicates.schema import DEPTH_MAX
from stateward.compiler.source import Place
from stateward.compiler.syntax.tree import Access, Binary, Match, Name, Node, Unary

Operand: TypeAlias = ScalarValue | SymbolicValue
"""What can be a part of a guard."""

WRITTEN: Final = {
    VARS: "vars.<variable>",
    INPUT: "input.<input>",
    VISITS: "visits.<state>",
    KNOWN: "known.<variable>",
    SPENT: f"{SPENT}.{EXCEEDED}",
}
"""How each root is written."""
_ENDS: Final = {VISITS: "an Int", KNOWN: "a Bool", SPENT: "a Bool"}
"""What stands below the roots that lead no further."""


def root(node: Name, scope: Scope) -> SymbolicValue:
    """Give the symbol of a root."""
    source = scope.module.source
    return SymbolicValue(source, node, None, Reference(source, node, scope, 1, (node.text,), (Step(node, scope),), ()))


def refused(what: str, place: Place, symbol: SymbolicValue) -> Fault:
    """Describe a use that needs a value now of which all is known only at run time."""
    lone = unfinished(symbol)
    if lone is not None:
        return lone
    reference = first_reference(symbol.residue)
    message = f"{what} cannot take {quoted(reference.text)}, which is known only at run time"
    return Fault(Kind.KNOWN_ONLY_AT_RUN_TIME, message, place, "needs the value now", (Label(reference.place, "known only at run time"),))


def unfinished(value: AnyValue) -> Fault | None:
    """Describe a root that stands alone; None for everything else."""
    if not isinstance(value, SymbolicValue) or not isinstance(value.residue, Reference) or len(value.residue.path) > 1:
        return None
    name = value.residue.path[0]
    place = value.residue.place
    return Fault(Kind.TYPE_MISMATCH, f"{quoted(name)} alone is no value", place, "leads to nothing", help=f"write {quoted(WRITTEN[name])}")


def negation(machine: Machine, node: Unary, operand: SymbolicValue, scope: Scope) -> AnyValue:
    """Put `!` before a symbol."""
    return _of(machine, node, scope, operand) or _made(
        machine, Negation(scope.module.source, node, scope, operand.residue.size + 1, operand.residue)
    )


def opposite(machine: Machine, node: Unary, operand: SymbolicValue, scope: Scope) -> AnyValue:
    """Put `-` before a symbol: it is taken from zero."""
    source = scope.module.source
    zero = Literal(source, node, scope, 1, 0)
    return _of(machine, node, scope, operand) or _made(
        machine, Computation(source, node, scope, operand.residue.size + 2, "-", zero, operand.residue)
    )


def combined(machine: Machine, node: Binary, left: Operand, right: Operand, scope: Scope) -> AnyValue:
    """Put an operator between two operands of which one is a symbol, or both are."""
    lone = _of(machine, node, scope, left, right)
    if lone is not None:
        return lone
    source = scope.module.source
    first, second = _residue(left, scope), _residue(right, scope)
    size = first.size + second.size + 1
    match node.operator:
        case "&&" | "||":
            return _made(machine, Junction(source, node, scope, size, node.operator, first, second))
        case "+" | "-" | "*":
            return _made(machine, Computation(source, node, scope, size, node.operator, first, second))
        case "==" | "!=" | "<" | "<=" | ">" | ">=":
            return _made(machine, Comparison(source, node, scope, size, node.operator, first, second))
        case _:
            symbol = left if isinstance(left, SymbolicValue) else right
            assert isinstance(symbol, SymbolicValue)
            return machine.fail(refused(f"`{node.operator}`", Place(source, node.span), symbol), node, scope)


def field(machine: Machine, node: Access, base: SymbolicValue, scope: Scope) -> AnyValue:
    """Read a name below a symbol."""
    residue = base.residue
    fault = _no_field(residue, node, scope)
    if fault is not None:
        return machine.fail(fault, node, scope)
    assert isinstance(residue, Reference)
    path, steps = (*residue.path, node.key.text), (*residue.steps, Step(node, scope))
    return _made(machine, Reference(scope.module.source, node, scope, residue.size, path, steps, residue.demands))


def _no_field(residue: Residue, node: Access, scope: Scope) -> Fault | None:
    place = Place(scope.module.source, node.key.span)
    if not isinstance(residue, Reference):
        label = Label(residue.place, "comes to a scalar")
        return Fault(Kind.TYPE_MISMATCH, "what is computed at run time has no fields", place, "not a field", (label,))
    first, *names = residue.path
    if names and first in _ENDS:
        message = f"{quoted(residue.text)} is {_ENDS[first]} and has no fields"
        return Fault(Kind.TYPE_MISMATCH, message, place, "not a field", (Label(residue.place, f"this is {_ENDS[first]}"),))
    if first == SPENT and node.key.text != EXCEEDED:
        message = f"{quoted(SPENT)} has no field {quoted(node.key.text)}"
        near = nearest(node.key.text, [EXCEEDED])
        help_ = f"did you mean {quoted(near)}?" if near else f"write {quoted(WRITTEN[SPENT])}"
        return Fault(Kind.UNRESOLVED_IDENTIFIER, message, place, "no such field", help=help_)
    if len(residue.path) == DEPTH_MAX:
        return Fault(Kind.LIMIT, f"a reference has more than {DEPTH_MAX} names", place, "one name too many")
    return None


def obliged(machine: Machine, operand: SymbolicValue, wanted: Wanted, node: Node, scope: Scope) -> AnyValue:
    """Demand that a symbol meets a constraint; whether it does is proved when its type is known."""
    lone = _of(machine, node, scope, operand)
    if lone is not None:
        return lone
    residue = operand.residue
    if isinstance(residue, Reference):
        demands = (*residue.demands, Demand(len(residue.path), wanted, node, scope))
        return _made(
            machine, Reference(residue.source, residue.node, residue.scope, residue.size + 1, residue.path, residue.steps, demands)
        )
    demand = Demand(0, wanted, node, scope)
    return _made(machine, Obligation(residue.source, residue.node, residue.scope, residue.size + 1, residue, demand))


def choice(
    machine: Machine, node: Match, subject: SymbolicValue, arms: Sequence[tuple[Node, Wanted | None, Operand]], scope: Scope
) -> AnyValue:
    """Choose by patterns at run time: each arm is its pattern, what it wants (None for `_`) and what it comes to."""
    lone = _of(machine, node, scope, subject, *(body for _, _, body in arms))
    if lone is not None:
        return lone
    branches = tuple(Branch(wanted, pattern, _residue(body, scope)) for pattern, wanted, body in arms)
    size = 1 + subject.residue.size + sum(branch.body.size + 1 for branch in branches)
    return _made(machine, Choice(scope.module.source, node, scope, size, subject.residue, branches))


def _residue(value: Operand, scope: Scope) -> Residue:
    if isinstance(value, SymbolicValue):
        return value.residue
    return Literal(value.source, value.node, scope, 1, value.value)


def _of(machine: Machine, node: Node, scope: Scope, *operands: Operand) -> Failed | None:
    """Refuse roots that stand alone."""
    for each in operands:
        fault = unfinished(each)
        if fault is not None:
            return machine.fail(fault, node, scope)
    return None


def _made(machine: Machine, residue: Residue) -> AnyValue:
    """Take a residue for a value, unless it is too large."""
    if residue.size > NODES_MAX:
        message = f"the expression has more than {NODES_MAX} parts that are known only at run time"
        fault = Fault(Kind.LIMIT, message, residue.place, "one part too many")
        return machine.fail(fault, residue.node, residue.scope)
    return SymbolicValue(residue.source, residue.node, None, residue)
