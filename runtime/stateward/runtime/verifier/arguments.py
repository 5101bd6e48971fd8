"""The arguments of a tool's call, read strictly: everything that is wrong with them is told at once.

Invariants: forms are closed, so what is not known is refused; nothing is converted, trimmed or guessed; a member that
is null counts as left out, for that is how some models leave one out.
"""

from typing import Any, Final, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from stateward.runtime.core.events import FailureCause
from stateward.runtime.core.texts import cut, shown
from stateward.runtime.verifier.declared import ToolRefused

FAULTS_MAX: Final = 16
"""Faults of one call that are told."""
REFUSAL_BYTES_MAX: Final = 16 * 1024
"""Of what a refused call is told."""

_SAYINGS: Final = {
    "missing": "is missing",
    "extra_forbidden": "is no member of it",
    "string_type": "is no text",
    "int_type": "is no whole number",
    "bool_type": "is neither true nor false",
    "list_type": "is no array",
    "tuple_type": "is no array",
    "dict_type": "is no object",
    "model_type": "is no object",
    "model_attributes_type": "is no object",
}


class Closed(BaseModel):
    """The form of an object that has these members and no others."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


Form = TypeVar("Form", bound=Closed)


def read_arguments(form: type[Form], arguments: object) -> Form:
    """Read the arguments of a call. Raises ToolRefused with everything that is wrong with them."""
    given = {name: value for name, value in arguments.items() if value is not None} if isinstance(arguments, dict) else arguments
    try:
        return form.model_validate(given)
    except ValidationError as problem:
        faults = tuple(_told(dict(each)) for each in problem.errors(include_url=False, include_context=True))
    raise refused(faults)


def refused(faults: tuple[str, ...], cause: FailureCause = FailureCause.MALFORMED) -> ToolRefused:
    """Make a refusal of faults, one a line."""
    more = f"and {len(faults) - FAULTS_MAX} more" if len(faults) > FAULTS_MAX else ""
    return ToolRefused(cut("\n".join(filter(None, (*faults[:FAULTS_MAX], more))), REFUSAL_BYTES_MAX), cause)


def _told(error: dict[str, Any]) -> str:
    where = "".join(f"[{each}]" if isinstance(each, int) else f".{each}" for each in error["loc"]).removeprefix(".")
    saying = _SAYINGS.get(error["type"])
    if saying is None and error["type"] == "literal_error":
        saying = f"is none of {error['ctx']['expected']}".replace("'", "`")
    if saying is None:
        message = str(error["msg"]).removeprefix("Value error, ")
        saying = f"is refused: {message[:1].lower()}{message[1:]}"
    return f"{shown(where) if where else 'what was given'} {saying}"
