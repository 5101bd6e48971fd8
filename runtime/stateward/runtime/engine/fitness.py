"""Whether a definition that was not compiled here is one that a flow can run on.

Invariant: what passes has every property that the runtime relies on and the form of the definition alone does not give: names that are
there, once; ends and ways out as the compiler makes them; no more, and no longer, than a source can say. A guard that is not well typed
comes to no answer where it is evaluated, so its types are not judged here.
"""

from collections.abc import Iterator
from typing import Final

from stateward.compiler.flow.definition import CANCEL_TRANSITION, CANCELLED_STATE, CompiledFlowDefinition, CompiledState
from stateward.compiler.limits import (
    CHECKS_MAX,
    IDENTIFIER_BYTES_MAX,
    INPUTS_MAX,
    STATES_MAX,
    TEXT_BYTES_MAX,
    TRANSITIONS_MAX,
    VARIABLES_MAX,
)
from stateward.compiler.predicates.entailing import entails
from stateward.compiler.predicates.guards import EXCEEDED, INPUT, KNOWN, SPENT, VARS, VISITS, Guard, references
from stateward.compiler.predicates.schema import misfit
from stateward.runtime.core.texts import size_of

SCHEMA_VERSIONS: Final = (1, 2)


def unfit(definition: CompiledFlowDefinition) -> str | None:
    """Say, as the rest of a sentence that begins with the definition, why no flow can run on it; None when one can."""
    return next(_problems(definition), None)


def _problems(definition: CompiledFlowDefinition) -> Iterator[str]:
    states = definition.states
    if definition.schema_version not in SCHEMA_VERSIONS:
        known = " and ".join(map(str, SCHEMA_VERSIONS))
        yield f"is of schema version {str(definition.schema_version)[:20]}, and this program knows versions {known}"
    names = {state.id for state in states}
    if len(names) != len(states):
        yield "has a state twice"
    if len(states) > STATES_MAX + 1:
        yield f"has more than {STATES_MAX} states"
    if not {definition.initial, CANCELLED_STATE, *(way.target for state in states for way in state.transitions)} <= names:
        yield "names a state that is not there"
    for state in states:
        yield from _state_problems(state)
    yield from _declaration_problems(definition)
    for state in states:
        yield from _decision_problems(definition, state)


def _state_problems(state: CompiledState) -> Iterator[str]:
    authored = [way for way in state.transitions if way.id != CANCEL_TRANSITION]
    cancel = [(way.target, way.synthetic) for way in state.transitions[-1:] if way.id == CANCEL_TRANSITION]
    if state.terminal == bool(state.transitions) or (state.id == CANCELLED_STATE and not state.terminal):
        yield "has a state that is neither an end nor left"
    if not state.terminal and (cancel != [(CANCELLED_STATE, True)] or any(way.synthetic for way in authored)):
        yield "has a state that cannot be left as every state can"
    if len({way.id for way in state.transitions}) != len(state.transitions) or len(authored) > TRANSITIONS_MAX:
        yield f"has a state with a transition twice, or with more than {TRANSITIONS_MAX}"
    if any(size_of(each) > IDENTIFIER_BYTES_MAX for each in (state.id, *(way.id for way in state.transitions))):
        yield f"has a name of more than {IDENTIFIER_BYTES_MAX} bytes"
    texts = (state.instructions, *(way.condition for way in state.transitions))
    if any(size_of(each) > TEXT_BYTES_MAX for each in texts):
        yield f"has a text of more than {TEXT_BYTES_MAX} bytes"


def _declaration_problems(definition: CompiledFlowDefinition) -> Iterator[str]:
    for what, names, most in (
        ("a variable", [each.name for each in definition.variables], VARIABLES_MAX),
        ("an input", [each.name for each in definition.inputs], INPUTS_MAX),
        ("a check", [each.name for each in definition.checks], CHECKS_MAX),
    ):
        if len(set(names)) != len(names) or len(names) > most:
            yield f"has {what} twice, or more than {most}"
        if any(size_of(each) > IDENTIFIER_BYTES_MAX for each in names):
            yield f"has a name of more than {IDENTIFIER_BYTES_MAX} bytes"
    for each in (*definition.declared_variables, *definition.declared_inputs):
        if each.default is not None and misfit(each.schema, each.default) is not None:
            yield f"has a default that `{each.name}` cannot hold"
    inputs = {each.name: each.schema for each in definition.declared_inputs}
    if any(each.name in inputs and not entails(inputs[each.name], each.schema) for each in definition.declared_variables):
        yield "has an input that a variable of its name cannot hold"
    for check in definition.checks:
        if not check.command or check.timeout_seconds < 1:
            yield f"has a check `{check.name}` that runs nothing, or has no time"


def _decision_problems(definition: CompiledFlowDefinition, state: CompiledState) -> Iterator[str]:
    variables, checks = {each.name for each in definition.variables}, {each.name for each in definition.checks}
    if not {*state.reads, *state.writes} <= variables:
        yield f"has a state `{state.id}` that reads or writes a variable that is not there"
    if state.visits_max is not None and state.visits_max < 1:
        yield f"has a state `{state.id}` that can never be entered"
    authored = [way for way in state.transitions if not way.synthetic]
    lasts = [way for way in authored if way.otherwise]
    if len(lasts) > 1 or (lasts and any(way.condition for way in authored if not way.otherwise)):
        yield f"has a state `{state.id}` whose last resort is not one beside others that the runtime decides"
    for way in authored:
        if definition.schema_version > 1 and not (way.condition or way.guard is not None or way.checks or way.otherwise):
            yield f"has a transition `{way.id}` that nothing decides"
        if not set(way.checks) <= checks or (way.guard is not None and not _is_read(definition, way.guard)):
            yield f"has a transition `{way.id}` that rests on what is not there"


def _is_read(definition: CompiledFlowDefinition, guard: Guard) -> bool:
    names = {
        VARS: {each.name for each in definition.variables},
        KNOWN: {each.name for each in definition.variables},
        INPUT: {each.name for each in definition.inputs},
        VISITS: {each.id for each in definition.states},
        SPENT: {EXCEEDED},
    }
    return all(each.path[1] in names[each.path[0]] for each in references(guard))
