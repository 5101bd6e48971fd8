"""The import expressions of a source, used or not: each is refused."""

from stateward.compiler.flow.problems.source import ImportRefused
from stateward.compiler.language.nesting import children
from stateward.compiler.source import Place, Source
from stateward.compiler.syntax.tree import Import, Module, Node


def refused_imports(source: Source, module: Module, version: int) -> list[ImportRefused]:
    """Give every import expression of a module, in order."""
    if "import" not in source.text:
        return []
    found = [node.span for node in _nodes(module) if isinstance(node, Import)]
    return [ImportRefused(Place(source, span), version) for span in sorted(found)]


def _nodes(module: Module) -> list[Node]:
    """Give all nodes of a tree; without recursion, since a chain of operators may be as long as the source."""
    nodes: list[Node] = [module]
    for node in nodes:
        nodes.extend(children(node))
    return nodes
