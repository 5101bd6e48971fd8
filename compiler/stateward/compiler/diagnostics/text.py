"""Diagnostics for people: the fault, the lines it is about with what matters underlined, facts and help.

Invariants: the same diagnostics give the same text; nothing an author wrote reaches the terminal as anything but text; colours are
used only when they are asked for.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from stateward.compiler.diagnostics.cells import safe
from stateward.compiler.diagnostics.marks import ASCII, BOX, Row, Style, Tag
from stateward.compiler.diagnostics.model import Diagnostic, Label, Severity
from stateward.compiler.diagnostics.snippet import Excerpt, heading, lines_of
from stateward.compiler.source import Source

WIDTH: Final = 120
"""Columns when nothing better is known."""

_RESET: Final = "\x1b[0m"
_CODES: Final = {Style.STRONG: "\x1b[1m", Style.FRAME: "\x1b[34m", Style.SECONDARY: "\x1b[34m", Style.REMARK: "\x1b[36m"}
_SEVERITY_CODES: Final = {Severity.ERROR: "\x1b[1;31m", Severity.WARNING: "\x1b[1;33m"}


@dataclass(frozen=True, slots=True)
class Look:
    """How a terminal is written to."""

    width: int = WIDTH
    colour: bool = False
    boxes: bool = True
    """Whether it can show more than ASCII frames."""
    live: bool = False
    """Whether a person looks on, and a line can be written over."""


PLAIN: Final = Look()


def render(diagnostics: Iterable[Diagnostic], look: Look = PLAIN) -> str:
    """Tell diagnostics one after the other, each followed by an empty line."""
    return "".join(f"{render_one(diagnostic, look)}\n" for diagnostic in diagnostics)


def render_one(diagnostic: Diagnostic, look: Look = PLAIN) -> str:
    """Tell one diagnostic; the text ends with a line end."""
    codes = {**_CODES, Style.SEVERITY: _SEVERITY_CODES[diagnostic.severity]} if look.colour else {}
    return "".join(_painted(row, codes) for row in _rows(diagnostic, look))


def strong(text: str, look: Look) -> str:
    """Set a heading off from what stands below it, where there are colours."""
    return f"{_CODES[Style.STRONG]}{text}{_RESET}" if look.colour else text


def _painted(row: Row, codes: dict[Style, str]) -> str:
    """Join a row to a line; nothing trails at its end."""
    plain = "".join(text for text, _ in row).rstrip()
    parts: list[str] = []
    left = len(plain)
    for whole, style in row:
        text, left = whole[:left], max(left - len(whole), 0)
        parts.append(f"{codes[style]}{text}{_RESET}" if style in codes and text.strip() else text)
    return "".join(parts) + "\n"


def _rows(diagnostic: Diagnostic, look: Look) -> Iterator[Row]:
    frame = BOX if look.boxes else ASCII
    yield [
        (f"{diagnostic.severity.value}[{diagnostic.code}]", Style.SEVERITY),
        (f": {_worded(diagnostic.message, look)}", Style.STRONG),
    ]
    files = _by_source([diagnostic.primary, *diagnostic.secondary], diagnostic.primary, look)
    number_width = max(len(str(lines_of(source, tag.span)[1])) for source, tags in files for tag in tags)
    edge: Row = [(f" {'':>{number_width}} {frame.bar}", Style.FRAME)]
    for source, tags in files:
        yield heading(source, tags[0].span, frame, number_width)
        yield edge
        yield from Excerpt(source, tags, frame=frame, number_width=number_width, width=look.width).rows()
        yield edge
    remarks = [*(("note", note) for note in diagnostic.notes), *([("help", diagnostic.help)] if diagnostic.help is not None else [])]
    for word, text in remarks:
        yield [(f" {'':>{number_width}} = ", Style.FRAME), (f"{word}: ", Style.REMARK), (_worded(text, look), Style.PLAIN)]


def _worded(text: str, look: Look) -> str:
    """Give words that can be shown: what we leave out of a text is marked in ASCII where nothing else can be."""
    return safe(text if look.boxes else text.replace("…", "..."))


def _by_source(labels: Sequence[Label], primary: Label, look: Look) -> list[tuple[Source, list[Tag]]]:
    """Group labels by source, that of the primary label first."""
    files: dict[int, tuple[Source, list[Tag]]] = {}
    for label in labels:
        source = label.place.source
        _, tags = files.setdefault(id(source), (source, []))
        tags.append(Tag(label.place.span, _worded(label.text, look), label is primary))
    return list(files.values())
