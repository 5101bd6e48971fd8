"""Values of the server as the protocol has them.

Invariants: every position that leaves goes through `Wire`, which knows the text and the encoding that the editor counts in.
"""

from collections.abc import Iterable, Sequence
from urllib.parse import quote, urljoin

from lsprotocol import types

from stateward.compiler.diagnostics.codes import CODES
from stateward.compiler.diagnostics.model import Diagnostic, Edit, Severity
from stateward.compiler.diagnostics.wording import quoted
from stateward.compiler.editor.analysis import Analysis
from stateward.compiler.editor.documents import Change, Document
from stateward.compiler.editor.positions import Encoding, Lines, Position
from stateward.compiler.source import Place, Span

NAME = "stateward"
_FADED = frozenset({"unused_binding", "unreachable_state"})
"""Codes of what could be left out: editors fade it."""


class Wire:
    """One analysed version of a document, seen from the wire."""

    def __init__(self, document: Document, analysis: Analysis, encoding: Encoding) -> None:
        self.document = document
        self.analysis = analysis
        self._encoding = encoding
        self._lines = Lines(document.text, encoding)

    def position(self, offset: int) -> types.Position:
        """Give the position of an offset of the source."""
        return types.Position(*self._lines.position(offset + self.analysis.shift))

    def range(self, span: Span) -> types.Range:
        """Give the range of a span."""
        return types.Range(self.position(span.start), self.position(span.end))

    def location(self, span: Span) -> types.Location:
        """Give the place of a span."""
        return types.Location(self.document.uri, self.range(span))

    def _located(self, place: Place) -> types.Location:
        """Give a place in the text, or in a file that it imports, whose name is its path from the folder of the text."""
        if place.source is self.analysis.source:
            return self.location(place.span)
        lines = Lines(place.source.text, self._encoding)
        start, end = (types.Position(*lines.position(each)) for each in (place.span.start, place.span.end))
        return types.Location(urljoin(self.document.uri, quote(place.source.name)), types.Range(start, end))

    def offset(self, position: types.Position) -> int:
        """Give the offset in the source that an editor names; the end of the text where it names a line that is none."""
        found = self._lines.offset(Position(position.line, position.character))
        end = len(self.analysis.source.text)
        return min(max(found - self.analysis.shift, 0), end) if found is not None else end

    def span(self, range_: types.Range) -> Span:
        """Give the span of a range."""
        start = self.offset(range_.start)
        return Span(start, max(start, self.offset(range_.end)))

    def edits(self, edits: Iterable[Edit]) -> list[types.TextEdit]:
        """Give edits of the source; those that end or begin within a line end with all of it, since editors know no place there."""
        return [self._edit(each.span.start + self.analysis.shift, each.span.end + self.analysis.shift, each.replacement) for each in edits]

    def _edit(self, start: int, end: int, new: str) -> types.TextEdit:
        if self._lines.splits_line_end(start):
            start, new = start - 1, "\r" + new
        if self._lines.splits_line_end(end):
            end, new = end + 1, new + "\n"
        return types.TextEdit(types.Range(*(types.Position(*self._lines.position(each)) for each in (start, end))), new)

    def workspace_edit(self, edits: Iterable[Edit]) -> types.WorkspaceEdit:
        """Give edits that hold for this version alone."""
        identifier = types.OptionalVersionedTextDocumentIdentifier(uri=self.document.uri, version=self.document.version)
        return types.WorkspaceEdit(document_changes=[types.TextDocumentEdit(identifier, list(self.edits(edits)))])

    def diagnostics(self) -> list[types.Diagnostic]:
        """Give everything that is wrong with the text."""
        return [self.diagnostic(each) for each in self.analysis.diagnostics]

    def diagnostic(self, found: Diagnostic) -> types.Diagnostic:
        """Give one finding: its remarks stand below the message, and its other places are told as related.

        What is found in a file that the text imports stands where the text brings it in.
        """
        remarks = [*(f"note: {each}" for each in found.notes), *([f"help: {found.help}"] if found.help else [])]
        source = found.primary.place.source
        own = source is self.analysis.source
        related = [
            types.DiagnosticRelatedInformation(self._located(each.place), each.text or "here")
            for each in (found.secondary if own else (found.primary, *found.secondary))
        ]
        shown = [each.place.span for each in (found.primary, *found.secondary) if each.place.source is self.analysis.source]
        where = "" if own else f"in {quoted(source.name)}: "
        return types.Diagnostic(
            range=self.range(shown[0] if shown else Span(0, 0)),
            message="\n".join([where + found.message + (f": {found.primary.text}" if found.primary.text else ""), *remarks]),
            severity=types.DiagnosticSeverity.Error if found.severity is Severity.ERROR else types.DiagnosticSeverity.Warning,
            code=found.code,
            source=NAME,
            related_information=related or None,
            tags=[types.DiagnosticTag.Unnecessary] if found.code in _FADED else None,
            data={"title": CODES[found.code].title} if found.code in CODES else None,
        )


def lost(why: str) -> list[types.Diagnostic]:
    """Say at the head of a document that its text is not known."""
    return [_at_head(f"the text is not known to the server: {why}\nhelp: close the document and open it again")]


def failed(fault: BaseException) -> list[types.Diagnostic]:
    """Say at the head of a document that the compiler itself has failed."""
    return [_at_head(f"the compiler failed on this text: {type(fault).__name__}: {fault}")]


def _at_head(message: str) -> types.Diagnostic:
    start = types.Position(0, 0)
    return types.Diagnostic(types.Range(start, start), message, types.DiagnosticSeverity.Error, source=NAME)


def changes(told: Sequence[types.TextDocumentContentChangeEvent]) -> list[Change]:
    """Take the changes of a document."""
    return [Change(each.text, _between(each.range) if isinstance(each, types.TextDocumentContentChangePartial) else None) for each in told]


def _between(range_: types.Range) -> tuple[Position, Position]:
    return Position(range_.start.line, range_.start.character), Position(range_.end.line, range_.end.character)
