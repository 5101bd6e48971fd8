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

    @property
    def is_decided(self) -> bool:
        """Whether it is known when it is taken."""
        return self.sound and (self.guard is not None or self.is_judged or self.otherwise or bool(self.checks))

    @property
    def is_known(self) -> bool:
        """Whether it is known when it is taken and where it leads."""
        return self.is_decided and self.target is not None


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

    @property
    def is_known(self) -> bool:
        """Whether nothing of it is at fault, so that it can be told where one gets and where not."""
        if self.initial is None or not self.complete:
            return False
        return all(state.complete and all(way.is_known for way in state.ways) for state in self.states)
