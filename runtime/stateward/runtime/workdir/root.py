"""An open folder, and what lies beneath it, found part by part.

Invariants: every step opens one name in a folder that is open already, so whoever swaps a folder or a file for a link meanwhile leads
nowhere; a symbolic link is followed by its text, from inside, and only as far as it stays beneath the root; `.git` and `.stateward` at
any depth are outside, and so is whatever lies on another file system; no device, pipe or socket is read.
"""

import errno
import os
import stat
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from stateward.runtime.core.texts import is_unicode, shown, size_of
from stateward.runtime.workdir.beneath import FILE_FLAGS, FOLDER_FLAGS, Opener, best_opener
from stateward.runtime.workdir.limits import DEPTH_MAX, LINKS_MAX, PATH_BYTES_MAX
from stateward.runtime.workdir.shown import RefusalCode, Refused

OUTSIDE_NAMES: Final = frozenset({".git", ".stateward"})
"""Compared without regard to case: some file systems have none."""


class NotShown(Exception):
    """What was asked for is not shown; `refused` says why."""

    def __init__(self, code: RefusalCode, message: str, help: str = "") -> None:  # noqa: A002 -- named as in `Refused`
        super().__init__(message)
        self.refused = Refused(code, message, help)


def is_outside_name(name: str) -> bool:
    """Tell whether a name counts as outside of the Workdir wherever it stands."""
    return name.casefold() in OUTSIDE_NAMES


def is_text(name: str) -> bool:
    """Tell whether a name is UTF-8: what is none is read as text with halves of surrogate pairs."""
    return is_unicode(name)


def parts_of(path: str) -> tuple[str, ...]:
    """Split a path that was asked for, relative to the root. Raises NotShown."""
    if size_of(path) > PATH_BYTES_MAX:
        raise NotShown(RefusalCode.BAD_PATH, f"the path is longer than {PATH_BYTES_MAX} bytes")
    if "\0" in path:
        raise NotShown(RefusalCode.BAD_PATH, f"{shown(path)} holds a zero character, which no path can")
    if not is_text(path):
        raise NotShown(RefusalCode.BAD_PATH, f"{shown(path)} holds half a surrogate pair")
    if path.startswith("/"):
        raise NotShown(RefusalCode.OUTSIDE, f"{shown(path)} is no path inside the Workdir", "name it from the Workdir's folder")
    return tuple(each for each in path.split("/") if each not in {"", "."})


@dataclass(frozen=True, slots=True)
class Opened:
    """An open file or folder; whoever has it closes `handle`."""

    handle: int
    parts: tuple[str, ...]
    """Where it lies, links resolved."""

    @property
    def path(self) -> str:
        """The same as text."""
        return "/".join(self.parts)


class Root:
    """An open folder. A context manager; what it opened stays usable after it was closed."""

    def __init__(self, handle: int, opener: Opener | None = None) -> None:
        self.handle = handle
        self.opener = opener or best_opener()

    @classmethod
    def at(cls, path: Path, opener: Opener | None = None) -> Self:
        """Open a folder; its own path may lead through links. Raises OSError."""
        return cls(os.open(path, FOLDER_FLAGS | os.O_CLOEXEC), opener)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Close the folder."""
        os.close(self.handle)

    def open_file(self, path: str) -> Opened:
        """Open a regular file for reading. Raises NotShown."""
        return self._open(path, parts_of(path), folder=False)

    def open_folder(self, path: str) -> Opened:
        """Open a folder; the empty path and `.` name the root. Raises NotShown."""
        return self._open(path, parts_of(path), folder=True)

    def _open(self, path: str, parts: Sequence[str], *, folder: bool) -> Opened:
        with ExitStack() as open_folders:
            walk = _Walk(path, self.opener, open_folders, self.handle)
            try:
                return walk.to(parts, folder=folder)
            except OSError as fault:
                raise not_shown(path, fault) from fault


class _Walk:
    """One way from the root to a file or folder, folder by folder."""

    def __init__(self, asked: str, opener: Opener, open_folders: ExitStack, root: int) -> None:
        self._asked = shown(asked)
        self._opener = opener
        self._open_folders = open_folders
        self._trail = [root]
        self._names: list[str] = []
        self._links = 0

    def to(self, parts: Sequence[str], *, folder: bool) -> Opened:
        """Go there. Raises NotShown and OSError."""
        ahead = list(reversed(parts))
        while ahead:
            name = ahead.pop()
            if name == "..":
                self._up()
                continue
            if is_outside_name(name):
                raise NotShown(RefusalCode.OUTSIDE, f"{self._asked} lies in `{name.casefold()}`, which is outside of the Workdir")
            mode = os.stat(name, dir_fd=self._trail[-1], follow_symlinks=False).st_mode
            if stat.S_ISLNK(mode):
                ahead += reversed(self._link(name))
            elif stat.S_ISDIR(mode):
                self._down(name)
            elif ahead or folder:
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
            else:
                return self._file(name, mode)
        if not folder:
            raise NotShown(RefusalCode.FOLDER, f"{self._asked} is a folder")
        return Opened(os.dup(self._trail[-1]), tuple(self._names))

    def _up(self) -> None:
        if not self._names:
            raise NotShown(RefusalCode.OUTSIDE, f"{self._asked} leads outside of the Workdir")
        self._names.pop()
        self._trail.pop()

    def _down(self, name: str) -> None:
        if len(self._names) >= DEPTH_MAX:
            raise NotShown(RefusalCode.BAD_PATH, f"{self._asked} lies more than {DEPTH_MAX} folders deep")
        handle = self._opener(self._trail[-1], name, FOLDER_FLAGS)
        self._open_folders.callback(os.close, handle)
        self._trail.append(handle)
        self._names.append(name)

    def _link(self, name: str) -> list[str]:
        self._links += 1
        if self._links > LINKS_MAX:
            raise NotShown(RefusalCode.BAD_PATH, f"{self._asked} leads through more than {LINKS_MAX} links")
        target = os.readlink(name, dir_fd=self._trail[-1])
        if target.startswith("/"):
            raise NotShown(RefusalCode.OUTSIDE, f"{self._asked} is, or leads through, a link outside of the Workdir")
        if not is_text(target):
            raise NotShown(RefusalCode.BAD_PATH, f"{self._asked} leads through a link whose target is no UTF-8")
        return [each for each in target.split("/") if each not in {"", "."}]

    def _file(self, name: str, mode: int) -> Opened:
        if not stat.S_ISREG(mode):
            raise self._special()
        handle = self._opener(self._trail[-1], name, FILE_FLAGS)
        if not stat.S_ISREG(os.fstat(handle).st_mode):  # swapped since it was looked at
            os.close(handle)
            raise self._special()
        return Opened(handle, (*self._names, name))

    def _special(self) -> NotShown:
        return NotShown(RefusalCode.SPECIAL, f"{self._asked} is no regular file but a device, a pipe or a socket")


def not_shown(path: str, fault: OSError) -> NotShown:
    """Say why the system does not open a path."""
    name = shown(path)
    match fault.errno:
        case errno.ENOENT | errno.ENOTDIR:
            return NotShown(RefusalCode.NOT_FOUND, f"{name} does not exist")
        case errno.EXDEV:
            return NotShown(RefusalCode.OUTSIDE, f"{name} lies on another file system, which is outside of the Workdir")
        case errno.ELOOP:
            return NotShown(RefusalCode.CHANGED, f"{name} was replaced by a link while it was opened")
        case errno.ENAMETOOLONG:
            return NotShown(RefusalCode.BAD_PATH, f"{name} has a part that is longer than a name can be")
        case errno.EACCES | errno.EPERM:
            return NotShown(RefusalCode.UNREADABLE, f"{name} is not readable for the account of the runtime")
    return NotShown(RefusalCode.UNREADABLE, f"{name} cannot be read: {(fault.strerror or 'unknown').lower()}")
