"""Requests about names: where they are declared and used, what they stand for, what else they could be called."""

from collections.abc import Iterable
from typing import Final

from lsprotocol import types

from stateward.compiler.editor.finding import definitions, references
from stateward.compiler.editor.graphing import Graph, Way
from stateward.compiler.editor.hints import hints
from stateward.compiler.editor.hovering import hover
from stateward.compiler.editor.importing import import_at, imported
from stateward.compiler.editor.renaming import Refused, rename, renameable
from stateward.compiler.editor.requests.answering import of_document, of_item
from stateward.compiler.editor.server import FlowServer, request_failed
from stateward.compiler.editor.states import States
from stateward.compiler.editor.symbols import SYMBOLS_MAX, Sort, Symbol, matching, symbols
from stateward.compiler.editor.wire import Wire

_KINDS: Final = {
    Sort.STATE: types.SymbolKind.Class,
    Sort.TRANSITION: types.SymbolKind.Event,
    Sort.NAME: types.SymbolKind.Variable,
    Sort.FIELD: types.SymbolKind.Property,
    Sort.DECLARED: types.SymbolKind.Constant,
}
_START: Final = types.Position(0, 0)
VERSIONS_MAX: Final = 4
"""Of one document that changes while it is looked through."""


def hovered(wire: Wire, params: types.HoverParams) -> types.Hover | None:
    """Explain what stands under the cursor."""
    found = hover(wire.analysis, wire.offset(params.position))
    if found is None:
        return None
    return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, found.markdown), wire.range(found.span))


def definition(wire: Wire, params: types.DefinitionParams) -> list[types.Location]:
    """Give where it is declared."""
    offset = wire.offset(params.position)
    importing = import_at(wire.analysis, offset)
    if importing is not None:
        file = imported(wire.document.uri, importing.specifier)
        return [] if file is None else [types.Location(file, types.Range(_START, _START))]
    return [wire.location(each) for each in definitions(wire.analysis, offset)]


def referenced(wire: Wire, params: types.ReferenceParams) -> list[types.Location]:
    """Give where it is named."""
    declaration = params.context.include_declaration
    return [wire.location(each) for each in references(wire.analysis, wire.offset(params.position), declaration=declaration)]


def highlights(wire: Wire, params: types.DocumentHighlightParams) -> list[types.DocumentHighlight]:
    """Mark every place where it is named."""
    found = references(wire.analysis, wire.offset(params.position), declaration=True)
    return [types.DocumentHighlight(wire.range(each)) for each in found]


def prepare(wire: Wire, params: types.PrepareRenameParams) -> types.PrepareRenamePlaceholder | None:
    """Say what would be renamed; fails with the reason where it cannot be."""
    found = renameable(wire.analysis, wire.offset(params.position))
    if isinstance(found, Refused):
        raise request_failed(found.reason)
    return None if found is None else types.PrepareRenamePlaceholder(wire.range(found.span), found.name)


def renamed(wire: Wire, params: types.RenameParams) -> types.WorkspaceEdit | None:
    """Rename it everywhere; fails with the reason where it cannot be."""
    found = rename(wire.analysis, wire.offset(params.position), params.new_name)
    if isinstance(found, Refused):
        raise request_failed(found.reason)
    return None if found is None else wire.workspace_edit(found)


def outlined(wire: Wire, _: types.DocumentSymbolParams) -> list[types.DocumentSymbol]:
    """Give what the text declares."""
    return [_symbol(wire, each) for each in symbols(wire.analysis)]


def _symbol(wire: Wire, symbol: Symbol) -> types.DocumentSymbol:
    return types.DocumentSymbol(
        name=symbol.name or " ",  # an empty name is none to editors
        kind=_KINDS[symbol.sort],
        range=wire.range(symbol.whole),
        selection_range=wire.range(symbol.key),
        detail=symbol.detail or None,
        children=[_symbol(wire, each) for each in symbol.below] or None,
    )


async def searched(ls: FlowServer, params: types.WorkspaceSymbolParams) -> list[types.WorkspaceSymbol]:
    """Find what open documents declare, each in its newest version; one that cannot be looked through is left out."""
    found: list[types.WorkspaceSymbol] = []
    for uri in sorted(ls.documents):
        if len(found) < SYMBOLS_MAX:
            found += await _found(ls, uri, params.query)
    return found[:SYMBOLS_MAX]


async def _found(ls: FlowServer, uri: str, query: str) -> list[types.WorkspaceSymbol]:
    """Find what a document declares: again where it changes meanwhile, since what is asked for names no version."""
    for _ in range(VERSIONS_MAX):
        document = ls.documents.get(uri)
        if document is None or document.lost is not None:
            break
        try:
            return await ls.answered(uri, lambda wire: _matching(wire, query))
        except Exception:  # noqa: BLE001 - not hidden: a text that the compiler fails on says so at its head
            if ls.documents.get(uri) is document:
                break
    return []


def _matching(wire: Wire, query: str) -> list[types.WorkspaceSymbol]:
    return [
        types.WorkspaceSymbol(wire.location(each.key), each.name or " ", _KINDS[each.sort], container_name=within or wire.document.name)
        for each, within in matching(symbols(wire.analysis), query)
        if each.sort is not Sort.FIELD
    ]


def hinted(wire: Wire, params: types.InlayHintParams) -> list[types.InlayHint]:
    """Remark on the states of a part of the text."""
    return [
        types.InlayHint(wire.position(each.offset), each.text, padding_left=True) for each in hints(wire.analysis, wire.span(params.range))
    ]


# --- calls: what leads to a state, and where it leads -------------------------------------------------------------------------------------


def called(wire: Wire, params: types.CallHierarchyPrepareParams) -> list[types.CallHierarchyItem]:
    """Give the state under the cursor."""
    use = States(wire.analysis).at(wire.offset(params.position))
    item = None if use is None else _item(wire, use.id)
    return [] if item is None else [item]


def incoming(wire: Wire, params: types.CallHierarchyIncomingCallsParams) -> list[types.CallHierarchyIncomingCall]:
    """Give the states that lead to one."""
    calls = _by_state((way, way.state.id) for way in Graph(wire.analysis).into(params.item.name))
    return [types.CallHierarchyIncomingCall(item, _ranges(wire, ways)) for id_, ways in calls.items() if (item := _item(wire, id_))]


def outgoing(wire: Wire, params: types.CallHierarchyOutgoingCallsParams) -> list[types.CallHierarchyOutgoingCall]:
    """Give the states that one leads to."""
    calls = _by_state((way, way.target or "") for way in Graph(wire.analysis).out_of(params.item.name))
    return [types.CallHierarchyOutgoingCall(item, _ranges(wire, ways)) for id_, ways in calls.items() if (item := _item(wire, id_))]


def _by_state(pairs: Iterable[tuple[Way, str]]) -> dict[str, list[Way]]:
    found: dict[str, list[Way]] = {}
    for way, id_ in pairs:
        found.setdefault(id_, []).append(way)
    return found


def _ranges(wire: Wire, ways: list[Way]) -> list[types.Range]:
    keys = (each.transition.key for each in ways)
    return [wire.range(each.span) for each in keys if each.source is wire.analysis.source]


def _item(wire: Wire, id_: str) -> types.CallHierarchyItem | None:
    state = Graph(wire.analysis).state(id_)
    if state is None or state.key.source is not wire.analysis.source:
        return None
    key = wire.range(state.key.span)
    return types.CallHierarchyItem(id_, types.SymbolKind.Class, wire.document.uri, key, key)


def register(server: FlowServer) -> None:
    """Register what is asked about names."""
    server.feature(types.TEXT_DOCUMENT_HOVER)(of_document(hovered))
    server.feature(types.TEXT_DOCUMENT_DEFINITION)(of_document(definition))
    server.feature(types.TEXT_DOCUMENT_REFERENCES)(of_document(referenced))
    server.feature(types.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT)(of_document(highlights))
    server.feature(types.TEXT_DOCUMENT_PREPARE_RENAME)(of_document(prepare))
    server.feature(types.TEXT_DOCUMENT_RENAME, types.RenameOptions(prepare_provider=True))(of_document(renamed))
    server.feature(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)(of_document(outlined))
    server.feature(types.WORKSPACE_SYMBOL)(searched)
    server.feature(types.TEXT_DOCUMENT_INLAY_HINT)(of_document(hinted))
    server.feature(types.TEXT_DOCUMENT_PREPARE_CALL_HIERARCHY)(of_document(called))
    server.feature(types.CALL_HIERARCHY_INCOMING_CALLS)(of_item(incoming))
    server.feature(types.CALL_HIERARCHY_OUTGOING_CALLS)(of_item(outgoing))
