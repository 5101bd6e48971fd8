"""What a tool is to a judge's model: a name, what it is for, and the form of its arguments.

Invariants: a form is one closed object without unions, references or definitions, which every provider takes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from stateward.runtime.core.events import FailureCause


@dataclass(frozen=True, slots=True)
class ToolDeclaration:
    """A tool as a model is told of it."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    """JSON schema of its arguments."""


def closed_form(members: Mapping[str, Any], required: Sequence[str]) -> dict[str, Any]:
    """Give the JSON schema of an object that has these members and no others."""
    form = {"type": "object", "properties": members, "additionalProperties": False}
    return {**form, "required": list(required)} if required else form


class ToolRefused(Exception):
    """A call that came to nothing; the text says why, and the model may call again."""

    def __init__(self, message: str, cause: FailureCause = FailureCause.MALFORMED) -> None:
        """Say why; `cause` is why the verification failed where no better call follows."""
        super().__init__(message)
        self.cause = cause
