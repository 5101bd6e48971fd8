"""The graph of states as it is written: what leads where, and what is reached.

Invariants: bounded by the text; loops are followed once; the way that gives a flow up, which nobody writes, is left out.
"""

from collections import deque
from functools import cached_property
from typing import NamedTuple

from stateward.compiler.editor.analysis import Analysis
from stateward.compiler.flow.typed import StateSource, TransitionSource


class Way(NamedTuple):
    """A transition and the state that it leaves."""

    state: StateSource
    transition: TransitionSource

    @property
    def target(self) -> str | None:
        """Where it leads; None where that could not be read."""
        return None if self.transition.target is None else self.transition.target.value


class Graph:
    """The states and ways of one text."""

    def __init__(self, analysis: Analysis) -> None:
        self._analysis = analysis
        self.ways = tuple(Way(state, transition) for state, transition in analysis.edges)

    def state(self, id_: str) -> StateSource | None:
        """Give a state by its id."""
        return next((each for each in self._analysis.states if each.id == id_), None)

    def into(self, id_: str) -> list[Way]:
        """Give the ways that lead into a state."""
        return [each for each in self.ways if each.target == id_]

    def out_of(self, id_: str) -> list[Way]:
        """Give the ways that leave a state."""
        return [each for each in self.ways if each.state.id == id_]

    def is_initial(self, id_: str) -> bool:
        """Tell whether the flow begins in a state."""
        flow = self._analysis.flow
        return flow is not None and flow.initial is not None and flow.initial.value == id_

    @cached_property
    def reached(self) -> frozenset[str] | None:
        """The states that can be entered; None where that cannot be told, because something of the flow could not be read."""
        flow = self._analysis.flow
        if flow is None or flow.initial is None or flow.states is None or not flow.states.complete:
            return None
        if any(each.target is None for each in self.ways) or any(
            state.transitions is not None and not state.transitions.complete for state in self._analysis.states
        ):
            return None
        leads: dict[str, list[str]] = {}
        for each in self.ways:
            leads.setdefault(each.state.id, []).append(each.target or "")
        seen, open_ = {flow.initial.value}, deque([flow.initial.value])
        while open_:
            for target in leads.get(open_.popleft(), ()):
                if target not in seen:
                    seen.add(target)
                    open_.append(target)
        return frozenset(seen)
