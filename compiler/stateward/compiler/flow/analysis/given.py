"""What the analysis looks at: a flow of version 2, as far as it is sound.

`sound` and `complete` are false where a fault of a part was told already. Such a part is taken to be able to do anything, so that nothing
is said that would need to know it.
"""

from typing import NamedTuple

from stateward.compiler.diagnostics.model import PathPart
from stateward.compiler.predicates.declarations import Declaration
from stateward.compiler.predicates.guards import Guard
from stateward.compiler.source import Place

Path = tuple[PathPart, ...]


class Named(NamedTuple):
    """A name where it is used."""

    name: str
    place: Place


class Declared(NamedTuple):
    """A variable, an input or a check where it is declared. Of a check there is no more than its name."""

    name: str
    place: Place
    path: Path
    declaration: Declaration | None = None
    """None of a check, and of what could not be read."""


class Way(NamedTuple):
    """An authored way out of a state."""

    id: str
    key: Place
    path: Path
    target: str | None
    """None where it is not known."""
    guard: Guard | None
    """None where there is none."""
    place: Place
    """The guard; the key where there is none."""
    is_judged: bool
    """Whether it has a condition."""
    checks: tuple[Named, ...] = ()
    otherwise: bool = False
    sound: bool = True


class Standing(NamedTuple):
    """A state."""

    id: str
    key: Place
    path: Path
    is_end: bool
    ways: tuple[Way, ...]
    is_ordered: bool
    """Whether the first way that is met is taken."""
    reads: tuple[Named, ...] = ()
    writes: tuple[Named, ...] = ()
    visits_max: int | None = None
    complete: bool = True
    """Whether these are all ways, reads and writes."""


class Given(NamedTuple):
    """A flow."""

    states: tuple[Standing, ...]
    initial: str | None
    """None where it is not known."""
    variables: tuple[Declared, ...]
    inputs: tuple[Declared, ...]
    checks: tuple[Declared, ...]
    complete: bool = True
    """Whether these are all states and declarations."""
