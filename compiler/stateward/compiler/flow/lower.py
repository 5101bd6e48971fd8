"""A checked Flow source to its definition: what the author wrote, and the way out that every flow has.

Last in each state that is no end comes the synthetic transition `$cancel` to the synthetic end `$cancelled`. Its text is part of every
version-1 definition and is frozen: a changed letter would change every digest.
"""

from typing import Final, TypeVar

from stateward.compiler.flow.definition import (
    CANCEL_TRANSITION,
    CANCELLED_STATE,
    CompiledFlowDefinition,
    CompiledState,
    CompiledTransition,
)
from stateward.compiler.flow.typed import FlowSource, StateSource, TransitionSource

T = TypeVar("T")

CANCEL_CONDITION: Final = (
    "Something exceptional has actually happened that makes it impossible to carry on with the instructions of this state and to reach "
    "a regular end of the flow with the tools, the scope and the context at hand. Work that is hard, slow or unfinished, a check that "
    "fails and can be mended, or the mere wish to stop does not meet this condition."
)
"""Frozen for schema version 1."""

_CANCEL: Final = CompiledTransition(id=CANCEL_TRANSITION, target=CANCELLED_STATE, condition=CANCEL_CONDITION, synthetic=True)
_CANCELLED: Final = CompiledState(id=CANCELLED_STATE, instructions="", terminal=True, transitions=())


def lower(flow: FlowSource) -> CompiledFlowDefinition:
    """Make the definition of a source in which nothing was found wrong."""
    assert flow.states is not None
    return CompiledFlowDefinition(
        schema_version=_there(flow.schema_version),
        name=_there(flow.name).value,
        initial=_there(flow.initial).value,
        states=(*(_state(state) for state in flow.states.items), _CANCELLED),
    )


def _state(state: StateSource) -> CompiledState:
    terminal = _there(state.terminal)
    authored = tuple(_transition(transition) for transition in _there(state.transitions).items)
    return CompiledState(
        id=state.id,
        instructions=_there(state.instructions).value,
        terminal=terminal,
        transitions=authored if terminal else (*authored, _CANCEL),
    )


def _transition(transition: TransitionSource) -> CompiledTransition:
    return CompiledTransition(
        id=transition.id,
        target=_there(transition.target).value,
        condition=_there(transition.condition).value,
        synthetic=False,
    )


def _there(part: T | None) -> T:
    assert part is not None, "a source without errors has all its parts"
    return part
