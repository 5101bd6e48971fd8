"""Reading the transcript of a host's session, from where it was read before: whole lines, in bounded steps.

Invariants: only a regular file of this user is read, never through a link in the place of the file, and never waited for; half a line at
the end is left for the next time; that a file was rewritten is seen by what stands before the place where it was left; a line over the
limit is passed over, and so is what is no line of a transcript.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from errno import ELOOP
from hashlib import sha256
from typing import Final, NamedTuple

LINE_BYTES_MAX: Final = 8 * 1024 * 1024
STEP_BYTES: Final = LINE_BYTES_MAX
"""Read at a time."""
MARK_BYTES_MAX: Final = 1024
"""Before a place in a file, by which that place is known again."""
_SUFFIX: Final = ".jsonl"


class TranscriptUnusable(OSError):
    """What a host names as a transcript is none that is read; the text says why."""


class Line(NamedTuple):
    """A line of a transcript."""

    start: int
    """The place in the file where it begins."""
    end: int
    """And where the next one begins."""
    text: str
    """Empty for one that was too long, or for a part of it."""


class Transcript:
    """A transcript that is open."""

    def __init__(self, descriptor: int, size: int) -> None:
        self._descriptor = descriptor
        self.size: Final = size

    def mark(self, place: int) -> str:
        """Give what a place is known by: a digest of what stands before it. Empty for the beginning."""
        length = min(place, MARK_BYTES_MAX)
        return "" if not length else sha256(os.pread(self._descriptor, length, place - length)).hexdigest()

    def lines(self, place: int) -> Iterator[Line]:
        """Read whole lines from a place on, up to the end as it was when the file was opened."""
        while place < self.size:
            data = os.pread(self._descriptor, min(STEP_BYTES, self.size - place), place)
            end = data.rfind(b"\n") + 1
            if end == 0:
                if len(data) < STEP_BYTES:  # half a line, which is still written
                    return
                yield Line(place, place + len(data), "")
                end = len(data)
            else:
                yield from _lines(data[:end], place)
            place += end

    def settled(self) -> int:
        """Give the place behind the last whole line."""
        data = os.pread(self._descriptor, STEP_BYTES, max(0, self.size - STEP_BYTES))
        end = data.rfind(b"\n") + 1
        return self.size if end == 0 and len(data) == STEP_BYTES else max(0, self.size - STEP_BYTES) + end


def _lines(data: bytes, place: int) -> Iterator[Line]:
    for line in data[:-1].split(b"\n"):
        end = place + len(line) + 1
        yield Line(place, end, line.strip().decode("utf-8", "surrogateescape"))
        place = end


@contextmanager
def opened(path: str) -> Iterator[Transcript]:
    """Open a transcript. Raises TranscriptUnusable, and FileNotFoundError where there is none yet."""
    if not os.path.isabs(path) or not path.endswith(_SUFFIX):  # noqa: PTH117 -- loads less than a Path
        raise TranscriptUnusable(f"a transcript is named by its whole path, which ends in `{_SUFFIX}`")
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        raise
    except OSError as fault:
        if fault.errno == ELOOP:
            raise TranscriptUnusable("it is a link") from fault
        raise TranscriptUnusable((fault.strerror or type(fault).__name__).lower()) from fault
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise TranscriptUnusable("it is no regular file")
        if found.st_uid != os.geteuid():
            raise TranscriptUnusable("it belongs to another user")
        yield Transcript(descriptor, found.st_size)
    finally:
        os.close(descriptor)
