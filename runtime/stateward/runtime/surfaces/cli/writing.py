"""Files that commands write: whole or not at all, whatever ends the writing.

Invariants: what was there stays until all of the new lies on the disk beside it; a link is written through; the mode and the owner of a
file that is there are kept. A pipe or a device is written to as it is.
"""

import os
import stat
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from stateward.compiler.cli.host import STATUS_ENVIRONMENT, STATUS_USAGE, reason
from stateward.compiler.diagnostics.report import Failure

_STREAMS: Final = ("/dev/", "/proc/")
"""Where the names of open streams lie, some of which lead to files."""


def write_file(path: str, chunks: Iterable[bytes], never: Sequence[str] = ()) -> Failure | None:
    """Write a file, none of the files `never`; say why where it cannot be. Whatever `chunks` raises ends the writing and passes through."""
    if not path:
        return Failure("an empty path names nothing", "name a file, or `-` for standard output", STATUS_USAGE)
    try:
        return _written(path, chunks, never)
    except OSError as fault:
        return Failure(f"`{shown_path(path)}` cannot be written: {reason(fault)}", "name a place that can be written", STATUS_ENVIRONMENT)


def rewrite_file(path: str, data: bytes, expected: bytes) -> Failure | None:
    """Write a file anew that is known by this name alone and still holds what was read of it; say why where it cannot be."""
    target, shown = Path(path), shown_path(path)
    try:
        there = target.lstat()
        if stat.S_ISLNK(there.st_mode):
            return Failure(f"`{shown}` is a link, and is left as it is", "name the file that it leads to", STATUS_USAGE)
        if not stat.S_ISREG(there.st_mode):
            return Failure(f"`{shown}` is no file", "name a file", STATUS_USAGE)
        if there.st_nlink > 1:
            return Failure(f"`{shown}` has another name (a hard link), and is left as it is", "write a copy of it", STATUS_USAGE)

        def is_the_same() -> bool:
            now = target.lstat()
            return (now.st_dev, now.st_ino) == (there.st_dev, there.st_ino) and target.read_bytes() == expected

        replaced = is_the_same() and _replace(target, (data,), there, only_if=is_the_same)
    except OSError as fault:
        return Failure(f"`{shown}` cannot be written: {reason(fault)}", "name a place that can be written", STATUS_ENVIRONMENT)
    return None if replaced else Failure(f"`{shown}` was changed meanwhile, and is left as it is", "run it again", STATUS_ENVIRONMENT)


def _written(path: str, chunks: Iterable[bytes], never: Sequence[str]) -> Failure | None:
    """Write a file, a pipe or a device. Raises OSError."""
    shown, given = shown_path(path), Path(path)
    try:
        there = given.stat()
    except FileNotFoundError:
        return _created(path, chunks)
    if stat.S_ISDIR(there.st_mode):
        return Failure(f"`{shown}` is a folder", "name a file in it", STATUS_USAGE)
    if stat.S_ISFIFO(there.st_mode) or stat.S_ISCHR(there.st_mode):
        with given.open("wb") as stream:
            stream.writelines(chunks)
        return None
    if not stat.S_ISREG(there.st_mode) or str(given.absolute()).startswith(_STREAMS):
        return Failure(f"`{shown}` is no file", "name a file, or `-` for standard output", STATUS_USAGE)
    if any(given.samefile(each) for each in never):
        return Failure(f"`{shown}` is the source itself", "name another file", STATUS_USAGE)
    _replace(Path(os.path.realpath(path)), chunks, there)
    return None


def _created(path: str, chunks: Iterable[bytes]) -> Failure | None:
    """Write a file that is not there yet; where a link to nothing is, the file that it names. Raises OSError."""
    target = Path(os.path.realpath(path))
    folder = target if path.endswith("/") else target.parent
    if path.endswith("/") or not folder.is_dir():
        return Failure(
            f"the folder of `{shown_path(path)}` does not exist", f"make it first: mkdir -p {shown_path(str(folder))}", STATUS_USAGE
        )
    _replace(target, chunks, None)
    return None


def _replace(target: Path, chunks: Iterable[bytes], there: os.stat_result | None, *, only_if: Callable[[], bool] | None = None) -> bool:
    """Put a file in the place of another, or of nothing, at once; not where `only_if` says no just before. Raises OSError."""
    import tempfile  # noqa: PLC0415 - only writing needs it

    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:16]}.")
    new = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.writelines(chunks)
            file.flush()
            os.fsync(file.fileno())
        if there is not None and (there.st_uid, there.st_gid) != (os.geteuid(), os.getegid()):
            with suppress(PermissionError):  # only the superuser can give a file away; for others it is theirs from now on
                os.chown(new, there.st_uid, there.st_gid)
        new.chmod(stat.S_IMODE(there.st_mode) if there is not None else 0o666 & ~_umask())
        if only_if is not None and not only_if():
            new.unlink()
            return False
        new.replace(target)
        return True
    except BaseException:
        new.unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def shown_path(path: str) -> str:
    """Give a path as text: bytes that are no text in it are replaced."""
    return os.fsencode(path).decode("utf-8", "replace")
