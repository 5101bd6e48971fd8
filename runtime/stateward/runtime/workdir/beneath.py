"""Open one name in an open folder so that nothing leads elsewhere: no link, no `..`, no other file system.

Invariants: a name is a single part of a path; what is opened lies in the folder at the moment of opening, whoever renames what at that
moment; opening never waits, be it a pipe. The kernel confines (`openat2`) where it can; elsewhere, opening without following and a
comparison of file systems do. Raises OSError alone.
"""

import ctypes
import errno
import os
import sys
from collections.abc import Callable
from functools import cache
from typing import Final, TypeAlias

Opener: TypeAlias = Callable[[int, str, int], int]
"""Opens a name in an open folder with flags of `os.open`. Raises OSError."""

FOLDER_FLAGS: Final = os.O_RDONLY | os.O_DIRECTORY
FILE_FLAGS: Final = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY

_ALWAYS: Final = os.O_CLOEXEC | os.O_NOFOLLOW
_SYS_OPENAT2: Final = 437
"""The number of the call on every architecture of Linux that Python runs on."""
_RESOLVE: Final = 0x01 | 0x02 | 0x04 | 0x08
"""NO_XDEV, NO_MAGICLINKS, NO_SYMLINKS, BENEATH."""
_TRIES_MAX: Final = 8
"""The kernel asks to try again when something was renamed meanwhile."""


class _OpenHow(ctypes.Structure):
    _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))


@cache
def _syscall() -> Callable[..., int]:
    function = ctypes.CDLL(None, use_errno=True).syscall
    function.restype = ctypes.c_long
    return function


def kernel_open(folder: int, name: str, flags: int) -> int:
    """Open a name, confined by the kernel."""
    _require_part(name)
    how = _OpenHow(flags | _ALWAYS, 0, _RESOLVE)
    number, place, encoded = ctypes.c_long(_SYS_OPENAT2), ctypes.c_int(folder), ctypes.c_char_p(os.fsencode(name))
    for _ in range(_TRIES_MAX):
        handle = _syscall()(number, place, encoded, ctypes.byref(how), ctypes.c_size_t(ctypes.sizeof(how)))
        if handle >= 0:
            return handle
        fault = ctypes.get_errno()
        if fault not in {errno.EAGAIN, errno.EINTR}:
            break
    raise OSError(fault, os.strerror(fault), name)


def portable_open(folder: int, name: str, flags: int) -> int:
    """Open a name without following it, and give it back when it is a folder of another file system."""
    _require_part(name)
    handle = os.open(name, flags | _ALWAYS, dir_fd=folder)
    if flags & os.O_DIRECTORY and os.fstat(handle).st_dev != os.fstat(folder).st_dev:
        os.close(handle)
        raise OSError(errno.EXDEV, os.strerror(errno.EXDEV), name)
    return handle


def _require_part(name: str) -> None:
    if name in {"", ".", ".."} or "/" in name or "\0" in name:
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL), name)


@cache
def best_opener() -> Opener:
    """Give the opener for this machine: an old kernel has no such call, and a sandbox may forbid it."""
    return kernel_open if sys.platform == "linux" and _kernel_can() else portable_open


def _kernel_can() -> bool:
    here = os.open("/", FOLDER_FLAGS | os.O_CLOEXEC)
    try:
        os.close(kernel_open(here, "dev", FOLDER_FLAGS))
    except OSError as fault:
        # Any other answer is one of the call itself: that there is no such folder, or that it is another file system.
        return fault.errno not in {errno.ENOSYS, errno.EPERM, errno.EINVAL, errno.E2BIG}
    finally:
        os.close(here)
    return True
