"""What a run over several sources comes to: the counts, the closing line for people, the document for programs.

Invariants: pure; the document is the one described in docs/reference/compile-json.md; a failure is a source that could not be looked
at, which is nothing that its author wrote.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

from stateward.compiler.diagnostics.cells import safe
from stateward.compiler.diagnostics.json import VERSION, diagnostic_json
from stateward.compiler.diagnostics.model import Diagnostic, Severity
from stateward.compiler.diagnostics.wording import counted


class Fixed(NamedTuple):
    """A change that was made to a source."""

    code: str
    """The code of the diagnostic that it mends."""
    title: str
    applicability: str
    line: int
    """Where it was made, in the text as it was just before."""
    column: int


class Mendable(NamedTuple):
    """How many changes mending would make, as it was tried."""

    safe: int
    unsafe: int
    """Those that it would make besides, when what may not be meant is asked for too."""


NOT_MENDABLE: Final = Mendable(0, 0)


class Checked(NamedTuple):
    """One source that was looked at."""

    file: str
    flow: str | None
    """The name of the flow, where it compiled."""
    content_digest: str | None
    definition_digest: str | None
    diagnostics: tuple[Diagnostic, ...]
    fixed: tuple[Fixed, ...] = ()
    """What was changed in it; the diagnostics are of the text after that."""
    allowed: int = 0
    """Warnings that are not told, since they were accepted."""
    mendable: Mendable = NOT_MENDABLE
    left_out: int = 0
    """Fixes that were tried and not made, since the text would have been no better."""
    closure_digest: str | None = None
    """Over what it imports; None also where it imports nothing."""
    modules: tuple[tuple[str, str], ...] = ()
    """The path, seen from its folder, and the digest of each module that it imports."""

    def number_of(self, severity: Severity) -> int:
        """Count its diagnostics of one severity."""
        return sum(each.severity is severity for each in self.diagnostics)


class Failure(NamedTuple):
    """A source, or a place to write to, that could not be used."""

    message: str
    remedy: str
    status: int
    """2 when what was asked for is not there, 3 when the environment failed."""

    def text(self) -> str:
        """Tell it: a line that names the thing, and one with the remedy where there is one. Names in it cannot act on a terminal."""
        remedy = f"  = help: {safe(self.remedy)}\n" if self.remedy else ""
        return f"error: {safe(self.message)}\n{remedy}"


class Report(NamedTuple):
    """A whole run."""

    checked: Sequence[Checked]
    failures: Sequence[Failure]
    passed_over: int
    """Files of a folder that are no flows."""
    sought: tuple[str, ...] = ()
    """The files that imports name, whether they are there or not."""

    def number_of(self, severity: Severity) -> int:
        """Count all diagnostics of one severity."""
        return sum(each.number_of(severity) for each in self.checked)

    @property
    def fixed(self) -> int:
        """Count all changes that were made."""
        return sum(len(each.fixed) for each in self.checked)

    @property
    def allowed(self) -> int:
        """Count all warnings that were accepted."""
        return sum(each.allowed for each in self.checked)

    @property
    def status(self) -> int:
        """The exit status: what failed in the environment outranks what is not there, and that outranks what is wrong."""
        return max((failure.status for failure in self.failures), default=int(self.number_of(Severity.ERROR) > 0))


def stricter(diagnostics: Sequence[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Make errors of all warnings."""
    return tuple(replace(each, severity=Severity.ERROR) for each in diagnostics)


def without(diagnostics: Sequence[Diagnostic], allowed: Collection[str]) -> tuple[Diagnostic, ...]:
    """Leave out the warnings that are accepted."""
    return tuple(each for each in diagnostics if each.severity is Severity.ERROR or each.code not in allowed)


def summary(report: Report) -> str:
    """Give the closing line for people."""
    counts = [counted(report.number_of(severity), severity.value) for severity in Severity if report.number_of(severity)]
    found = ", ".join(counts) if counts else "no problems"
    passed = f"; passed over {counted(report.passed_over, 'file')} that {_is(report.passed_over)} no flow" if report.passed_over else ""
    allowed = f"; allowed {counted(report.allowed, 'warning')}" if report.allowed else ""
    fixed = f"; made {counted(report.fixed, 'change')}" if report.fixed else ""
    return f"checked {counted(len(report.checked), 'flow')}: {found}{allowed}{fixed}{passed}"


def fixable(report: Report) -> str | None:
    """Say how much mending would change; None when nothing."""
    safe_, unsafe = (sum(checked.mendable[kind] for checked in report.checked) for kind in range(len(NOT_MENDABLE)))
    if safe_:
        more = f", {unsafe} more with `--fix --unsafe-fixes`" if unsafe else ""
        return f"{safe_} can be mended with `--fix`{more}"
    return f"{unsafe} can be mended with `--fix --unsafe-fixes`" if unsafe else None


def left_out(report: Report) -> list[str]:
    """Say of each source how many fixes were tried and not made."""
    return [
        f"{safe(each.file)}: {counted(each.left_out, 'change')} left out, as the text would be no better"
        for each in report.checked
        if each.left_out
    ]


def _is(number: int) -> str:
    return "is" if number == 1 else "are"


def document(report: Report) -> dict[str, Any]:
    """Give the report as JSON data."""
    return {
        "version": VERSION,
        "files": [_checked_json(each) for each in report.checked],
        "failures": [{"message": each.message, "remedy": each.remedy, "status": each.status} for each in report.failures],
        "summary": {
            "checked": len(report.checked),
            "errors": report.number_of(Severity.ERROR),
            "warnings": report.number_of(Severity.WARNING),
            "passed_over": report.passed_over,
            "allowed": report.allowed,
            "fixed": report.fixed,
        },
    }


def _checked_json(checked: Checked) -> dict[str, Any]:
    return {
        "file": checked.file,
        "flow": checked.flow,
        "content_digest": checked.content_digest,
        "definition_digest": checked.definition_digest,
        "closure_digest": checked.closure_digest,
        "modules": [{"path": path, "digest": digest} for path, digest in checked.modules],
        "diagnostics": [diagnostic_json(each) for each in checked.diagnostics],
        "fixed": [each._asdict() for each in checked.fixed],
    }
