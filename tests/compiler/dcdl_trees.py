"""What tests ask of syntax trees: their nodes, and their shape without positions."""

from collections.abc import Iterator
from dataclasses import fields
from typing import Any

from stateward.compiler.syntax.tree import Binary, Bound, Node, Paren


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


def shape(value: Any) -> Any:
    """Give what a node means: its class and attributes without positions. Parentheses around a computed bound make no difference."""
    if isinstance(value, tuple):
        return tuple(shape(each) for each in value)
    if isinstance(value, Bound) and isinstance(value.operand, Paren) and isinstance(value.operand.inner, Binary):
        return ("Bound", shape(value.operator), shape(value.operand.inner))
    if isinstance(value, Node):
        named = (field.name for field in fields(value))
        return (type(value).__name__, *(shape(getattr(value, name)) for name in named if name not in {"start", "end"}))
    return (type(value).__name__, repr(value))
