"""The typed Flow source: what binding makes of an evaluated value, with the place of every part.

Invariants: order of declaration is kept. `None` in a field that must have a value means that its fault was reported already (or that it
could not be judged): every later check passes over it in silence. Nothing here is valid yet; that is for `checks` and `graph` to say. The
parts are named tuples: they are made by the thousand, and frozen dataclasses cost several times as much to define and to make.
"""

from typing import Generic, NamedTuple, TypeVar

from stateward.compiler.diagnostics.model import PathPart
from stateward.compiler.language.data import Origin
from stateward.compiler.source import Place

T = TypeVar("T")
Path = tuple[PathPart, ...]


class Located(NamedTuple, Generic[T]):
    """A value with where it was written."""

    value: T
    origin: Origin
    path: Path


class TransitionSource(NamedTuple):
    """A transition as authored."""

    id: str
    key: Place
    path: Path
    target: Located[str] | None
    condition: Located[str] | None


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


class States(NamedTuple):
    """All states."""

    items: tuple[StateSource, ...]
    key: Place
    path: Path
    complete: bool
    """Whether these are all: false when a state was lost to a fault that was reported."""


class FlowSource(NamedTuple):
    """A Flow source."""

    schema_version: int | None
    name: Located[str] | None
    initial: Located[str] | None
    states: States | None
