"""How a report is told: to people, or in one of the forms that programs read.

Invariants: what is printed in a form for programs is that form and nothing else; what a person has to know besides goes to standard error.
"""

from importlib.metadata import version
from typing import Final, NamedTuple

from stateward.compiler.cli.host import Host
from stateward.compiler.cli.output import SHOWN_MAX, fail, json_text, say, show_diagnostics
from stateward.compiler.diagnostics.cells import safe
from stateward.compiler.diagnostics.model import Severity
from stateward.compiler.diagnostics.report import Report, document, fixable, left_out, summary
from stateward.compiler.diagnostics.wording import counted

HUMAN: Final = "human"
FORMS: Final = (HUMAN, "line", "json", "sarif", "github")
_HOLDS_ALL: Final = frozenset({"json", "sarif"})
"""Forms that hold failures and changes too."""


class Telling(NamedTuple):
    """How a report is told."""

    form: str
    shown_max: int | None
    """Diagnostics that people are shown, 0 for all; None for as many as they usually are."""
    err: bool
    """Whether it goes to standard error, since something else is on standard output."""


def tell(report: Report, host: Host, how: Telling) -> None:
    """Tell a report."""
    err = how.err
    if report.fixed and how.form != "json":
        say(_fixed(report), err=err or how.form != HUMAN)
    if how.form == HUMAN:
        _tell_people(report, host, how)
    else:
        say(_formed(report, how), err=err)
    for failure in report.failures if how.form not in _HOLDS_ALL or not err else ():
        fail(failure)


def tell_difference(report: Report) -> None:
    """Say what mending would come to; the difference itself was printed already."""
    changed = sum(bool(each.fixed) for each in report.checked)
    errors = report.number_of(Severity.ERROR)
    left = counted(errors, "error") if errors else "no error"
    flows = counted(len(report.checked), "flow")
    say(f"checked {flows}: {counted(changed, 'file')} would be changed, {left} would be left\n", err=True)
    for failure in report.failures:
        fail(failure)


def _tell_people(report: Report, host: Host, how: Telling) -> None:
    found = [each for one in report.checked for each in one.diagnostics]
    show_diagnostics(found, host, SHOWN_MAX if how.shown_max is None else how.shown_max, err=how.err)
    for line in (*left_out(report), fixable(report)):
        if line is not None:
            say(f"{line}\n", err=how.err)
    if report.checked:
        say(f"{summary(report)}\n", err=how.err)


def _fixed(report: Report) -> str:
    """List the changes that were made, by file."""
    lines: list[str] = []
    for checked in report.checked:
        if checked.fixed:
            lines.append(f"fixed {safe(checked.file)}")
            lines += (f"  line {each.line}: {safe(each.title)} ({each.code})" for each in checked.fixed)
    return "\n".join(lines) + "\n\n"


def _formed(report: Report, how: Telling) -> str:
    """Give the report in a form for programs; each is loaded when it is asked for."""
    match how.form:
        case "line":
            from stateward.compiler.diagnostics.line import lines  # noqa: PLC0415

            return lines(report)
        case "github":
            from stateward.compiler.diagnostics.github import annotations  # noqa: PLC0415

            return annotations(report)
        case "sarif":
            from stateward.compiler.diagnostics.sarif import sarif  # noqa: PLC0415

            return f"{json_text(sarif(report, program_version=version('stateward')), indent=2, err=how.err)}\n"
        case _:
            return f"{json_text(document(report), indent=2, err=how.err)}\n"
