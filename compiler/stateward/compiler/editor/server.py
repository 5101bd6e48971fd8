"""The server: the texts that an editor holds, their analyses, and the session.

Invariants: what is told of a text carries the version it was found for, and is told only while that version is the newest; an analysis is
made once a version, away from the loop, one after the other; one that is not needed any more is dropped where it has not begun. A request
that fails is answered with an error and ends nothing. Nothing but the protocol is written to standard output.
"""

import asyncio
import sys
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from typing import Any, Final

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol
from pygls.protocol.language_server import lsp_method

from stateward.compiler.editor.analysis import Analysis
from stateward.compiler.editor.documents import Document
from stateward.compiler.editor.positions import Encoding
from stateward.compiler.editor.wire import NAME, Wire, changes, lost

PAUSE_SECONDS: Final = 0.05
"""How long the text has to stay as it is before its faults are told."""
_CONTENT_MODIFIED: Final = types.LSPErrorCodes.ContentModified.value
_REQUEST_FAILED: Final = types.LSPErrorCodes.RequestFailed.value


def request_failed(message: str) -> JsonRpcException:
    """Make the answer to a request that cannot be done, for a reason that the author should see."""
    return JsonRpcException(message, code=_REQUEST_FAILED)


class _Protocol(LanguageServerProtocol):
    """The protocol without texts of its own: its lines end elsewhere than the lines of an editor do."""

    @lsp_method(types.TEXT_DOCUMENT_DID_OPEN)
    def lsp_text_document__did_open(self, params: types.DidOpenTextDocumentParams) -> Generator[Any, Any, None]:
        """Take a text in."""
        yield _of(self).opened, (params,), None

    @lsp_method(types.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(self, params: types.DidChangeTextDocumentParams) -> Generator[Any, Any, None]:
        """Change a text."""
        yield _of(self).changed, (params,), None

    @lsp_method(types.TEXT_DOCUMENT_DID_CLOSE)
    def lsp_text_document__did_close(self, params: types.DidCloseTextDocumentParams) -> Generator[Any, Any, None]:
        """Forget a text."""
        yield _of(self).closed, (params,), None


def _of(protocol: LanguageServerProtocol) -> "FlowServer":
    server = protocol._server  # noqa: SLF001 - the library gives its server to handlers in no other way
    assert isinstance(server, FlowServer)
    return server


class FlowServer(LanguageServer):
    """One session with one editor."""

    def __init__(self) -> None:
        super().__init__(NAME, version("stateward"), protocol_cls=_Protocol)
        self.documents: dict[str, Document] = {}
        self._analyses: dict[Document, asyncio.Future[Analysis]] = {}
        self._telling: dict[str, asyncio.Task[None]] = {}
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="analysis")

    @property
    def encoding(self) -> Encoding:
        """The units that were agreed on."""
        return Encoding(self.server_capabilities.position_encoding or Encoding.UTF16)

    def opened(self, params: types.DidOpenTextDocumentParams) -> None:
        """Take a text in."""
        told = params.text_document
        self._take(Document(told.uri, told.version, told.text), 0)

    def changed(self, params: types.DidChangeTextDocumentParams) -> None:
        """Change a text; one that cannot be changed as it was told is lost, and that is said."""
        told = params.text_document
        before = self.documents.get(told.uri) or Document(told.uri, None, "", "it was never opened")
        after = before.edited(told.version, changes(params.content_changes), self.encoding)
        self._take(after, PAUSE_SECONDS)
        if after.lost is not None and before.lost is None:
            message = f"{after.name}: {after.lost}; close the document and open it again"
            self.window_show_message(types.ShowMessageParams(types.MessageType.Error, message))

    def closed(self, params: types.DidCloseTextDocumentParams) -> None:
        """Forget a text and take back what was told of it."""
        uri = params.text_document.uri
        self._drop(self.documents.pop(uri, None))
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))

    async def seen(self, uri: str) -> Wire:
        """Give the newest version of a document, analysed. Fails where its text is not known, or changes in the meantime."""
        document = self.documents.get(uri)
        if document is None or document.lost is not None:
            raise request_failed("the text of the document is not known")
        analysis = await asyncio.shield(self._analysed(document))
        if self.documents.get(uri) is not document:
            raise JsonRpcException("the text has changed in the meantime", code=_CONTENT_MODIFIED)
        return Wire(document, analysis, self.encoding)

    def _take(self, document: Document, pause: float) -> None:
        self._drop(self.documents.get(document.uri))
        self.documents[document.uri] = document
        task = asyncio.ensure_future(self._tell(document, pause))
        task.add_done_callback(self._told)
        self._telling[document.uri] = task

    def _drop(self, document: Document | None) -> None:
        """Leave alone what was begun for a version that is not the newest any more."""
        if document is None:
            return
        task = self._telling.pop(document.uri, None)
        if task is not None:
            task.cancel()
        analysis = self._analyses.pop(document, None)
        if analysis is not None:
            analysis.cancel()

    def _analysed(self, document: Document) -> "asyncio.Future[Analysis]":
        found = self._analyses.get(document)
        if found is None:
            loop = asyncio.get_running_loop()
            found = self._analyses[document] = loop.run_in_executor(self._worker, _analyse, document)
        return found

    async def _tell(self, document: Document, pause: float) -> None:
        """Tell what is wrong with a version, if it is still the newest then."""
        await asyncio.sleep(pause)
        if document.lost is not None:
            found = lost(document.lost)
        else:
            analysis = await asyncio.shield(self._analysed(document))
            found = Wire(document, analysis, self.encoding).diagnostics()
        if self.documents.get(document.uri) is document:
            self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(document.uri, found, document.version))

    def _told(self, task: "asyncio.Task[None]") -> None:
        fault = None if task.cancelled() else task.exception()
        if fault is not None:
            message = f"{type(fault).__name__}: {fault}"
            self.window_log_message(types.LogMessageParams(types.MessageType.Error, message))


def _analyse(document: Document) -> Analysis:
    analysis = Analysis(document.name, document.text, document.slug)
    assert analysis.diagnostics is not None
    return analysis


def serve() -> None:
    """Serve the editor at standard input and output until it leaves."""
    from stateward.compiler.editor.requests import register  # noqa: PLC0415 - it registers on what is defined here

    server = FlowServer()
    register(server)
    reading, writing = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr  # what anything else prints must not get between the messages
    server.start_io(reading, writing)
