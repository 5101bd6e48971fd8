"""The one flat form in which every phase reports what it found. Renderers know this and nothing of the phases.

Invariants: a message is lower case, holds one fact, no remedy and no final stop; the primary label is the smallest span that carries
the fault; one cause gives one diagnostic.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from stateward.compiler.source import Place, Span

PathPart: TypeAlias = str | int


class Severity(StrEnum):
    """Whether a finding blocks."""

    ERROR = "error"
    WARNING = "warning"


class Applicability(StrEnum):
    """How sure a fix is: `safe` keeps the meaning, `unsafe` may change it, `display` is for reading only."""

    SAFE = "safe"
    UNSAFE = "unsafe"
    DISPLAY = "display"


@dataclass(frozen=True, slots=True)
class Label:
    """A place and what is to be said about the text there (two to six words; may be empty)."""

    place: Place
    text: str = ""


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace the text a span covers."""

    span: Span
    replacement: str


@dataclass(frozen=True, slots=True)
class Fix:
    """Edits of the primary label's source that mend the fault; they do not overlap."""

    title: str
    edits: tuple[Edit, ...]
    applicability: Applicability


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding."""

    code: str
    """A registered code, snake case, never reused."""
    severity: Severity
    message: str
    primary: Label
    secondary: tuple[Label, ...] = ()
    notes: tuple[str, ...] = ()
    """Facts."""
    help: str | None = None
    """The one change that would mend it."""
    fixes: tuple[Fix, ...] = ()
    path: tuple[PathPart, ...] = ()
    """Where in the evaluated document it was met; empty at the root or where there is no such place."""
    kind: str | None = None
    """The DCDL kind of a language error (`syntax`, `conflict`, …)."""
    states: tuple[str, ...] = ()
    """The states a graph diagnostic names, in order of declaration."""


def errors_of(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Give those that block."""
    return [each for each in diagnostics if each.severity is Severity.ERROR]


def sort_key(diagnostic: Diagnostic) -> tuple[str, int, int, str]:
    """Order diagnostics by file and position."""
    place = diagnostic.primary.place
    return place.source.name, place.span.start, place.span.end, diagnostic.code
