"""The copy of a store in a file that is made before it is migrated: `<store>.v<version>-backup`, beside it.

Invariants: to be made under the store's write lock, so that one is made at a time and nothing is written meanwhile; whole and durable
before it has its name; for this user only; never put over what lies there: a second one of other content gets a number.
"""

import filecmp
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Final

from stateward.runtime.core.texts import reason
from stateward.runtime.ports import Damaged, StoreUnavailable
from stateward.store.faults import RESTORE, is_bug, unavailable
from stateward.store.files import FILE_MODE
from stateward.store.migrations.outcome import not_backed_up
from stateward.store.private import MAKE_SPACE, OUT_OF_SPACE, sync_folder

BACKUPS_MAX: Final = 100
"""Of one store and version."""
_DRAFT: Final = ".partial"
_BESIDE: Final = ("", "-journal", "-wal", "-shm")
_NO_ROOM: Final = "make the folder of the store writable for this user"


def names(path: Path, version: int) -> Iterator[Path]:
    """Give the names under which copies of a store of a version may lie, the first one first."""
    for number in range(1, BACKUPS_MAX + 1):
        yield path.with_name(f"{path.name}.v{version}-backup" + ("" if number == 1 else f"-{number}"))


def back_up(path: Path, version: int) -> Path:
    """Copy a store and give the copy's path; one that is there and holds the same serves as well. See the module.

    Raises StoreUnavailable when no copy can be made, and Damaged when what is there is not whole.
    """
    draft = path.with_name(f"{path.name}.v{version}-backup{_DRAFT}")
    try:
        _forget(draft)  # what a killed attempt left
        try:
            os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, FILE_MODE))
            _copy(path, draft)
            _require_sound(draft, path)
            return _placed(draft, path, version)
        finally:
            with suppress(OSError):  # the next attempt looks for it again
                _forget(draft)
    except sqlite3.Error as problem:
        if is_bug(problem):
            raise
        fault = unavailable(path, problem)
        raise not_backed_up(str(path), version, fault.message, fault.remedy) from problem
    except OSError as problem:
        for each in _drafts(draft):
            if each.is_dir():
                raise not_backed_up(str(path), version, f"{each} is a folder", "move that folder away") from problem
        remedy = MAKE_SPACE if problem.errno in OUT_OF_SPACE else _NO_ROOM
        raise not_backed_up(str(path), version, reason(problem), remedy) from problem


def _forget(draft: Path) -> None:
    for each in _drafts(draft):
        each.unlink(missing_ok=True)


def _drafts(draft: Path) -> tuple[Path, ...]:
    return tuple(draft.with_name(f"{draft.name}{suffix}") for suffix in _BESIDE)


def _copy(path: Path, draft: Path) -> None:
    """Copy what is committed; whoever holds the write lock reads nothing else either."""
    with (
        closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, isolation_level=None)) as source,
        closing(sqlite3.connect(f"{draft.as_uri()}?mode=rw", uri=True, isolation_level=None)) as copy,
    ):
        copy.execute("PRAGMA synchronous = OFF")  # it is synced as a whole, before it has its name
        copy.execute("PRAGMA journal_mode = MEMORY")
        source.backup(copy)
    descriptor = os.open(draft, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _require_sound(draft: Path, path: Path) -> None:
    with closing(sqlite3.connect(f"{draft.as_uri()}?mode=ro&immutable=1", uri=True, isolation_level=None)) as copy:
        (found,) = copy.execute("PRAGMA integrity_check(1)").fetchone()
    if found != "ok":
        raise Damaged(f"{path} is damaged and was not migrated: {' '.join(str(found).split())}", RESTORE)


def _placed(draft: Path, path: Path, version: int) -> Path:
    for name in names(path, version):
        if not os.path.lexists(name):
            draft.rename(name)
            sync_folder(name.parent)
            return name
        if name.is_file() and filecmp.cmp(draft, name, shallow=False):
            return name
    raise StoreUnavailable(f"{path} has {BACKUPS_MAX} copies of store version {version} already", "move those away that are not needed")
