"""Walks through a flow that together take every transition of its author: as few as there can be, and then as short.

A walk goes from the initial state to an end. Fewest walks that cover all edges are a minimum flow with a lower bound of one on each
edge; an Eulerian circuit of that flow, cut wherever it goes back from the ends to the beginning, is a set of such walks. Synthetic
transitions are not walked: they can be taken from everywhere, and add nothing to what a reader wants to see.

Invariant: the same definition gives the same walks.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple, TypeAlias

from stateward.compiler.flow.definition import CompiledFlowDefinition

_Node: TypeAlias = tuple[str, ...]
_BEGIN: Final[_Node] = ("begin",)
_END: Final[_Node] = ("end",)


class Step(NamedTuple):
    """One transition of a walk."""

    state: str
    transition: str
    target: str


Walk: TypeAlias = tuple[Step, ...]


def covering_walks(definition: CompiledFlowDefinition) -> tuple[Walk, ...]:
    """Give a smallest set of walks that takes every authored transition; one walk without steps where the flow begins at its end."""
    steps = [
        Step(state.id, transition.id, transition.target)
        for state in definition.states
        for transition in state.transitions
        if not transition.synthetic
    ]
    if not steps:
        return ((),)
    return tuple(_cut(_times(definition, steps)))


def _times(definition: CompiledFlowDefinition, steps: list[Step]) -> Mapping[tuple[_Node, _Node], int]:
    """Say how often each edge is gone along, the one from the ends back to the beginning included."""
    import networkx as nx  # noqa: PLC0415 -- its import costs more than all else here

    graph: Any = nx.DiGraph()
    graph.add_edge(_BEGIN, _state(definition.initial), weight=0)
    for step in steps:
        here, through, there = _state(step.state), _transition(step), _state(step.target)
        graph.add_edge(here, through, weight=1)
        graph.add_edge(through, there, weight=0)
    for state in definition.states:
        if state.terminal and _state(state.id) in graph:
            graph.add_edge(_state(state.id), _END, weight=0)
    graph.add_edge(_END, _BEGIN, weight=len(steps) ** 2 + 1)  # one walk less is worth any length
    owed = dict.fromkeys(graph, 0)
    for step in steps:  # each is taken once at least: what is decided is how often more
        owed[_state(step.state)] += 1
        owed[_transition(step)] -= 1
    nx.set_node_attributes(graph, owed, "demand")
    _, more = nx.network_simplex(graph)
    taken = {(_state(step.state), _transition(step)) for step in steps}
    return {(tail, head): times + ((tail, head) in taken) for tail, row in more.items() for head, times in row.items()}


def _cut(times: Mapping[tuple[_Node, _Node], int]) -> Iterator[Walk]:
    import networkx as nx  # noqa: PLC0415 -- as above

    graph: Any = nx.MultiDiGraph()
    for (tail, head), count in times.items():
        graph.add_edges_from([(tail, head)] * count)
    walk: list[Step] = []
    for tail, head in nx.eulerian_circuit(graph, source=_BEGIN):
        if head == _BEGIN:
            yield tuple(walk)
            walk = []
        elif len(tail) == 3:
            _, state, transition = tail
            walk.append(Step(state, transition, head[1]))


def _state(state: str) -> _Node:
    return ("state", state)


def _transition(step: Step) -> _Node:
    return ("transition", step.state, step.transition)
