"""Foreign text as a verifier is shown it: every character can be seen, and a quotation is held against what was shown.

Invariants: what is neither seen nor a plain blank stands as `‹U+202E›`, by its number; line feeds and tabs stay; showing a text twice
changes nothing more; the text that comes out can always be written as UTF-8.
"""

import unicodedata
from collections.abc import Sequence
from typing import Final

_BLANK_LETTERS: Final = frozenset(
    (
        0x034F,
        0x115F,
        0x1160,
        0x17B4,
        0x17B5,
        0x2800,
        0x3164,
        0xFFA0,
        *range(0x180B, 0x1810),
        *range(0xFE00, 0xFE10),
        *range(0xE0100, 0xE01F0),
    )
)
"""Characters that count as letters, marks or symbols and show nothing."""


class _Shown(dict[int, str]):
    """A character's number to how it is shown; filled as characters turn up, so never longer than Unicode."""

    def __missing__(self, number: int) -> str:
        char = chr(number)
        seen = char in "\n\t" or char.isprintable() or unicodedata.category(char) == "Zs"
        self[number] = char if seen and number not in _BLANK_LETTERS else f"‹U+{number:04X}›"
        return self[number]


_SHOWN: Final = _Shown()


def visible(text: str) -> str:
    """Give a text in which everything can be seen: control, bidirectional and invisible characters by their numbers."""
    return text if text.isascii() and text.isprintable() else text.translate(_SHOWN)


def is_quote(quote: str, lines: Sequence[str]) -> bool:
    """Tell whether a text is these lines as they were shown; the end of the last line may be there or not."""
    return quote.replace("\r\n", "\n").removesuffix("\n") == "\n".join(map(visible, lines)).removesuffix("\n")


def says_nothing(text: str) -> bool:
    """Tell whether nothing of a text can be seen."""
    return all(char.isspace() or visible(char) != char for char in text)
