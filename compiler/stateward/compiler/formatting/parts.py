"""The parts of a node, as the printer walks them.

Invariants: parts come in the order of the text; names, keys and operators are no parts.
"""

from collections.abc import Sequence
from typing import TypeAlias

from stateward.compiler.syntax.tree import (
    Access,
    Arm,
    Array,
    Binary,
    Binding,
    Bound,
    Call,
    Expr,
    Field,
    Lambda,
    Let,
    Match,
    Object,
    Paren,
    Unary,
)

Part: TypeAlias = Expr | Field | Binding | Arm


def parts_of(node: Part) -> Sequence[Part]:
    """Give the parts that may hold comments of their own."""
    match node:
        case Object(fields=fields, rest=rest):
            return fields if rest is None else (*fields, rest)
        case Array(items=items, rest=rest):
            return items if rest is None else (*items, rest)
        case Field(value=value) | Binding(value=value):
            return (value,)
        case Paren(inner=inner) | Unary(operand=inner) | Bound(operand=inner) | Access(base=inner):
            return (inner,)
        case Binary(left=left, right=right):
            return (left, right)
        case Call(callee=callee, arguments=arguments):
            return (callee, *arguments)
        case Let(bindings=bindings, body=body):
            return (*bindings, body)
        case Lambda(params=params, body=body):
            return (*(param.annotation for param in params if param.annotation), body)
        case Match(subject=subject, arms=arms):
            return (subject, *arms)
        case Arm(pattern=pattern, body=body):
            return (pattern, body)
        case _:
            return ()
