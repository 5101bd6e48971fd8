"""The form of a Flow source: which fields each level has, of which type, and how each is taken from the evaluated value.

One table a level directs the binding, the help for unknown fields, completion and the reference. A field is *data* (forced to plain
data), a *constraint* (kept as a value of the language) or a *guard* (evaluated over symbols); version 1 has only data. A level never
loses a field within a version; a later version is a superset.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Final, NamedTuple, TypeAlias


class Mode(StrEnum):
    """How a field is taken from the evaluated value."""

    DATA = "data"
    CONSTRAINT = "constraint"
    GUARD = "guard"


class ScalarType(StrEnum):
    """A type of the language that a field of plain data may have."""

    INT = "Int"
    STRING = "String"
    BOOL = "Bool"

    @property
    def of_python(self) -> type:
        """The Python type of its values, to be compared with `is`: a Bool is no Int here."""
        return _PYTHON_TYPES[self]


_PYTHON_TYPES: Final[Mapping[ScalarType, type]] = {ScalarType.INT: int, ScalarType.STRING: str, ScalarType.BOOL: bool}


class MapOf(NamedTuple):
    """An object whose keys are ids that the author chooses and whose values are all of one level."""

    level: "Level"


FieldType: TypeAlias = ScalarType | MapOf


class FieldSpec(NamedTuple):
    """One field of a level."""

    name: str
    type: FieldType
    required: bool
    doc: str
    """One line for completion and the reference."""
    mode: Mode = Mode.DATA
    is_name: bool = False
    """Whether its String is an identifier: a name of something, not a text."""


@dataclass(frozen=True, eq=False)
class Level:
    """An object with fixed fields. Compared by identity."""

    what: str
    """What one such object is called: `flow`, `state`, `transition`."""
    fields: tuple[FieldSpec, ...]

    @cached_property
    def index(self) -> Mapping[str, FieldSpec]:
        """The fields by name, in the order in which they are shown."""
        return {spec.name: spec for spec in self.fields}

    @cached_property
    def required(self) -> frozenset[str]:
        """The names of the fields that every such object has."""
        return frozenset(spec.name for spec in self.fields if spec.required)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all fields, in the order in which they are shown."""
        return tuple(self.index)


TRANSITION: Final = Level(
    "transition",
    (
        FieldSpec(
            "target", ScalarType.STRING, required=True, is_name=True, doc="The id of the state that is entered when the condition is met."
        ),
        FieldSpec("condition", ScalarType.STRING, required=True, doc="What must be shown to hold, in natural language; at most 32 KiB."),
    ),
)

STATE: Final = Level(
    "state",
    (
        FieldSpec("instructions", ScalarType.STRING, required=True, doc="What is to be done in this state; may be blank at an end."),
        FieldSpec("terminal", ScalarType.BOOL, required=False, doc="Whether the flow ends here; false when left out."),
        FieldSpec("transitions", MapOf(TRANSITION), required=False, doc="The ways out, by id; none at an end, 1 to 32 elsewhere."),
    ),
)

FLOW: Final = Level(
    "flow",
    (
        FieldSpec("schema_version", ScalarType.INT, required=True, doc="The version of this form; 1."),
        FieldSpec(
            "name", ScalarType.STRING, required=True, is_name=True, doc="The name of the flow, equal to the slug that it is kept under."
        ),
        FieldSpec("initial", ScalarType.STRING, required=True, is_name=True, doc="The id of the state in which the flow begins."),
        FieldSpec("states", MapOf(STATE), required=True, doc="The states by id, 1 to 128."),
    ),
)

SCHEMAS: Final[Mapping[int, Level]] = {1: FLOW}
"""The root level of each version that this compiler knows."""
VERSION_ASSUMED: Final = 1
"""The version a source is read as when it does not say, so that its other faults are found too."""
