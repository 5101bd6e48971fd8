"""A flow as boxes in the terminal: one box a state, its transitions inside, lines to where they lead at the sides.

Invariants: every transition of the author is named with its target in the box, so nothing is lost where there is no room for its line;
edges further down run at the right, edges that lead back run at the left in broken lines. The synthetic end is one line at the bottom,
or a box when it is asked for.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from stateward.compiler.diagnostics.cells import safe, text_width, width_of
from stateward.compiler.diagnostics.wording import counted
from stateward.compiler.drawing.figure import times
from stateward.compiler.drawing.lanes import allot, bundled, draw_lanes
from stateward.compiler.drawing.marks import UNMARKED, Marks
from stateward.compiler.drawing.order import drawing_order
from stateward.compiler.flow.definition import (
    CANCEL_TRANSITION,
    CANCELLED_STATE,
    CompiledFlowDefinition,
    CompiledState,
    CompiledTransition,
)

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
    """A state, the ways out of it that are shown, and the rows it takes; its first row holds its name."""

    state: CompiledState
    ways: tuple[CompiledTransition, ...]
    top: int

    @property
    def bottom(self) -> int:
        return self.top + len(self.ways) + 1


@dataclass(frozen=True, slots=True)
class _Way:
    """Where a transition leads, as it is told: a sign, the target and what is known of it."""

    arrow: str
    target: str
    tail: str

    @property
    def beside(self) -> int:
        """The columns beside the target."""
        return text_width(self.arrow) + 1 + text_width(self.tail)

    def fitted(self, columns: int) -> str:
        """Give it in so many columns, where the target can be cut to them."""
        return f"{self.arrow} {_fit(self.target, max(columns - self.beside, 1))}{self.tail}"


def draw_text(
    definition: CompiledFlowDefinition, marks: Marks = UNMARKED, *, cancelled: bool = False, width: int = 100, boxes: bool = True
) -> str:
    """Draw a flow in at most `width` columns (a little more when that leaves no room for a box).

    What is in `marks` is marked; `cancelled` gives the synthetic end a box of its own, with every way to it. Without `boxes` nothing but
    ASCII is drawn around the names.
    """
    states = [*drawing_order(definition), *([definition.state(CANCELLED_STATE)] if cancelled else [])]
    drawn = _Drawing(definition, marks, _stacked(states, cancelled=cancelled), width).text(folded=not cancelled)
    return drawn if boxes else drawn.translate(_ASCII)


def _stacked(states: Sequence[CompiledState], *, cancelled: bool) -> list[_Box]:
    boxes: list[_Box] = []
    for state in states:
        ways = tuple(each for each in state.transitions if cancelled or not each.synthetic)
        boxes.append(_Box(state, ways, boxes[-1].bottom + 1 if boxes else 0))
    return boxes


class _Drawing:
    """One flow, as it is drawn."""

    def __init__(self, definition: CompiledFlowDefinition, marks: Marks, boxes: Sequence[_Box], width: int) -> None:
        self._definition = definition
        self._marks = marks
        self._boxes = boxes
        self._tops = {box.state.id: box.top for box in boxes}
        self._room = max(min(_INNER_MAX, width - _AROUND - 8), _INNER_MIN)
        self._contents = {box.state.id: self._content(box) for box in boxes}
        wanted = max(text_width(line) for lines in self._contents.values() for line in lines)
        self._inner = max(min(wanted, self._room), _INNER_MIN)
        self._lanes_max = max(min((width - self._inner - _AROUND) // 4, LANES_MAX), 1)

    def text(self, *, folded: bool) -> str:
        """Give the whole drawing; `folded` says whether the synthetic end is one line at the bottom."""
        down, back = self._edges()
        height = self._boxes[-1].bottom + 1
        right = draw_lanes(allot(bundled(down), self._lanes_max), height, left=False)
        left = draw_lanes(allot(bundled(back), self._lanes_max), height, left=True)
        body = [line for box in self._boxes for line in self._lines(box)]
        rows = [f"{before}{line}{after}".rstrip() for before, line, after in zip(left, body, right, strict=True)]
        remarks = [*(self._end() if folded else []), *self._signs(back=bool(back))]
        return "\n".join([self._title(), "", *rows, "", *remarks]) + "\n"

    def _edges(self) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
        """Split the edges, as rows from and to, into those that lead down and those that lead back; loops on one state are neither."""
        down: list[tuple[int, int]] = []
        back: list[tuple[int, int]] = []
        for box in self._boxes:
            for at, each in enumerate(box.ways, start=1):
                target = self._tops[each.target]
                if target > box.top:
                    down.append((box.top + at, target))
                elif target < box.top:
                    back.append((box.top + at, target))
        return down, back

    def _content(self, box: _Box) -> list[str]:
        """Give the texts of a box: its heading, then its transitions. Where an id and a target have no room, each loses its end."""
        ids = [safe(each.id) for each in box.ways]
        ways = [self._way(box, each) for each in box.ways]
        longest = max(map(text_width, ids), default=0)
        widest = max((text_width(each.target) + each.beside for each in ways), default=0)
        if longest + 1 + widest > self._room:
            longest = min(longest, max(self._room // 2 - 2, self._room - 1 - widest))
        lines = (
            f"{_padded(_fit(id_, longest), longest)} {each.fitted(self._room - longest - 1)}" for id_, each in zip(ids, ways, strict=True)
        )
        return [self._heading(box.state.id), *lines]

    def _heading(self, state: str) -> str:
        mark = "▶ " if state == self._marks.current else ""
        count = times(self._marks.visits.get(state, 0))
        return f"{mark}{safe(state)}{f'  {count}' if count else ''}"

    def _way(self, box: _Box, transition: CompiledTransition) -> _Way:
        """Tell where a transition leads, how often it was taken and what was last answered of it."""
        state, top = box.state.id, self._tops[transition.target]
        arrow = "↻" if transition.target == state else "→" if top > box.top else "↩"
        count = times(self._marks.taken.get((state, transition.id), 0))
        answer = self._marks.answers.get(transition.id) if state == self._marks.current else None
        tail = "".join(f"  {each}" for each in (count, f"[{answer}]" if answer else "") if each)
        return _Way(arrow, safe(transition.target), tail)

    def _lines(self, box: _Box) -> list[str]:
        border = _CURRENT if box.state.id == self._marks.current else _TERMINAL if box.state.terminal else _STATE
        inner = self._inner
        heading, *ways = (_fit(line, inner) for line in self._contents[box.state.id])
        rule = border.top[1]
        top = f"{border.top[0]}{rule} {heading} {rule * (inner - text_width(heading))}{border.top[2]}"
        bottom = f"{border.bottom[0]}{border.bottom[1] * (inner + 3)}{border.bottom[2]}"
        return [top, *(f"{border.side} {_padded(line, inner + 1)} {border.side}" for line in ways), bottom]

    def _title(self) -> str:
        number = sum(box.state.id != CANCELLED_STATE for box in self._boxes)
        return f"{safe(self._definition.name)}: {counted(number, 'state')}, begins in {safe(self._definition.initial)}"

    def _end(self) -> list[str]:
        """Tell of the synthetic end in one line; of what ends at once there is nothing to tell."""
        has_work = any(not box.state.terminal for box in self._boxes)
        return [f"{self._heading(CANCELLED_STATE)}: by {CANCEL_TRANSITION} from every state that is no end"] if has_work else []

    def _signs(self, *, back: bool) -> list[str]:
        """Say what the signs mean that there are: those of every drawing, and those of a run."""
        run = [
            *(["heavy frame, ▶: stands here"] if self._marks.current is not None else []),
            *(["×: times entered, or taken"] if self._marks.visits or self._marks.taken else []),
            *(["[…]: last answer"] if self._marks.answers else []),
        ]
        return ["; ".join(["double frame: an end", *(["broken line, ↩: leads back"] if back else [])]), *(["; ".join(run)] if run else [])]


def _padded(text: str, columns: int) -> str:
    return text + " " * (columns - text_width(text))


def _fit(text: str, columns: int) -> str:
    """Cut a text to a width; `…` stands for what is left out."""
    if text_width(text) <= columns:
        return text
    taken = 1
    for at, char in enumerate(text):
        taken += width_of(char)
        if taken > columns:
            return f"{text[:at]}…"
    return text
