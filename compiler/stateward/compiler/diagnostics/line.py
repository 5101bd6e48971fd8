"""A report as lines that editors and `grep` understand: `path:line:column: severity[code] message`.

Invariants: one line a diagnostic and nothing else; lines and columns as people are shown them.
"""

from stateward.compiler.diagnostics.cells import safe
from stateward.compiler.diagnostics.model import Diagnostic
from stateward.compiler.diagnostics.report import Report


def lines(report: Report) -> str:
    """Give the report as lines."""
    return "".join(f"{_line(each)}\n" for checked in report.checked for each in checked.diagnostics)


def _line(diagnostic: Diagnostic) -> str:
    place = diagnostic.primary.place
    line, column = place.source.line_column(place.span.start)
    return f"{safe(place.source.name)}:{line}:{column}: {diagnostic.severity.value}[{diagnostic.code}] {safe(diagnostic.message)}"
