"""A fault of the evaluation as it is found, before it is told: what is wrong, where, and the places that belong to the story.

Invariants: messages follow the house's wording (lower case, one fact, no remedy, no final stop); `place` is the smallest text that
carries the fault.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from stateward.compiler.diagnostics.model import Label
from stateward.compiler.language.values import (
    AnyValue,
    ArrayValue,
    ConstraintValue,
    DefaultValue,
    Failed,
    FunctionValue,
    ObjectValue,
    ScalarValue,
    SymbolicValue,
    Value,
)
from stateward.compiler.predicates.constraints import SCALARS, Family
from stateward.compiler.source import Place

SHOWN_MAX: Final = 24
"""Code points of a text value that a message shows."""
UNTOLD: Final = "a value that is known only at run time"


class Kind(StrEnum):
    """The kinds of errors of the language."""

    SYNTAX = "syntax"
    UNRESOLVED_IDENTIFIER = "unresolved_identifier"
    TYPE_MISMATCH = "type_mismatch"
    CONSTRAINT_VIOLATION = "constraint_violation"
    CONFLICT = "conflict"
    DEFAULT_CONFLICT = "default_conflict"
    CYCLE = "cycle"
    IMPORT = "import"
    MATCH_FAILURE = "match_failure"
    MATERIALIZE = "materialize"
    UNSUPPORTED_FEATURE = "unsupported_feature"
    LIMIT = "limit"
    KNOWN_ONLY_AT_RUN_TIME = "known_only_at_run_time"


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault."""

    kind: Kind
    message: str
    place: Place
    label: str
    secondary: tuple[Label, ...] = ()
    notes: tuple[str, ...] = ()
    help: str | None = None


def family_of(value: AnyValue) -> Family:
    """Tell what a value is; one that failed or is known only at run time must not be asked."""
    match value:
        case ScalarValue():
            return SCALARS[type(value.value)]
        case ArrayValue():
            return Family.ARRAY
        case ObjectValue():
            return Family.OBJECT
        case FunctionValue():
            return Family.FUNCTION
        case ConstraintValue() | DefaultValue():
            return Family.ABSTRACT
        case SymbolicValue():
            raise AssertionError("what a symbol is, is known when it has a type")
        case Failed():
            raise AssertionError("nothing is said of a failed value")


def with_article(family: Family) -> str:
    """Write a family with its article: `an Int`, `a String`."""
    return f"an {family}" if family[0] in "AIO" else f"a {family}"


def told(value: AnyValue) -> str:
    """Name a value in a message: scalars by what they are, anything else by its family."""
    match value:
        case ScalarValue():
            return f"the {family_of(value)} `{shown(value.value)}`"
        case DefaultValue():
            return "a constraint with a default"
        case SymbolicValue():
            return UNTOLD
        case _:
            return with_article(family_of(value))


def shown(value: bool | int | float | str) -> str:
    """Write a scalar as in a source, a long text cut short and on one line."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, str):
        return repr(value)
    cut = value if len(value) <= SHOWN_MAX else f"{value[: SHOWN_MAX - 1]}…"
    quoted = cut.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t")
    return f'"{quoted}"'


def written_at(value: Value, beside: Place, text: str) -> tuple[Label, ...]:
    """Label where a value was written, unless that is the place that is shown already."""
    if value.source is beside.source and value.node.span == beside.span:
        return ()
    return (Label(value.place, text),)
