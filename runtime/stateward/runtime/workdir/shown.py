"""What the view answers with: values that say what was shown, exactly, and what was left out.

Invariants: a line that is not in `cut` is shown whole, without its line end; whatever is left out is told in a notice; no text of an
answer but `lines`, `Hit.text` and paths comes from the Workdir.
"""

import json
from dataclasses import dataclass
from enum import StrEnum


class RefusalCode(StrEnum):
    """Why something is not shown."""

    BAD_PATH = "bad_path"
    BAD_PATTERN = "bad_pattern"
    BAD_RANGE = "bad_range"
    OUTSIDE = "outside"
    """It lies outside of the Workdir, or counts as outside: `.git`, `.stateward`, another file system."""
    NOT_FOUND = "not_found"
    FOLDER = "folder"
    SPECIAL = "special"
    """A device, a pipe or a socket."""
    BINARY = "binary"
    BEYOND = "beyond"
    """The lines lie after the end of the file, or further into it than a read looks."""
    CHANGED = "changed"
    """It was changed or replaced while it was read."""
    UNREADABLE = "unreadable"
    SEARCH_FAILED = "search_failed"


@dataclass(frozen=True, slots=True)
class Refused:
    """Nothing was shown; `message` is one line, `help` the one thing to do, or empty."""

    code: RefusalCode
    message: str
    help: str = ""


@dataclass(frozen=True, slots=True)
class Shown:
    """Lines of a file."""

    path: str
    """Where the file lies, from the root, links resolved."""
    first_line: int
    """The number of the first line, from 1."""
    lines: tuple[str, ...]
    """Without their ends; what is no UTF-8, and zero bytes, as U+FFFD. Empty for an empty file."""
    cut: tuple[int, ...] = ()
    """The numbers of lines of which only the beginning is shown."""
    more: bool = False
    """Whether lines follow."""
    notices: tuple[str, ...] = ()

    @property
    def last_line(self) -> int:
        """The number of the last line; one less than `first_line` when there is none."""
        return self.first_line + len(self.lines) - 1

    @property
    def truncated(self) -> bool:
        """Whether the file holds more than is shown here, after the first line."""
        return self.more or bool(self.cut)

    @property
    def text(self) -> str:
        """The lines as one text."""
        return "\n".join(self.lines)


class EntryKind(StrEnum):
    """What lies in a folder."""

    FILE = "file"
    FOLDER = "folder"
    LINK = "link"
    """A symbolic link, never followed here."""
    SPECIAL = "special"
    """A device, a pipe or a socket."""


@dataclass(frozen=True, slots=True)
class Listed:
    """One entry that a glob found."""

    path: str
    kind: EntryKind


@dataclass(frozen=True, slots=True)
class Globbed:
    """What a glob found, in order of the paths' parts."""

    entries: tuple[Listed, ...]
    truncated: bool = False
    """Whether there may be more."""
    notices: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The entries, one a line: folders end in a slash, links and special files say that they are."""
        return "\n".join(f"{path_text(each.path)}{_MARKS[each.kind]}" for each in self.entries)


@dataclass(frozen=True, slots=True)
class Hit:
    """A line that matches."""

    path: str
    line: int
    text: str
    """As in `Shown.lines`."""
    cut: bool
    """Whether it is only the beginning of the line."""


@dataclass(frozen=True, slots=True)
class Grepped:
    """What a search found, in order of the paths' parts and lines."""

    hits: tuple[Hit, ...]
    truncated: bool = False
    """Whether there may be more."""
    notices: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The hits, one a line: path, number, text."""
        return "\n".join(f"{path_text(each.path)}:{each.line}:{each.text}" for each in self.hits)


_MARKS = {EntryKind.FILE: "", EntryKind.FOLDER: "/", EntryKind.LINK: " (link)", EntryKind.SPECIAL: " (special file)"}


def path_text(path: str) -> str:
    """Give a path fit to stand in a line: as it is, or as a JSON string when it holds what cannot be seen or begins like one."""
    return path if path.isprintable() and not path.startswith('"') else json.dumps(path)
