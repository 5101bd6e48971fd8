"""Where what a flow reads can come from: for each read of each state, and of each guard, who may have written it, and whether surely.

Over the compiled definition, and pure. A state that writes a variable counts as having written it once it is entered: whether its worker
did so is not known. Invariants: "on every way" is said only where every way from the beginning to the read passes a state that writes it;
ways whose guards never hold are ways like any others here.
"""

from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple

from stateward.compiler.flow.definition import CompiledFlowDefinition, CompiledState
from stateward.compiler.flow.walking import reached
from stateward.compiler.predicates.guards import INPUT, KNOWN, VARS, references


class Certainty(StrEnum):
    """Whether something is there where it is read."""

    ALWAYS = "always"
    """It has a value from the beginning, or a state that writes it lies on every way."""
    PERHAPS = "perhaps"
    """A state that writes it lies on some ways and not on others."""
    NEVER = "never"
    """Nothing can have written it."""


class Reading(NamedTuple):
    """A read of a variable or an input, and where its value can come from."""

    state: str
    transition: str
    """Whose guard reads it; empty for what the state shows its worker."""
    name: str
    is_input: bool
    default: bool
    """Whether its declaration gives it a value."""
    given: bool
    """Whether it is an input, or the input of its name gives it a value."""
    writers: tuple[str, ...]
    """The states that may have written it by then, in order of declaration."""
    certainty: Certainty


def provenance(definition: CompiledFlowDefinition) -> tuple[Reading, ...]:
    """Give every read, by state and transition in order of declaration."""
    return tuple(_Flow(definition).readings())


class _Flow:
    """A definition, and its ways."""

    def __init__(self, definition: CompiledFlowDefinition) -> None:
        self._definition = definition
        self._defaults = {each.name for each in definition.declared_variables if each.default is not None}
        self._inputs = {each.name: each.default is not None for each in definition.declared_inputs}
        ways = {state.id: tuple(each.target for each in state.transitions if not each.synthetic) for state in definition.states}
        self._entered = reached(ways, [definition.initial])
        self._writers = {name: self._writing(name) for name in (each.name for each in definition.declared_variables)}
        """The states that write each variable and are entered, in order of declaration."""
        self._after = {state: reached(ways, [state]) for state in {each for writers in self._writers.values() for each in writers}}
        """What is entered from a state that writes something."""
        self._around = {name: reached(ways, [definition.initial], writers) for name, writers in self._writers.items()}
        """What is entered by a way on which nothing writes a variable."""

    def _writing(self, name: str) -> tuple[str, ...]:
        return tuple(each.id for each in self._definition.states if name in each.writes and each.id in self._entered)

    def readings(self) -> Iterator[Reading]:
        """Give every read that can happen."""
        for state in self._definition.states:
            if state.id in self._entered:
                yield from self._of(state)

    def _of(self, state: CompiledState) -> Iterator[Reading]:
        for name in state.reads:
            yield self._variable(state.id, "", name)
        for transition in state.transitions:
            refs = () if transition.guard is None else references(transition.guard)
            for root, name in dict.fromkeys((ref.path[0], ref.path[1]) for ref in refs):
                if root == INPUT:
                    yield Reading(state.id, transition.id, name, True, self._inputs[name], True, (), Certainty.ALWAYS)
                elif root == VARS or (root == KNOWN and (VARS, name) not in {(each.path[0], each.path[1]) for each in refs}):
                    yield self._variable(state.id, transition.id, name)

    def _variable(self, state: str, transition: str, name: str) -> Reading:
        writers = tuple(each for each in self._writers[name] if state in self._after[each])
        default, given = name in self._defaults, name in self._inputs
        if default or given or state not in self._around[name]:
            certainty = Certainty.ALWAYS
        else:
            certainty = Certainty.PERHAPS if writers else Certainty.NEVER
        return Reading(state, transition, name, False, default, given, writers, certainty)
