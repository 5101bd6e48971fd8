"""The import expressions of a source, used or not: version 1 refuses each."""

from dataclasses import fields
from typing import Final

from stateward.compiler.flow.problems.source import ImportRefused
from stateward.compiler.source import Place, Source
from stateward.compiler.syntax.tree import Import, Module, Node

_CHILD_FIELDS: Final[dict[type[Node], tuple[str, ...]]] = {}


def refused_imports(source: Source, module: Module) -> list[ImportRefused]:
    """Give every import expression of a module, in order."""
    if "import" not in source.text:
        return []
    found = [node.span for node in _nodes(module) if isinstance(node, Import)]
    return [ImportRefused(Place(source, span)) for span in sorted(found)]


def _nodes(module: Module) -> list[Node]:
    """Give all nodes of a tree; without recursion, since a chain of operators may be as long as the source."""
    nodes: list[Node] = [module]
    for node in nodes:
        for name in _child_fields(type(node)):
            child = getattr(node, name)
            if isinstance(child, Node):
                nodes.append(child)
            elif isinstance(child, tuple):
                nodes.extend(child)
    return nodes


def _child_fields(kind: type[Node]) -> tuple[str, ...]:
    found = _CHILD_FIELDS.get(kind)
    if found is None:
        names = [each.name for each in fields(kind) if each.name not in {"start", "end"}]
        found = _CHILD_FIELDS[kind] = tuple(names)
    return found
