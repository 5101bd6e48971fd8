"""The states and transitions that a notation names, with what is marked of each: for outputs that leave places to whoever shows them.

Invariants: everything is in order of declaration; what leads back is what every other picture draws as leading back.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from stateward.compiler.drawing.figure import shows_cancelled, times
from stateward.compiler.drawing.marks import Answered, Marks
from stateward.compiler.drawing.order import drawing_order
from stateward.compiler.flow.definition import CANCELLED_STATE, CompiledFlowDefinition, CompiledState, CompiledTransition
from stateward.compiler.predicates.text import guard_text


@dataclass(frozen=True, slots=True)
class Way:
    """A transition as it is drawn."""

    source: str
    transition: CompiledTransition
    leads_back: bool
    """To a state further up, or to its own."""
    count: str
    """How often it was taken, as it is shown; empty when never."""
    answer: Answered | None

    @property
    def label(self) -> tuple[str, ...]:
        """What is written on it: its id, and what is marked."""
        return tuple(part for part in (self.transition.id, self.count, f"[{self.answer}]" if self.answer else "") if part)


def shown_states(definition: CompiledFlowDefinition, marks: Marks, *, cancelled: bool) -> tuple[CompiledState, ...]:
    """Give the states; the synthetic one when it is asked for, or was entered."""
    shown = cancelled or shows_cancelled(marks)
    return tuple(state for state in definition.states if state.id != CANCELLED_STATE or shown)


def shown_ways(definition: CompiledFlowDefinition, marks: Marks, *, cancelled: bool) -> Iterator[Way]:
    """Give the transitions; synthetic ones when they are asked for, or were taken."""
    at = {state.id: position for position, state in enumerate(drawing_order(definition))}
    at[CANCELLED_STATE] = len(at)
    for state in definition.states:
        for each in state.transitions:
            count = marks.taken.get((state.id, each.id), 0)
            if cancelled or count or not each.synthetic:
                answer = marks.answers.get(each.id) if state.id == marks.current else None
                yield Way(state.id, each, at[each.target] <= at[state.id], times(count), answer)


def state_label(state: CompiledState, marks: Marks) -> tuple[str, ...]:
    """Give what is written in a state: its id, and how often it was entered."""
    count = times(marks.visits.get(state.id, 0))
    return (state.id, count) if count else (state.id,)


def decided_by(transition: CompiledTransition) -> str:
    """Say by what a transition is decided, a line each: what is evaluated, what is run, and what a verifier is asked."""
    guard = transition.guard
    lines = [
        f"when {guard_text(guard)}" if guard is not None else "",
        f"checks {', '.join(transition.checks)}" if transition.checks else "",
        "otherwise" if transition.otherwise else "",
        transition.condition,
    ]
    return "\n".join(line for line in lines if line)
