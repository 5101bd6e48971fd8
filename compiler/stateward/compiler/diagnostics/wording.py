"""The words that messages share: names as they are quoted, lists, counts, and the name that was probably meant.

Invariants: a quoted name never makes a message long (it is cut in the middle), and a list never holds more than `LISTED_MAX` names.
"""

import unicodedata
from collections.abc import Iterable, Sequence
from typing import Final

QUOTED_MAX: Final = 48
"""Code points of an author's name that a message shows."""
LISTED_MAX: Final = 8
"""Names that one list spells out."""
NEAREST_LENGTH_MAX: Final = 64
"""Longer names are not compared: nobody mistypes them by a letter and looks at the answer."""
EDITS_MAX: Final = 4
"""Steps by which a name may be mistyped, however long it is."""


def quoted(text: str) -> str:
    """Put a name in backticks, cut in the middle when it is long."""
    if len(text) > QUOTED_MAX:
        head = QUOTED_MAX * 2 // 3
        text = f"{text[:head]}…{text[head + 1 - QUOTED_MAX :]}"
    return f"`{text}`" if text else '`""`'


def listed(names: Sequence[str], joint: str = "and") -> str:
    """Write names as a list in words: `a`, `b` and `c`."""
    shown = [quoted(name) for name in names[:LISTED_MAX]]
    left = len(names) - len(shown)
    if left:
        shown.append(f"{left} more")
    if len(shown) < 2:
        return "".join(shown)
    return f"{', '.join(shown[:-1])} {joint} {shown[-1]}"


def counted(number: int, noun: str) -> str:
    """Write a number with its noun: `1 state`, `2 states`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def character(char: str) -> str:
    """Name one character so that it can be found: visible ASCII as it is, everything else by its code point and Unicode name."""
    if char == " ":
        return "a space"
    if char.isascii() and char.isprintable():
        return f"`{char}`"
    return f"U+{ord(char):04X} {unicodedata.name(char, '')}".rstrip()


def nearest(name: str, candidates: Iterable[str]) -> str | None:
    """Give the candidate that was probably meant by a mistyped name, or None when none is near.

    Near means: equal but for case and for `-` against `_`, or at most a third of its letters and `EDITS_MAX` away (a swap of neighbours is
    one step), with at least one letter in common. The first of equally near candidates is taken.
    """
    if not name or len(name) > NEAREST_LENGTH_MAX:
        return None
    best: str | None = None
    least = min(max(1, len(name) // 3), EDITS_MAX) + 1
    for candidate in candidates:
        if candidate == name or abs(len(candidate) - len(name)) >= least:
            continue
        distance = _steps(name, candidate, least)
        if distance < least and distance < max(len(name), len(candidate)):
            best, least = candidate, distance
    return best


def is_alone(name: str, near: str, candidates: Iterable[str]) -> bool:
    """Tell whether no other candidate is as near to a name as the one that was found."""
    steps = _steps(name, near, EDITS_MAX + 1)
    return all(_steps(name, each, steps + 1) > steps for each in candidates if each not in {name, near})


def _steps(name: str, candidate: str, bound: int) -> int:
    return 0 if _folded(candidate) == _folded(name) else _distance(name, candidate, bound)


def _folded(name: str) -> str:
    return name.casefold().replace("-", "_")


def _distance(left: str, right: str, bound: int) -> int:
    """Count insertions, deletions, replacements and swaps of neighbours; anything from `bound` on is given as `bound`.

    What the two begin and end with alike is left out, and of the table only the cells that may stay below the bound are looked at.
    """
    left, right = _without_common_head(left, right)
    left, right = _without_common_head(left[::-1], right[::-1])
    earlier = before = [bound] * (len(right) + 1)
    row = [min(at, bound) for at in range(len(right) + 1)]
    for at, char in enumerate(left, start=1):
        earlier, before, row = before, row, [bound] * (len(right) + 1)
        row[0] = min(at, bound)
        for other_at in range(max(1, at - bound), min(len(right), at + bound) + 1):
            other = right[other_at - 1]
            cost = min(before[other_at] + 1, row[other_at - 1] + 1, before[other_at - 1] + (char != other))
            if at > 1 and other_at > 1 and char == right[other_at - 2] and left[at - 2] == other:
                cost = min(cost, earlier[other_at - 2] + 1)
            row[other_at] = min(cost, bound)
        if min(row) >= bound:
            return bound
    return row[-1]


def _without_common_head(left: str, right: str) -> tuple[str, str]:
    same = 0
    for one, other in zip(left, right, strict=False):
        if one != other:
            break
        same += 1
    return left[same:], right[same:]
