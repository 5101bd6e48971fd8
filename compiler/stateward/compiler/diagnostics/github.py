"""A report as workflow commands, which GitHub Actions shows beside the lines they are about.

Invariants: one line a diagnostic or failure; whatever an author wrote stays inside of its command, since every character that could end
it, or one of its properties, is escaped. What is no file of the checkout has no line to stand beside, and is shown all the same.
"""

from collections.abc import Iterator, Mapping

from stateward.compiler.diagnostics.cells import safe
from stateward.compiler.diagnostics.model import Diagnostic
from stateward.compiler.diagnostics.report import Failure, Report


def annotations(report: Report) -> str:
    """Give the report as workflow commands."""
    return "".join(f"{each}\n" for each in _commands(report))


def _commands(report: Report) -> Iterator[str]:
    for checked in report.checked:
        yield from map(_annotation, checked.diagnostics)
    yield from map(_failure, report.failures)


def _annotation(diagnostic: Diagnostic) -> str:
    place = diagnostic.primary.place
    line, column = place.source.line_column(place.span.start)
    last, end = place.source.line_column(place.span.end)
    properties = {"title": diagnostic.code, "file": place.source.name, "line": str(line), "endLine": str(last)}
    if line == last:  # columns are shown within one line only
        properties |= {"col": str(column), "endColumn": str(end)}
    notes = [f"note: {note}" for note in diagnostic.notes]
    offered = [f"help: {diagnostic.help}"] if diagnostic.help is not None else []
    return _command(diagnostic.severity.value, properties, [diagnostic.message, *notes, *offered])


def _failure(failure: Failure) -> str:
    return _command("error", {"title": "compile"}, [failure.message, *([f"help: {failure.remedy}"] if failure.remedy else [])])


def _command(name: str, properties: Mapping[str, str], text: list[str]) -> str:
    said = ",".join(f"{key}={_property(safe(value))}" for key, value in properties.items())
    return f"::{name} {said}::{_data(chr(10).join(map(safe, text)))}"


def _data(text: str) -> str:
    """Escape what ends a command."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    """Escape what ends a property."""
    return _data(text).replace(":", "%3A").replace(",", "%2C")
