"""A folder of `*.dcdl` files on the disk, as a sync sees and changes it.

Invariants: nothing outside the folder is read or written: links in it are not followed, and no folder below is entered. A file is replaced
at once, with its mode kept, or stays as it is. What somebody wrote since a file was looked at is never lost: the file is taken out of its
place before it is compared with what was seen, and put back when it is another one.
"""

import ctypes
import errno
import os
import secrets
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Final

from stateward.compiler.cli.host import SUFFIX, TEST_SUFFIX, reason
from stateward.compiler.limits import FLOW_SOURCE_BYTES_MAX
from stateward.runtime.engine.folders import FileProblem
from stateward.runtime.session.chain import digest_of

FILES_MAX: Final = 10_000
"""Files that one folder may have."""
BYTES_MAX: Final = 256 * 1024 * 1024
"""Of all files of one folder together: they are held at once."""
_READ_FLAGS: Final = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
_EXCHANGE: Final = 2
"""RENAME_EXCHANGE of renameat2."""
_NOT_EXCHANGED: Final = frozenset({errno.ENOSYS, errno.EINVAL, errno.EPERM, errno.EOPNOTSUPP})
"""What is said where two names cannot be exchanged: by an old kernel, some file systems, a sandbox."""
_PROBLEMS: Final = {errno.ELOOP: "it is a link", errno.EMLINK: "it is a link", errno.EISDIR: "it is no file"}
"""What the system says of a name that is opened without following it, on Linux and elsewhere."""


class _Kept(OSError):
    """A file had to be given another name so that it is not lost."""


class TooMuch(Exception):
    """The folder has more than is looked at; the message says what."""


class FlowFolder:
    """The port `SourceFolder` over an open folder: its files are named without their ending, what was seen of them by its digest."""

    def __init__(self, handle: int, path: Path) -> None:
        self._handle = handle
        self.path = path

    def look(self) -> dict[str, bytes | FileProblem]:
        """Read the `*.dcdl` files. Raises OSError when the folder cannot be listed, TooMuch."""
        with os.scandir(self._handle) as entries:
            names = [each.name for each in entries if each.name.endswith(SUFFIX) and not each.name.startswith(".")]
        names = sorted(each.removesuffix(SUFFIX) for each in names if not each.endswith(TEST_SUFFIX))
        if len(names) > FILES_MAX:
            raise TooMuch(f"more than {FILES_MAX:,} files")
        found: dict[str, bytes | FileProblem] = {}
        left = BYTES_MAX
        for name in names:
            file = self.read(name)
            left -= len(file) if isinstance(file, bytes) else 0
            if left < 0:
                raise TooMuch(f"more than {BYTES_MAX:,} bytes in its files")
            if file is not None:
                found[name] = file
        return found

    def read(self, name: str) -> bytes | FileProblem | None:
        """Give what a file holds, or one byte more than a source has; None where there is none."""
        try:
            content, _ = self._read(f"{name}{SUFFIX}")
        except FileNotFoundError:
            return None
        except OSError as fault:
            return FileProblem(_PROBLEMS.get(fault.errno or 0) or f"it cannot be read: {reason(fault)}")
        return FileProblem("it is no file") if content is None else content

    def write_if_unchanged(self, name: str, content: bytes, was: str | None) -> bool | FileProblem:
        """Put a file in the place of what was there, which `was` is the digest of; of nothing, where that is None."""
        with _told("written") as problems:
            return self.replace(f"{name}{SUFFIX}", content, was)
        return problems[0]

    def remove_if_unchanged(self, name: str, was: str) -> bool | FileProblem:
        """Delete a file that still is what it was."""
        with _told("deleted") as problems:
            return self._remove(f"{name}{SUFFIX}", was)
        return problems[0]

    def replace(self, file: str, content: bytes, was: str | None) -> bool:
        """Do that with a file by its whole name. Raises OSError."""
        try:
            draft = self._drafted(file, content, like=None if was is None else file)
        except FileNotFoundError:  # it was there
            return False
        if was is not None:
            return self._replaced(draft, file, digest_of(content), was)
        try:
            return self._appears(draft, file)
        finally:
            self._unlink(draft)

    def _remove(self, file: str, was: str) -> bool:
        aside = _beside(file)
        try:
            self._rename(file, aside)
        except FileNotFoundError:
            return False
        if not self._holds(aside, was):
            self._put_back(aside, file)
            return False
        self._unlink(aside)
        os.fsync(self._handle)
        return True

    # --- replacing ------------------------------------------------------------------------------------------------------------------

    def _replaced(self, draft: str, file: str, new: str, was: str) -> bool:
        """Exchange a file with its draft. What then lies under the name of the draft is removed only where it is known what it is."""
        try:
            exchanged = self._exchange(draft, file)
        except OSError as fault:
            self._unlink(draft)
            if fault.errno == errno.ENOENT:
                return False
            raise
        if not exchanged:
            return self._replaced_in_steps(draft, file, was)
        if self._holds(draft, was):
            self._unlink(draft)
            os.fsync(self._handle)
            return True
        self._exchange(draft, file)
        if not self._holds(draft, new):  # somebody wrote once more between the two exchanges
            raise _Kept(self._kept(draft, file))
        self._unlink(draft)
        return False

    def _replaced_in_steps(self, draft: str, file: str, was: str) -> bool:
        """Replace a file where two names cannot be exchanged: for a moment nothing has its name."""
        aside = _beside(file)
        try:
            self._rename(file, aside)
            if not self._holds(aside, was):
                self._put_back(aside, file)
                return False
            appeared = self._appears(draft, file)
            self._unlink(aside)
            return appeared
        except FileNotFoundError:
            return False
        finally:
            self._unlink(draft)

    def _put_back(self, aside: str, file: str) -> None:
        if not self._appears(aside, file):
            raise _Kept(self._kept(aside, file))
        self._unlink(aside)

    def _kept(self, draft: str, file: str) -> str:
        """Give a file whose place was taken meanwhile a name that can be seen."""
        kept = f"{file}.{secrets.token_hex(4)}"
        self._rename(draft, kept)
        return kept

    def _appears(self, draft: str, file: str) -> bool:
        """Give a draft a name that is free; false when it is not. Raises OSError."""
        try:
            os.link(draft, file, src_dir_fd=self._handle, dst_dir_fd=self._handle, follow_symlinks=False)
        except FileExistsError:
            return False
        os.fsync(self._handle)
        return True

    def _exchange(self, one: str, other: str) -> bool:
        """Exchange two files at once; false where that cannot be done. Raises OSError."""
        call = _renameat2()
        if call is None:
            return False
        if call(self._handle, os.fsencode(one), self._handle, os.fsencode(other), _EXCHANGE) == 0:
            return True
        fault = ctypes.get_errno()
        if fault in _NOT_EXCHANGED:
            return False
        raise OSError(fault, os.strerror(fault), other)

    # --- files ----------------------------------------------------------------------------------------------------------------------

    def _drafted(self, name: str, content: bytes, *, like: str | None) -> str:
        """Write a file beside its place, with the mode of another, and give its name. Raises OSError."""
        mode = None if like is None else self._read(like)[1]
        draft = _beside(name)
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666, dir_fd=self._handle)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
                file.flush()
                if mode is not None:
                    os.fchmod(handle, mode)
                os.fsync(handle)
        except BaseException:
            self._unlink(draft)
            raise
        return draft

    def _holds(self, file: str, digest: str) -> bool:
        """Tell whether a file is there and has this digest; one that cannot be read has none."""
        try:
            content, _ = self._read(file)
        except OSError:
            return False
        return content is not None and digest_of(content) == digest

    def _read(self, name: str) -> tuple[bytes | None, int]:
        """Read a file, or one byte more than a source has, and its mode; no bytes of what is no file. Raises OSError."""
        with os.fdopen(os.open(name, _READ_FLAGS, dir_fd=self._handle), "rb") as file:
            there = os.fstat(file.fileno())
            content = file.read(FLOW_SOURCE_BYTES_MAX + 1) if stat.S_ISREG(there.st_mode) else None
            return content, stat.S_IMODE(there.st_mode)

    def _rename(self, name: str, other: str) -> None:
        os.rename(name, other, src_dir_fd=self._handle, dst_dir_fd=self._handle)

    def _unlink(self, name: str) -> None:
        os.unlink(name, dir_fd=self._handle)


@contextmanager
def opened_folder(path: Path) -> Iterator[FlowFolder]:
    """Open a folder that a person named. Raises OSError."""
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield FlowFolder(handle, path)
    finally:
        os.close(handle)


def replace_if_unchanged(path: Path, content: bytes, was: str) -> bool | FileProblem:
    """Put a file in the place of one of any name that still is what it was; false where it is another one."""
    with _told("written") as problems, opened_folder(path.parent) as folder:
        return folder.replace(path.name, content, was)
    return problems[0]


@contextmanager
def _told(what: str) -> Iterator[list[FileProblem]]:
    """Take a fault of the system for a problem of the file."""
    problems: list[FileProblem] = []
    try:
        yield problems
    except _Kept as kept:
        problems.append(FileProblem(f"it was written twice at the same moment, and one of the two is now `{kept}`"))
    except OSError as fault:
        problems.append(FileProblem(f"it cannot be {what}: {reason(fault)}"))


def _beside(name: str) -> str:
    """Give a name beside a file that nobody can foresee, and that no folder is searched for."""
    return f".{name[:100]}.{secrets.token_hex(8)}"


@cache
def _renameat2() -> Callable[..., int] | None:
    """Give the call that exchanges two names; None where the system has none."""
    if sys.platform != "linux":
        return None
    call = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if call is not None:
        call.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint)
    found: Callable[..., int] | None = call
    return found
