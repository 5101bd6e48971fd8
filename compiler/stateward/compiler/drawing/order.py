"""The order in which states are drawn: few edges lead back up, and ends come last.

Invariants: every state is drawn once; the initial state is first; the order depends on the definition alone.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from stateward.compiler.flow.definition import CANCELLED_STATE, CompiledFlowDefinition, CompiledState

_FEWER: Final = 0.75
"""What share of the edges that lead back in the author's order may do so in another, for that to be taken: the author had reasons."""


def drawing_order(definition: CompiledFlowDefinition) -> tuple[CompiledState, ...]:
    """Give the authored states as they were declared, or along the edges where that has clearly fewer of them lead back."""
    declared = [state.id for state in definition.states if state.id != CANCELLED_STATE]
    declared.sort(key=lambda state: (state != definition.initial, definition.state(state).terminal))
    along = sorted(_along_edges(definition), key=lambda state: definition.state(state).terminal)
    clearly_fewer = _leading_back(definition, along) <= _leading_back(definition, declared) * _FEWER
    return tuple(definition.state(state) for state in (along if clearly_fewer else declared))


def _leading_back(definition: CompiledFlowDefinition, order: Sequence[str]) -> int:
    """Count the edges to a state that is drawn no further down."""
    at = {state: position for position, state in enumerate(order)}
    return sum(at[target] <= at[state] for state in order for target in _targets(definition, state))


def _along_edges(definition: CompiledFlowDefinition) -> list[str]:
    """Order states depth first, each before those it leads to, as far as cycles allow; what is not reached comes behind, as declared."""
    finished: list[str] = []
    seen = {definition.initial}
    open_: list[tuple[str, Iterator[str]]] = [(definition.initial, iter(_targets(definition, definition.initial)))]
    while open_:
        state, targets = open_[-1]
        target = next((each for each in targets if each not in seen), None)
        if target is None:
            finished.append(state)
            open_.pop()
        else:
            seen.add(target)
            open_.append((target, iter(_targets(definition, target))))
    return [*finished[::-1], *(state.id for state in definition.states if state.id not in seen and state.id != CANCELLED_STATE)]


def _targets(definition: CompiledFlowDefinition, state: str) -> list[str]:
    """Give targets from the last declared to the first, so that the first is drawn nearest."""
    return [each.target for each in reversed(definition.state(state).transitions) if not each.synthetic]
