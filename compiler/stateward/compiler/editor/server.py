"""The server: the texts that an editor holds, their analyses, and the session.

Invariants: what is told of a text carries the version it was found for, and is told only while that version is the newest; an analysis is
made once a version. Analyses and answers are made away from the loop, one after the other, so that messages are taken in meanwhile; what is
not needed any more is dropped where it has not begun. A request that fails is answered with an error and ends nothing.
"""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import replace
from functools import partial
from importlib.metadata import version
from typing import Any, Final, TypeVar

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer

from stateward.compiler.editor.analysis import Analysis
from stateward.compiler.editor.documents import DOCUMENTS_MAX, TEXTS_CHARS_MAX, Change, Document
from stateward.compiler.editor.importing import loader_of, path_of, sought_by
from stateward.compiler.editor.positions import Encoding
from stateward.compiler.editor.protocol import StrictProtocol
from stateward.compiler.editor.wire import NAME, Wire, changes, failed, lost
from stateward.compiler.editor.worker import Worker

PAUSE_SECONDS: Final = 0.05
"""How long the text has to stay as it is before its faults are told."""
ANALYSES_MAX: Final = 32
"""Analyses that are kept, the last ones that were asked for; the others are made again when they are needed."""
CONTENT_MODIFIED: Final = types.LSPErrorCodes.ContentModified.value
_REQUEST_FAILED: Final = types.LSPErrorCodes.RequestFailed.value
Made = TypeVar("Made")


def request_failed(message: str) -> JsonRpcException:
    """Make the answer to a request that cannot be done, for a reason that the author should see."""
    return JsonRpcException(message, code=_REQUEST_FAILED)


class FlowServer(LanguageServer):
    """One session with one editor."""

    protocol: StrictProtocol

    def __init__(self) -> None:
        super().__init__(NAME, version("stateward"), protocol_cls=StrictProtocol)
        self.documents: dict[str, Document] = {}
        self._analyses: dict[Document, Future[Analysis]] = {}
        self._answers: dict[Document, set[asyncio.Future[Any]]] = {}
        self._telling: dict[str, asyncio.Task[None]] = {}
        self._sought: dict[str, frozenset[str]] = {}
        self.worker = Worker("analysis")

    @property
    def encoding(self) -> Encoding:
        """The units that were agreed on."""
        return Encoding(self.server_capabilities.position_encoding or Encoding.UTF16)

    def shutdown(self) -> None:
        """Let go of what the session held."""
        self.worker.end()
        super().shutdown()  # type: ignore[no-untyped-call]  # pygls says nothing of what it gives

    def opened(self, params: types.DidOpenTextDocumentParams) -> None:
        """Take a text in."""
        told = params.text_document
        self._take(Document(told.uri, told.version, "").edited(told.version, [Change(told.text)], self.encoding), 0)
        self._tell_importers(told.uri)

    def changed(self, params: types.DidChangeTextDocumentParams) -> None:
        """Change a text; one that cannot be changed as it was told is lost, and that is said."""
        told = params.text_document
        before = self.documents.get(told.uri) or Document(told.uri, None, "", "it was never opened")
        self._take(before.edited(told.version, changes(params.content_changes), self.encoding), PAUSE_SECONDS)
        self._tell_importers(told.uri)

    def closed(self, params: types.DidCloseTextDocumentParams) -> None:
        """Forget a text and take back what was told of it."""
        uri = params.text_document.uri
        self._drop(self.documents.pop(uri, None))
        self._sought.pop(uri, None)
        self._tell_importers(uri)
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))

    def lose(self, uri: str, version: int | None, why: str) -> None:
        """Give up a text that is open."""
        if uri in self.documents:
            self._take(Document(uri, version, "", why), 0)

    def log(self, message: str) -> None:
        """Tell what is for the log of the editor."""
        self.window_log_message(types.LogMessageParams(types.MessageType.Error, message))

    async def answered(self, uri: str, make: Callable[[Wire], Made]) -> Made:
        """Make an answer from the newest version of a document, away from the loop.

        Raises JsonRpcException where the text is not known, or changes before the answer is there; and whatever `make` raises.
        """
        document = self.documents.get(uri)
        if document is None or document.lost is not None:
            raise request_failed("the text of the document is not known")
        analysis, encoding = self._analysed(document), self.encoding
        answer = asyncio.wrap_future(self.worker.submit(lambda: make(Wire(document, analysis.result(), encoding))))
        under_way = self._answers.setdefault(document, set())
        under_way.add(answer)
        try:
            await asyncio.wait([answer])
            fault = None if answer.cancelled() else answer.exception()
        finally:
            answer.cancel()
            under_way.discard(answer)
            if not under_way:
                self._answers.pop(document, None)
        if self.documents.get(uri) is not document:
            raise JsonRpcException("the text has changed in the meantime", code=CONTENT_MODIFIED) from fault
        return answer.result()

    def _take(self, document: Document, pause: float) -> None:
        """Make a version the newest one, and see to it that what is wrong with it is told."""
        before = self.documents.get(document.uri)
        document = self._kept(document)
        self._drop(before)
        self.documents[document.uri] = document
        task = asyncio.ensure_future(self._tell(document, pause))
        task.add_done_callback(self._told)
        self._telling[document.uri] = task
        if document.lost is not None and (before is None or before.lost is None):
            message = f"{document.name}: {document.lost}; close the document and open it again"
            self.window_show_message(types.ShowMessageParams(types.MessageType.Error, message))

    def _kept(self, document: Document) -> Document:
        """Give the document, lost where there is no room for its text."""
        others = [each for uri, each in self.documents.items() if uri != document.uri]
        if len(others) >= DOCUMENTS_MAX:
            return document.without(f"more than {DOCUMENTS_MAX:,} documents are open")
        if sum(len(each.text) for each in others) + len(document.text) > TEXTS_CHARS_MAX:
            return document.without(f"the documents that are open have more than {TEXTS_CHARS_MAX:,} characters")
        return document

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
        for answer in self._answers.pop(document, ()):
            answer.cancel()

    def _analysed(self, document: Document) -> Future[Analysis]:
        found = self._analyses.pop(document, None)
        if found is None:
            found = self.worker.submit(partial(_analyse, document, tuple(self.documents.values())))
            done = [each for each, made in self._analyses.items() if made.done()]
            for each in done[: max(len(done) - ANALYSES_MAX + 1, 0)]:
                del self._analyses[each]
        self._analyses[document] = found
        return found

    async def _tell(self, document: Document, pause: float) -> None:
        """Tell what is wrong with a version, if it is still the newest then."""
        await asyncio.sleep(pause)
        if document.lost is not None:
            found = lost(document.lost)
        else:
            analysis = asyncio.wrap_future(self._analysed(document))
            try:
                await asyncio.wait([analysis])
            finally:
                analysis.cancel()  # nobody is told of a fault that comes after this version was dropped
            fault = analysis.exception()
            if fault is None and self.documents.get(document.uri) is document:
                self._sought[document.uri] = sought_by(document, analysis.result())
            found = Wire(document, analysis.result(), self.encoding).diagnostics() if fault is None else failed(fault)
        if self.documents.get(document.uri) is document and not self.protocol.is_over:
            self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(document.uri, found, document.version))

    def _tell_importers(self, uri: str) -> None:
        """Judge anew the texts that import a file which was opened, changed or closed."""
        path = path_of(uri)
        for importer, sought in tuple(self._sought.items()):
            document = self.documents.get(importer)
            if path in sought and document is not None and importer != uri:
                self._take(replace(document), PAUSE_SECONDS)

    def _told(self, task: "asyncio.Task[None]") -> None:
        fault = None if task.cancelled() else task.exception()
        if fault is not None:
            self.log(f"{type(fault).__name__}: {fault}")


def _analyse(document: Document, open_: Sequence[Document]) -> Analysis:
    analysis = Analysis(document.name, document.text, document.slug, loader_of(document, open_))
    assert analysis.diagnostics is not None
    return analysis
