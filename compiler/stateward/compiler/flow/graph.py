"""Stage 5: reachability. What is reached is a plain search; networkx finds the parts of what is at fault, and is imported only then.

What is reported is certain. A state is *open* when a way out of it is not known (a target that is missing or wrong, transitions that
failed, a state that is no end and has none): such a way may lead anywhere, so nothing that would need it to lead nowhere is said.
Synthetic edges are not here: they never count.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TypeAlias

from stateward.compiler.flow.identifiers import identifier_fault
from stateward.compiler.flow.problems import Problem
from stateward.compiler.flow.problems.graph import TerminalMissing, TerminalUnreachable, Unreachable
from stateward.compiler.flow.typed import FlowSource, Located, States, StateSource, TransitionSource

Ways: TypeAlias = Mapping[str, Sequence[str]]
"""Where the edges of each state lead."""


def check_graph(flow: FlowSource) -> list[Problem]:
    """Give what is wrong with the graph of a source."""
    if flow.states is None or not flow.states.items:
        return []
    graph = _Graph(flow.states)
    found: list[Problem] = []
    initial = flow.initial if flow.initial is not None and flow.initial.value in graph.states else None
    if initial is not None:
        found += _unreachable(graph, initial)
    if graph.has_no_end:
        found.append(TerminalMissing(flow.states))
    elif initial is not None:
        found += _trapped(graph, initial)
    return found


class _Graph:
    """The states and the edges that are known."""

    def __init__(self, source: States) -> None:
        self.source = source

    @cached_property
    def states(self) -> dict[str, StateSource]:
        return {state.id: state for state in self.source.items}

    @cached_property
    def order(self) -> dict[str, int]:
        return {state: at for at, state in enumerate(self.states)}

    @cached_property
    def edges(self) -> list[tuple[str, str, TransitionSource]]:
        """All edges with both ends known, in order of declaration."""
        return [
            (state.id, transition.target.value, transition)
            for state in self.source.items
            for transition in (state.transitions.items if state.transitions is not None else ())
            if transition.target is not None and self._is_known(transition)
        ]

    def _is_known(self, transition: TransitionSource) -> bool:
        """Tell whether a transition certainly leads where it says."""
        target = transition.target
        return target is not None and target.value in self.states and not target.value.startswith("$")

    @property
    def misnamed(self) -> list[str]:
        """The states whose id has to be changed: what leads to them may be spelt in another way."""
        return [state for state in self.states if identifier_fault(state) is not None]

    @cached_property
    def open(self) -> frozenset[str]:
        return frozenset(state.id for state in self.source.items if self._is_open(state))

    def _is_open(self, state: StateSource) -> bool:
        transitions = state.transitions
        if transitions is None or not transitions.complete:
            return True
        if not transitions.items:
            return state.terminal is not True
        return not all(self._is_known(each) for each in transitions.items)

    @property
    def has_no_end(self) -> bool:
        """Whether no state is an end, for certain: a way that may lead anywhere may lead to an end that was not written down yet."""
        return self.source.complete and not self.open and all(state.terminal is False for state in self.source.items)

    @cached_property
    def possible(self) -> Ways:
        """Every known edge."""
        return self._ways((tail, head) for tail, head, _ in self.edges)

    @cached_property
    def backwards(self) -> Ways:
        """Every known edge, from its target to where it begins."""
        return self._ways((head, tail) for tail, head, _ in self.edges)

    @cached_property
    def certain(self) -> Ways:
        """The edges that are certainly there: those out of states that are certainly no end."""
        return self._ways((tail, head) for tail, head, _ in self.edges if self.states[tail].terminal is False)

    def _ways(self, edges: Iterable[tuple[str, str]]) -> Ways:
        ways: dict[str, list[str]] = {state: [] for state in self.states}
        for tail, head in edges:
            ways[tail].append(head)
        return ways

    def sorted(self, ids: Iterable[str]) -> tuple[str, ...]:
        return tuple(sorted(ids, key=self.order.__getitem__))

    def sources(self, ids: Iterable[str]) -> tuple[StateSource, ...]:
        return tuple(self.states[each] for each in self.sorted(ids))


def _unreachable(graph: _Graph, initial: Located[str]) -> Iterator[Problem]:
    if _reached(graph.possible, [initial.value]) & graph.open:
        return
    reached = _reached(graph.possible, [initial.value, *graph.misnamed])
    lost = graph.states.keys() - reached
    for members, followers in _parts(graph.possible, lost, graph):
        yield Unreachable(graph.sources(members), graph.sources(followers), graph.sorted({*members, *followers}), initial)


def _trapped(graph: _Graph, initial: Located[str]) -> Iterator[Problem]:
    ends = [state.id for state in graph.source.items if state.terminal is not False]
    can_end = _reached(graph.backwards, {*ends, *graph.open})
    reached = _reached(graph.certain, [initial.value])
    for members, lead_ins in _parts(graph.backwards, reached - can_end, graph):
        inside = {*members, *lead_ins}
        entry = next((edge for tail, head, edge in graph.edges if head in inside and tail in reached and tail not in inside), None)
        yield TerminalUnreachable(
            members=graph.sources(members),
            lead_ins=graph.sources(lead_ins),
            named=graph.sorted(inside),
            entry=entry,
            initial=initial,
            ends=tuple(end for end in ends if graph.states[end].terminal),
        )


def _reached(ways: Ways, starts: Iterable[str], without: Collection[str] = frozenset()) -> set[str]:
    """Give the starts and all that is reached from them by ways that enter nothing of `without`."""
    found = set(starts)
    open_ = list(found)
    while open_:
        for state in ways[open_.pop()]:
            if state not in found and state not in without:
                found.add(state)
                open_.append(state)
    return found


def _parts(ways: Ways, states: Collection[str], whole: _Graph) -> Iterator[tuple[set[str], set[str]]]:
    """Split some of the states by the parts that no edge between them enters: each with what is reached from it and from no earlier one."""
    if not states:
        return
    import networkx as nx  # noqa: PLC0415 - costs more than all the rest of a compile, and a flow without a fault has no use for it

    between = nx.DiGraph((tail, head) for tail in states for head in ways[tail] if head in states)
    between.add_nodes_from(states)
    condensed = nx.condensation(between)
    heads: list[set[str]] = [condensed.nodes[part]["members"] for part, entered in condensed.in_degree() if not entered]
    taken = whole.states.keys() - states
    for members in sorted(heads, key=lambda each: min(whole.order[state] for state in each)):
        followers = _reached(ways, members, taken) - members
        taken |= followers
        yield members, followers
