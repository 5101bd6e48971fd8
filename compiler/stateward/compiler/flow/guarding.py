"""What guards may read of a run, as the source declares it: the types by which they are judged."""

from collections.abc import Collection, Mapping
from functools import cached_property

from stateward.compiler.flow.bind import Table
from stateward.compiler.flow.typed import Declarations, FlowSource
from stateward.compiler.language.declared import Declared
from stateward.compiler.predicates.guards import INPUT, VARS, VISITS


class DeclaredTypes:
    """The declarations of one source. What failed there has no type; where a declaration was lost, no name is said to be missing."""

    def __init__(self, flow: FlowSource, states: Table | None) -> None:
        """Take what was read but for the states, of which only the ids are known yet; None where there are none to be read."""
        self._flow = flow
        self._states = states

    @cached_property
    def variables(self) -> Mapping[str, Declared | None]:
        """The variables by name."""
        return _types(self._flow.variables)

    @cached_property
    def inputs(self) -> Mapping[str, Declared | None]:
        """The inputs by name."""
        return _types(self._flow.inputs)

    @cached_property
    def states(self) -> Collection[str]:
        """The ids of the states."""
        return [entry.id for entry in self._states.entries] if self._states is not None else []

    @property
    def lossy(self) -> Collection[str]:
        """The roots below which a name may have been lost."""
        whole = {
            VARS: self._flow.variables.complete,
            INPUT: self._flow.inputs.complete,
            VISITS: self._states is not None and self._states.complete,
        }
        return [root for root, complete in whole.items() if not complete]


def _types(declarations: Declarations) -> Mapping[str, Declared | None]:
    return {each.name: Declared(each.schema, each.place) if each.schema is not None else None for each in declarations.items}
