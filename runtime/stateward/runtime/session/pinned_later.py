"""Definitions of version 2, as strictly as `session.pinned` reads those of version 1.

Invariants: a member that is at its default is not written, so one that is there with that value is refused: one definition has one form.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

from stateward.compiler.predicates.declarations import CheckDeclaration, Declaration
from stateward.compiler.predicates.forms import MalformedForm, read_guard, read_schema, read_value
from stateward.runtime.session.pinned import WHOLE_TEXT, PinnedFlow, PinnedState, PinnedTransition
from stateward.runtime.session.strict import COUNT, FLAG, Malformed, Newer, sequence

T = TypeVar("T")
VERSION: Final = 2
_NAMES: Final = sequence(WHOLE_TEXT)


def read_later(data: Mapping[str, object]) -> PinnedFlow:
    """Read a definition of version 2. Raises Malformed for what is none, Newer for one of a later version."""
    version = COUNT.read(data.get("schema_version"))
    if version > VERSION:
        raise Newer(f"a definition of schema version {version}")
    fields = _read(
        data,
        {"schema_version": COUNT.read, "name": WHOLE_TEXT.read, "initial": WHOLE_TEXT.read, "states": _each(_state)},
        {"variables": _each(_declaration), "inputs": _each(_declaration), "checks": _each(_check)},
    )
    return PinnedFlow(
        fields["schema_version"],
        fields["name"],
        fields["initial"],
        fields["states"],
        fields.get("variables", ()),
        fields.get("inputs", ()),
        fields.get("checks", ()),
    )


def _state(data: object) -> PinnedState:
    fields = _read(
        data,
        {"id": WHOLE_TEXT.read, "instructions": WHOLE_TEXT.read, "terminal": FLAG.read, "transitions": _each(_transition, least=0)},
        {"reads": _NAMES.read, "writes": _NAMES.read, "select": _first, "visits_max": _positive},
    )
    return PinnedState(**fields)


def _transition(data: object) -> PinnedTransition:
    fields = _read(
        data,
        {"id": WHOLE_TEXT.read, "target": WHOLE_TEXT.read, "condition": WHOLE_TEXT.read, "synthetic": FLAG.read},
        {"when": _formed(read_guard), "checks": _NAMES.read, "otherwise": _true},
    )
    guard = fields.pop("when", None)
    return PinnedTransition(**fields, guard=guard)


def _declaration(data: object) -> Declaration:
    fields = _read(data, {"name": WHOLE_TEXT.read, "type": _formed(read_schema)}, {"default": _formed(read_value)})
    return Declaration(fields["name"], fields["type"], fields.get("default"))


def _check(data: object) -> CheckDeclaration:
    fields = _read(data, {"name": WHOLE_TEXT.read, "command": _NAMES.read, "timeout_seconds": _positive}, {})
    return CheckDeclaration(**fields)


def _read(data: object, required: Mapping[str, Callable[[Any], Any]], optional: Mapping[str, Callable[[Any], Any]]) -> dict[str, Any]:
    """Read an object with these members, those of the second kind where they are there."""
    if not isinstance(data, dict):
        raise Malformed("an object is missing")
    missing = next((name for name in required if name not in data), None)
    if missing is not None:
        raise Malformed(f"member `{missing}` is missing")
    readers = {**required, **optional}
    made = {}
    for name, given in data.items():
        if name not in readers:
            raise Malformed(f"member `{name:.80}` is unknown")
        made[name] = readers[name](given)
        if name in optional and made[name] == ():
            raise Malformed(f"member `{name}` is empty")
    return made


def _each(read: Callable[[object], T], least: int = 1) -> Callable[[object], tuple[T, ...]]:
    def read_all(data: object) -> tuple[T, ...]:
        if not isinstance(data, list) or len(data) < least:
            raise Malformed("an array is missing")
        return tuple(read(each) for each in data)

    return read_all


def _formed(read: Callable[[object], T]) -> Callable[[object], T]:
    def read_formed(data: object) -> T:
        try:
            return read(data)
        except MalformedForm as malformed:
            raise Malformed(str(malformed)) from None

    return read_formed


def _positive(data: object) -> int:
    number = COUNT.read(data)
    if number == 0:
        raise Malformed("a count is 0")
    return number


def _first(data: object) -> str:
    if data != "first":
        raise Malformed("a way to select is unknown")
    return "first"


def _true(data: object) -> bool:
    if data is not True:
        raise Malformed("`otherwise` is not true")
    return True
