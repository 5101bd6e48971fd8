"""Requests about a whole text: its form, what mends it, its picture."""

from typing import Any, Final

from lsprotocol import types

from stateward.compiler.editor.actions import mends
from stateward.compiler.editor.formatting import format_edits
from stateward.compiler.editor.preview import preview
from stateward.compiler.editor.server import FlowServer, request_failed

PREVIEW: Final = "stateward/preview"


async def formatting(ls: FlowServer, params: types.DocumentFormattingParams) -> list[types.TextEdit]:
    """Bring the text into its canonical form."""
    wire = await ls.seen(params.text_document.uri)
    return wire.edits(format_edits(wire.analysis))


async def code_actions(ls: FlowServer, params: types.CodeActionParams) -> list[types.CodeAction]:
    """Offer what mends the findings at a range; what is certain is preferred."""
    wire = await ls.seen(params.text_document.uri)
    return [
        types.CodeAction(
            title=each.fix.title,
            kind=types.CodeActionKind.QuickFix,
            diagnostics=[wire.diagnostic(each.diagnostic)],
            is_preferred=each.is_certain,
            edit=wire.workspace_edit(each.fix.edits),
        )
        for each in mends(wire.analysis, wire.span(params.range))
    ]


async def picture(ls: FlowServer, params: Any) -> dict[str, str | None]:
    """Draw the flow of a document: `{svg, message}`, of which `svg` is null where the flow cannot be drawn."""
    uri = getattr(getattr(params, "textDocument", None), "uri", None)
    if not isinstance(uri, str):
        raise request_failed("the request names no document: `textDocument.uri`")
    wire = await ls.seen(uri)
    return preview(wire.analysis)._asdict()


def register(server: FlowServer) -> None:
    """Register what is asked of a whole text."""
    server.feature(types.TEXT_DOCUMENT_FORMATTING)(formatting)
    server.feature(types.TEXT_DOCUMENT_CODE_ACTION, types.CodeActionOptions([types.CodeActionKind.QuickFix]))(code_actions)
    server.feature(PREVIEW)(picture)
