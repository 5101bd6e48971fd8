"""A flow in a few sentences, for those who cannot see its picture.

Invariants: bounded in length, whatever the flow; what is marked of a run is said.
"""

from typing import Final

from stateward.compiler.diagnostics.wording import counted
from stateward.compiler.drawing.marks import Marks
from stateward.compiler.flow.definition import CANCEL_TRANSITION, CANCELLED_STATE, CompiledFlowDefinition, CompiledState

CHARACTERS_MAX: Final = 12_000


def summary(definition: CompiledFlowDefinition) -> str:
    """Count what the author declared."""
    states = [state for state in definition.states if state.id != CANCELLED_STATE]
    transitions = sum(not each.synthetic for state in states for each in state.transitions)
    return f"{counted(len(states), 'state')}, {counted(transitions, 'transition')}"


def described(definition: CompiledFlowDefinition, marks: Marks) -> str:
    """Tell each state and where its transitions lead."""
    parts = [f"{summary(definition)}; begins in {definition.initial}."]
    if marks.current is not None:
        parts.append(f"The work stands in {marks.current}.")
    parts += [_state(state, marks) for state in definition.states if state.id != CANCELLED_STATE]
    if any(not state.terminal for state in definition.states):
        parts.append(f"{CANCEL_TRANSITION} leads from every state that is no end to {CANCELLED_STATE}.")
    text = " ".join(parts)
    return text if len(text) <= CHARACTERS_MAX else f"{text[: CHARACTERS_MAX - 1]}…"


def _state(state: CompiledState, marks: Marks) -> str:
    visits = marks.visits.get(state.id, 0)
    entered = f", entered {counted(visits, 'time')}" if visits else ""
    if state.terminal:
        return f"{state.id} is an end{entered}."
    ways = [_way(state.id, each.id, each.target, marks) for each in state.transitions if not each.synthetic]
    return f"{state.id}{entered}: {', '.join(ways)}."


def _way(state: str, transition: str, target: str, marks: Marks) -> str:
    taken = marks.taken.get((state, transition), 0)
    answer = marks.answers.get(transition) if state == marks.current else None
    told = [*([f"taken {counted(taken, 'time')}"] if taken else []), *([f"last answer: {answer}"] if answer else [])]
    return f"{transition} to {target}" + (f" ({'; '.join(told)})" if told else "")
