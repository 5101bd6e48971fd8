"""The file that a store lies in, before SQLite sees it.

Invariants: nothing is created unless asked for; what is created belongs to this user alone (folders 0700, the file 0600, and SQLite
gives the files beside it the same mode). Two processes that create the same store at once both find it created.
"""

import errno
import os
import stat
from pathlib import Path
from typing import Final

from stateward.runtime.ports import StoreUnavailable
from stateward.store.faults import MAKE_WRITABLE

FOLDER_MODE: Final = 0o700
FILE_MODE: Final = 0o600


def require_file(path: Path) -> None:
    """Refuse a path under which no store can be. Raises StoreUnavailable."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        raise StoreUnavailable(f"there is no store at {path}", "name another file, or begin one with a command that writes") from None
    except OSError as problem:
        raise _refused("reached", path, problem) from problem
    if stat.S_ISDIR(mode):
        raise StoreUnavailable(f"{path} is a folder, not a store", "name a file in it")
    if not stat.S_ISREG(mode):
        raise StoreUnavailable(f"{path} is no regular file", "name another file")


def require_writable(path: Path) -> None:
    """Refuse a file that cannot be written, before SQLite quietly opens it for reading instead. Raises StoreUnavailable.

    Asked by name: to open the file and to close it again would release the locks of every connection that this process has to it.
    """
    if not os.access(path, os.W_OK, effective_ids=os.access in os.supports_effective_ids):
        raise StoreUnavailable(f"{path} cannot be written", MAKE_WRITABLE)


def make_file(path: Path) -> None:
    """Create the file, and the folders it lies in, where they are missing. Raises StoreUnavailable."""
    try:
        _make_folder(path.parent)
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDONLY | os.O_CLOEXEC, FILE_MODE))
    except FileExistsError:
        return
    except OSError as problem:
        raise _refused("created", path, problem) from problem


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


def _refused(done: str, path: Path, problem: OSError) -> StoreUnavailable:
    reason = (problem.strerror or type(problem).__name__).lower()
    return StoreUnavailable(f"{path} cannot be {done}: {reason}", "name another file, or make its folder writable for this user")
