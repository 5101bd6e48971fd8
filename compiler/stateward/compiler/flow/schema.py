"""The form of a Flow source: which fields each level has, of which type, and how each is taken from the evaluated value.

One table a level directs the binding, the help for unknown fields, completion and the reference. A field is *data* (forced to plain
data), a *constraint* (kept as a value of the language) or a *guard* (evaluated over symbols); version 1 has only data. A level never
loses a field within a version; a later version is a superset, but for what it no longer requires.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Final, NamedTuple, TypeAlias

from stateward.compiler.limits import TIMEOUT_SECONDS_MAX, TIMEOUT_SECONDS_MIN


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


class ObjectOf(NamedTuple):
    """An object with the fields of a level."""

    level: "Level"


class ConstraintsByName(NamedTuple):
    """An object whose keys are names that the author chooses and whose values say what each may hold."""

    what: str
    """What one of them is called."""


class ArrayOfTexts(NamedTuple):
    """An array of Strings."""

    what: str
    """What they are called: `variable`, `check`, `text`."""


class Duration(NamedTuple):
    """A String such as `10m`."""

    least: int
    """In seconds."""
    most: int
    """In seconds."""


class OneOf(NamedTuple):
    """A String that is one of some words."""

    words: tuple[str, ...]


FieldType: TypeAlias = ScalarType | MapOf | ObjectOf | ConstraintsByName | ArrayOfTexts | Duration | OneOf


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
    example: str | None = None
    """The value that it has, where there is one that every such object has."""


@dataclass(frozen=True, eq=False)
class Level:
    """An object with fixed fields. Compared by identity."""

    what: str
    """What one such object is called: `flow`, `state`, `transition`, `check`."""
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

SELECTIONS: Final = ("exclusive", "first")
"""How one of several ways out is chosen; the first is taken where nothing is said."""

TRANSITION_2: Final = Level(
    "transition",
    (
        TRANSITION.fields[0]._replace(doc="The id of the state that is entered when all of the following hold."),
        FieldSpec(
            "when",
            ScalarType.BOOL,
            required=False,
            mode=Mode.GUARD,
            doc="What must hold of variables, inputs and visits; an expression, of which the runtime says whether it holds.",
        ),
        TRANSITION.fields[1]._replace(required=False),
        FieldSpec("checks", ArrayOfTexts("check"), required=False, is_name=True, doc="The names of the checks that must pass."),
        FieldSpec(
            "otherwise", ScalarType.BOOL, required=False, doc="Whether this is the way out when no other is met; false when left out."
        ),
    ),
)

LIMITS_OF_STATE: Final = Level(
    "limit",
    (FieldSpec("visits", ScalarType.INT, required=False, doc="How often the state may be entered, 1 to 1,000,000."),),
)

STATE_2: Final = Level(
    "state",
    (
        *STATE.fields[:2],
        FieldSpec(
            "reads", ArrayOfTexts("variable"), required=False, is_name=True, doc="The names of the variables that the worker is shown."
        ),
        FieldSpec(
            "writes", ArrayOfTexts("variable"), required=False, is_name=True, doc="The names of the variables that the worker may set."
        ),
        FieldSpec(
            "select",
            OneOf(SELECTIONS),
            required=False,
            is_name=True,
            doc="Which way out is taken: the only one that is met, or the first; `exclusive` when left out.",
        ),
        FieldSpec("limits", ObjectOf(LIMITS_OF_STATE), required=False, doc="What may be spent in this state."),
        FieldSpec("transitions", MapOf(TRANSITION_2), required=False, doc=STATE.fields[2].doc),
    ),
)

CHECK: Final = Level(
    "check",
    (
        FieldSpec("command", ArrayOfTexts("text"), required=True, doc="The program and its arguments; no shell reads them."),
        FieldSpec(
            "timeout",
            Duration(TIMEOUT_SECONDS_MIN, TIMEOUT_SECONDS_MAX),
            required=False,
            doc='How long the command may take, such as `"90s"`, `"10m"` or `"2h"`; ten minutes when left out.',
        ),
    ),
)

FLOW_2: Final = Level(
    "flow",
    (
        FLOW.fields[0]._replace(doc="The version of this form; 2.", example="2"),
        *FLOW.fields[1:3],
        FieldSpec(
            "variables",
            ConstraintsByName("variable"),
            required=False,
            mode=Mode.CONSTRAINT,
            doc="What is known in a run, by name: the constraint that each value meets, and its default; at most 64.",
        ),
        FieldSpec(
            "inputs",
            ConstraintsByName("input"),
            required=False,
            mode=Mode.CONSTRAINT,
            doc="What a run is given when it starts, by name; one that is named as a variable is its first value; at most 64.",
        ),
        FieldSpec("states", MapOf(STATE_2), required=True, doc=FLOW.fields[3].doc),
        FieldSpec("checks", MapOf(CHECK), required=False, doc="The commands that the host runs for transitions, by name; at most 32."),
    ),
)

SCHEMAS: Final[Mapping[int, Level]] = {1: FLOW, 2: FLOW_2}
"""The root level of each version that this compiler knows."""
LATER_VERSION: Final = 2
"""The version that has guards, variables and checks."""
VERSION_ASSUMED: Final = 1
"""The version a source is read as when it does not say, so that its other faults are found too."""


def levels_of(root: Level) -> Iterator[Level]:
    """Give a level and all below it."""
    yield root
    for spec in root.fields:
        if isinstance(spec.type, MapOf | ObjectOf):
            yield from levels_of(spec.type.level)


def version_with(name: str, level: Level) -> int | None:
    """Find the version in which such objects have a field that a level does not know."""
    return next(
        (version for version, root in SCHEMAS.items() for each in levels_of(root) if each.what == level.what and name in each.index), None
    )
