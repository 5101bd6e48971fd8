"""Requests about a whole text: its form and its picture."""

from typing import Any, Final

from lsprotocol import types

from stateward.compiler.editor.formatting import format_edits
from stateward.compiler.editor.preview import preview
from stateward.compiler.editor.protocol import missing
from stateward.compiler.editor.server import FlowServer

PREVIEW: Final = "stateward/preview"


async def formatting(ls: FlowServer, params: types.DocumentFormattingParams) -> list[types.TextEdit]:
    """Bring the text into its canonical form."""
    wire = await ls.seen(params.text_document.uri)
    return wire.edits(format_edits(wire.analysis))


async def picture(ls: FlowServer, params: Any) -> dict[str, str | None]:
    """Draw the flow of a document: `{svg, message}`, of which `svg` is null where the flow cannot be drawn."""
    uri = getattr(getattr(params, "textDocument", None), "uri", None)
    if not isinstance(uri, str):
        raise missing("textDocument.uri")
    wire = await ls.seen(uri)
    return preview(wire.analysis)._asdict()


def register(server: FlowServer) -> None:
    """Register what is asked of a whole text."""
    server.feature(types.TEXT_DOCUMENT_FORMATTING)(formatting)
    server.feature(PREVIEW)(picture)
