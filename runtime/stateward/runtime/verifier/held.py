"""What a judge is shown of the variables, inputs and parts of an attempt: values with where they come from, as JSON.

Invariants: every variable is there, each with who wrote it where; a value that the worker wrote is marked as a claim; a long one is cut,
and that is said; nothing is there where the flow has none of them, so the requests of flows without them are what they always were.
"""

import json
from collections.abc import Iterator
from typing import Any, Final

from stateward.runtime.core.events import PartKind, Source, Variable
from stateward.runtime.ports import VerificationRequest
from stateward.runtime.session.entries import reference

VALUE_CHARACTERS_MAX: Final = 4 * 1024
"""Shown of one value to a model; all of it stands in the entry that wrote it."""
VALUES_CHARACTERS_MAX: Final = 64 * 1024
"""Shown to a model of all values together."""


def has_any(request: VerificationRequest) -> bool:
    """Tell whether there is anything to show."""
    return bool(request.inputs or request.variables or request.parts)


def held_data(request: VerificationRequest) -> dict[str, Any]:
    """Give all of it, whole, for a program."""
    return {
        "inputs": {each.name: each.value for each in request.inputs},
        "variables": [{"name": each.name, "value": each.value, **_origin(each)} for each in request.variables],
        "parts": [
            {
                "transition_id": each.transition,
                "kind": str(each.kind),
                "name": each.name,
                "verdict": str(each.verdict),
                "missing": list(each.missing),
                "entry": reference(each.entry) if each.entry else "",
            }
            for each in request.parts
        ],
    }


def held_lines(request: VerificationRequest) -> Iterator[str]:
    """Give inputs and variables, one a line, for a model."""
    left = VALUES_CHARACTERS_MAX
    for name, value, origin in _values(request):
        text = json.dumps(value, ensure_ascii=False)
        most = min(VALUE_CHARACTERS_MAX, left)
        left -= min(len(text), most)
        shown: dict[str, Any] = {"value": value} if len(text) <= most else {"value_begins": text[:most], "characters": len(text)}
        yield json.dumps({**name, **shown, **origin}, ensure_ascii=False)


def _values(request: VerificationRequest) -> Iterator[tuple[dict[str, str], object, dict[str, Any]]]:
    for each in request.inputs:
        yield {"input": each.name}, each.value, {}
    for variable in request.variables:
        yield {"variable": variable.name}, variable.value, _origin(variable)


def part_lines(request: VerificationRequest) -> Iterator[str]:
    """Say what the runtime found of guards and checks by itself."""
    for each in request.parts:
        what = "its guard" if each.kind is PartKind.WHEN else f"check `{each.name}`"
        where = f", see {reference(each.entry)}" if each.entry else ""
        yield f"- `{each.transition}`: {what} is {each.verdict}{where}"


def _origin(variable: Variable) -> dict[str, Any]:
    return {
        "by": str(variable.source),
        "claim": variable.source is Source.WORKER,
        "state": variable.state,
        "visit": variable.visit,
        "entry": reference(variable.entry),
    }
