"""What changed between two texts: a unified diff by lines, of bounded size, made in bounded time.

Invariants: lines are compared as bytes and end in LF alone, so a carriage return, a byte-order mark or a missing last line end is a
difference like any other, and is told in words besides, for nobody sees one; applied to the first text, a diff that was not cut gives
the second. The fewest lines are found where few changed; where the effort for that is spent, lines that occur once on both sides hold
the texts together, and in the end what lies between is shown as one change: longer than need be, and true.
"""

from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from stateward.runtime.core.texts import cut, size_of
from stateward.runtime.ports import DIFFERENCE_BYTES_MAX, Difference, NewRevision, Revision

CONTEXT_LINES: Final = 3
"""Unchanged lines shown around a change."""
EFFORT_MAX: Final = 2_000_000
"""Steps of comparing, in one difference: about a second."""
CHANGED_LINES_MAX: Final = 1_000
"""Changed lines of one stretch up to which the fewest are looked for: what is remembered for it grows with the square."""
_BOM: Final = b"\xef\xbb\xbf"
_UNENDED: Final = "\n\\ No newline at end of file\n"

_Block: TypeAlias = tuple[int, int, int]
"""Lines that are the same: where they begin in the first, in the second, and how many."""
_Reached: TypeAlias = "array[int]"


def difference(old: bytes, new: bytes, old_name: str, new_name: str, bytes_max: int = DIFFERENCE_BYTES_MAX) -> Difference:
    """Compare two texts. The names are shown above the lines, one line each."""
    if old == new:
        return Difference(old_name, new_name, "")
    shown: list[str] = []
    left = bytes_max
    for piece in _pieces(old, new, old_name, new_name):
        size = size_of(piece)
        if size > left:
            shown.append(cut(piece, left))
            return Difference(old_name, new_name, "".join(shown), cut=True)
        shown.append(piece)
        left -= size
    return Difference(old_name, new_name, "".join(shown))


def revisions_compared(old: Revision | NewRevision, new: Revision | NewRevision, old_name: str, new_name: str) -> Difference:
    """Compare two revisions: their sources, and below them each module that differs."""
    found = difference(old.content, new.content, old_name, new_name)
    before, after = dict(old.modules), dict(new.modules)
    text, cut_ = found.text, found.cut
    for path in sorted(before.keys() | after.keys()):
        if cut_ or before.get(path) == after.get(path):
            continue
        sides = (before.get(path, b""), after.get(path, b""))
        found = difference(*sides, f"{old_name} {path}", f"{new_name} {path}", DIFFERENCE_BYTES_MAX - size_of(text))
        text, cut_ = text + found.text, found.cut
    return Difference(old_name, new_name, text, cut_)


def _pieces(old: bytes, new: bytes, old_name: str, new_name: str) -> Iterator[str]:
    yield from _unseen(old, new)
    yield f"--- {old_name}\n+++ {new_name}\n"
    before, after = _lines(old), _lines(new)
    for hunk in _hunks(_changes(before, after)):
        yield from _hunk_lines(hunk, before, after)


def _lines(text: bytes) -> list[bytes]:
    """Split at LF and nowhere else; each line keeps its end."""
    lines = text.split(b"\n")
    last = lines.pop()
    return [*(line + b"\n" for line in lines), *([last] if last else [])]


def _unseen(old: bytes, new: bytes) -> Iterator[str]:
    """Say in words what differs and is not seen in the lines."""
    if old.startswith(_BOM) != new.startswith(_BOM):
        yield f"byte-order mark: only in the {'first' if old.startswith(_BOM) else 'second'}\n"
    ends = [(text.count(b"\r\n"), text.count(b"\n") - text.count(b"\r\n")) for text in (old, new)]
    kinds = [(crlf > 0, lf > 0) for crlf, lf in ends]
    mixed = kinds[0] == (True, True) and ends[0] != ends[1]
    if all(map(any, ends)) and (kinds[0] != kinds[1] or mixed):
        yield f"line ends: {_counted(*ends[0])} in the first, {_counted(*ends[1])} in the second\n"


def _counted(crlf: int, lf: int) -> str:
    return f"{crlf} CR LF and {lf} LF" if crlf and lf else f"{crlf} CR LF" if crlf else f"{lf} LF"


# --- showing ------------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Change:
    """Lines of the first text that became lines of the second; one of the two may be none."""

    old: int
    old_end: int
    new: int
    new_end: int


def _hunks(changes: Sequence[_Change]) -> Iterator[list[_Change]]:
    """Bring changes together whose contexts would touch."""
    hunk: list[_Change] = []
    for change in changes:
        if hunk and change.old - hunk[-1].old_end > 2 * CONTEXT_LINES:
            yield hunk
            hunk = []
        hunk.append(change)
    if hunk:
        yield hunk


def _hunk_lines(hunk: Sequence[_Change], before: Sequence[bytes], after: Sequence[bytes]) -> Iterator[str]:
    first, last = hunk[0], hunk[-1]
    above = min(CONTEXT_LINES, first.old)
    below = min(CONTEXT_LINES, len(before) - last.old_end)
    old_range = _range(first.old - above, last.old_end + below)
    new_range = _range(first.new - above, last.new_end + below)
    yield f"@@ -{old_range} +{new_range} @@\n"
    at = first.old - above
    for change in hunk:
        yield from (_line(" ", line) for line in before[at : change.old])
        yield from (_line("-", line) for line in before[change.old : change.old_end])
        yield from (_line("+", line) for line in after[change.new : change.new_end])
        at = change.old_end
    yield from (_line(" ", line) for line in before[at : at + below])


def _range(start: int, end: int) -> str:
    """Write a range of lines as unified diffs do: from 1, and the line before where there are none."""
    count = end - start
    if count == 1:
        return str(start + 1)
    return f"{start + 1 if count else start},{count}"


def _line(mark: str, line: bytes) -> str:
    text = mark + line.decode("utf-8", "backslashreplace")
    return text if text.endswith("\n") else text + _UNENDED


# --- comparing ----------------------------------------------------------------------------------------------------------------------


def _changes(before: Sequence[bytes], after: Sequence[bytes]) -> list[_Change]:
    """Give what is not the same, in order."""
    changes: list[_Change] = []
    old = new = 0
    for block_old, block_new, length in (*_same(before, after), (len(before), len(after), 0)):
        if (old, new) != (block_old, block_new):
            changes.append(_Change(old, block_old, new, block_new))
        old, new = block_old + length, block_new + length
    return changes


def _same(before: Sequence[bytes], after: Sequence[bytes]) -> list[_Block]:
    """Give blocks of lines that are the same, in order in both."""
    numbers: dict[bytes, int] = {}
    a = [numbers.setdefault(line, len(numbers)) for line in before]
    b = [numbers.setdefault(line, len(numbers)) for line in after]
    return _Comparison(a, b).blocks()


@dataclass(frozen=True, slots=True)
class _Stretch:
    """A part of the first text and the part of the second that it is compared with."""

    old: int
    old_end: int
    new: int
    new_end: int


class _Comparison:
    """Two sequences being compared. Every step counts against one effort, so that no input takes long."""

    def __init__(self, a: Sequence[int], b: Sequence[int]) -> None:
        self._a = a
        self._b = b
        self._effort = EFFORT_MAX

    def blocks(self) -> list[_Block]:
        """Give the blocks that are the same, in order."""
        found: list[_Block] = []
        waiting = [_Stretch(0, len(self._a), 0, len(self._b))]
        while waiting:
            stretch = self._trimmed(waiting.pop(), found)
            if stretch.old == stretch.old_end or stretch.new == stretch.new_end:
                continue
            fewest = self._fewest(stretch)
            if fewest is not None:
                found += fewest
            else:
                waiting += self._held_together(stretch, found)
        return sorted(found)

    def _trimmed(self, stretch: _Stretch, found: list[_Block]) -> _Stretch:
        """Take the same lines off both ends."""
        a, b = self._a, self._b
        old, old_end, new, new_end = stretch.old, stretch.old_end, stretch.new, stretch.new_end
        while old < old_end and new < new_end and a[old] == b[new]:
            old, new = old + 1, new + 1
        while old < old_end and new < new_end and a[old_end - 1] == b[new_end - 1]:
            old_end, new_end = old_end - 1, new_end - 1
        if old > stretch.old:
            found.append((stretch.old, stretch.new, old - stretch.old))
        if stretch.old_end > old_end:
            found.append((old_end, new_end, stretch.old_end - old_end))
        return _Stretch(old, old_end, new, new_end)

    def _fewest(self, stretch: _Stretch) -> list[_Block] | None:
        """Find the fewest changes, greedily by their number (Myers 1986); None when there are too many of them."""
        a, b = self._a[stretch.old : stretch.old_end], self._b[stretch.new : stretch.new_end]
        changed_max = min(len(a) + len(b), CHANGED_LINES_MAX)
        zero = changed_max + 1  # where diagonal 0 lies; on each, how far into the first text it is the same
        furthest = array("q", bytes(8 * (2 * zero + 1)))
        seen: list[_Reached] = []
        for changed in range(changed_max + 1):
            seen.append(furthest[zero - changed - 1 : zero + changed + 2])
            for k in range(-changed, changed + 1, 2):
                left, right = furthest[zero + k - 1], furthest[zero + k + 1]
                x = start = right if k == -changed or (k != changed and left < right) else left + 1
                while x < len(a) and x - k < len(b) and a[x] == b[x - k]:
                    x += 1
                furthest[zero + k] = x
                self._effort -= x - start + 1
                if x >= len(a) and x - k >= len(b):
                    return [(stretch.old + i, stretch.new + j, n) for i, j, n in _walked_back(seen, len(a), len(b))]
            if self._effort < 0:
                return None
        return None

    def _held_together(self, stretch: _Stretch, found: list[_Block]) -> Iterator[_Stretch]:
        """Give the parts between lines that occur once on both sides, and in one order; none where there is nothing such."""
        self._effort -= stretch.old_end - stretch.old + stretch.new_end - stretch.new
        if self._effort < 0:
            return
        old, new = stretch.old, stretch.new
        for at, there in _in_order(self._once_in_both(stretch)):
            found.append((at, there, 1))
            yield _Stretch(old, at, new, there)
            old, new = at + 1, there + 1
        if old > stretch.old:
            yield _Stretch(old, stretch.old_end, new, stretch.new_end)

    def _once_in_both(self, stretch: _Stretch) -> list[tuple[int, int]]:
        here = Counter(self._a[stretch.old : stretch.old_end])
        there = Counter(self._b[stretch.new : stretch.new_end])
        places = {self._b[j]: j for j in range(stretch.new, stretch.new_end)}
        return [
            (i, places[line])
            for i, line in enumerate(self._a[stretch.old : stretch.old_end], stretch.old)
            if here[line] == 1 and there.get(line) == 1
        ]


def _walked_back(seen: Sequence[_Reached], x: int, y: int) -> list[_Block]:
    """Follow the shortest way back from its end, and give what lay on it that was the same."""
    blocks: list[_Block] = []
    for changed in range(len(seen) - 1, -1, -1):
        furthest, k, zero = seen[changed], x - y, changed + 1
        left, right = furthest[zero + k - 1], furthest[zero + k + 1]
        down = k == -changed or (k != changed and left < right)
        start = right if down else left + 1
        if x > start:
            blocks.append((start, start - k, x - start))
        x, y = (start, start - k - 1) if down else (start - 1, start - k)
    return blocks


def _in_order(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Give the most of the pairs, sorted by their first, whose seconds rise."""
    ends: list[int] = []  # of the best rising row of each length, its last second
    rows: list[int] = []  # and which pair that is
    before: list[int] = []
    for number, (_, second) in enumerate(pairs):
        length = bisect_left(ends, second)
        before.append(rows[length - 1] if length else -1)
        ends[length : length + 1] = [second]
        rows[length : length + 1] = [number]
    chosen: list[tuple[int, int]] = []
    at = rows[-1] if rows else -1
    while at >= 0:
        chosen.append(pairs[at])
        at = before[at]
    return chosen[::-1]
