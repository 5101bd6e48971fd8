"""Stage 4, of version 2: by what the ways out of a state are decided, each for itself and all beside each other."""

from collections.abc import Iterator

from stateward.compiler.flow.problems import Problem
from stateward.compiler.flow.problems.deciding import NothingDecides, OtherwiseBesideCondition, OtherwiseTwice
from stateward.compiler.flow.typed import Located, StateSource, Transitions, TransitionSource


def check_deciding(state: StateSource, transitions: Transitions) -> Iterator[Problem]:
    """Give what is wrong with how the ways out of a state are decided."""
    for each in transitions.items:
        if each.complete and not _is_decided(each):
            yield NothingDecides(each)
    last = [(each, each.otherwise) for each in transitions.items if each.otherwise is not None and each.otherwise.value]
    for _, second in last[1:]:
        yield OtherwiseTwice(state.id, last[0][1], second)
    if last:
        yield from _beside(state, transitions, *last[0])


def _is_decided(transition: TransitionSource) -> bool:
    """Tell whether a transition says when it is taken, or said so in a field that failed."""
    if not transition.said.isdisjoint({"when", "condition"}):
        return True
    checks, otherwise = transition.checks, transition.otherwise
    names_checks = "checks" in transition.said and (checks is None or bool(checks.items) or not checks.complete)
    return names_checks or ("otherwise" in transition.said and (otherwise is None or otherwise.value))


def _beside(state: StateSource, transitions: Transitions, own: TransitionSource, otherwise: Located[bool]) -> Iterator[Problem]:
    judged = [(each.id, each.condition.origin.place) for each in transitions.items if each is not own and each.condition is not None]
    if judged:
        yield OtherwiseBesideCondition(state.id, otherwise, tuple(judged))
