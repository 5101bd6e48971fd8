"""Which function evaluates which expression: one table over the whole tree."""

from collections.abc import Mapping
from typing import Final

from stateward.compiler.language import arithmetic, calls, compose, defaults, literals, merge, names, objects, refine
from stateward.compiler.language.machine import Handler, Machine
from stateward.compiler.language.values import AnyValue, Scope, Task
from stateward.compiler.syntax.tree import (
    Access,
    Array,
    Bad,
    Binary,
    BoolLit,
    Bound,
    Call,
    FloatLit,
    IntLit,
    Lambda,
    Let,
    Match,
    Name,
    Object,
    Paren,
    RegexLit,
    StringLit,
    TypeWord,
    Unary,
    Wildcard,
)

OPERATORS: Final[Mapping[str, Handler]] = {
    "as": refine.refinement,
    "default": defaults.defaulted,
    "//": merge.merging,
    "&": compose.composition,
    "||": arithmetic.logic,
    "&&": arithmetic.logic,
    "==": arithmetic.equality,
    "!=": arithmetic.equality,
    "<": arithmetic.order,
    "<=": arithmetic.order,
    ">": arithmetic.order,
    ">=": arithmetic.order,
    "++": arithmetic.joined,
    "+": arithmetic.arithmetic,
    "-": arithmetic.arithmetic,
    "*": arithmetic.arithmetic,
    "/": arithmetic.arithmetic,
}


def binary(machine: Machine, node: Binary, scope: Scope) -> AnyValue | Task:
    """Evaluate an operator between two operands."""
    return OPERATORS[node.operator](machine, node, scope)


HANDLERS: Final[Mapping[type, Handler]] = {
    IntLit: literals.scalar,
    FloatLit: literals.scalar,
    StringLit: literals.scalar,
    BoolLit: literals.scalar,
    RegexLit: literals.pattern,
    TypeWord: literals.type_word,
    Wildcard: literals.wildcard,
    Lambda: literals.function,
    Bad: literals.broken,
    Name: names.name,
    Let: names.let,
    Object: objects.object_,
    Array: objects.array,
    Paren: calls.paren,
    Call: calls.call,
    Access: calls.access,
    Match: refine.matching,
    Unary: arithmetic.prefix,
    Bound: arithmetic.bound,
    Binary: binary,
}
"""Every expression but `import`, which the modules of an evaluation answer."""
