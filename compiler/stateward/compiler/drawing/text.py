"""A flow as boxes in the terminal: one box a state, its transitions inside, lines to where they lead at the sides.

Invariants: every transition of the author is named with its target in the box, so nothing is lost where there is no room for its line;
edges further down run at the right, edges that lead back run at the left in broken lines. The synthetic end is one line at the bottom.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from stateward.compiler.drawing.lanes import allot, bundled, draw_lanes
from stateward.compiler.drawing.order import drawing_order
from stateward.compiler.flow.definition import CANCEL_TRANSITION, CANCELLED_STATE, CompiledFlowDefinition, CompiledState

LANES_MAX: Final = 12
"""Lanes at one side."""
_INNER_MIN: Final = 16
_INNER_MAX: Final = 56
"""Columns inside a box."""
_AROUND: Final = 6
"""Columns beside the inside of a box: its frame, and what a side needs before its first lane."""


_ASCII: Final = str.maketrans(
    "┌┐└┘├┤┼─│┄┆" + "╔╗╚╝═║" + "┏┓┗┛━┃" + "▶◀→↩↻×…",
    "+++++++-|.:" + "####=#" + "******" + "><><@x~",
)
"""What is drawn where a terminal cannot show more; each is as wide as what it stands for."""


@dataclass(frozen=True, slots=True)
class _Border:
    """The characters of a frame."""

    top: str
    bottom: str
    side: str


_STATE: Final = _Border("┌─┐", "└─┘", "│")
_TERMINAL: Final = _Border("╔═╗", "╚═╝", "║")
_CURRENT: Final = _Border("┏━┓", "┗━┛", "┃")


@dataclass(frozen=True, slots=True)
class _Box:
    """A state and the rows it takes; its first row holds its name."""

    state: CompiledState
    top: int

    @property
    def bottom(self) -> int:
        return self.top + len(_authored(self.state)) + 1


def draw_text(
    definition: CompiledFlowDefinition,
    *,
    current: str | None = None,
    visits: Mapping[str, int] | None = None,
    width: int = 100,
    boxes: bool = True,
) -> str:
    """Draw a flow in at most `width` columns (a little more when that leaves no room for a box).

    `current` is marked as the state in which the work stands; `visits` tells how often a state was entered. Without `boxes` nothing but
    ASCII is drawn.
    """
    drawn = _drawn(definition, current, visits or {}, width)
    return drawn if boxes else drawn.translate(_ASCII)


def _drawn(definition: CompiledFlowDefinition, current: str | None, counts: Mapping[str, int], width: int) -> str:
    boxes = _stacked(drawing_order(definition))
    tops = {box.state.id: box.top for box in boxes}
    down, back = _edges(boxes, tops)
    wanted = max(len(line) for box in boxes for line in _content(box.state, tops, current, counts))
    inner = max(min(wanted, _INNER_MAX, width - _AROUND - 8), _INNER_MIN)
    lanes_max = max(min((width - inner - _AROUND) // 4, LANES_MAX), 1)
    height = boxes[-1].bottom + 1
    right = draw_lanes(allot(bundled(down), lanes_max), height, left=False)
    left = draw_lanes(allot(bundled(back), lanes_max), height, left=True)
    body = [line for box in boxes for line in _lines(box, inner, tops, current, counts)]
    rows = [f"{before}{line}{after}".rstrip() for before, line, after in zip(left, body, right, strict=True)]
    return "\n".join([_title(definition, boxes), "", *rows, "", *_remarks(definition, current, counts, back=bool(back))]) + "\n"


def _authored(state: CompiledState) -> list[tuple[str, str]]:
    return [(each.id, each.target) for each in state.transitions if not each.synthetic]


def _stacked(states: Sequence[CompiledState]) -> list[_Box]:
    boxes: list[_Box] = []
    for state in states:
        boxes.append(_Box(state, boxes[-1].bottom + 1 if boxes else 0))
    return boxes


def _edges(boxes: Sequence[_Box], tops: Mapping[str, int]) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Split the edges, as rows from and to, into those that lead down and those that lead back; loops on one state are neither."""
    down: list[tuple[int, int]] = []
    back: list[tuple[int, int]] = []
    for box in boxes:
        for at, (_, target) in enumerate(_authored(box.state), start=1):
            if tops[target] > box.top:
                down.append((box.top + at, tops[target]))
            elif tops[target] < box.top:
                back.append((box.top + at, tops[target]))
    return down, back


def _content(state: CompiledState, tops: Mapping[str, int], current: str | None, visits: Mapping[str, int]) -> list[str]:
    """Give the texts of a box: its heading, then its transitions."""
    mark = "▶ " if state.id == current else ""
    count = f"  ×{visits[state.id]}" if visits.get(state.id) else ""
    authored = _authored(state)
    longest = max((len(id_) for id_, _ in authored), default=0)
    return [f"{mark}{state.id}{count}", *(f"{id_:<{longest}} {_arrow(state.id, target, tops)} {target}" for id_, target in authored)]


def _arrow(source: str, target: str, tops: Mapping[str, int]) -> str:
    if source == target:
        return "↻"
    return "→" if tops[target] > tops[source] else "↩"


def _lines(box: _Box, inner: int, tops: Mapping[str, int], current: str | None, visits: Mapping[str, int]) -> list[str]:
    border = _CURRENT if box.state.id == current else _TERMINAL if box.state.terminal else _STATE
    heading, *transitions = (_fit(line, inner) for line in _content(box.state, tops, current, visits))
    rule = border.top[1]
    top = f"{border.top[0]}{rule} {heading} {rule * (inner - len(heading))}{border.top[2]}"
    bottom = f"{border.bottom[0]}{border.bottom[1] * (inner + 3)}{border.bottom[2]}"
    return [top, *(f"{border.side} {line:<{inner + 1}} {border.side}" for line in transitions), bottom]


def _fit(text: str, columns: int) -> str:
    return text if len(text) <= columns else text[: columns - 1] + "…"


def _title(definition: CompiledFlowDefinition, boxes: Sequence[_Box]) -> str:
    number = len(boxes)
    return f"{definition.name}: {number} state{'' if number == 1 else 's'}, begins in {definition.initial}"


def _remarks(definition: CompiledFlowDefinition, current: str | None, visits: Mapping[str, int], *, back: bool) -> list[str]:
    legend = ["double frame: an end", *(["broken line, ↩: leads back"] if back else [])]
    if current is not None:
        legend.append("heavy frame, ▶: stands here")
    mark = "▶ " if current == CANCELLED_STATE else ""
    count = f"  ×{visits[CANCELLED_STATE]}" if visits.get(CANCELLED_STATE) else ""
    cancel = f"{mark}{CANCELLED_STATE}{count}: by {CANCEL_TRANSITION} from every state that is no end"
    has_work = any(not state.terminal for state in definition.states)
    return [*([cancel] if has_work else []), "; ".join(legend)]
