"""Whether a definition that was not compiled here is one that a flow can run on.

Invariant: what passes has every property of version 1 that the runtime relies on and the form of the definition alone does not give: names
that are there, once; ends and ways out as the compiler makes them; no more, and no longer, than a source can say.
"""

from collections.abc import Iterator
from typing import Final

from stateward.compiler.flow.definition import CANCEL_TRANSITION, CANCELLED_STATE, CompiledFlowDefinition, CompiledState
from stateward.compiler.limits import IDENTIFIER_BYTES_MAX, STATES_MAX, TEXT_BYTES_MAX, TRANSITIONS_MAX
from stateward.runtime.core.texts import size_of

SCHEMA_VERSION: Final = 1


def unfit(definition: CompiledFlowDefinition) -> str | None:
    """Say, as the rest of a sentence that begins with the definition, why no flow can run on it; None when one can."""
    return next(_problems(definition), None)


def _problems(definition: CompiledFlowDefinition) -> Iterator[str]:
    states = definition.states
    if definition.schema_version != SCHEMA_VERSION:
        yield f"is of schema version {str(definition.schema_version)[:20]}, and this program knows version {SCHEMA_VERSION}"
    names = {state.id for state in states}
    if len(names) != len(states):
        yield "has a state twice"
    if len(states) > STATES_MAX + 1:
        yield f"has more than {STATES_MAX} states"
    if not {definition.initial, CANCELLED_STATE, *(way.target for state in states for way in state.transitions)} <= names:
        yield "names a state that is not there"
    for state in states:
        yield from _state_problems(state)


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
