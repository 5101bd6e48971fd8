"""Requests about a whole text: its form and its picture."""

from typing import Any, Final

from lsprotocol import types

from stateward.compiler.editor.formatting import format_edits
from stateward.compiler.editor.preview import preview
from stateward.compiler.editor.protocol import missing
from stateward.compiler.editor.requests.answering import of_document
from stateward.compiler.editor.server import FlowServer
from stateward.compiler.editor.wire import Wire

PREVIEW: Final = "stateward/preview"


def formatting(wire: Wire, _: types.DocumentFormattingParams) -> list[types.TextEdit]:
    """Bring the text into its canonical form."""
    return wire.edits(format_edits(wire.analysis))


async def picture(ls: FlowServer, params: Any) -> dict[str, str | None]:
    """Draw the flow of a document: `{svg, message}`, of which `svg` is null where the flow cannot be drawn."""
    uri = getattr(getattr(params, "textDocument", None), "uri", None)
    if not isinstance(uri, str):
        raise missing("textDocument.uri")
    return await ls.answered(uri, lambda wire: preview(wire.analysis)._asdict())


def register(server: FlowServer) -> None:
    """Register what is asked of a whole text."""
    server.feature(types.TEXT_DOCUMENT_FORMATTING)(of_document(formatting))
    server.feature(PREVIEW)(picture)
