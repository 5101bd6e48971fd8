"""Where expressions stand in the tree of their module.

Invariants: walks without recursion, since a chain of operators may be as long as its source.
"""

from collections.abc import Iterator
from dataclasses import fields
from functools import cache

from stateward.compiler.source import Span
from stateward.compiler.syntax.tree import Module, Name, Node, Object


def children(node: Node) -> Iterator[Node]:
    """Give the nodes directly below a node, in the order in which they are declared."""
    kind: type = type(node)
    for name in _child_fields(kind):
        child = getattr(node, name)
        if isinstance(child, Node):
            yield child
        elif isinstance(child, tuple):
            yield from child


@cache
def _child_fields(kind: type) -> tuple[str, ...]:
    return tuple(each.name for each in fields(kind) if each.name not in {"start", "end"})


def enclosing(tree: Module, inner: Node) -> Iterator[Node]:
    """Give the nodes around a node, the outermost first."""
    around: Node | None = tree
    while around is not None and around is not inner:
        yield around
        around = next((child for child in children(around) if child.start <= inner.start and inner.end <= child.end), None)


def sibling_field(tree: Module, name: Name) -> Span | None:
    """Find the field of that name in an object in braces around a name: what its author may have had in mind."""
    found: Span | None = None
    for around in enclosing(tree, name):
        if isinstance(around, Object) and around.braced:
            keys = (field.path[0] for field in around.fields)
            found = next((key.span for key in keys if key.text == name.text), found)
    return found
