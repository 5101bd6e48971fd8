"""How wide a text is drawn: advance widths of a common sans-serif font, and texts wrapped or cut to a width.

The widths are those of Helvetica and Helvetica-Bold in Adobe's Core 14 AFM files (the field WX, thousandths of the font size); Arial and
Liberation Sans were made to the same widths. What is wide in East Asia takes the whole size, a combining character none, and any other
character what a wide letter takes: for such the picture states the width beside the text, so that a viewer fits it in.

Invariants: no part of a text that was wrapped or cut is wider than was asked for, but for a single character that is by itself.
"""

import unicodedata
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

ELLIPSIS: Final = "…"
_EM: Final = 1000
_OTHER: Final = 667
"""Neither ASCII, wide nor combining."""

_REGULAR: Final[Mapping[int, str]] = {
    191: "'",
    222: "ijl",
    260: "|",
    278: " !,./:;I[\\]ft",
    333: "()-`r",
    334: "{}",
    355: '"',
    389: "*",
    469: "^",
    500: "Jcksvxyz",
    556: "#$0123456789?L_abdeghnopqu",
    584: "+<=>~×",
    611: "FTZ",
    667: "&ABEKPSVXY",
    722: "CDHNRUw",
    778: "GOQ",
    833: "Mm",
    889: "%",
    944: "W",
    1000: "…—→",
    1015: "@",
}
_BOLD: Final[Mapping[int, str]] = {
    238: "'",
    278: " ,./I\\ijl",
    280: "|",
    333: "!()-:;[]`ft",
    389: "*r{}",
    474: '"',
    500: "z",
    556: "#$0123456789J_aceksvxy",
    584: "+<=>^~×",
    611: "?FLTZbdghnopqu",
    667: "EPSVXY",
    722: "&ABCDHKNRU",
    778: "GOQw",
    833: "M",
    889: "%m",
    944: "W",
    975: "@",
    1000: "…—→",
}


def _by_character(table: Mapping[int, str]) -> Mapping[str, int]:
    return {char: width for width, chars in table.items() for char in chars}


_WIDTHS: Final = (_by_character(_REGULAR), _by_character(_BOLD))


@lru_cache(maxsize=4096)
def text_width(text: str, size: float, *, bold: bool = False) -> float:
    """Give the width of a text drawn at a font size, in the unit of the size."""
    table = _WIDTHS[bold]
    return sum(table[char] if char in table else _unlisted(char) for char in text) * size / _EM


def _unlisted(char: str) -> int:
    if unicodedata.category(char) in {"Mn", "Me", "Cf"}:
        return 0
    return _EM if unicodedata.east_asian_width(char) in {"W", "F"} else _OTHER


def cut(text: str, width: float, size: float, *, bold: bool = False) -> str:
    """Cut a text to a width; `…` stands for what is left out."""
    if text_width(text, size, bold=bold) <= width:
        return text
    room = width - text_width(ELLIPSIS, size, bold=bold)
    return text[: _fitting(text, room, size, bold=bold)] + ELLIPSIS


def wrap(text: str, width: float, size: float, lines_max: int, *, bold: bool = False) -> tuple[str, ...]:
    """Break a text into at most so many lines, behind `_`, `-` or a blank where there is one; the last line is cut."""
    lines: list[str] = []
    rest = text
    while len(lines) < lines_max - 1 and text_width(rest, size, bold=bold) > width:
        fitting = _fitting(rest, width, size, bold=bold)
        at = max(rest.rfind(joint, 0, fitting) for joint in "_- ") + 1
        at = at if at * 3 > fitting else fitting
        lines.append(rest[:at].rstrip())
        rest = rest[at:]
    return (*lines, cut(rest, width, size, bold=bold))


def _fitting(text: str, width: float, size: float, *, bold: bool) -> int:
    """Count the characters from the beginning that fit, one at the least; what combines stays with what it is combined with."""
    table = _WIDTHS[bold]
    taken = 0.0
    for at, char in enumerate(text):
        taken += (table[char] if char in table else _unlisted(char)) * size / _EM
        if taken > width:
            return max(at, 1)
    return len(text)
