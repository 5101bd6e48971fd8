"""Lines of an open file, within bounds.

Invariants: a line is cut between characters; a read goes at most `scan_bytes` into a file, whatever its size, and stops at the number
of lines or bytes that may be shown; a file that changes while it is read is not shown.
"""

import codecs
import os
from dataclasses import dataclass, field
from io import BufferedReader, FileIO
from typing import Final

from stateward.runtime.core.texts import shown
from stateward.runtime.workdir.limits import CHUNK_BYTES, SAMPLE_BYTES, ViewBounds
from stateward.runtime.workdir.root import NotShown, Opened
from stateward.runtime.workdir.shown import RefusalCode, Shown

REPLACEMENT: Final = "\ufffd"
_MARK: Final = codecs.BOM_UTF8
_NO_TEXT: Final = "bytes that are no UTF-8 text are shown as U+FFFD"
_LINE_ENDS: Final = "lines end in carriage return and line feed, of which neither is shown"
_BEGINS: Final = "the byte order mark before the first line is not shown"


def is_binary(handle: int) -> bool:
    """Tell whether a file is no text: a zero byte stands near its beginning."""
    return b"\0" in os.pread(handle, SAMPLE_BYTES, 0)


def decoded(data: bytes, bytes_max: int) -> tuple[str, bool, bool]:
    """Give a line as text of at most so many bytes, whether it is cut, and whether it is exact up to there."""
    cut = len(data) > bytes_max
    head = data[:bytes_max]
    # Not final, so that a character that the cut goes through is left out, not called broken.
    text = codecs.getincrementaldecoder("utf-8")("replace").decode(head, final=not cut).replace("\0", REPLACEMENT)
    return text, cut, head.startswith(text.encode("utf-8"))


def read_lines(opened: Opened, first_line: int, limit: int, bounds: ViewBounds) -> Shown:
    """Read lines from a number on. Raises NotShown, and OSError when the file cannot be read."""
    before = os.fstat(opened.handle)
    if is_binary(opened.handle):
        raise NotShown(RefusalCode.BINARY, f"{shown(opened.path)} is a binary file of {before.st_size} bytes")
    with BufferedReader(FileIO(opened.handle, closefd=False), CHUNK_BYTES) as file:
        window = _Window(file, opened.path, bounds)
        window.skip(first_line - 1)
        window.take(first_line, limit)
    after = os.fstat(opened.handle)
    if (before.st_size, before.st_mtime_ns, before.st_ctime_ns) != (after.st_size, after.st_mtime_ns, after.st_ctime_ns):
        raise NotShown(RefusalCode.CHANGED, f"{shown(opened.path)} was changed while it was read", "read it again")
    return window.shown(first_line)


@dataclass(slots=True)
class _Window:
    """The lines that are shown, as they are collected."""

    file: "BufferedReader[FileIO]"
    path: str
    bounds: ViewBounds
    lines: list[str] = field(default_factory=list)
    cut: list[int] = field(default_factory=list)
    more: bool = False
    notices: dict[str, None] = field(default_factory=dict)
    """A set that keeps its order."""
    scanned: int = 0

    def skip(self, count: int) -> None:
        """Go past lines. Raises NotShown when the file ends before, or the read goes too far into it."""
        for skipped in range(count):
            piece = self._line(CHUNK_BYTES)
            if piece is None:
                raise self._ended(skipped)
            if self._is_exhausted():
                raise self._too_far()

    def take(self, first_line: int, limit: int) -> None:
        """Collect lines until the file ends or a bound is reached."""
        room = self.bounds.read_bytes + 1  # the last line needs no end
        for number in range(first_line, first_line + limit):
            line_max = min(self.bounds.line_bytes, self.bounds.read_bytes)
            # As much as shows that the line is longer than may be shown, with room for the mark and a carriage return.
            line = self._line(line_max + len(_MARK) + 2)
            if line is None:
                break
            text, cut = self._text(line, line_max, first=number == 1)
            room -= len(text.encode("utf-8")) + 1
            if room < 0 and self.lines:
                self.more = True
                return
            self.lines.append(text)
            if cut:
                self.cut.append(number)
            if self._is_exhausted():
                self.notices[f"a read goes no further than {self.bounds.scan_bytes} bytes into a file"] = None
                break
        if not self.lines and first_line > 1:
            raise self._ended(first_line - 1)
        self.more = self.file.peek(1) != b""

    def shown(self, first_line: int) -> Shown:
        """Give what was collected."""
        if not self.lines:
            self.notices["the file is empty"] = None
        if self.cut:
            self.notices[f"a line of more than {self.bounds.line_bytes} bytes is shown cut"] = None
        if self.more:
            self.notices[f"more lines follow line {first_line + len(self.lines) - 1}"] = None
        return Shown(self.path, first_line, tuple(self.lines), tuple(self.cut), self.more, tuple(self.notices))

    def _line(self, keep: int) -> bytes | None:
        """Read a line to its end, or to the bound of the read, and give its beginning; None at the end of the file."""
        kept = piece = self.file.readline(keep)
        self.scanned += len(piece)
        if not piece:
            return None
        while not piece.endswith(b"\n") and not self._is_exhausted():
            piece = self.file.readline(CHUNK_BYTES)
            if not piece:
                break
            self.scanned += len(piece)
        return kept

    def _text(self, line: bytes, line_max: int, *, first: bool) -> tuple[str, bool]:
        if first and line.startswith(_MARK):
            line = line[len(_MARK) :]
            self.notices[_BEGINS] = None
        if line.endswith(b"\r\n"):
            line = line[:-2]
            self.notices[_LINE_ENDS] = None
        text, cut, exact = decoded(line.removesuffix(b"\n"), line_max)
        if not exact:
            self.notices[_NO_TEXT] = None
        return text, cut

    def _is_exhausted(self) -> bool:
        return self.scanned >= self.bounds.scan_bytes

    def _ended(self, line: int) -> NotShown:
        return NotShown(RefusalCode.BEYOND, f"{shown(self.path)} {f'goes no further than line {line}' if line else 'is empty'}")

    def _too_far(self) -> NotShown:
        message = f"the lines lie more than {self.bounds.scan_bytes} bytes into {shown(self.path)}, further than a read looks"
        return NotShown(RefusalCode.BEYOND, message, "search for a pattern, or ask for earlier lines")
