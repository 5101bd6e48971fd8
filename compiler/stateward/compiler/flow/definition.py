"""The compiled graph: immutable, typed, the one thing of the compiler that the runtime's core sees.

Invariants: arrays keep the order of declaration; the version-1 form never gains a field: what came with version 2 is at its default there
and is left out of the canonical JSON (`canonical.py`), which is what `definition_digest` covers, so a definition is the same for ever.
"""

from functools import cached_property
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, SerializerFunctionWrapHandler, model_serializer, model_validator

from stateward.compiler.flow.reserved import CANCEL_TRANSITION, CANCELLED_STATE
from stateward.compiler.predicates.declarations import CheckDeclaration, Declaration
from stateward.compiler.predicates.forms import read_guard, read_schema, read_value
from stateward.compiler.predicates.guards import Guard

__all__ = [
    "CANCELLED_STATE",
    "CANCEL_TRANSITION",
    "CompiledCheck",
    "CompiledFlowDefinition",
    "CompiledState",
    "CompiledTransition",
    "CompiledVariable",
]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    @model_serializer(mode="wrap")
    def _without_defaults(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave out what is at its default: one definition has one form, and that of version 1 is the same for ever."""
        written: dict[str, Any] = write(self)
        fields = type(self).model_fields
        return {name: given for name, given in written.items() if fields[name].is_required() or getattr(self, name) != fields[name].default}


class CompiledVariable(_Frozen):
    """A variable or an input, as JSON (`predicates.forms`)."""

    name: str
    type: Any
    default: Any = None

    @cached_property
    def declaration(self) -> Declaration:
        """As the runtime reads it."""
        return Declaration(self.name, read_schema(self.type), None if self.default is None else read_value(self.default))

    @model_validator(mode="after")
    def _is_readable(self) -> Self:
        assert self.declaration.name == self.name
        return self


class CompiledCheck(_Frozen):
    """A command that the host runs."""

    name: str
    command: tuple[str, ...]
    timeout_seconds: int

    @property
    def declaration(self) -> CheckDeclaration:
        """As the runtime reads it."""
        return CheckDeclaration(self.name, self.command, self.timeout_seconds)


class CompiledTransition(_Frozen):
    """A way out of a state."""

    id: str
    target: str
    condition: str
    """What must be shown to hold, in natural language; empty where nobody is asked."""
    synthetic: bool
    """Whether the compiler added it."""
    when: Any = None
    """The guard, as JSON (`predicates.forms`); None where there is none."""
    checks: tuple[str, ...] = ()
    """The checks that must pass."""
    otherwise: bool = False
    """Whether it is taken where no other is."""

    @cached_property
    def guard(self) -> Guard | None:
        """The guard."""
        return None if self.when is None else read_guard(self.when)

    @model_validator(mode="after")
    def _is_readable(self) -> Self:
        assert self.guard is not None or self.when is None
        return self


class CompiledState(_Frozen):
    """A state; `transitions` is empty exactly when it is terminal."""

    id: str
    instructions: str
    terminal: bool
    transitions: tuple[CompiledTransition, ...]
    reads: tuple[str, ...] = ()
    """The variables that the worker is shown."""
    writes: tuple[str, ...] = ()
    """The variables that the worker may set."""
    select: Literal["exclusive", "first"] = "exclusive"
    """How one of several transitions is chosen."""
    visits_max: int | None = None
    """How often it may be entered; None: as often as may be."""

    def transition(self, transition_id: str) -> CompiledTransition | None:
        """Find a transition by its id."""
        return next((each for each in self.transitions if each.id == transition_id), None)


class CompiledFlowDefinition(_Frozen):
    """A compiled flow."""

    schema_version: int
    name: str
    initial: str
    states: tuple[CompiledState, ...]
    variables: tuple[CompiledVariable, ...] = ()
    inputs: tuple[CompiledVariable, ...] = ()
    checks: tuple[CompiledCheck, ...] = ()

    @model_validator(mode="after")
    def _first_version_is_plain(self) -> Self:
        if self.schema_version == 1 and self.is_of_a_later_version():
            raise ValueError("a definition of version 1 has a field of version 2")
        return self

    def is_of_a_later_version(self) -> bool:
        """Tell whether it has what version 1 does not know."""
        transitions = [each for state in self.states for each in state.transitions]
        return bool(
            self.variables
            or self.inputs
            or self.checks
            or any(state.reads or state.writes or state.select != "exclusive" or state.visits_max for state in self.states)
            or any(each.when is not None or each.checks or each.otherwise for each in transitions)
        )

    @cached_property
    def declared_variables(self) -> tuple[Declaration, ...]:
        """The variables."""
        return tuple(each.declaration for each in self.variables)

    @cached_property
    def declared_inputs(self) -> tuple[Declaration, ...]:
        """What a run is given when it starts."""
        return tuple(each.declaration for each in self.inputs)

    @cached_property
    def declared_checks(self) -> tuple[CheckDeclaration, ...]:
        """The commands that the host runs."""
        return tuple(each.declaration for each in self.checks)

    @cached_property
    def _by_id(self) -> dict[str, CompiledState]:
        return {state.id: state for state in self.states}

    def state(self, state_id: str) -> CompiledState:
        """Give a state by its id. Raises KeyError when the flow has none of that name."""
        return self._by_id[state_id]
