"""Diagnostics for programs: one stable JSON form, described in docs/reference/compile-json.md.

Invariants: `version` changes when a field changes its meaning or goes away; new fields may come within a version. Offsets are bytes
of the UTF-8 file, the byte-order mark included; lines and columns are 1-based and count code points, as they are shown to people.
"""

from typing import Any, Final

from stateward.compiler.diagnostics.model import Diagnostic, Fix, Label
from stateward.compiler.source import Place

VERSION: Final = 1
"""The version of the form."""


def diagnostic_json(diagnostic: Diagnostic) -> dict[str, Any]:
    """Give one diagnostic as JSON data."""
    return {
        "code": diagnostic.code,
        "severity": diagnostic.severity.value,
        "message": diagnostic.message,
        "path": list(diagnostic.path),
        "kind": diagnostic.kind,
        "states": list(diagnostic.states),
        "primary": _label(diagnostic.primary),
        "secondary": [_label(label) for label in diagnostic.secondary],
        "notes": list(diagnostic.notes),
        "help": diagnostic.help,
        "fixes": [_fix(fix, diagnostic.primary.place) for fix in diagnostic.fixes],
    }


def _label(label: Label) -> dict[str, Any]:
    return {**_place(label.place), "text": label.text}


def _place(place: Place) -> dict[str, Any]:
    return {"file": place.source.name, "start": _position(place, place.span.start), "end": _position(place, place.span.end)}


def _position(place: Place, offset: int) -> dict[str, int]:
    line, column = place.source.line_column(offset)
    return {"byte": place.source.byte_offset(offset), "line": line, "column": column}


def _fix(fix: Fix, primary: Place) -> dict[str, Any]:
    edits = [
        {**_place(Place(primary.source, edit.span)), "replacement": edit.replacement}
        for edit in fix.edits
    ]  # fmt: skip
    return {"title": fix.title, "applicability": fix.applicability.value, "edits": edits}
