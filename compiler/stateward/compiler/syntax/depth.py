"""How deep the nodes of a tree lie in each other.

Invariants: brackets count one each, and so do signs and the parts of `let`, `match` and functions; chains that lean to the left do not
count. The tree is walked without recursion.
"""

from collections.abc import Iterator

from stateward.compiler.syntax.tree import (
    Access,
    Array,
    Binary,
    Bound,
    Call,
    Lambda,
    Let,
    Match,
    Module,
    Node,
    Object,
    Paren,
    Unary,
)


def too_deep_node(module: Module, limit: int) -> Node | None:
    """Give the first node, in the order of the text, that lies deeper than `limit`; None where there is none."""
    waiting: list[tuple[Node, int]] = [(module.body, 0)]
    while waiting:
        node, depth = waiting.pop()
        deeper = depth + _levels(node)
        if deeper > limit:
            return node
        waiting.extend((part, deeper if inside else depth) for part, inside in reversed(list(_parts(node))))
    return None


def _levels(node: Node) -> int:
    match node:
        case Object(braced=braced):
            return int(braced)
        case Array() | Paren() | Unary() | Bound() | Let() | Lambda() | Match() | Call():
            return 1
        case _:
            return 0


def _parts(node: Node) -> Iterator[tuple[Node, bool]]:
    """Give the parts of a node, and whether they lie inside of it (a callee and left operands do not)."""
    match node:
        case Object(fields=fields, rest=rest):
            yield from ((field.value, True) for field in fields)
            yield from ((each, True) for each in (rest,) if each)
        case Array(items=items, rest=rest):
            yield from ((item, True) for item in items)
            yield from ((each, True) for each in (rest,) if each)
        case Paren(inner=inner) | Unary(operand=inner) | Bound(operand=inner):
            yield inner, True
        case Binary(left=left, right=right):
            yield from ((left, False), (right, False))
        case Access(base=base):
            yield base, False
        case Call(callee=callee, arguments=arguments):
            yield callee, False
            yield from ((argument, True) for argument in arguments)
        case Let(bindings=bindings, body=body):
            yield from ((binding.value, True) for binding in bindings)
            yield body, True
        case Lambda(params=params, body=body):
            yield from ((param.annotation, True) for param in params if param.annotation)
            yield body, True
        case Match(subject=subject, arms=arms):
            yield subject, True
            for arm in arms:
                yield from ((arm.pattern, True), (arm.body, True))
