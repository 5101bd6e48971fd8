"""A flow in the language of Graphviz, for those who have it: `dot -Tpng`.

Everything that an author named is a quoted string, in which quotes and backslashes are escaped: nothing of it is read as syntax, nor as
one of the escapes that labels know.

Invariants: every authored state and transition is there, one line each; the same flow gives the same text.
"""

from collections.abc import Iterator, Mapping, Sequence

from stateward.compiler.diagnostics.cells import safe
from stateward.compiler.drawing.marks import UNMARKED, Marks
from stateward.compiler.drawing.ways import Way, shown_states, shown_ways, state_label
from stateward.compiler.flow.definition import CANCELLED_STATE, CompiledFlowDefinition, CompiledState


def draw_dot(definition: CompiledFlowDefinition, marks: Marks = UNMARKED, *, cancelled: bool = False) -> str:
    """Draw a flow; `cancelled` says whether every way to the synthetic end is shown."""
    states = shown_states(definition, marks, cancelled=cancelled)
    names = {state.id: f"s{at}" for at, state in enumerate(states)}
    return "\n".join(
        [
            f"digraph {quoted(definition.name)} {{",
            '  graph [rankdir="TB"];',
            '  node [shape="box", style="rounded", fontname="Helvetica"];',
            '  edge [fontname="Helvetica", fontsize="11"];',
            '  start [shape="point", width="0.15"];',
            f"  start -> {names[definition.initial]};",
            *(f"  {names[state.id]}{_attributes(_state(state, marks))};" for state in states),
            *(
                f"  {names[way.source]} -> {names[way.transition.target]}{_attributes(_way(way))};"
                for way in shown_ways(definition, marks, cancelled=cancelled)
            ),
            "}",
            "",
        ]
    )


def quoted(text: str) -> str:
    """Write a text as a string of the language, with nothing in it that a label would read as an escape."""
    escaped = safe(text).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _attributes(given: Mapping[str, str]) -> str:
    return f" [{', '.join(f'{name}={quoted(value)}' for name, value in given.items())}]"


def _joined(label: Sequence[str]) -> str:
    return "  ".join(label)


def _state(state: CompiledState, marks: Marks) -> Mapping[str, str]:
    return dict(_state_attributes(state, marks))


def _state_attributes(state: CompiledState, marks: Marks) -> Iterator[tuple[str, str]]:
    yield "label", _joined(state_label(state, marks))
    if state.id == CANCELLED_STATE:
        yield "shape", "doubleoctagon"
        yield "style", "solid"
    elif state.terminal:
        yield "peripheries", "2"
    if marks.visits.get(state.id) or state.id == marks.current:
        yield "color", "#0969da"
    if state.id == marks.current:
        yield "penwidth", "3"


def _way(way: Way) -> Mapping[str, str]:
    given = {"label": _joined(way.label)}
    if way.transition.synthetic:
        given["style"] = "dotted"
    elif way.leads_back:
        given["style"] = "dashed"
    if way.count:
        given |= {"color": "#0969da", "penwidth": "2.5"}
    return given
