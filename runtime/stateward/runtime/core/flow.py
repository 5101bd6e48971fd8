"""What the core reads of a compiled flow, so that it needs no library to read one.

The compiler's definition is such a flow, and so is the one that a log pins (`session.pinned`).

Invariants: arrays are in order of declaration; `transitions` is empty exactly when a state is terminal.
"""

from collections.abc import Sequence
from typing import Protocol


class Transition(Protocol):
    """A way out of a state."""

    @property
    def id(self) -> str:
        """Its name within its state."""

    @property
    def target(self) -> str:
        """The state that it leads to."""

    @property
    def condition(self) -> str:
        """What must be shown to hold, in natural language."""

    @property
    def synthetic(self) -> bool:
        """Whether the compiler added it."""


class State(Protocol):
    """A state of a flow."""

    @property
    def id(self) -> str:
        """Its name within the flow."""

    @property
    def instructions(self) -> str:
        """What is to be done in it."""

    @property
    def terminal(self) -> bool:
        """Whether a flow ends with it."""

    @property
    def transitions(self) -> tuple[Transition, ...]:
        """The ways out, the synthetic one last."""

    def transition(self, transition_id: str) -> Transition | None:
        """Find a transition by its id."""


class Flow(Protocol):
    """A compiled flow."""

    @property
    def name(self) -> str:
        """Its slug."""

    @property
    def initial(self) -> str:
        """The state that it begins with."""

    @property
    def states(self) -> Sequence[State]:
        """All of them."""

    def state(self, state_id: str) -> State:
        """Give a state by its id. Raises KeyError when the flow has none of that name."""
