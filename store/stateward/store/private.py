"""Files that this user alone may read: keys, and heads kept as witnesses.

Invariants: a folder is made with mode 0700 and a file with 0600; what others may read or write, what belongs to somebody else and what
is reached through a link is refused, not mended, since it may have been read already; a file is replaced whole and durably or not at all.
"""

import errno
import fcntl
import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

FOLDER_MODE: Final = 0o700
FILE_MODE: Final = 0o600
OTHERS: Final = 0o077
OUT_OF_SPACE: Final = frozenset({errno.ENOSPC, errno.EDQUOT})
"""What the system says when there is no room."""
MAKE_SPACE: Final = "free some space on that disk"
_LOCK: Final = "lock"
LOCK_ATTEMPTS_MAX: Final = 1000
LOCK_PAUSE_SECONDS: Final = 0.005


class NotPrivate(OSError):
    """Others may read or write it, or it is not what it should be; the message says which."""


def require_private_folder(folder: Path) -> None:
    """Refuse a folder that others may look into. Raises NotPrivate and OSError."""
    found = folder.stat()
    if not stat.S_ISDIR(found.st_mode):
        raise NotPrivate(f"{folder} is no folder")
    _require_ours(folder, found)


def make_private_folder(folder: Path) -> None:
    """Make a folder, and those above it, where they are missing. Raises NotPrivate and OSError."""
    if not folder.is_dir():
        missing = [each for each in (folder, *folder.parents) if not each.exists()]
        for each in reversed(missing):
            each.mkdir(FOLDER_MODE, exist_ok=True)
            sync_folder(each.parent)
    require_private_folder(folder)


def read_private(path: Path, bytes_max: int) -> bytes:
    """Read a file that this user alone may read. Raises FileNotFoundError, NotPrivate and OSError."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        _require_private_file(path, descriptor)
        data = os.read(descriptor, bytes_max + 1)
    finally:
        os.close(descriptor)
    if len(data) > bytes_max:
        raise NotPrivate(f"{path} is longer than {bytes_max} bytes")
    return data


def replace_private(path: Path, data: bytes) -> None:
    """Put a file in place, whole and durable. Raises OSError; then what was there is there still."""
    draft = path.with_name(f".{path.name}.{os.urandom(8).hex()}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, FILE_MODE)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(descriptor)
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


@contextmanager
def opened_private(path: Path) -> Iterator[int]:
    """Open a file that this user alone may read, to be read and written in place by one process at a time.

    Raises FileNotFoundError, NotPrivate and OSError.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        _require_private_file(path, descriptor)
        _lock(descriptor, path)
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Let one process at a time change what lies in a folder. Raises OSError, also when another one holds it for too long."""
    descriptor = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, FILE_MODE)
    try:
        _lock(descriptor, folder)
        yield
    finally:
        os.close(descriptor)


def _lock(descriptor: int, of: Path) -> None:
    for _ in range(LOCK_ATTEMPTS_MAX):
        try:
            return fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(LOCK_PAUSE_SECONDS)
    raise BlockingIOError(errno.EWOULDBLOCK, f"{of} is held by another program")


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable. Raises OSError."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _require_private_file(path: Path, descriptor: int) -> None:
    found = os.fstat(descriptor)
    if not stat.S_ISREG(found.st_mode):
        raise NotPrivate(f"{path} is no regular file")
    _require_ours(path, found)


def _require_ours(path: Path, found: os.stat_result) -> None:
    if found.st_uid != os.geteuid():
        raise NotPrivate(f"{path} belongs to another user")
    if found.st_mode & OTHERS:
        raise NotPrivate(f"{path} can be read or written by others (mode {stat.S_IMODE(found.st_mode):04o})")
