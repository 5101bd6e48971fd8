"""What a flow declares, as far as guards see it. Apart from what types guards, which flows without guards never load."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Protocol

from stateward.compiler.predicates.guards import INPUT, VARS
from stateward.compiler.predicates.schema import Schema
from stateward.compiler.source import Place


@dataclass(frozen=True, slots=True)
class Declared:
    """What a variable or an input may hold, and where that was declared."""

    schema: Schema
    place: Place | None = None


def elsewhere(types: "Types", name: str, root: str | None = None) -> str | None:
    """Give how a name is written that is declared, but not below that root; None when it is not declared elsewhere."""
    declared = ((VARS, types.variables), (INPUT, types.inputs))
    return next((f"{each}.{name}" for each, names in declared if each != root and name in names), None)


class Types(Protocol):
    """All declarations of a flow."""

    @property
    def variables(self) -> Mapping[str, Declared | None]:
        """By name; None where the declaration failed, so that nothing is said of what reads it."""
        ...

    @property
    def inputs(self) -> Mapping[str, Declared | None]:
        """As the variables."""
        ...

    @property
    def states(self) -> Collection[str]:
        """The ids of the states."""
        ...

    @property
    def lossy(self) -> Collection[str]:
        """The roots, of `vars`, `input` and `visits`, below which a name may have been lost: an unknown one is passed over."""
        ...
