"""The typed Flow source: what binding makes of an evaluated value, with the place of every part.

Invariants: order of declaration is kept. `None` in a field that must have a value means that its fault was reported already (or that it
could not be judged): every later check passes over it in silence. Nothing here is valid yet; that is for `checks` and `graph` to say.
"""

from dataclasses import dataclass
from typing import Generic, TypeVar

from stateward.compiler.diagnostics.model import PathPart
from stateward.compiler.language.data import Origin
from stateward.compiler.source import Place

T = TypeVar("T")
Path = tuple[PathPart, ...]


@dataclass(frozen=True, slots=True)
class Located(Generic[T]):
    """A value with where it was written."""

    value: T
    origin: Origin
    path: Path


@dataclass(frozen=True, slots=True)
class TransitionSource:
    """A transition as authored."""

    id: str
    key: Place
    path: Path
    target: Located[str] | None
    condition: Located[str] | None


@dataclass(frozen=True, slots=True)
class Transitions:
    """The ways out of a state."""

    items: tuple[TransitionSource, ...]
    key: Place | None
    """Where the field is named; None when the state has none."""
    path: Path
    complete: bool
    """Whether these are all: false when a transition was lost to a fault that was reported."""


@dataclass(frozen=True, slots=True)
class StateSource:
    """A state as authored."""

    id: str
    key: Place
    path: Path
    instructions: Located[str] | None
    terminal: bool | None
    """Whether the flow ends here; false when the author said nothing."""
    terminal_origin: Origin | None
    transitions: Transitions | None


@dataclass(frozen=True, slots=True)
class States:
    """All states."""

    items: tuple[StateSource, ...]
    key: Place
    path: Path
    complete: bool
    """Whether these are all: false when a state was lost to a fault that was reported."""


@dataclass(frozen=True, slots=True)
class FlowSource:
    """A Flow source."""

    schema_version: int | None
    name: Located[str] | None
    initial: Located[str] | None
    states: States | None
