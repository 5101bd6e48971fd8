"""The compiled graph: immutable, typed, the one thing of the compiler that the runtime's core sees.

Invariants: arrays keep the order of declaration; the version-1 form never gains a field; its canonical JSON (`canonical.py`) is what
`definition_digest` covers, so a definition is the same for ever.
"""

from functools import cached_property

from pydantic import BaseModel, ConfigDict

from stateward.compiler.flow.reserved import CANCEL_TRANSITION, CANCELLED_STATE

__all__ = ["CANCELLED_STATE", "CANCEL_TRANSITION", "CompiledFlowDefinition", "CompiledState", "CompiledTransition"]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class CompiledTransition(_Frozen):
    """A way out of a state."""

    id: str
    target: str
    condition: str
    """What must be shown to hold, in natural language."""
    synthetic: bool
    """Whether the compiler added it."""


class CompiledState(_Frozen):
    """A state; `transitions` is empty exactly when it is terminal."""

    id: str
    instructions: str
    terminal: bool
    transitions: tuple[CompiledTransition, ...]

    def transition(self, transition_id: str) -> CompiledTransition | None:
        """Find a transition by its id."""
        return next((each for each in self.transitions if each.id == transition_id), None)


class CompiledFlowDefinition(_Frozen):
    """A compiled flow."""

    schema_version: int
    name: str
    initial: str
    states: tuple[CompiledState, ...]

    @cached_property
    def _by_id(self) -> dict[str, CompiledState]:
        return {state.id: state for state in self.states}

    def state(self, state_id: str) -> CompiledState:
        """Give a state by its id. Raises KeyError when the flow has none of that name."""
        return self._by_id[state_id]
