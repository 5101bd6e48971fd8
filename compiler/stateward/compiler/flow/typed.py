"""The typed Flow source: what binding makes of an evaluated value, with the place of every part.

Invariants: order of declaration is kept. `None` in a field that must have a value means that its fault was reported already (or that it
could not be judged): every later check passes over it in silence. Nothing here is valid yet; that is for `checks` and `graph` to say. The
parts are named tuples: they are made by the thousand, and frozen dataclasses cost several times as much to define and to make.
"""

from typing import TYPE_CHECKING, Final, Generic, NamedTuple, TypeVar

from stateward.compiler.diagnostics.model import PathPart
from stateward.compiler.language.data import Origin
from stateward.compiler.source import Place

if TYPE_CHECKING:
    from stateward.compiler.predicates.guards import Guard
    from stateward.compiler.predicates.schema import Plain, Schema

T = TypeVar("T")
Path = tuple[PathPart, ...]


class Located(NamedTuple, Generic[T]):
    """A value with where it was written."""

    value: T
    origin: Origin
    path: Path


class Texts(NamedTuple):
    """An array of texts."""

    items: tuple[Located[str], ...]
    origin: Origin
    path: Path
    complete: bool
    """Whether these are all: false when one was lost to a fault that was reported."""


class GuardSource(NamedTuple):
    """A guard as authored."""

    guard: "Guard | None"
    place: Place
    """The expression."""
    path: Path


class TransitionSource(NamedTuple):
    """A transition as authored. What version 1 does not know is at its default there."""

    id: str
    key: Place
    path: Path
    target: Located[str] | None
    condition: Located[str] | None
    when: GuardSource | None = None
    checks: Texts | None = None
    otherwise: Located[bool] | None = None
    said: frozenset[str] = frozenset()
    """The fields that are there, those that failed too."""
    complete: bool = True
    """Whether these are all: false when one may have been lost to a fault that was reported."""


class Transitions(NamedTuple):
    """The ways out of a state."""

    items: tuple[TransitionSource, ...]
    key: Place | None
    """Where the field is named; None when the state has none."""
    path: Path
    complete: bool
    """Whether these are all: false when a transition was lost to a fault that was reported."""


class StateSource(NamedTuple):
    """A state as authored."""

    id: str
    key: Place
    path: Path
    instructions: Located[str] | None
    terminal: bool | None
    """Whether the flow ends here; false when the author said nothing."""
    terminal_origin: Origin | None
    transitions: Transitions | None
    reads: Texts | None = None
    writes: Texts | None = None
    select: Located[str] | None = None
    visits_max: Located[int] | None = None
    complete: bool = True
    """Whether what version 2 says of it is all known: false when some of it failed or may have been lost."""


class States(NamedTuple):
    """All states."""

    items: tuple[StateSource, ...]
    key: Place
    path: Path
    complete: bool
    """Whether these are all: false when a state was lost to a fault that was reported."""


class DeclarationSource(NamedTuple):
    """A variable or an input as authored."""

    name: str
    key: Place
    path: Path
    place: Place
    """What was written of it."""
    schema: "Schema | None"
    default: "Plain | None"


class Declarations(NamedTuple):
    """All variables, or all inputs."""

    items: tuple[DeclarationSource, ...]
    key: Place | None
    """Where the field is named; None when there is none."""
    path: Path
    complete: bool
    """Whether these are all: false when one was lost to a fault that was reported."""


class CheckSource(NamedTuple):
    """A check as authored."""

    name: str
    key: Place
    path: Path
    command: Texts | None
    timeout: Located[str] | None
    """None where nothing is said, too."""


class Checks(NamedTuple):
    """All checks."""

    items: tuple[CheckSource, ...]
    key: Place | None
    path: Path
    complete: bool


_NO_VARIABLES: Final = Declarations((), None, ("variables",), complete=True)
_NO_INPUTS: Final = Declarations((), None, ("inputs",), complete=True)
_NO_CHECKS: Final = Checks((), None, ("checks",), complete=True)


class FlowSource(NamedTuple):
    """A Flow source. What version 1 does not know is empty there."""

    schema_version: int | None
    name: Located[str] | None
    initial: Located[str] | None
    states: States | None
    form: int = 1
    """The version that it was read as, which it may not have said."""
    variables: Declarations = _NO_VARIABLES
    inputs: Declarations = _NO_INPUTS
    checks: Checks = _NO_CHECKS
