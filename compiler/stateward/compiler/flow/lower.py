"""A checked Flow source to its definition: what the author wrote, and the way out that every flow has.

Last in each state that is no end comes the synthetic transition `$cancel` to the synthetic end `$cancelled`. Its text is part of every
version-1 definition and is frozen: a changed letter would change every digest. What is made first is plain data, which is enough for the
digest; the typed definition is made of it where somebody asks for one, since its library takes longer to load than a flow to compile.
"""

from typing import TYPE_CHECKING, Final, TypedDict, TypeVar

from stateward.compiler.flow.reserved import CANCEL_TRANSITION, CANCELLED_STATE
from stateward.compiler.flow.typed import FlowSource, StateSource, TransitionSource

if TYPE_CHECKING:
    from stateward.compiler.flow.definition import CompiledFlowDefinition

T = TypeVar("T")


class TransitionData(TypedDict):
    """A `CompiledTransition` as plain data."""

    id: str
    target: str
    condition: str
    synthetic: bool


class StateData(TypedDict):
    """A `CompiledState` as plain data."""

    id: str
    instructions: str
    terminal: bool
    transitions: list[TransitionData]


class DefinitionData(TypedDict):
    """A `CompiledFlowDefinition` as plain data."""

    schema_version: int
    name: str
    initial: str
    states: list[StateData]


CANCEL_CONDITION: Final = (
    "Something exceptional has actually happened that makes it impossible to carry on with the instructions of this state and to reach "
    "a regular end of the flow with the tools, the scope and the context at hand. Work that is hard, slow or unfinished, a check that "
    "fails and can be mended, or the mere wish to stop does not meet this condition."
)
"""Frozen for schema version 1."""

_CANCEL: Final[TransitionData] = {"id": CANCEL_TRANSITION, "target": CANCELLED_STATE, "condition": CANCEL_CONDITION, "synthetic": True}
_CANCELLED: Final[StateData] = {"id": CANCELLED_STATE, "instructions": "", "terminal": True, "transitions": []}


def lower(flow: FlowSource) -> DefinitionData:
    """Make the definition of a source in which nothing was found wrong, as plain data."""
    assert flow.states is not None
    return {
        "schema_version": _there(flow.schema_version),
        "name": _there(flow.name).value,
        "initial": _there(flow.initial).value,
        "states": [*(_state(state) for state in flow.states.items), _CANCELLED],
    }


def definition_of(data: DefinitionData) -> "CompiledFlowDefinition":
    """Make the typed definition."""
    from stateward.compiler.flow.definition import (  # noqa: PLC0415 - see above
        CompiledFlowDefinition,
        CompiledState,
        CompiledTransition,
    )

    return CompiledFlowDefinition(
        schema_version=data["schema_version"],
        name=data["name"],
        initial=data["initial"],
        states=tuple(
            CompiledState(
                id=state["id"],
                instructions=state["instructions"],
                terminal=state["terminal"],
                transitions=tuple(CompiledTransition(**each) for each in state["transitions"]),
            )
            for state in data["states"]
        ),
    )


def _state(state: StateSource) -> StateData:
    terminal = _there(state.terminal)
    authored = [_transition(transition) for transition in _there(state.transitions).items]
    return {
        "id": state.id,
        "instructions": _there(state.instructions).value,
        "terminal": terminal,
        "transitions": authored if terminal else [*authored, _CANCEL],
    }


def _transition(transition: TransitionSource) -> TransitionData:
    target, condition = _there(transition.target).value, _there(transition.condition).value
    return {"id": transition.id, "target": target, "condition": condition, "synthetic": False}


def _there(part: T | None) -> T:
    assert part is not None, "a source without errors has all its parts"
    return part
