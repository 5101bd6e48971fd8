"""A report in SARIF 2.1.0, the form in which services that collect findings take them.

Invariants: one run; each result names its rule by id and by index, and the rules are those that were met, in the order of the registry;
columns count code points and the end of a region is the column after its last character, as in SARIF; a path is a relative reference
unless it is an absolute one, with every character escaped that an address cannot hold.
"""

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any, Final
from urllib.parse import quote

from stateward.compiler.diagnostics.codes import CODES
from stateward.compiler.diagnostics.model import Applicability, Diagnostic, Fix, Label
from stateward.compiler.diagnostics.pages import page_of
from stateward.compiler.diagnostics.report import Failure, Report
from stateward.compiler.source import Place

SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/sarif-schema-2.1.0.json"
VERSION: Final = "2.1.0"
_FINGERPRINT: Final = "stateward/v1"


def sarif(report: Report, *, program_version: str) -> dict[str, Any]:
    """Give the report as a SARIF log."""
    found = [each for checked in report.checked for each in checked.diagnostics]
    met = {each.code for each in found}
    rules = {code: at for at, code in enumerate(each for each in CODES if each in met)}
    run = {
        "tool": {"driver": {"name": "stateward", "version": program_version, "rules": [_rule(code) for code in rules]}},
        "columnKind": "unicodeCodePoints",
        "artifacts": [{"location": _location(checked.file)} for checked in report.checked],
        "invocations": [_invocation(report)],
        "results": _results(found, rules),
    }
    return {"$schema": SCHEMA, "version": VERSION, "runs": [run]}


def _rule(code: str) -> dict[str, Any]:
    page = page_of(code)
    return {
        "id": code,
        "name": "".join(part.capitalize() for part in code.split("_")),
        "shortDescription": {"text": page.code.title},
        "fullDescription": {"text": page.meaning},
        "help": {"text": page.change, "markdown": page.change},
        "defaultConfiguration": {"level": page.code.severity.value},
    }


def _invocation(report: Report) -> dict[str, Any]:
    return {
        "executionSuccessful": not report.failures,
        "exitCode": report.status,
        "toolExecutionNotifications": [_notification(each) for each in report.failures],
    }


def _notification(failure: Failure) -> dict[str, Any]:
    return {"level": "error", "message": {"text": f"{failure.message}\nhelp: {failure.remedy}" if failure.remedy else failure.message}}


def _results(found: Sequence[Diagnostic], rules: Mapping[str, int]) -> list[dict[str, Any]]:
    """Give all results; those that look alike are told apart by their number."""
    seen: dict[str, int] = {}
    results: list[dict[str, Any]] = []
    for each in found:
        print_ = _fingerprint(each)
        seen[print_] = seen.get(print_, 0) + 1
        results.append(_result(each, rules[each.code], f"{print_}:{seen[print_]}"))
    return results


def _fingerprint(diagnostic: Diagnostic) -> str:
    """Give what stays the same when lines move: the file, the code, what is said, where in the document."""
    parts = [diagnostic.primary.place.source.name, diagnostic.code, diagnostic.message, *map(str, diagnostic.path)]
    return sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _result(diagnostic: Diagnostic, rule: int, fingerprint: str) -> dict[str, Any]:
    primary = diagnostic.primary
    fixes = [fix for fix in diagnostic.fixes if fix.applicability is not Applicability.DISPLAY]
    return {
        "ruleId": diagnostic.code,
        "ruleIndex": rule,
        "level": diagnostic.severity.value,
        "message": {"text": _text(diagnostic)},
        "locations": [{"physicalLocation": _physical(primary.place), **_said(primary)}],
        "relatedLocations": [{"id": at, "physicalLocation": _physical(each.place), **_said(each)} for at, each in _numbered(diagnostic)],
        "fixes": [_fix(fix, primary.place) for fix in fixes],
        "partialFingerprints": {_FINGERPRINT: fingerprint},
        "properties": {"path": list(diagnostic.path), "kind": diagnostic.kind, "states": list(diagnostic.states)},
    }


def _numbered(diagnostic: Diagnostic) -> list[tuple[int, Label]]:
    return list(enumerate(diagnostic.secondary, start=1))


def _text(diagnostic: Diagnostic) -> str:
    offered = [f"help: {diagnostic.help}"] if diagnostic.help is not None else []
    return "\n".join([diagnostic.message, *(f"note: {note}" for note in diagnostic.notes), *offered])


def _said(label: Label) -> dict[str, Any]:
    return {"message": {"text": label.text}} if label.text else {}


def _physical(place: Place) -> dict[str, Any]:
    return {"artifactLocation": _location(place.source.name), "region": _region(place)}


def _location(name: str) -> dict[str, Any]:
    """Name a file as an address: in a relative one a colon would end the name of a scheme."""
    address = quote(name, safe="/", errors="replace")
    return {"uri": f"file://{address}" if name.startswith("/") else address}


def _region(place: Place) -> dict[str, Any]:
    line, column = place.source.line_column(place.span.start)
    last, end = place.source.line_column(place.span.end)
    return {"startLine": line, "startColumn": column, "endLine": last, "endColumn": end}


def _fix(fix: Fix, primary: Place) -> dict[str, Any]:
    replacements = [
        {"deletedRegion": _region(Place(primary.source, edit.span)), "insertedContent": {"text": edit.replacement}} for edit in fix.edits
    ]
    return {
        "description": {"text": fix.title},
        "artifactChanges": [{"artifactLocation": _location(primary.source.name), "replacements": replacements}],
    }
