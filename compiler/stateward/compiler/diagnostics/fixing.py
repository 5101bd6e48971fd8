"""Fixes chosen and made: of what is offered, the edits that go together, and the text that comes of them.

Invariants: pure; edits that are made do not overlap nor touch, so that the order in which they are made changes nothing; of two fixes that
cannot be made together the earlier is, and the other is left for another time.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from stateward.compiler.diagnostics.model import Applicability, Diagnostic, Edit, Fix
from stateward.compiler.source import Source


class Change(NamedTuple):
    """A fix and what it mends."""

    diagnostic: Diagnostic
    fix: Fix

    @property
    def is_safe(self) -> bool:
        """Whether the meaning stays."""
        return self.fix.applicability is Applicability.SAFE


def offered(diagnostics: Iterable[Diagnostic], source: Source, *, unsafe: bool) -> list[Change]:
    """Give the surest fix of each diagnostic about a source, in their order."""
    kinds = (Applicability.SAFE, Applicability.UNSAFE) if unsafe else (Applicability.SAFE,)
    changes: list[Change] = []
    for each in diagnostics:
        found = next((fix for kind in kinds for fix in each.fixes if fix.applicability is kind), None)
        if found is not None and found.edits and each.primary.place.source is source:
            changes.append(Change(each, found))
    return changes


def together(changes: Sequence[Change]) -> list[Change]:
    """Choose those that can be made together, the earlier ones first."""
    chosen: list[Change] = []
    taken: list[Edit] = []
    for change in changes:
        if all(_apart(edit, other) for edit in change.fix.edits for other in taken):
            chosen.append(change)
            taken += change.fix.edits
    return chosen


def _apart(edit: Edit, other: Edit) -> bool:
    return edit.span.end < other.span.start or other.span.end < edit.span.start


def applied(text: str, changes: Iterable[Change]) -> str:
    """Make changes that go together."""
    edits = sorted((edit for change in changes for edit in change.fix.edits), key=lambda each: each.span, reverse=True)
    for edit in edits:
        text = text[: edit.span.start] + edit.replacement + text[edit.span.end :]
    return text
