"""Definitions for tests, written as tables: state -> {transition: target}; a state without transitions is terminal."""

from collections.abc import Mapping

from stateward.compiler.flow.definition import CANCEL_TRANSITION, CANCELLED_STATE, CompiledFlowDefinition, CompiledState, CompiledTransition

CANCEL_TEXT = "It is impossible to go on."
ODD_TEXT = "{x} {0.__class__} {{ %s ${HOME} {% if %} } é \u202e \\ \" '\n\t"
"""What a careless program looks up, doubles or drops."""
HALF = "\ud800"
"""Half a surrogate pair: in a worker's words, never in a source."""


def flow(name: str = "paper", /, *, initial: str | None = None, **states: Mapping[str, str]) -> CompiledFlowDefinition:
    """Make a definition as the compiler lowers it; the first state is the initial one."""
    authored = [_state(state, transitions) for state, transitions in states.items()]
    cancelled = CompiledState(id=CANCELLED_STATE, instructions="", terminal=True, transitions=())
    return CompiledFlowDefinition(schema_version=1, name=name, initial=initial or next(iter(states)), states=(*authored, cancelled))


def _state(state: str, transitions: Mapping[str, str]) -> CompiledState:
    ways = [
        CompiledTransition(id=each, target=target, condition=f"The condition of {each} holds. {ODD_TEXT}", synthetic=False)
        for each, target in transitions.items()
    ]
    if ways:
        ways.append(CompiledTransition(id=CANCEL_TRANSITION, target=CANCELLED_STATE, condition=CANCEL_TEXT, synthetic=True))
    return CompiledState(id=state, instructions=f"Do {state}. {ODD_TEXT}", terminal=not ways, transitions=tuple(ways))


REVIEW = flow("review", implement={"ready": "check"}, check={"good": "done", "bad": "fix"}, fix={"fixed": "check"}, done={})
"""A loop with an end: implement -> check -> (done | fix -> check)."""
FORK = flow("fork", a={"x": "b", "y": "c", "z": "a"}, b={"end": "done"}, c={"end": "done"}, done={})
"""Three ways out of one state, one of them back into it."""
NOTHING_TO_DO = flow("nothing", done={})
"""The initial state is terminal."""
