"""The program that searches: a process of its own, so that whatever a search meets, its end is certain.

It reads one request from standard input and writes to standard output what it finds, one JSON array a line as it is found, and one
object at the end; nothing else in the runtime runs in it. The root comes as an open folder that is inherited.

Invariants: it opens nothing but what lies beneath that folder and writes no file; it ends by itself at its time, and by a signal that
it cannot put off if it does not; its processor time and its memory are limited by the system.
"""

import json
import os
import resource
import signal
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from time import monotonic
from typing import Any, Final

from stateward.runtime.core.texts import shown
from stateward.runtime.workdir.beneath import FILE_FLAGS, best_opener, portable_open
from stateward.runtime.workdir.limits import (
    CHUNK_BYTES,
    SEARCH_FILE_BYTES_MAX,
    SEARCH_GRACE_SECONDS,
    SEARCH_MEMORY_MAX,
    SEARCH_REQUEST_BYTES_MAX,
    SEARCH_TOTAL_BYTES_MAX,
)
from stateward.runtime.workdir.patterns import BadPattern, compiled, compiled_glob, depth_of
from stateward.runtime.workdir.reading import decoded, is_binary
from stateward.runtime.workdir.root import NotShown, Opened, Root, not_shown
from stateward.runtime.workdir.shown import EntryKind, RefusalCode
from stateward.runtime.workdir.walking import Notices, Step, Walk

FLUSHED_EVERY: Final = 64
"""Results after which what was found is handed over, so that little is lost when the program is killed."""


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """What is to be searched, and how far."""

    root: int
    """The open folder."""
    portable: bool
    """Whether to open without the kernel's confinement."""
    under: str
    """The folder, or for a grep the file, to search in."""
    paths: str
    """A pattern for paths from there; for a grep without a slash, for names; empty for all."""
    pattern: str
    """The expression that a line must match; empty for a glob."""
    ignore_case: bool
    results: int
    match_bytes: int
    result_bytes: int
    seconds: float

    def encoded(self) -> bytes:
        """Give it as the program reads it."""
        return json.dumps(asdict(self)).encode("ascii")


class Search:
    """One search."""

    def __init__(self, request: SearchRequest) -> None:
        self._request = request
        self._deadline = monotonic() + request.seconds
        self._root = Root(request.root, portable_open if request.portable else best_opener())
        self._notices = Notices()
        self._bytes_left = SEARCH_TOTAL_BYTES_MAX
        self._binary = 0

    def found(self) -> Iterator[list[object]]:
        """Find everything within bounds, and give it as it goes over the wire. Raises NotShown and BadPattern."""
        count, room = self._request.results, self._request.result_bytes
        for each in self._hits() if self._request.pattern else self._entries():
            size = len(json.dumps(each, ensure_ascii=False).encode("utf-8"))
            if count == 0 or size > room:
                bound = f"{self._request.results} results" if count == 0 else f"{self._request.result_bytes} bytes of results"
                self._notices.add(f"there are more than {bound}; the others are not shown")
                return
            count, room = count - 1, room - size
            yield each

    def end(self) -> dict[str, object]:
        """Give what the program says at its end."""
        if self._binary:
            self._notices.add(f"binary files that were not searched: {self._binary}", truncated=False)
        return {"truncated": self._notices.truncated, "notices": self._notices.all()}

    def _entries(self) -> Iterator[list[object]]:
        pattern = compiled_glob(self._request.paths)
        folder = self._root.open_folder(self._request.under)
        for step in self._walk(depth_of(self._request.paths)).over(folder.handle, folder.path):
            if pattern.search(_beneath(folder, step.path)):
                yield [step.path, step.kind.value]

    def _hits(self) -> Iterator[list[object]]:
        pattern = compiled(self._request.pattern, ignore_case=self._request.ignore_case)
        paths = compiled_glob(self._request.paths) if self._request.paths else None
        try:
            file = self._root.open_file(self._request.under)
        except NotShown as problem:
            if problem.refused.code is not RefusalCode.FOLDER:
                raise
        else:
            yield from self._hits_in(file.handle, file.path, pattern)
            return
        folder = self._root.open_folder(self._request.under)
        for step in self._walk(None).over(folder.handle, folder.path):
            asked = step.name.encode("utf-8") if "/" not in self._request.paths else _beneath(folder, step.path)
            if step.kind is EntryKind.FILE and (paths is None or paths.search(asked)):
                yield from self._hits_of(step, pattern)

    def _walk(self, depth: int | None) -> Walk:
        return Walk(self._root.opener, self._notices, self._is_over, depth)

    def _hits_of(self, step: Step, pattern: Any) -> Iterator[list[object]]:
        try:
            handle = self._root.opener(step.folder, step.name, FILE_FLAGS)
            try:
                yield from self._hits_in(handle, step.path, pattern)
            finally:
                os.close(handle)
        except OSError as fault:
            self._notices.add(f"not searched: {not_shown(step.path, fault).refused.message}")

    def _hits_in(self, handle: int, path: str, pattern: Any) -> Iterator[list[object]]:
        if is_binary(handle):
            self._binary += 1
            return
        data = self._contents(handle, path)
        start = line = line_start = 0
        while start < len(data) and not self._is_over():
            match = pattern.search(data, start)
            if match is None or (match.start() == len(data) and data.endswith(b"\n")):
                return
            line += data.count(b"\n", line_start, match.start())
            line_start = data.rfind(b"\n", 0, match.start()) + 1
            end = data.find(b"\n", match.start())
            start = len(data) if end < 0 else end + 1
            text, cut, _ = decoded(data[line_start : len(data) if end < 0 else end], self._request.match_bytes)
            yield [path, line + 1, text, cut]

    def _contents(self, handle: int, path: str) -> bytes:
        """Read a file, as far as one file and one search may be read, its line ends made one character."""
        bytes_max = min(SEARCH_FILE_BYTES_MAX, self._bytes_left)
        data = bytearray()
        while len(data) <= bytes_max and (chunk := os.read(handle, CHUNK_BYTES)):
            data += chunk
        if len(data) > bytes_max:
            del data[bytes_max:]
            self._notices.add(f"only the first {bytes_max} bytes of {shown(path)} were searched")
        self._bytes_left -= len(data)
        return bytes(data).replace(b"\r\n", b"\n")

    def _is_over(self) -> bool:
        return monotonic() >= self._deadline


def _beneath(folder: Opened, path: str) -> bytes:
    return (path.removeprefix(f"{folder.path}/") if folder.parts else path).encode("utf-8")


def _confine(seconds: float) -> None:
    """Let the system limit this process."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    processor = int(seconds) + 1
    for limited, most in (
        (resource.RLIMIT_CPU, processor),
        (resource.RLIMIT_AS, SEARCH_MEMORY_MAX),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_NPROC, 0),
    ):
        _, hard = resource.getrlimit(limited)
        resource.setrlimit(limited, (most, most) if hard == resource.RLIM_INFINITY or hard >= most else (hard, hard))


def main() -> None:
    """Answer the one request on standard input."""
    request = SearchRequest(**json.loads(sys.stdin.buffer.read(SEARCH_REQUEST_BYTES_MAX)))
    _confine(request.seconds + SEARCH_GRACE_SECONDS)
    search = Search(request)
    try:
        for number, each in enumerate(search.found(), start=1):
            print(json.dumps(each), flush=number % FLUSHED_EVERY == 0)
    except NotShown as problem:
        print(json.dumps({"refused": asdict(problem.refused)}))
        return
    except BadPattern as problem:
        print(json.dumps({"refused": {"code": RefusalCode.BAD_PATTERN.value, "message": str(problem), "help": ""}}))
        return
    print(json.dumps(search.end()))


if __name__ == "__main__":
    main()
