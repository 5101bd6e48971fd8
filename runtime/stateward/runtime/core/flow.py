"""What the core reads of a compiled flow, so that it needs no library to read one.

The compiler's definition is such a flow, and so is the one that a log pins (`session.pinned`).

Invariants: arrays are in order of declaration; `transitions` is empty exactly when a state is terminal.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from stateward.compiler.predicates.declarations import CheckDeclaration, Declaration
    from stateward.compiler.predicates.guards import Guard


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
        """What must be shown to hold, in natural language; empty where nobody is asked."""

    @property
    def synthetic(self) -> bool:
        """Whether the compiler added it."""

    @property
    def guard(self) -> "Guard | None":
        """What must hold of the run itself."""

    @property
    def checks(self) -> tuple[str, ...]:
        """The names of the checks that must pass."""

    @property
    def otherwise(self) -> bool:
        """Whether it is taken where no other is."""


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

    @property
    def reads(self) -> tuple[str, ...]:
        """The variables that the worker is shown."""

    @property
    def writes(self) -> tuple[str, ...]:
        """The variables that the worker may set."""

    @property
    def select(self) -> str:
        """`exclusive` or `first`: how one of several transitions is chosen."""

    @property
    def visits_max(self) -> int | None:
        """How often it may be entered; None: as often as may be."""

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

    @property
    def declared_variables(self) -> "Sequence[Declaration]":
        """The variables."""

    @property
    def declared_inputs(self) -> "Sequence[Declaration]":
        """What a run is given when it starts."""

    @property
    def declared_checks(self) -> "Sequence[CheckDeclaration]":
        """The commands that the host runs."""

    def state(self, state_id: str) -> State:
        """Give a state by its id. Raises KeyError when the flow has none of that name."""


def is_plain(state: State) -> bool:
    """Tell whether everything about the ways out of a state is for a verifier to say, as in version 1 of the language."""
    own = (each.guard is not None or each.checks or each.otherwise or not each.condition for each in state.transitions)
    return state.select == "exclusive" and not any(own)
