"""What tests ask of syntax trees: their nodes, and their shape without positions."""

from collections.abc import Iterator
from dataclasses import fields
from typing import Any

from stateward.compiler.syntax.tree import Binary, Bound, Node, Paren, Unary


def parts(node: Node) -> Iterator[Node]:
    """Give the nodes directly in a node, in the order of its attributes."""
    for field in fields(node):
        value = getattr(node, field.name)
        for each in value if isinstance(value, tuple) else (value,):
            if isinstance(each, Node):
                yield each


def nodes(root: Node) -> Iterator[Node]:
    """Give a node and all nodes in it."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(parts(node))


def shape(root: Node) -> list[str]:
    """Give what a tree means, flat: classes and attributes without positions. Parentheses around a computed bound make no difference."""
    flat: list[str] = []
    waiting: list[Any] = [root]
    while waiting:
        value = waiting.pop()
        if isinstance(value, Node):
            flat.append(type(value).__name__)
            waiting.extend(getattr(value, field.name) for field in fields(value) if field.name not in {"start", "end", "operand"})
            waiting.extend([_bound_of(value)] if isinstance(value, Bound) else [value.operand] if isinstance(value, Unary) else [])
        elif isinstance(value, tuple):
            flat.append(f"{len(value)} parts")
            waiting.extend(value)
        else:
            flat.append(repr(value))
    return flat


def _bound_of(node: Bound) -> Node:
    operand = node.operand
    return operand.inner if isinstance(operand, Paren) and isinstance(operand.inner, Binary) else operand
