"""What the signs of a picture mean: only those that are in it, in lines as wide as the picture.

Invariants: nothing in it overlaps; the same picture has the same legend.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from stateward.compiler.drawing.figure import ROW_SIZE, Kind
from stateward.compiler.drawing.layout import Layout
from stateward.compiler.drawing.marks import Answered
from stateward.compiler.drawing.measure import cut, text_width
from stateward.compiler.drawing.signs import sign
from stateward.compiler.flow.definition import CANCEL_TRANSITION, CANCELLED_STATE, CompiledFlowDefinition

_LINE: Final = 20.0
_ABOVE: Final = 26.0
"""Between the graph and the legend."""
_BETWEEN: Final = 18.0
_SAMPLE: Final = 30.0
_SIGN: Final = 16.0


@dataclass(frozen=True, slots=True)
class Item:
    """A sign and what it means."""

    sample: str
    """SVG, at most 16 high, drawn from its upper left corner."""
    sample_width: float
    text: str
    x: float = 0.0
    y: float = 0.0


@dataclass(frozen=True, slots=True)
class Legend:
    """Items with places, and the height of all together."""

    items: tuple[Item, ...]
    height: float


def legend(layout: Layout, definition: CompiledFlowDefinition, width: float, *, cancelled: bool) -> Legend:
    """Explain what there is in a picture, in a width."""
    placed: list[Item] = []
    x, y = 0.0, _ABOVE
    for item in (*_shapes(layout), *_run(layout), *_synthetic(definition, cancelled=cancelled)):
        text = cut(item.text, width - item.sample_width, ROW_SIZE)
        taken = item.sample_width + text_width(text, ROW_SIZE)
        if x and x + taken > width:
            x, y = 0.0, y + _LINE
        placed.append(Item(item.sample, item.sample_width, text, x, y))
        x += taken + _BETWEEN
    return Legend(tuple(placed), y + _LINE if placed else 0.0)


def _shapes(layout: Layout) -> Iterator[Item]:
    yield Item('<circle class="start" cx="6" cy="8" r="5"/>', _SIGN, "begins here")
    if any(each.box.kind is Kind.END for each in layout.boxes):
        frames = (
            '<rect class="box" x="1" y="1" width="22" height="14" rx="4"/><rect class="inner" x="4" y="4" width="16" height="8" rx="2"/>'
        )
        yield Item(f'<g class="end">{frames}</g>', _SAMPLE, "an end")
    if any(line.leads_back and not line.is_loop for line in layout.lines):
        yield Item('<path class="line back" d="M0 8h24"/>', _SAMPLE, "leads back")


def _run(layout: Layout) -> Iterator[Item]:
    if any(each.box.is_current for each in layout.boxes):
        yield Item('<g class="current"><rect class="box" x="1" y="2" width="22" height="12" rx="4"/></g>', _SAMPLE, "stands here")
    if any(each.box.is_visited for each in layout.boxes):
        yield Item('<g class="visited"><rect class="box" x="1" y="2" width="22" height="12" rx="4"/></g>', _SAMPLE, "was entered")
    if any(line.edge.is_taken for line in layout.lines):
        yield Item('<path class="line taken" d="M0 8h24"/>', _SAMPLE, "was taken")
    answers = {row.row.answer for row in layout.rows} - {None}
    for answer in Answered:
        if answer in answers:
            yield Item(sign(answer, 6, 8), _SIGN, f"last answer: {answer}")


def _synthetic(definition: CompiledFlowDefinition, *, cancelled: bool) -> Iterator[Item]:
    if all(state.terminal for state in definition.states):
        return
    if cancelled:
        yield Item('<path class="line cancel" d="M0 8h24"/>', _SAMPLE, CANCEL_TRANSITION)
    else:
        yield Item("", 0.0, f"{CANCEL_TRANSITION} leads from every state that is no end to {CANCELLED_STATE}")
