"""The file that a store lies in, as the system sees it: before SQLite opens it, and while it is open.

Invariants: nothing is created unless asked for; what is created belongs to this user alone (folders 0700, the file 0600, and SQLite
gives the files beside it the same mode). Two processes that create the same store at once both find it created. No file of a store is
ever opened here: to close it again would release the locks of every connection that this process has to it.
"""

import errno
import os
import stat
from pathlib import Path
from typing import Final, TypeAlias

from stateward.runtime.ports import StoreUnavailable
from stateward.store.faults import MAKE_WRITABLE, not_reached

FOLDER_MODE: Final = 0o700
FILE_MODE: Final = 0o600
_ELSEWHERE: Final = "name another file, or make its folder writable for this user"
LOG_OF_PAGES: Final = "-wal"
JOURNAL: Final = "-journal"
_FILES: Final = ("", LOG_OF_PAGES, "-shm")
"""What SQLite keeps open of a store, by what follows the store's own name."""

Identity: TypeAlias = tuple[int, int] | None
"""What the system knows a file by: device and inode; None when it is not there."""


class OpenFiles:
    """What a connection has open of a store, as the system knows it.

    As long as a store is open SQLite never replaces one of its files, so whichever is another one now was replaced by somebody else.
    """

    def __init__(self, path: Path) -> None:
        self._names: Final = tuple(f"{path}{suffix}" for suffix in _FILES)
        self._known: list[Identity] = []

    def look(self) -> None:
        """Keep what lies under the names of the store's files now."""
        self._known = [identity(name) for name in self._names]

    def changed(self) -> str | None:
        """Name the first file that was there and is no longer the same; None when all are."""
        for name, known in zip(self._names, self._known, strict=False):  # nothing is known before the first look
            if known is not None and known != identity(name):
                return name
        return None


def identity(name: str) -> Identity:
    """Look at what lies under a name."""
    try:
        found = os.stat(name)  # noqa: PTH116 -- at every commit, and this is half the cost of a path's
    except OSError:
        return None  # what cannot be reached is not there for us
    return found.st_dev, found.st_ino


def is_at_rest(path: Path) -> bool:
    """Whether nothing of a database waits to be recovered, and it can be opened as a writer does."""
    waits = any(_holds_something(f"{path}{suffix}") for suffix in (LOG_OF_PAGES, JOURNAL))
    return not waits and _may_write(path) and _may_write(path.parent)


def _holds_something(name: str) -> bool:
    try:
        return os.stat(name).st_size > 0  # noqa: PTH116 -- as above
    except FileNotFoundError:
        return False
    except OSError:
        return True  # what cannot be looked at may hold anything


def require_file(path: Path) -> None:
    """Refuse a path under which no store can be. Raises StoreUnavailable."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        raise StoreUnavailable(f"there is no store at {path}", "name another file, or begin one with a command that writes") from None
    except OSError as problem:
        raise not_reached("reached", path, problem, _ELSEWHERE) from problem
    if stat.S_ISDIR(mode):
        raise StoreUnavailable(f"{path} is a folder, not a store", "name a file in it")
    if not stat.S_ISREG(mode):
        raise StoreUnavailable(f"{path} is no regular file", "name another file")


def require_writable(path: Path) -> None:
    """Refuse a file that cannot be written, before SQLite quietly opens it for reading instead. Raises StoreUnavailable.

    Asked by name, not by opening it.
    """
    if not _may_write(path):
        raise StoreUnavailable(f"{path} cannot be written", MAKE_WRITABLE)


def _may_write(path: Path) -> bool:
    return os.access(path, os.W_OK, effective_ids=os.access in os.supports_effective_ids)


def make_file(path: Path) -> None:
    """Create the file, and the folders it lies in, where they are missing. Raises StoreUnavailable."""
    try:
        _make_folder(path.parent)
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDONLY | os.O_CLOEXEC, FILE_MODE))
    except FileExistsError:
        return
    except OSError as problem:
        raise not_reached("created", path, problem, _ELSEWHERE) from problem


def _make_folder(folder: Path) -> None:
    if folder.is_dir():
        return
    _make_folder(folder.parent)
    try:
        folder.mkdir(FOLDER_MODE)
    except FileExistsError:
        if not folder.is_dir():  # else somebody was quicker
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR)) from None
    # SQLite makes the names in the store's own folder durable; the name of that folder is ours to make so.
    _sync(folder.parent)


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
