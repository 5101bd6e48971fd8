"""The import expressions of a flow: refused one by one in version 1; in version 2 judged by what evaluation made of them."""

from collections.abc import Collection, Iterator, Sequence

from stateward.compiler.diagnostics.model import Diagnostic
from stateward.compiler.flow.modules import FlowModules
from stateward.compiler.flow.problems.source import ImportRefused, ImportUnused, ModuleOfAnotherVersion
from stateward.compiler.flow.schema import LATER_VERSION
from stateward.compiler.language.bindings import UNUSED
from stateward.compiler.language.nesting import children
from stateward.compiler.language.values import ModuleContext
from stateward.compiler.source import Place, Source, Span
from stateward.compiler.syntax.tree import Binding, Import, IntLit, Let, Module, Node, Object, Paren


def refused_imports(source: Source, module: Module, version: int) -> list[ImportRefused]:
    """Give every import expression of a module, in order."""
    return [ImportRefused(Place(source, each.span), version) for each in _imports(source, module)]


def unused_imports(source: Source, module: Module, modules: FlowModules, warnings: Sequence[Diagnostic]) -> list[ImportUnused]:
    """Give the imports of a sound flow that evaluation never asked for; not those of a name of which `warnings` say that nobody uses it."""
    unused = {each.primary.place.span for each in warnings if each.code == UNUSED and each.primary.place.source is source}
    found = _imports(source, module, unused)
    return [ImportUnused(Place(source, each.span), each.specifier) for each in found if not modules.was_needed(source.name, each.specifier)]


def of_other_versions(imported: Sequence[ModuleContext]) -> Iterator[ModuleOfAnotherVersion]:
    """Give the imported modules that say themselves to be flows of a version which has no imports, or of one that is not known."""
    for each in imported:
        said = _said(each.tree)
        if said is not None and said.value != LATER_VERSION and each.imported is not None:
            yield ModuleOfAnotherVersion(each.imported.place, said.value, Place(each.source, said.span))


def _said(module: Module) -> IntLit | None:
    """Find the version that the object of a module is written with."""
    body: Node = module.body
    while isinstance(body, Paren | Let):
        body = body.inner if isinstance(body, Paren) else body.body
    fields = body.fields if isinstance(body, Object) else ()
    written = (each.value for each in fields if [key.text for key in each.path] == ["schema_version"])
    return next((value for value in written if isinstance(value, IntLit)), None)


def _imports(source: Source, module: Module, unused: Collection[Span] = ()) -> list[Import]:
    """Give all imports of a tree, by position, but for those in the values of names that nobody uses.

    There is no recursion in it, since a chain of operators may be as long as the source.
    """
    if "import" not in source.text:
        return []
    nodes: list[Node] = [module]
    for node in nodes:
        if not (isinstance(node, Binding) and node.path[0].span in unused):
            nodes.extend(children(node))
    return sorted((node for node in nodes if isinstance(node, Import)), key=lambda each: each.span)
