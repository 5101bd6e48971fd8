"""What the syntax finds wrong, and how it becomes a diagnostic.

Invariants: positions are code points of the one text being read; a fault has one cause and is reported once.
"""

from dataclasses import dataclass
from typing import Final

from stateward.compiler.diagnostics.model import Applicability, Diagnostic, Edit, Fix, Label, Severity
from stateward.compiler.source import Place, Source, Span

CODE: Final = "dcdl_syntax"
ESCAPE_CODE: Final = "unknown_escape"
MERGE_CODE: Final = "merge_marks_in_text"
FAULTS_MAX: Final = 100
"""Faults of one text that are reported; after so many the rest of it is not looked at."""


@dataclass(frozen=True, slots=True)
class Note:
    """A further place of the story and what is to be said there."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Fault:
    """Something wrong with the text between two offsets."""

    start: int
    end: int
    message: str
    label: str
    help: str | None = None
    secondary: tuple[Note, ...] = ()
    notes: tuple[str, ...] = ()
    fix: Fix | None = None
    kind: str = "syntax"
    warning: bool = False
    code: str = CODE

    def diagnostic(self, source: Source) -> Diagnostic:
        """Give the form in which every phase reports."""
        return Diagnostic(
            code=self.code,
            severity=Severity.WARNING if self.warning else Severity.ERROR,
            message=self.message,
            primary=Label(Place(source, Span(self.start, self.end)), self.label),
            secondary=tuple(Label(Place(source, Span(note.start, note.end)), note.text) for note in self.secondary),
            notes=self.notes,
            help=self.help,
            fixes=(self.fix,) if self.fix else (),
            kind=self.kind,
        )


def fix(title: str, *edits: tuple[int, int, str], safe: bool = True) -> Fix:
    """Make a fix of (start, end, replacement) edits."""
    applicability = Applicability.SAFE if safe else Applicability.UNSAFE
    return Fix(title, tuple(Edit(Span(start, end), replacement) for start, end, replacement in edits), applicability)


def too_deep(start: int, end: int, limit: int) -> Fault:
    """Say that brackets or expressions lie in each other too deep, at the one that passed the limit."""
    return Fault(start, end, f"nested too deep (limit {limit:,})", "one level too many", kind="limit")


def too_large(at: int, limit: int) -> Fault:
    """Say that the text is larger than a module may be."""
    return Fault(at, at, f"the module is larger than {limit:,} bytes", "the limit is passed here", kind="limit")
