"""A flow as a Mermaid flowchart, for pages that draw such.

States are called `s0`, `s1`, … in order of declaration, so no name of an author is ever read as syntax; what they are called stands in
quoted labels, in which everything but letters, digits and what joins them is written as a numbered entity.

Invariants: every authored state and transition is there, one line each; the same flow gives the same text.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from stateward.compiler.diagnostics.cells import safe
from stateward.compiler.drawing.marks import UNMARKED, Marks
from stateward.compiler.drawing.ways import Way, shown_states, shown_ways, state_label
from stateward.compiler.flow.definition import CANCELLED_STATE, CompiledFlowDefinition, CompiledState

_PLAIN: Final = re.compile(r"[A-Za-z0-9 ]|(?<=[A-Za-z0-9])[-_](?=[A-Za-z0-9])|[^\x00-\x7f]")
"""What stands in a label as it is. A `-` or `_` at the edge of a word would be read as Markdown; what is not ASCII means nothing."""
_CLASSES: Final = {
    "ending": "stroke-width:3px",
    "cancelled": "stroke:#cf222e,stroke-width:3px,stroke-dasharray:4 3",
    "visited": "stroke:#0969da",
    "current": "stroke:#0969da,stroke-width:4px",
}


def draw_mermaid(definition: CompiledFlowDefinition, marks: Marks = UNMARKED, *, cancelled: bool = False) -> str:
    """Draw a flow; `cancelled` says whether every way to the synthetic end is shown."""
    states = shown_states(definition, marks, cancelled=cancelled)
    names = {state.id: f"s{at}" for at, state in enumerate(states)}
    ways = list(shown_ways(definition, marks, cancelled=cancelled))
    return "\n".join(
        [
            "flowchart TD",
            f"  start(( )) --> {names[definition.initial]}",
            *(f"  {names[state.id]}{_shape(state, marks)}" for state in states),
            *(f"  {names[way.source]} {_arrow(way)}|{_quoted(way.label)}| {names[way.transition.target]}" for way in ways),
            *(f"  classDef {name} {style}" for name, style in _CLASSES.items()),
            *(f"  class {names[state.id]} {name}" for state in states for name in _classes(state, marks)),
            *_taken(ways),
            "",
        ]
    )


def escaped(text: str) -> str:
    """Write a text for a quoted label."""
    shown = safe(text)
    return "".join(char if _PLAIN.match(shown, at) else f"#{ord(char)};" for at, char in enumerate(shown))


def _quoted(label: Sequence[str]) -> str:
    return f'"{escaped("  ".join(label))}"'


def _shape(state: CompiledState, marks: Marks) -> str:
    label = _quoted(state_label(state, marks))
    if state.id == CANCELLED_STATE:
        return f"{{{{{label}}}}}"
    return f"([{label}])" if state.terminal else f"[{label}]"


def _arrow(way: Way) -> str:
    return "-.->" if way.leads_back or way.transition.synthetic else "-->"


def _classes(state: CompiledState, marks: Marks) -> Iterator[str]:
    if state.terminal:
        yield "cancelled" if state.id == CANCELLED_STATE else "ending"
    if marks.visits.get(state.id):
        yield "visited"
    if state.id == marks.current:
        yield "current"


def _taken(ways: Sequence[Way]) -> Iterator[str]:
    """Mark what was taken by its number among the arrows; that from the beginning is 0."""
    taken = [str(number) for number, way in enumerate(ways, start=1) if way.count]
    if taken:
        yield f"  linkStyle {','.join(taken)} stroke:#0969da,stroke-width:3px"
