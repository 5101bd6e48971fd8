"""Operators on scalars and arrays: arithmetic, comparison, logic, joining.

Invariants: an operand that failed silences the operator; both operands are evaluated before one is judged, except where the operator
stops short. A default is not a value yet: no operator takes it. Nothing stops short at a symbol.
"""

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from stateward.compiler.diagnostics.model import Label
from stateward.compiler.language.faults import Fault, Kind, told, written_at
from stateward.compiler.language.literals import constraint
from stateward.compiler.language.machine import Machine
from stateward.compiler.language.names import failed_at
from stateward.compiler.language.symbols import Operand, combined, negation, opposite, refused
from stateward.compiler.language.values import AnyValue, ArrayValue, DefaultValue, Failed, ScalarValue, Scope, SymbolicValue, Task
from stateward.compiler.predicates.constraints import INT_MAX, INT_MIN, Bounded, Number, ordered
from stateward.compiler.source import Place
from stateward.compiler.syntax.tree import Binary, Bound, Expr, Unary

_COMPUTE: Final[Mapping[str, Callable[[Number, Number], Number]]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
}
_OPERANDS: Final = frozenset({ScalarValue, SymbolicValue})
DEFAULT_NOTE: Final = "a default becomes a value only in the result"
CHARACTERS_PER_STEP: Final = 256
"""Characters that a comparison of texts may look at for the price of one step."""


def arithmetic(machine: Machine, node: Binary, scope: Scope) -> Task:
    """Evaluate `+`, `-`, `*` and `/`."""
    left = yield node.left, scope
    right = yield node.right, scope
    if type(left) is Failed or type(right) is Failed:
        return failed_at(node, scope)
    first, second = number_of(left), number_of(right)
    if first is None or second is None:
        return _unnumbered(machine, "arithmetic needs numbers", node, (left, right), scope)
    if node.operator == "/" and second == 0:
        place = Place(scope.module.source, node.span)
        fault = Fault(Kind.CONFLICT, "division by zero", place, "divides by zero", from_elsewhere(place, right))
        return machine.fail(fault, node, scope)
    return _checked(machine, _computed(node.operator, first, second), node, scope, left, right)


def _computed(sign: str, left: Number, right: Number) -> Number:
    try:
        return _COMPUTE[sign](left, right)
    except OverflowError:
        return math.inf


def from_elsewhere(place: Place, *values: AnyValue) -> tuple[Label, ...]:
    """Label the values of an expression that were written outside of it."""
    return tuple(
        Label(value.place, told(value)) for value in values if value.source is not place.source or not place.span.covers(value.node.span)
    )


def _checked(machine: Machine, result: Number, node: Binary | Unary, scope: Scope, *operands: AnyValue) -> AnyValue:
    if isinstance(result, int):
        message = None if INT_MIN <= result <= INT_MAX else "the result does not fit 64 bits"
    else:
        message = None if math.isfinite(result) else "the result is not finite"
    if message is None:
        return ScalarValue(scope.module.source, node, None, result)
    place = Place(scope.module.source, node.span)
    return machine.fail(Fault(Kind.CONFLICT, message, place, "out of range", from_elsewhere(place, *operands)), node, scope)


def number_of(value: AnyValue) -> Number | None:
    """Give the number that a value is, or None."""
    if type(value) is ScalarValue and (type(value.value) is int or type(value.value) is float):
        return value.value
    return None


def _unnumbered(machine: Machine, message: str, node: Binary, values: tuple[AnyValue, AnyValue], scope: Scope) -> AnyValue:
    """Take operands that are not both numbers: symbols, or something wrong."""
    operands = zip((node.left, node.right), values, strict=True)
    wrong = [(operand, value) for operand, value in operands if number_of(value) is None and type(value) is not SymbolicValue]
    if wrong:
        return machine.fail(_wrong_operands(message, "not a number", node, wrong, scope), node, scope)
    return combined(machine, node, _operand(values[0]), _operand(values[1]), scope)


def _operand(value: AnyValue) -> Operand:
    assert isinstance(value, ScalarValue | SymbolicValue)
    return value


def _bool_of(value: AnyValue) -> bool | None:
    if type(value) is ScalarValue and type(value.value) is bool:
        return value.value
    return None


def _wrong_operand(message: str, label: str, operand: Expr, value: AnyValue, scope: Scope) -> Fault:
    place = Place(scope.module.source, operand.span)
    notes = (DEFAULT_NOTE,) if type(value) is DefaultValue else ()
    message = f"{message}, and this is {told(value)}"
    return Fault(Kind.TYPE_MISMATCH, message, place, label, written_at(value, place, "written here"), notes)


def _wrong_operands(message: str, label: str, node: Binary, operands: Sequence[tuple[Expr, AnyValue]], scope: Scope) -> Fault:
    """Describe operands that an operator does not take: the one that is wrong, or the whole where both are."""
    if len(operands) == 1:
        return _wrong_operand(message, label, *operands[0], scope)
    source = scope.module.source
    (first, left), (second, right) = operands
    place = Place(source, node.span)
    labels = (
        Label(Place(source, first.span), told(left)),
        Label(Place(source, second.span), told(right)),
        *from_elsewhere(place, left, right),
    )
    notes = (DEFAULT_NOTE,) if DefaultValue in {type(left), type(right)} else ()
    message = f"{message}, and these are {told(left)} and {told(right)}"
    return Fault(Kind.TYPE_MISMATCH, message, place, label, labels, notes)


def equality(machine: Machine, node: Binary, scope: Scope) -> Task:
    """Evaluate `==` and `!=`."""
    left = yield node.left, scope
    right = yield node.right, scope
    if type(left) is Failed or type(right) is Failed:
        return failed_at(node, scope)
    if type(left) is ScalarValue and type(right) is ScalarValue and _comparable(left.value, right.value):
        if type(left.value) is str:
            machine.spend(len(left.value) // CHARACTERS_PER_STEP, node, scope)
        return ScalarValue(scope.module.source, node, None, (left.value == right.value) == (node.operator == "=="))
    kinds = {type(left), type(right)}
    if SymbolicValue in kinds and kinds <= _OPERANDS:
        return combined(machine, node, _operand(left), _operand(right), scope)
    return machine.fail(_not_comparable(node, left, right, scope), node, scope)


def _not_comparable(node: Binary, left: AnyValue, right: AnyValue, scope: Scope) -> Fault:
    source = scope.module.source
    place = Place(source, node.span)
    labels = (Label(Place(source, node.left.span), told(left)), Label(Place(source, node.right.span), told(right)))
    notes = (DEFAULT_NOTE,) if DefaultValue in {type(left), type(right)} else ()
    message = f"{told(left)} and {told(right)} cannot be compared"
    return Fault(Kind.TYPE_MISMATCH, message, place, "not comparable", (*labels, *from_elsewhere(place, left, right)), notes)


def _comparable(left: object, right: object) -> bool:
    return type(left) is type(right) or {type(left), type(right)} == {int, float}


def order(machine: Machine, node: Binary, scope: Scope) -> Task:
    """Evaluate `<`, `<=`, `>` and `>=` between two operands."""
    left = yield node.left, scope
    right = yield node.right, scope
    if type(left) is Failed or type(right) is Failed:
        return failed_at(node, scope)
    first, second = number_of(left), number_of(right)
    if first is None or second is None:
        return _unnumbered(machine, "only numbers have an order", node, (left, right), scope)
    return ScalarValue(scope.module.source, node, None, ordered(node.operator, first, second))


def logic(machine: Machine, node: Binary, scope: Scope) -> Task:
    """Evaluate `&&` and `||`; the right operand is not looked at when the left one decides."""
    decisive = node.operator == "||"
    left: AnyValue | None = None
    for operand in (node.left, node.right):
        value = yield operand, scope
        if type(value) is Failed:
            return failed_at(node, scope)
        truth = _bool_of(value)
        if truth is None and type(value) is not SymbolicValue:
            return machine.fail(_wrong_operand("logic needs true or false", "not a Bool", operand, value, scope), node, scope)
        if left is not None and SymbolicValue in {type(left), type(value)}:
            return combined(machine, node, _operand(left), _operand(value), scope)
        if truth == decisive:
            return ScalarValue(scope.module.source, node, None, decisive)
        left = value
    return ScalarValue(scope.module.source, node, None, not decisive)


def prefix(machine: Machine, node: Unary, scope: Scope) -> Task:
    """Evaluate the prefixes `-` and `!`."""
    value = yield node.operand, scope
    if type(value) is Failed:
        return failed_at(node, scope)
    if type(value) is SymbolicValue:
        return negation(machine, node, value, scope) if node.operator == "!" else opposite(machine, node, value, scope)
    if node.operator == "!":
        truth = _bool_of(value)
        if truth is None:
            return machine.fail(_wrong_operand("logic needs true or false", "not a Bool", node.operand, value, scope), node, scope)
        return ScalarValue(scope.module.source, node, None, not truth)
    number = number_of(value)
    if number is None:
        return machine.fail(_wrong_operand("minus needs a number", "not a number", node.operand, value, scope), node, scope)
    return _checked(machine, -number, node, scope, value)


def bound(machine: Machine, node: Bound, scope: Scope) -> Task:
    """Evaluate a prefix comparison: a constraint on numbers."""
    value = yield node.operand, scope
    if type(value) is Failed:
        return failed_at(node, scope)
    if type(value) is SymbolicValue:
        return machine.fail(refused("a bound", Place(scope.module.source, node.span), value), node, scope)
    limit = number_of(value)
    if limit is None:
        return machine.fail(_wrong_operand("a bound is a number", "not a number", node.operand, value, scope), node, scope)
    return constraint(Bounded(node.operator, limit), node, scope)


def joined(machine: Machine, node: Binary, scope: Scope) -> Task:
    """Evaluate `++`."""
    left = yield node.left, scope
    right = yield node.right, scope
    if type(left) is Failed or type(right) is Failed:
        return failed_at(node, scope)
    if type(left) is ArrayValue and type(right) is ArrayValue:
        machine.make_items(len(left.items) + len(right.items), node, scope)
        return ArrayValue(scope.module.source, node, None, left.items + right.items)
    symbol = left if type(left) is SymbolicValue else right
    if type(symbol) is SymbolicValue:
        return machine.fail(refused("`++`", Place(scope.module.source, node.span), symbol), node, scope)
    wrong = [(operand, value) for operand, value in ((node.left, left), (node.right, right)) if type(value) is not ArrayValue]
    return machine.fail(_wrong_operands("only arrays are joined", "not an array", node, wrong, scope), node, scope)
