"""The read-only view of a Workdir: read lines of a file, find files by a pattern, search lines.

Invariants: the folder is opened once, and everything is found from there, so what becomes of its path meanwhile changes nothing; a call
answers with a value within its bounds, whatever lies in the folder; nothing is written, and no program is started but the one that
searches, which inherits the open folder, no environment and nothing else.
"""

import json
import os
import sys
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from stateward.runtime.core.texts import size_of
from stateward.runtime.workdir.beneath import Opener, portable_open
from stateward.runtime.workdir.limits import (
    LINE_NUMBER_MAX,
    PATH_BYTES_MAX,
    PATTERN_BYTES_MAX,
    SEARCH_GRACE_SECONDS,
    SEARCH_NOTICES_BYTES,
    SEARCH_OUTPUT_FACTOR,
    ViewBounds,
)
from stateward.runtime.workdir.processes import Ended, Ran, run
from stateward.runtime.workdir.reading import read_lines
from stateward.runtime.workdir.root import NotShown, Root, not_shown
from stateward.runtime.workdir.search import SearchRequest
from stateward.runtime.workdir.shown import EntryKind, Globbed, Grepped, Hit, Listed, RefusalCode, Refused, Shown

_SEARCH: Final = ("-I", "-X", "utf8", "-m", "stateward.runtime.workdir.search")
"""What this interpreter runs to search: isolated from its environment and from the present folder."""
_ENVIRONMENT: Final = {"LC_ALL": "C"}


class WorkdirView:
    """A view of one folder. A context manager; it holds the folder open until it is left."""

    def __init__(self, root: Path, bounds: ViewBounds | None = None, opener: Opener | None = None) -> None:
        """Open the folder. Raises OSError when it cannot be opened."""
        self.bounds = bounds or ViewBounds()
        self._root = Root.at(root, opener)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._root.close()

    def read(self, path: str, first_line: int = 1, limit: int | None = None) -> Shown | Refused:
        """Show lines of a file, from a number on: `limit` of them at most, and no more than the bounds allow."""
        most = self.bounds.read_lines if limit is None else min(limit, self.bounds.read_lines)
        if not 1 <= first_line <= LINE_NUMBER_MAX:
            return Refused(RefusalCode.BAD_RANGE, f"the first line is not between 1 and {LINE_NUMBER_MAX}")
        if most < 1:
            return Refused(RefusalCode.BAD_RANGE, "the limit is less than 1 line")
        try:
            opened = self._root.open_file(path)
            try:
                return read_lines(opened, first_line, most, self.bounds)
            finally:
                os.close(opened.handle)
        except NotShown as problem:
            return problem.refused
        except OSError as fault:
            return not_shown(path, fault).refused

    def is_still(self, shown: Shown) -> bool:
        """Tell whether what was shown earlier would be shown the same way now."""
        return self.read(shown.path, shown.first_line, max(1, len(shown.lines))) == shown

    def glob(self, pattern: str, under: str = "") -> Globbed | Refused:
        """Find what lies beneath a folder by a pattern for whole paths from that folder.

        `*` and `?` stand for characters of one name, `**` for folders too, `[…]` for a character, `{a,b}` for one or the other.
        """
        if not pattern:
            return Refused(RefusalCode.BAD_PATTERN, "the pattern is empty")
        answer = self._search("", pattern, under, ignore_case=False)
        if isinstance(answer, Refused):
            return answer
        found, truncated, notices = answer
        entries = tuple(Listed(path, EntryKind(kind)) for path, kind in found)
        return Globbed(entries, truncated, notices)

    def grep(self, pattern: str, under: str = "", paths: str = "", *, ignore_case: bool = False) -> Grepped | Refused:
        """Find lines that match a regular expression, in a file or in all files beneath a folder.

        `paths` is a pattern for which files: as in `glob`, or without a slash for their names alone. Binary files are passed over.
        """
        if not pattern:
            return Refused(RefusalCode.BAD_PATTERN, "the pattern is empty")
        answer = self._search(pattern, paths, under, ignore_case=ignore_case)
        if isinstance(answer, Refused):
            return answer
        found, truncated, notices = answer
        return Grepped(tuple(Hit(*each) for each in found), truncated, notices)

    def _search(self, pattern: str, paths: str, under: str, *, ignore_case: bool) -> "_Answer | Refused":
        for text, bytes_max, code in (
            (pattern, PATTERN_BYTES_MAX, RefusalCode.BAD_PATTERN),
            (paths, PATTERN_BYTES_MAX, RefusalCode.BAD_PATTERN),
            (under, PATH_BYTES_MAX, RefusalCode.BAD_PATH),
        ):
            if size_of(text) > bytes_max:  # the request has a limit of its own
                what = "pattern" if code is RefusalCode.BAD_PATTERN else "path"
                return Refused(code, f"the {what} is longer than {bytes_max} bytes")
        request = SearchRequest(
            root=self._root.handle,
            portable=self._root.opener is portable_open,
            under=under,
            paths=paths,
            pattern=pattern,
            ignore_case=ignore_case,
            results=self.bounds.results,
            match_bytes=self.bounds.match_bytes,
            result_bytes=self.bounds.result_bytes,
            seconds=self.bounds.search_seconds,
        )
        try:
            return _answer(self._run(request))
        except OSError as fault:
            return Refused(RefusalCode.SEARCH_FAILED, f"the search cannot be started: {(fault.strerror or 'unknown').lower()}")

    def _run(self, request: SearchRequest) -> Ran:
        return run(
            (sys.executable, *_SEARCH),
            environment=_ENVIRONMENT,
            # It ends by itself at its time; what is added is for starting and for what it has in hand.
            seconds=self.bounds.search_seconds + SEARCH_GRACE_SECONDS,
            output_bytes=self.bounds.result_bytes * SEARCH_OUTPUT_FACTOR + SEARCH_NOTICES_BYTES,
            given=request.encoded(),
            handles=(self._root.handle,),
        )


_Answer = tuple[list[list[Any]], bool, tuple[str, ...]]
"""What was found, whether there may be more, and notices."""


def _answer(ran: Ran) -> _Answer | Refused:
    """Read what the process said: its own program, so what it says is believed, and all that can be missing is the end."""
    *lines, _unfinished = ran.output.split(b"\n")
    found = [json.loads(line) for line in lines]
    end = found.pop() if found and isinstance(found[-1], dict) else None
    if end is None:
        if ran.ended is Ended.BY_ITSELF and not found:
            return Refused(RefusalCode.SEARCH_FAILED, f"the search ended with status {ran.status} and without an answer")
        return found, True, ("the search was stopped before its end",)
    if "refused" in end:
        refused = end["refused"]
        return Refused(RefusalCode(refused["code"]), refused["message"], refused["help"])
    return found, end["truncated"], tuple(end["notices"])
