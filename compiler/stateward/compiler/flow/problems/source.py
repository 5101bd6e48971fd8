"""Faults of a source as a whole: its size, its encoding, what kind of text it is, what it imports."""

from enum import Enum
from typing import NamedTuple

from stateward.compiler.diagnostics.model import Diagnostic, Label, Severity
from stateward.compiler.diagnostics.wording import listed, quoted
from stateward.compiler.flow.schema import FLOW, LATER_VERSION
from stateward.compiler.source import Place, Source, Span


class Nature(Enum):
    """What a file is that is no UTF-8, and what is told about it."""

    TEXT = None
    UTF_16 = "the file begins with the mark of UTF-16"
    UTF_32 = "the file begins with the mark of UTF-32"
    UTF_16_BARE = "the bytes are those of UTF-16 without its mark"
    UTF_32_BARE = "the bytes are those of UTF-32 without its mark"
    BINARY = "the file holds binary data"


class SourceTooLarge(NamedTuple):
    """A source with more bytes than are read."""

    source: Source
    passed_at: int
    """Offset of the first character that lies beyond the limit."""
    limit: int

    def diagnostic(self) -> Diagnostic:
        """Tell it at the first character too many."""
        return Diagnostic(
            code="source_too_large",
            severity=Severity.ERROR,
            message=f"the source is larger than {self.limit:,} bytes",
            primary=Label(Place(self.source, Span(self.passed_at, self.passed_at)), "the limit is passed here"),
            notes=("nothing in it was looked at",),
        )


class SourceNotUtf8(NamedTuple):
    """Bytes that are no UTF-8."""

    source: Source
    """The bytes, decoded as far as that goes."""
    bad_at: int
    """Offset of the first character that could not be decoded."""
    byte: int
    byte_offset: int
    nature: Nature

    def diagnostic(self) -> Diagnostic:
        """Tell it at the first bad byte."""
        return Diagnostic(
            code="source_not_utf8",
            severity=Severity.ERROR,
            message="the source is not UTF-8",
            primary=Label(Place(self.source, Span(self.bad_at, self.bad_at)), f"byte 0x{self.byte:02X} at offset {self.byte_offset:,}"),
            notes=(self.nature.value,) if self.nature.value is not None else (),
            help="save the file as UTF-8" if self.nature is not Nature.BINARY else None,
        )


class NotAFlowSource(NamedTuple):
    """A text that does not parse and holds nothing of a flow: an empty one, or another kind of file."""

    message: str
    label: str
    first: Diagnostic
    """The first syntax fault."""

    def diagnostic(self) -> Diagnostic:
        """Tell it once, where reading stopped, in place of every syntax fault."""
        return Diagnostic(
            code=self.first.code,
            severity=Severity.ERROR,
            message=self.message,
            primary=Label(self.first.primary.place, self.label),
            notes=(f"a Flow source has the fields {listed(FLOW.names)}",),
            kind=self.first.kind,
        )


class ImportRefused(NamedTuple):
    """An import in a version that has none."""

    place: Place
    version: int

    def diagnostic(self) -> Diagnostic:
        """Tell it at the import expression."""
        return Diagnostic(
            code="dcdl_import",
            severity=Severity.ERROR,
            message=f"a version-{self.version} flow cannot import",
            primary=Label(self.place, "imports another module"),
            notes=("a Flow source stands alone, so that its digest covers all of it",),
            kind="import",
        )


class ImportUnused(NamedTuple):
    """An import that evaluation never asked for."""

    place: Place
    specifier: str

    def diagnostic(self) -> Diagnostic:
        """Tell it at the import expression."""
        return Diagnostic(
            code="import_unused",
            severity=Severity.WARNING,
            message=f"the import of {quoted(self.specifier)} is never needed",
            primary=Label(self.place, "never evaluated"),
            notes=("the module is not read, and not kept with the flow",),
        )


class ModuleOfAnotherVersion(NamedTuple):
    """An imported module that is itself a flow of a version in which there are no imports, or that is not known."""

    place: Place
    version: int
    said: Place

    def diagnostic(self) -> Diagnostic:
        """Tell it at the import expression."""
        return Diagnostic(
            code="dcdl_import",
            severity=Severity.ERROR,
            message=f"a flow of version {self.version} cannot be imported",
            primary=Label(self.place, "imports another flow"),
            secondary=(Label(self.said, "says its version"),),
            notes=(f"what a flow of version {LATER_VERSION} imports is of that version or says none",),
            kind="import",
        )
