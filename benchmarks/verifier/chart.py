"""The chart of an evaluation: for each kind of case a bar of what its runs are worth, as SVG.

Invariants: every text that is put into it is escaped; it is legible on light and dark grounds, the dark one where the reader's surroundings
say so; colours differ in lightness too, and each part that is wide enough says its number.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final
from xml.sax.saxutils import escape

from benchmarks.verifier.running import Run
from benchmarks.verifier.scoring import Outcome, outcome_of

WIDTH: Final = 760
LEFT: Final = 140
RIGHT: Final = 60
TOP: Final = 96
BAR: Final = 18
STEP: Final = 26
LABEL_WIDTH_MIN: Final = 14
LEGEND_COLUMNS: Final = 3
LEGEND_STEP: Final = 210
_FONT: Final = "font-family='sans-serif' font-size='12'"
_STYLE: Final = (
    "<style>@media (prefers-color-scheme: dark) { .ground { fill: #0d1117 } .text { fill: #e6edf3 } .line { stroke: #3d444d } }</style>"
)
COLOURS: Final[Mapping[Outcome, tuple[str, str]]] = {
    Outcome.RIGHT: ("#8ccfa3", "#10151c"),
    Outcome.HELD_BACK: ("#8fa8c8", "#10151c"),
    Outcome.FAILED: ("#7a6fa8", "#ffffff"),
    Outcome.STOPPED: ("#e3b341", "#10151c"),
    Outcome.LET_THROUGH: ("#b3261e", "#ffffff"),
}
"""The colour of each part, and of the number on it."""


def chart(title: str, runs: Sequence[Run]) -> str:
    """Draw the chart of some runs."""
    counted: dict[str, Counter[Outcome]] = {}
    for each in sorted(runs, key=lambda run: run.kind):
        counted.setdefault(each.kind, Counter())[outcome_of(each)] += 1
    height = TOP + STEP * len(counted) + 16
    lines = [
        f"<svg xmlns='http://www.w3.org/2000/svg' width='{WIDTH}' height='{height}' viewBox='0 0 {WIDTH} {height}' role='img'>",
        f"<title>{escape(title)}</title>",
        _STYLE,
        f"<rect class='ground' width='{WIDTH}' height='{height}' fill='#ffffff'/>",
        _text(16, 26, title, size=15, weight="bold"),
        *_legend(),
        *(line for at, (kind, found) in enumerate(counted.items()) for line in _bar(TOP + at * STEP, kind, found)),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _legend() -> Iterator[str]:
    for at, outcome in enumerate(Outcome):
        x, y = 16 + at % LEGEND_COLUMNS * LEGEND_STEP, 42 + at // LEGEND_COLUMNS * 22
        yield f"<rect x='{x}' y='{y}' width='14' height='14' fill='{COLOURS[outcome][0]}'/>"
        yield _text(x + 20, y + 12, str(outcome))


def _bar(y: int, kind: str, found: Counter[Outcome]) -> Iterator[str]:
    total = found.total()
    yield _text(LEFT - 8, y + 13, kind, anchor="end")
    x = float(LEFT)
    for outcome in Outcome:
        width = (WIDTH - LEFT - RIGHT) * found[outcome] / total
        if not found[outcome]:
            continue
        colour, ink = COLOURS[outcome]
        yield f"<rect x='{x:.1f}' y='{y}' width='{width:.1f}' height='{BAR}' fill='{colour}'/>"
        if width >= LABEL_WIDTH_MIN:
            yield f"<text x='{x + width / 2:.1f}' y='{y + 13}' text-anchor='middle' fill='{ink}' {_FONT}>{found[outcome]}</text>"
        x += width
    yield _text(WIDTH - RIGHT + 8, y + 13, f"of {total}")


def _text(x: int, y: int, text: str, *, anchor: str = "start", size: int = 12, weight: str = "normal") -> str:
    font = f"font-family='sans-serif' font-size='{size}' font-weight='{weight}'"
    return f"<text class='text' x='{x}' y='{y}' text-anchor='{anchor}' fill='#1f2328' {font}>{escape(text)}</text>"
