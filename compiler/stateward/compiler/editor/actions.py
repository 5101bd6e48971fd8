"""What would mend a finding, as edits of the text."""

from collections.abc import Iterator
from typing import NamedTuple

from stateward.compiler.diagnostics.model import Applicability, Diagnostic, Fix
from stateward.compiler.editor.analysis import Analysis
from stateward.compiler.source import Span


class Mend(NamedTuple):
    """A way to mend a finding."""

    diagnostic: Diagnostic
    fix: Fix

    @property
    def is_certain(self) -> bool:
        """Whether it leaves the meaning as it was meant for certain."""
        return self.fix.applicability is Applicability.SAFE


def mends(analysis: Analysis, span: Span) -> Iterator[Mend]:
    """Give every way to mend what is wrong at a part of the text, in the order in which it is told."""
    for diagnostic in analysis.diagnostics:
        place = diagnostic.primary.place
        if place.source is analysis.source and place.span.start <= span.end and span.start <= place.span.end:
            yield from (Mend(diagnostic, fix) for fix in diagnostic.fixes)
