"""One SQLite file, opened for reading or for writing.

Invariants
- Opened for reading it never creates, migrates or writes: `mode=ro`, and `query_only` besides.
- A write is one transaction begun with BEGIN IMMEDIATE. WAL with synchronous FULL: after `write` returned, what was written survives
  kill -9 and loss of power. If it raises, nothing was written, unless it raises OutcomeUnknown.
- Waiting for other processes is bounded by a count; only past it does a caller hear that the store is held.
- One connection, used by one thread at a time and never carried across a fork. After an error it is dropped and opened anew.
"""

import os
import sqlite3
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeVar

from stateward.runtime.ports import Damaged, Fault, OutcomeUnknown, StoreUnavailable
from stateward.store.faults import FULL, RESTORE, code_of, is_busy, unavailable
from stateward.store.files import make_file, require_file
from stateward.store.prepared import NotWritten
from stateward.store.schema import (
    Standing,
    create_schema,
    require_same_version,
    require_tables,
    require_triggers,
    standing,
    write_version,
)

BUSY_WAIT_SECONDS: Final = 1.0
"""How long SQLite itself waits for a lock, each time."""
BUSY_PAUSE_SECONDS: Final = 0.005
"""Between two times: some locks SQLite does not wait for."""
BUSY_ATTEMPTS_MAX: Final = 60

_SETTINGS: Final = ("synchronous = FULL", "fullfsync = ON", "checkpoint_fullfsync = ON", "foreign_keys = ON", "trusted_schema = OFF")

T = TypeVar("T")


class SqliteDatabase:
    """A store's database. Raises the store's faults; see the module."""

    def __init__(self, path: Path, *, write: bool, create: bool) -> None:
        self.path: Final = path.absolute()
        self._writable: Final = write
        self._create: Final = create
        self._lock: Final = threading.Lock()
        self._process: Final = os.getpid()
        self._connection: sqlite3.Connection | None = None
        self._unsettled = False
        """Whether a commit was lost whose pages may lie in the log of the file, beyond what its index knows."""

    def open(self) -> None:
        """Open it now, so that what is wrong with it is said now."""
        self.read(lambda _: None)

    def close(self) -> None:
        """Close it; a later use opens it again."""
        with self._lock:
            self._drop()

    def read(self, action: Callable[[sqlite3.Connection], T]) -> T:
        """Run statements that only read. `action` may be run again, so it is to have no effect of its own."""
        with self._lock:
            try:
                return _patiently(lambda: action(self._connected()))
            except (sqlite3.Error, NotWritten) as problem:
                raise self._fault(problem) from problem

    def write(self, action: Callable[[sqlite3.Connection], T]) -> T:
        """Run statements in one transaction and commit it; roll it back when `action` raises.

        Raises OutcomeUnknown when the answer to COMMIT was lost.
        """
        if not self._writable:
            raise StoreUnavailable(f"{self.path} was opened for reading only", "open it for writing")
        with self._lock:
            try:
                connection = _patiently(self._begin)
                answer = action(connection)
                self._commit(connection)
            except (sqlite3.Error, NotWritten) as problem:
                raise self._fault(problem) from problem
            finally:
                self._drop_if_open()
        return answer

    def _begin(self) -> sqlite3.Connection:
        connection = self._connected()
        connection.execute("BEGIN IMMEDIATE")
        require_same_version(connection, self.path)
        return connection

    def _commit(self, connection: sqlite3.Connection) -> None:
        try:
            connection.execute("COMMIT")
        except sqlite3.Error as problem:
            code = code_of(problem)
            known = connection.in_transaction or code == FULL
            self._drop()
            if known:
                # Still open, so closing undid it; or no room for its pages, the last of which would have been the commit.
                raise unavailable(self.path, problem) from problem
            self._unsettled = True
            raise OutcomeUnknown(f"the answer to a commit in {self.path} was lost ({problem})", "see the log, then try again") from problem

    def _fault(self, problem: sqlite3.Error | NotWritten) -> Fault:
        if isinstance(problem, NotWritten):
            return Damaged(f"{self.path} is damaged: a row holds what no store writes ({problem})", RESTORE)
        self._drop()
        return unavailable(self.path, problem)

    def _drop_if_open(self) -> None:
        if self._connection is not None and self._connection.in_transaction:
            self._drop()  # which rolls back, and cannot itself fail as a statement can

    def _drop(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _connected(self) -> sqlite3.Connection:
        assert os.getpid() == self._process, "a connection is never carried across a fork"
        if self._connection is None:
            self._connection = self._open_for_writing() if self._writable else self._open_for_reading()
        return self._connection

    def _open_for_reading(self) -> sqlite3.Connection:
        require_file(self.path)
        return self._opened("ro", self._prepare_for_reading)

    def _open_for_writing(self) -> sqlite3.Connection:
        if self._create:
            make_file(self.path)
        require_file(self.path)
        # Looked at through a reader first: even closing a writer may change the file, and what is not ours stays as it is.
        self._opened("ro", self._prepare_for_reading).close()
        return self._opened("rw", self._prepare_for_writing)

    def _opened(self, mode: str, prepare: Callable[[sqlite3.Connection], None]) -> sqlite3.Connection:
        connection = sqlite3.connect(
            f"{self.path.as_uri()}?mode={mode}", timeout=BUSY_WAIT_SECONDS, isolation_level=None, check_same_thread=False, uri=True
        )
        try:
            connection.text_factory = _text
            prepare(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _prepare_for_reading(self, connection: sqlite3.Connection) -> None:
        connection.execute("PRAGMA query_only = ON")
        connection.execute("BEGIN")
        if standing(connection, self.path) is Standing.EMPTY:
            if not self._create:
                raise StoreUnavailable(f"there is no store in {self.path} yet", "begin one with a command that writes")
        else:
            require_tables(connection, self.path)
        connection.execute("COMMIT")

    def _prepare_for_writing(self, connection: sqlite3.Connection) -> None:
        for setting in _SETTINGS:
            connection.execute(f"PRAGMA {setting}")
        (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
        if mode != "wal":
            raise StoreUnavailable(
                f"the disk under {self.path} does not let several programs share a store", "keep the store on a local disk"
            )
        connection.execute("BEGIN IMMEDIATE")
        if standing(connection, self.path) is Standing.EMPTY:
            create_schema(connection)
        require_tables(connection, self.path)
        require_triggers(connection, self.path)
        if self._unsettled:
            # What a lost commit left in the log is overwritten, so that a crash cannot bring back what was answered to be absent.
            write_version(connection)
        connection.execute("COMMIT")
        self._unsettled = False


def _patiently(action: Callable[[], T]) -> T:
    for _ in range(BUSY_ATTEMPTS_MAX - 1):
        try:
            return action()
        except sqlite3.OperationalError as problem:
            if not is_busy(problem):
                raise
        time.sleep(BUSY_PAUSE_SECONDS)
    return action()


def _text(data: bytes) -> str:
    """Decode text so that a damaged one is found where it is checked, not where it is fetched."""
    return data.decode("utf-8", "surrogateescape")
