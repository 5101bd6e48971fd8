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
from stateward.compiler.editor.server import FlowServer, request_failed
from stateward.compiler.editor.states import States
from stateward.compiler.editor.symbols import SYMBOLS_MAX, Sort, Symbol, matching, symbols
from stateward.compiler.editor.wire import Wire

_KINDS: Final = {
    Sort.STATE: types.SymbolKind.Class,
    Sort.TRANSITION: types.SymbolKind.Event,
    Sort.NAME: types.SymbolKind.Variable,
    Sort.FIELD: types.SymbolKind.Property,
}
_START: Final = types.Position(0, 0)


async def hovered(ls: FlowServer, params: types.HoverParams) -> types.Hover | None:
    """Explain what stands under the cursor."""
    wire = await ls.seen(params.text_document.uri)
    found = hover(wire.analysis, wire.offset(params.position))
    if found is None:
        return None
    return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, found.markdown), wire.range(found.span))


async def definition(ls: FlowServer, params: types.DefinitionParams) -> list[types.Location]:
    """Give where it is declared."""
    wire = await ls.seen(params.text_document.uri)
    offset = wire.offset(params.position)
    importing = import_at(wire.analysis, offset)
    if importing is not None:
        file = imported(wire.document.uri, importing.specifier)
        return [] if file is None else [types.Location(file, types.Range(_START, _START))]
    return [wire.location(each) for each in definitions(wire.analysis, offset)]


async def referenced(ls: FlowServer, params: types.ReferenceParams) -> list[types.Location]:
    """Give where it is named."""
    wire = await ls.seen(params.text_document.uri)
    declaration = params.context.include_declaration
    return [wire.location(each) for each in references(wire.analysis, wire.offset(params.position), declaration=declaration)]


async def highlights(ls: FlowServer, params: types.DocumentHighlightParams) -> list[types.DocumentHighlight]:
    """Mark every place where it is named."""
    wire = await ls.seen(params.text_document.uri)
    found = references(wire.analysis, wire.offset(params.position), declaration=True)
    return [types.DocumentHighlight(wire.range(each)) for each in found]


async def prepare(ls: FlowServer, params: types.PrepareRenameParams) -> types.PrepareRenamePlaceholder | None:
    """Say what would be renamed; fails with the reason where it cannot be."""
    wire = await ls.seen(params.text_document.uri)
    found = renameable(wire.analysis, wire.offset(params.position))
    if isinstance(found, Refused):
        raise request_failed(found.reason)
    return None if found is None else types.PrepareRenamePlaceholder(wire.range(found.span), found.name)


async def renamed(ls: FlowServer, params: types.RenameParams) -> types.WorkspaceEdit | None:
    """Rename it everywhere; fails with the reason where it cannot be."""
    wire = await ls.seen(params.text_document.uri)
    found = rename(wire.analysis, wire.offset(params.position), params.new_name)
    if isinstance(found, Refused):
        raise request_failed(found.reason)
    return None if found is None else wire.workspace_edit(found)


async def outlined(ls: FlowServer, params: types.DocumentSymbolParams) -> list[types.DocumentSymbol]:
    """Give what the text declares."""
    wire = await ls.seen(params.text_document.uri)
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
    """Find what open documents declare."""
    found: list[types.WorkspaceSymbol] = []
    for uri, document in sorted(ls.documents.items()):
        if document.lost is None and len(found) < SYMBOLS_MAX:
            wire = await ls.seen(uri)
            found += [
                types.WorkspaceSymbol(
                    wire.location(each.key), each.name or " ", _KINDS[each.sort], container_name=within or wire.document.name
                )
                for each, within in matching(symbols(wire.analysis), params.query)
                if each.sort is not Sort.FIELD
            ]
    return found[:SYMBOLS_MAX]


async def hinted(ls: FlowServer, params: types.InlayHintParams) -> list[types.InlayHint]:
    """Remark on the states of a part of the text."""
    wire = await ls.seen(params.text_document.uri)
    return [
        types.InlayHint(wire.position(each.offset), each.text, padding_left=True) for each in hints(wire.analysis, wire.span(params.range))
    ]


# --- calls: what leads to a state, and where it leads -------------------------------------------------------------------------------------


async def called(ls: FlowServer, params: types.CallHierarchyPrepareParams) -> list[types.CallHierarchyItem]:
    """Give the state under the cursor."""
    wire = await ls.seen(params.text_document.uri)
    use = States(wire.analysis).at(wire.offset(params.position))
    item = None if use is None else _item(wire, use.id)
    return [] if item is None else [item]


async def incoming(ls: FlowServer, params: types.CallHierarchyIncomingCallsParams) -> list[types.CallHierarchyIncomingCall]:
    """Give the states that lead to one."""
    wire = await ls.seen(params.item.uri)
    calls = _by_state((way, way.state.id) for way in Graph(wire.analysis).into(params.item.name))
    return [types.CallHierarchyIncomingCall(item, _ranges(wire, ways)) for id_, ways in calls.items() if (item := _item(wire, id_))]


async def outgoing(ls: FlowServer, params: types.CallHierarchyOutgoingCallsParams) -> list[types.CallHierarchyOutgoingCall]:
    """Give the states that one leads to."""
    wire = await ls.seen(params.item.uri)
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
    server.feature(types.TEXT_DOCUMENT_HOVER)(hovered)
    server.feature(types.TEXT_DOCUMENT_DEFINITION)(definition)
    server.feature(types.TEXT_DOCUMENT_REFERENCES)(referenced)
    server.feature(types.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT)(highlights)
    server.feature(types.TEXT_DOCUMENT_PREPARE_RENAME)(prepare)
    server.feature(types.TEXT_DOCUMENT_RENAME, types.RenameOptions(prepare_provider=True))(renamed)
    server.feature(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)(outlined)
    server.feature(types.WORKSPACE_SYMBOL)(searched)
    server.feature(types.TEXT_DOCUMENT_INLAY_HINT)(hinted)
    server.feature(types.TEXT_DOCUMENT_PREPARE_CALL_HIERARCHY)(called)
    server.feature(types.CALL_HIERARCHY_INCOMING_CALLS)(incoming)
    server.feature(types.CALL_HIERARCHY_OUTGOING_CALLS)(outgoing)
