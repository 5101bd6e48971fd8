"""What a picture shows, before it has places: boxes and edges with their texts cut and measured, and what of a run is marked on them.

Invariants: every authored state and transition is there; transitions of one state that lead to one target are one edge with a row for
each. The synthetic end is there when it is asked for, or when the run that is marked entered it, and then with the ways that were taken.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from stateward.compiler.diagnostics.cells import safe
from stateward.compiler.drawing.marks import Answered, Marks
from stateward.compiler.drawing.measure import text_width, wrap
from stateward.compiler.flow.definition import CANCELLED_STATE, CompiledFlowDefinition, CompiledState, CompiledTransition

NAME_SIZE: Final = 14.0
ROW_SIZE: Final = 12.0
"""Font sizes, in pixels, of what a state and a transition are called."""
NAME_LINE: Final = 18.0
ROW_LINE: Final = 15.0
"""From one line to the next."""
ROW_PAD: Final = 5.0
"""At either side of a row of a label."""
GLYPH: Final = 14.0
"""The room of the sign of an answer."""
_NAME_WIDTH_MAX: Final = 200.0
_NAME_LINES_MAX: Final = 3
_ROW_WIDTH_MAX: Final = 190.0
_ROW_LINES_MAX: Final = 2
_BOX_WIDTH_MIN: Final = 76.0
_BOX_PAD_X: Final = 16.0
_BOX_PAD_Y: Final = 10.0
_PORT_STEP: Final = 14.0
"""The width that each line at one side of a box asks for."""
_PORTS_WIDTH_MAX: Final = 260.0


class Kind(StrEnum):
    """What a box is."""

    STATE = "state"
    END = "end"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class Box:
    """A state."""

    state: CompiledState
    kind: Kind
    lines: tuple[str, ...]
    count: str
    """How often it was entered, as it is shown; empty when never."""
    width: float
    height: float
    is_initial: bool
    is_current: bool

    @property
    def id(self) -> str:
        """The state's."""
        return self.state.id

    @property
    def is_visited(self) -> bool:
        """Whether it was entered."""
        return bool(self.count)


@dataclass(frozen=True, slots=True)
class Row:
    """A transition as it is written on its edge."""

    transition: CompiledTransition
    lines: tuple[str, ...]
    count: str
    """How often it was taken, as it is shown; empty when never."""
    answer: Answered | None
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Edge:
    """All transitions of a state that lead to one target."""

    source: str
    target: str
    rows: tuple[Row, ...]
    """None on what is synthetic and not marked: every such edge would say the same."""
    is_taken: bool
    is_synthetic: bool

    @property
    def width(self) -> float:
        """Of the label."""
        return max((row.width for row in self.rows), default=0.0)

    @property
    def height(self) -> float:
        """Of the label."""
        return sum(row.height for row in self.rows)


@dataclass(frozen=True, slots=True)
class Figure:
    """Boxes and edges, in order of declaration."""

    boxes: tuple[Box, ...]
    edges: tuple[Edge, ...]


def figure(definition: CompiledFlowDefinition, marks: Marks, *, cancelled: bool) -> Figure:
    """Give what is shown of a flow; `cancelled` says whether every way to the synthetic end is."""
    shows_end = cancelled or shows_cancelled(marks)
    states = [state for state in definition.states if state.id != CANCELLED_STATE or shows_end]
    edges = [edge for state in states for edge in _edges(state, marks, cancelled=cancelled)]
    ports = {state.id: _ports(edges, state.id) for state in states}
    return Figure(tuple(_box(state, definition.initial, marks, ports[state.id]) for state in states), tuple(edges))


def shows_cancelled(marks: Marks) -> bool:
    """Tell whether the run that is marked entered the synthetic end."""
    return marks.current == CANCELLED_STATE or bool(marks.visits.get(CANCELLED_STATE))


def times(number: int) -> str:
    """Write how often, as it is shown: nothing for never."""
    return f"×{number}" if number else ""


def _ports(edges: list[Edge], state: str) -> int:
    """Count the lines that may meet at one side of a box."""
    return 1 + sum(edge.source == state for edge in edges)


def _box(state: CompiledState, initial: str, marks: Marks, ports: int) -> Box:
    lines = wrap(safe(state.id), _NAME_WIDTH_MAX, NAME_SIZE, _NAME_LINES_MAX, bold=True)
    count = times(marks.visits.get(state.id, 0))
    text = max(text_width(line, NAME_SIZE, bold=True) for line in lines)
    wanted = text + 2 * _BOX_PAD_X + (text_width(count, ROW_SIZE) + 8 if count else 0)
    kind = Kind.CANCELLED if state.id == CANCELLED_STATE else Kind.END if state.terminal else Kind.STATE
    return Box(
        state=state,
        kind=kind,
        lines=lines,
        count=count,
        width=max(wanted, _BOX_WIDTH_MIN, min(ports * _PORT_STEP, _PORTS_WIDTH_MAX)),
        height=len(lines) * NAME_LINE + 2 * _BOX_PAD_Y,
        is_initial=state.id == initial,
        is_current=state.id == marks.current,
    )


def _edges(state: CompiledState, marks: Marks, *, cancelled: bool) -> Iterator[Edge]:
    by_target: dict[str, list[CompiledTransition]] = {}
    for each in state.transitions:
        if cancelled or not each.synthetic or marks.taken.get((state.id, each.id)):
            by_target.setdefault(each.target, []).append(each)
    for target, transitions in by_target.items():
        synthetic = all(each.synthetic for each in transitions)
        rows = [_row(state.id, each, marks) for each in transitions]
        yield Edge(
            source=state.id,
            target=target,
            rows=tuple(row for row in rows if not synthetic or row.count or row.answer),
            is_taken=any(row.count for row in rows),
            is_synthetic=synthetic,
        )


def _row(state: str, transition: CompiledTransition, marks: Marks) -> Row:
    lines = wrap(safe(transition.id), _ROW_WIDTH_MAX, ROW_SIZE, _ROW_LINES_MAX)
    count = times(marks.taken.get((state, transition.id), 0))
    answer = marks.answers.get(transition.id) if state == marks.current else None
    text = max(text_width(line, ROW_SIZE) for line in lines)
    return Row(
        transition=transition,
        lines=lines,
        count=count,
        answer=answer,
        width=text + 2 * ROW_PAD + (text_width(count, ROW_SIZE) + 5 if count else 0) + (GLYPH if answer else 0),
        height=len(lines) * ROW_LINE + 2,
    )
