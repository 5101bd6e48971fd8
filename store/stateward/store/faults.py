"""What SQLite says, as faults for people: one line, and the one thing to do.

Invariant: a refused constraint and a misuse of the driver are bugs of ours and stay what they are; everything else that can go wrong
with a file becomes a fault that names the file.
"""

import os
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from stateward.runtime.core.texts import reason
from stateward.runtime.ports import Damaged, StoreUnavailable
from stateward.store.prepared import Inconsistent, NotWritten
from stateward.store.private import MAKE_SPACE, OUT_OF_SPACE

FULL: Final = sqlite3.SQLITE_FULL
_BUSY: Final = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL})
_PRIMARY: Final = 0xFF
"""The part of a result code that says the kind; the rest says which of its kind."""

RESTORE: Final = "restore the store from a backup"
MAKE_WRITABLE: Final = "make the file and its folder writable for this user"

NO_SPACE: Final = ("there is no space left for {path}; nothing was written", MAKE_SPACE)
_FULL_BYTES: Final = 64 * 1024
"""With less than this left, what SQLite could not write or make is taken to have failed for want of space: it does not say so itself."""
_SAID: Final[Mapping[int, tuple[str, str]]] = {
    sqlite3.SQLITE_FULL: NO_SPACE,
    sqlite3.SQLITE_IOERR_SHMSIZE: NO_SPACE,
    sqlite3.SQLITE_READONLY: ("{path} cannot be written", MAKE_WRITABLE),
    sqlite3.SQLITE_READONLY_DIRECTORY: (
        "the folder of {path} cannot be written, and the store needs the files `-wal` and `-shm` there, for reading too",
        "make the folder writable for this user, or copy the store to a folder that is",
    ),
    sqlite3.SQLITE_CANTOPEN: ("{path} cannot be opened", MAKE_WRITABLE),
    sqlite3.SQLITE_PERM: ("{path} may not be opened", MAKE_WRITABLE),
    sqlite3.SQLITE_NOTADB: ("{path} is no store: it is not a database", "name another file"),
    sqlite3.SQLITE_IOERR: ("the disk failed under {path} ({detail})", "see what the system says of that disk, then try again"),
    sqlite3.SQLITE_BUSY: ("{path} is held by another program", "end the program that holds it, then try again"),
}


_DAMAGED: Final[Mapping[int, str]] = {
    sqlite3.SQLITE_CORRUPT: "its pages do not fit together",
    sqlite3.SQLITE_FORMAT: "its pages do not fit together",
    sqlite3.SQLITE_TOOBIG: "a row says that it is larger than any",
    # The statements of this program are right for the tables of a store, so that these are none of ours.
    sqlite3.SQLITE_ERROR: "its tables are not those of a store",
    sqlite3.SQLITE_SCHEMA: "its tables are not those of a store",
}
_OF_TABLES: Final = ("no such ", "foreign key mismatch", "malformed ", "unsupported file format", "table ", "unknown ", "no query solution")
"""How what SQLite says of tables begins; anything else under its general code is a slip of this program."""


def code_of(problem: sqlite3.Error) -> int | None:
    """Give the result code; None when the error is not SQLite's own but the driver's."""
    code: int | None = getattr(problem, "sqlite_errorcode", None)
    return code


def is_busy(problem: sqlite3.Error) -> bool:
    """Whether waiting may help."""
    code = code_of(problem)
    return code is not None and code & _PRIMARY in _BUSY


def is_bug(problem: sqlite3.Error) -> bool:
    """Whether the error is one of this program: a constraint that the code must not run into, SQL that is wrong, a misused driver."""
    code = code_of(problem)
    if code is not None and code & _PRIMARY == sqlite3.SQLITE_ERROR:
        return not str(problem).startswith(_OF_TABLES)
    return code is None or code & _PRIMARY in {sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_MISUSE}


def damaged(place: str, problem: NotWritten | UnicodeDecodeError) -> Damaged:
    """Say for people that a store holds what no store writes."""
    match problem:
        case UnicodeDecodeError():
            return Damaged(f"{place} is damaged: a text of its tables is no text", RESTORE)
        case Inconsistent():
            return Damaged(f"{place} is damaged: {problem}", RESTORE)
        case _:
            return Damaged(f"{place} is damaged: a row holds what no store writes ({problem})", RESTORE)


def unavailable(path: Path, problem: sqlite3.Error) -> StoreUnavailable | Damaged:
    """Say for people what SQLite said. Raises the problem itself when it is a bug."""
    code = code_of(problem)
    if code is None or is_bug(problem):
        raise problem
    if code & _PRIMARY in _DAMAGED:
        return Damaged(f"{path} is damaged: {_DAMAGED[code & _PRIMARY]}", RESTORE)
    primary = sqlite3.SQLITE_BUSY if is_busy(problem) else code & _PRIMARY
    if primary in {sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN} and _is_full(path.parent):
        code = sqlite3.SQLITE_FULL
    message, remedy = _SAID.get(code) or _SAID.get(primary) or ("{path} cannot be used ({detail})", "see what the system says of that file")
    return StoreUnavailable(message.format(path=path, detail=problem.sqlite_errorname), remedy)


def not_reached(done: str, path: Path, problem: OSError, remedy: str) -> StoreUnavailable:
    """Say for people that the system let nothing be done with a path."""
    if problem.errno in OUT_OF_SPACE:
        message, remedy = NO_SPACE
        return StoreUnavailable(message.format(path=path), remedy)
    return StoreUnavailable(f"{path} cannot be {done}: {reason(problem)}", remedy)


def _is_full(folder: Path) -> bool:
    try:
        found = os.statvfs(folder)
    except OSError:
        return False  # and what it fails for is said as it is
    return found.f_bavail * found.f_frsize < _FULL_BYTES or (found.f_files > 0 and found.f_favail == 0)
