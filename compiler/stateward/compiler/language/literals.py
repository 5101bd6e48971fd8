"""What needs no evaluation: literals, type words, patterns, functions, the lone wildcard, broken text."""

from collections.abc import Mapping
from typing import Final

from stateward.compiler.language.faults import Fault, Kind
from stateward.compiler.language.machine import Machine
from stateward.compiler.language.values import AnyValue, Cell, ConstraintValue, Failed, FunctionValue, Part, ScalarValue, Scope
from stateward.compiler.predicates.constraints import Anything, Atom, Family, Matching, OfType
from stateward.compiler.predicates.patterns import fault_of
from stateward.compiler.source import Place
from stateward.compiler.syntax.tree import (
    Bad,
    BoolLit,
    FloatLit,
    IntLit,
    Lambda,
    Node,
    RegexLit,
    StringLit,
    TypeWord,
    Wildcard,
)

TYPES: Final[Mapping[str, "Atom[Cell]"]] = {
    "Unknown": Anything(),
    **{family.value: OfType(family) for family in (Family.INT, Family.FLOAT, Family.STRING, Family.BOOL)},
}


def scalar(_machine: Machine, node: IntLit | FloatLit | StringLit | BoolLit, scope: Scope) -> AnyValue:
    """Evaluate a number, a text, `true` or `false`."""
    return ScalarValue(scope.module.source, node, None, node.value)


def type_word(_machine: Machine, node: TypeWord, scope: Scope) -> AnyValue:
    """Evaluate a type word."""
    return constraint(TYPES[node.text], node, scope)


def pattern(machine: Machine, node: RegexLit, scope: Scope) -> AnyValue:
    """Evaluate a pattern; one that RE2 cannot read is a fault at the pattern."""
    machine.spend(machine.patterns.making(node.pattern), node, scope)
    reason = fault_of(node.pattern)
    if reason is None:
        return constraint(Matching(node.pattern), node, scope)
    place = Place(scope.module.source, node.span)
    fault = Fault(Kind.SYNTAX, "the pattern cannot be read", place, "not a pattern of RE2", notes=(f"RE2 says: {reason}",))
    return machine.fail(fault, node, scope)


def function(_machine: Machine, node: Lambda, scope: Scope) -> AnyValue:
    """Evaluate a function; its body waits for a call."""
    return FunctionValue(scope.module.source, node, None, node, scope)


def wildcard(machine: Machine, node: Wildcard, scope: Scope) -> AnyValue:
    """Refuse `_` outside of its place."""
    place = Place(scope.module.source, node.span)
    fault = Fault(
        Kind.UNSUPPORTED_FEATURE,
        "`_` stands outside of a pattern",
        place,
        "not a value",
        notes=("`_` can only be the whole pattern of an arm of `match`",),
    )
    return machine.fail(fault, node, scope)


def broken(_machine: Machine, node: Bad, scope: Scope) -> AnyValue:
    """Pass over broken text, which the parser has reported."""
    return Failed(scope.module.source, node, None)


def constraint(atom: "Atom[Cell]", node: Node, scope: Scope) -> ConstraintValue:
    """Make a constraint of one demand."""
    source = scope.module.source
    return ConstraintValue(source, node, None, (Part(atom, source, node),))
