"""Requests of an author at the keyboard: what could stand here, how the text is coloured, folded and selected, what can be done to it."""

from collections.abc import Iterable
from typing import Final

from lsprotocol import types

from stateward.compiler.editor.actions import Action, escape_selection, mends, mends_all, missing_states
from stateward.compiler.editor.colouring import coloured
from stateward.compiler.editor.completing import Item, Sort, complete
from stateward.compiler.editor.requests.answering import of_document
from stateward.compiler.editor.server import FlowServer
from stateward.compiler.editor.shaping import folds, selections
from stateward.compiler.editor.wire import Wire
from stateward.compiler.syntax.highlighting import Part, TokenClass

TRIGGERS: Final = ('"', ".", "=", "{", ";")
_KINDS: Final = {
    Sort.FIELD: types.CompletionItemKind.Field,
    Sort.STATE: types.CompletionItemKind.Class,
    Sort.VALUE: types.CompletionItemKind.Value,
    Sort.WORD: types.CompletionItemKind.Keyword,
    Sort.NAME: types.CompletionItemKind.Variable,
    Sort.SKELETON: types.CompletionItemKind.Snippet,
}
_COLOURS: Final = {
    TokenClass.KEYWORD: types.SemanticTokenTypes.Keyword,
    TokenClass.BOOLEAN: types.SemanticTokenTypes.Keyword,
    TokenClass.NUMBER: types.SemanticTokenTypes.Number,
    TokenClass.STRING: types.SemanticTokenTypes.String,
    TokenClass.ESCAPE: types.SemanticTokenTypes.Macro,
    TokenClass.PATTERN: types.SemanticTokenTypes.Regexp,
    TokenClass.OPERATOR: types.SemanticTokenTypes.Operator,
    TokenClass.COMMENT: types.SemanticTokenTypes.Comment,
    TokenClass.NAME: types.SemanticTokenTypes.Variable,
    TokenClass.FIELD: types.SemanticTokenTypes.Property,
    TokenClass.TYPE: types.SemanticTokenTypes.Type,
}
"""The classes that the protocol has a word for; editors colour the others by themselves."""
LEGEND: Final = types.SemanticTokensLegend([*dict.fromkeys(each.value for each in _COLOURS.values())], [])
_NUMBERS: Final = {told: LEGEND.token_types.index(each.value) for told, each in _COLOURS.items()}


async def completed(ls: FlowServer, params: types.CompletionParams) -> types.CompletionList:
    """Give what may be written at the cursor."""
    snippets = _has_snippets(ls)
    return await ls.answered(params.text_document.uri, lambda wire: _completion(wire, params.position, snippets=snippets))


def _completion(wire: Wire, position: types.Position, *, snippets: bool) -> types.CompletionList:
    found = complete(wire.analysis, wire.offset(position))
    return types.CompletionList(is_incomplete=False, items=[_item(wire, each, snippets=snippets) for each in found])


def _has_snippets(ls: FlowServer) -> bool:
    text = ls.client_capabilities.text_document
    item = text.completion.completion_item if text is not None and text.completion is not None else None
    return item is not None and item.snippet_support is True


def _item(wire: Wire, item: Item, *, snippets: bool) -> types.CompletionItem:
    written = wire.analysis.source.slice(item.span)
    new = item.snippet if snippets else item.text
    return types.CompletionItem(
        label=item.label,
        kind=_KINDS[item.sort],
        detail=item.detail or None,
        documentation=item.documentation or None,
        sort_text=f"{item.rank}{item.label}",
        filter_text=f'"{item.label}"' if written.startswith('"') else item.label,
        insert_text_format=types.InsertTextFormat.Snippet if snippets else types.InsertTextFormat.PlainText,
        text_edit=types.TextEdit(wire.range(item.span), new),
    )


def all_tokens(wire: Wire, _: types.SemanticTokensParams) -> types.SemanticTokens:
    """Give the classes of the whole text."""
    return types.SemanticTokens(_encoded(wire, coloured(wire.analysis)))


def some_tokens(wire: Wire, params: types.SemanticTokensRangeParams) -> types.SemanticTokens:
    """Give the classes of a part of the text."""
    return types.SemanticTokens(_encoded(wire, coloured(wire.analysis, wire.span(params.range))))


def _encoded(wire: Wire, parts: Iterable[Part]) -> list[int]:
    """Encode parts as the protocol does: five numbers each, places relative to the part before."""
    data: list[int] = []
    line = character = 0
    for start, end, told in parts:
        number = _NUMBERS.get(told)
        if number is None:
            continue
        begin, over = wire.position(start), wire.position(end)
        same = begin.line == line
        data += [begin.line - line, begin.character - (character if same else 0), over.character - begin.character, number, 0]
        line, character = begin.line, begin.character
    return data


def folded(wire: Wire, _: types.FoldingRangeParams) -> list[types.FoldingRange]:
    """Give what can be folded away."""
    found = []
    for each in folds(wire.analysis):
        first, last = wire.position(each.span.start).line, wire.position(each.last).line
        kind = types.FoldingRangeKind.Comment if each.is_comment else None
        if last > first:
            found.append(types.FoldingRange(first, last, kind=kind))
    return found


def selected(wire: Wire, params: types.SelectionRangeParams) -> list[types.SelectionRange]:
    """Give the parts around each place, the smallest first."""
    return [_nested(wire, wire.offset(each)) for each in params.positions]


def _nested(wire: Wire, offset: int) -> types.SelectionRange:
    outer: types.SelectionRange | None = None
    for span in reversed(selections(wire.analysis, offset)):
        outer = types.SelectionRange(wire.range(span), outer)
    assert outer is not None, "the whole text is around every place"
    return outer


def code_actions(wire: Wire, params: types.CodeActionParams) -> list[types.CodeAction]:
    """Offer what mends the findings at a range, where that is certain as preferred, and what can be done to a selection."""
    span, only = wire.span(params.range), params.context.only
    found: list[types.CodeAction] = []
    if _wanted(types.CodeActionKind.QuickFix, only):
        found += [
            types.CodeAction(
                title=each.fix.title,
                kind=types.CodeActionKind.QuickFix,
                diagnostics=[wire.diagnostic(each.diagnostic)],
                is_preferred=each.is_certain,
                edit=wire.workspace_edit(each.fix.edits),
            )
            for each in mends(wire.analysis, span)
        ]
        found += [_action(wire, each, types.CodeActionKind.QuickFix) for each in missing_states(wire.analysis, span)]
    if _wanted(types.CodeActionKind.RefactorRewrite, only):
        found += [_action(wire, each, types.CodeActionKind.RefactorRewrite) for each in escape_selection(wire.analysis, span)]
    if _wanted(types.CodeActionKind.SourceFixAll, only):
        found += [_action(wire, each, types.CodeActionKind.SourceFixAll) for each in mends_all(wire.analysis)]
    return found


def _wanted(kind: types.CodeActionKind, only: Iterable[str] | None) -> bool:
    """Tell whether actions of a kind are asked for: of that kind, or of one that it is part of."""
    return only is None or any(kind.value == each or kind.value.startswith(f"{each}.") for each in map(str, only))


def _action(wire: Wire, action: Action, kind: types.CodeActionKind) -> types.CodeAction:
    mended = None if action.diagnostic is None else [wire.diagnostic(action.diagnostic)]
    return types.CodeAction(title=action.title, kind=kind, diagnostics=mended, edit=wire.workspace_edit(action.edits))


def register(server: FlowServer) -> None:
    """Register what is asked while a text is written."""
    kinds = [types.CodeActionKind.QuickFix, types.CodeActionKind.RefactorRewrite, types.CodeActionKind.SourceFixAll]
    server.feature(types.TEXT_DOCUMENT_CODE_ACTION, types.CodeActionOptions(kinds))(of_document(code_actions))
    server.feature(types.TEXT_DOCUMENT_COMPLETION, types.CompletionOptions(trigger_characters=list(TRIGGERS)))(completed)
    server.feature(types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL, LEGEND)(of_document(all_tokens))
    server.feature(types.TEXT_DOCUMENT_SEMANTIC_TOKENS_RANGE, LEGEND)(of_document(some_tokens))
    server.feature(types.TEXT_DOCUMENT_FOLDING_RANGE)(of_document(folded))
    server.feature(types.TEXT_DOCUMENT_SELECTION_RANGE)(of_document(selected))
