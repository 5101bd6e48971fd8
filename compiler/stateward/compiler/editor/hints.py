"""Remarks beside the declarations of states: which cannot be reached, and how many ways lead in."""

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from stateward.compiler.diagnostics.wording import counted
from stateward.compiler.editor.analysis import Analysis
from stateward.compiler.editor.graphing import Graph
from stateward.compiler.source import Span


class Hint(NamedTuple):
    """A remark behind a place of the text."""

    offset: int
    text: str


def hints(analysis: Analysis, span: Span) -> Iterator[Hint]:
    """Give the remarks in a part of the text."""
    graph = Graph(analysis)
    ways = Counter(each.target for each in graph.ways)
    for state in analysis.states:
        key = state.key
        if key.source is not analysis.source or not span.start <= key.span.end <= span.end:
            continue
        if graph.reached is not None and state.id not in graph.reached:
            yield Hint(key.span.end, "unreachable")
        elif graph.is_initial(state.id):
            yield Hint(key.span.end, f"begins here, {counted(ways[state.id], 'way')} in" if ways[state.id] else "begins here")
        else:
            yield Hint(key.span.end, f"{counted(ways[state.id], 'way')} in")
