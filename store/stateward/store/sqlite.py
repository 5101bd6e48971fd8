"""One SQLite file, opened for reading or for writing.

Invariants
- Opened for reading it never creates, migrates or writes: `query_only`, and `mode=ro` besides unless nobody has it open and nothing waits
  to be recovered. All that closing it may do then, as the last one, is what SQLite does for the writers that came and went meanwhile: copy
  what they committed from the log of pages into the file.
- What is read and written lies in the file that the path names: a file that was removed or replaced while it was open is neither read nor
  acknowledged to, and neither is one whose log of pages or its index was. Nor is a store that was there ever begun anew.
- What an older program wrote is migrated when it is opened for writing (`migrations`), before anything else is done with it.
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
from typing import TYPE_CHECKING, Final, TypeVar

from stateward.runtime.ports import Fault, OutcomeUnknown, StoreUnavailable
from stateward.store.connection import Connection, Refused
from stateward.store.faults import FULL, code_of, damaged, is_busy, unavailable
from stateward.store.files import Identity, OpenFiles, identity, is_at_rest, make_file, require_file, require_writable
from stateward.store.prepared import NotWritten
from stateward.store.schema import (
    SCHEMA_VERSION,
    Standing,
    create_schema,
    other_version,
    require_same_version,
    require_tables,
    require_triggers,
    standing,
    version_of,
)
from stateward.store.shape import require_shape

if TYPE_CHECKING:
    from stateward.store.migrations.outcome import Migrated

BUSY_WAIT_SECONDS: Final = 1.0
"""How long SQLite itself waits for a lock, each time."""
BUSY_PAUSE_SECONDS: Final = 0.005
"""Between two times: some locks SQLite does not wait for."""
BUSY_ATTEMPTS_MAX: Final = 60

DURABLE: Final = "PRAGMA synchronous = FULL"
_SETTINGS: Final = ("fullfsync = ON", "checkpoint_fullfsync = ON", "foreign_keys = ON", "trusted_schema = OFF", "secure_delete = ON")

_LOOK: Final = "see what lies there now, then try again"

T = TypeVar("T")


class SqliteDatabase:
    """A store's database. Raises the store's faults; see the module."""

    def __init__(self, path: Path, *, write: bool, create: bool, as_it_is: bool = False) -> None:
        """Take a path; `as_it_is` lets a store be looked at that is of an older version, or lacks a table."""
        self.path: Final = path.absolute()
        self.place: Final = str(self.path)
        self.migrated: Migrated | None = None
        """What was done to it, if it was migrated when it was opened."""
        self._writable: Final = write
        self._as_it_is: Final = as_it_is
        self._found = Standing.EMPTY
        """What it was when it was last looked at."""
        self._create = create
        """Whether it is to be begun where it is not yet there; it was there once the first opening succeeded."""
        self._lock: Final = threading.Lock()
        self._process: Final = os.getpid()
        self._connection: sqlite3.Connection | None = None
        self._files: Final = OpenFiles(self.path)
        self._unsettled = False
        """Whether a commit was lost whose pages may lie in the log of the file, beyond what its index knows."""

    def open(self) -> None:
        """Open it now, so that what is wrong with it is said now."""
        self.read(lambda _: None)

    def close(self) -> None:
        """Close it; a later use opens it again."""
        with self._lock:
            self._drop()

    def read(self, action: Callable[[Connection], T]) -> T:
        """Run statements that only read. `action` may be run again, so it is to have no effect of its own."""
        with self._lock:
            try:
                return _patiently(lambda: action(self._in_place(self._connected(), "read")))
            except (sqlite3.Error, NotWritten, UnicodeDecodeError) as problem:
                raise self._fault(problem) from problem

    def write(self, action: Callable[[Connection], T], *, durable: bool = True) -> T:
        """Run statements in one transaction and commit it; roll it back when `action` raises.

        `durable=False` is for what may be forgotten when the machine loses power: its commit waits for no disk. Raises OutcomeUnknown
        when the answer to COMMIT was lost, and Refused when the database refused a row.
        """
        if not self._writable:
            raise StoreUnavailable(f"{self.path} was opened for reading only", "open it for writing")
        with self._lock:
            try:
                connection = _patiently(lambda: self._begin(durable=durable))
                answer = action(connection)
                self._commit(connection)
                if not durable:
                    connection.execute(DURABLE)
            except BaseException as problem:
                self._roll_back()
                if not durable:
                    self._drop()  # the next connection is durable again
                if isinstance(problem, sqlite3.IntegrityError):
                    raise Refused(str(problem)) from problem
                if not isinstance(problem, sqlite3.Error | NotWritten | UnicodeDecodeError):
                    raise
                raise self._fault(problem) from problem
        return answer

    def one_at_a_time(self, connection: Connection, name: str) -> None:
        """Do nothing: here only one transaction writes at a time."""

    def _begin(self, *, durable: bool) -> sqlite3.Connection:
        connection = self._connected()
        if not durable:
            connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("BEGIN IMMEDIATE")
        require_same_version(connection, self.path)
        return self._in_place(connection, "written")

    def _in_place(self, connection: sqlite3.Connection, done: str) -> sqlite3.Connection:
        """Give the connection if what it has open is what the path still names."""
        changed = self._files.changed()
        if changed is not None:
            self._drop()
            raise StoreUnavailable(f"{changed} was removed or replaced while it was open; nothing was {done}", _LOOK)
        return connection

    def _commit(self, connection: sqlite3.Connection) -> None:
        self._commit_for_certain(connection)
        changed = self._files.changed()
        if changed is not None:  # since the transaction began: what was written may have gone with it
            self._drop()
            raise OutcomeUnknown(f"{changed} was removed or replaced during a commit", _LOOK)

    def _commit_for_certain(self, connection: sqlite3.Connection) -> None:
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

    def _fault(self, problem: sqlite3.Error | NotWritten | UnicodeDecodeError) -> Fault:
        if not isinstance(problem, sqlite3.Error):
            return damaged(self.place, problem)
        if not is_busy(problem):
            self._drop()
        return unavailable(self.path, problem)

    def _roll_back(self) -> None:
        if self._connection is None or not self._connection.in_transaction:
            return
        try:
            self._connection.execute("ROLLBACK")
        except sqlite3.Error:
            self._drop()  # which rolls back as well

    def _drop(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _connected(self) -> sqlite3.Connection:
        assert os.getpid() == self._process, "a connection is never carried across a fork"
        if self._connection is None:
            self._connection = self._open_for_writing() if self._writable else self._open_for_reading()
            self._create = False
        return self._connection

    def _open_for_reading(self) -> sqlite3.Connection:
        require_file(self.path)
        return self._opened_for_reading()

    def _open_for_writing(self) -> sqlite3.Connection:
        if self._create:
            make_file(self.path)
        require_file(self.path)
        # Looked at through a reader first: even closing a writer may change the file, and what is not ours stays as it is.
        self._opened_for_reading().close()
        require_writable(self.path)
        if self._found is Standing.OLDER:
            self._migrate()
        return self._opened("rw", self._prepare_for_writing)

    def _migrate(self) -> None:
        from stateward.store.migrations.on_sqlite import migrate  # noqa: PLC0415 -- loads alembic, for the one time it is needed

        self.migrated = migrate(self.path) or self.migrated

    def _opened_for_reading(self) -> sqlite3.Connection:
        # Closing a connection that may write removes the files beside the store, but first copies into the store what lies in them; one
        # that may not leaves them behind. So it may write only where there is nothing to copy.
        return self._opened("rw" if is_at_rest(self.path) else "ro", self._prepare_for_reading)

    def _opened(self, mode: str, prepare: Callable[[sqlite3.Connection], None]) -> sqlite3.Connection:
        before = identity(self.place)
        connection = sqlite3.connect(
            f"{self.path.as_uri()}?mode={mode}", timeout=BUSY_WAIT_SECONDS, isolation_level=None, check_same_thread=False, uri=True
        )
        try:
            connection.text_factory = lenient_text
            prepare(connection)
            self._files.look()
            self._require_not_replaced_since(before)
        except BaseException:
            connection.close()
            raise
        return connection

    def _require_not_replaced_since(self, before: Identity) -> None:
        if identity(self.place) != before:
            raise StoreUnavailable(f"{self.path} was replaced while it was being opened", _LOOK)

    def _prepare_for_reading(self, connection: sqlite3.Connection) -> None:
        connection.execute("PRAGMA query_only = ON")
        connection.execute("BEGIN")
        self._found = standing(connection, self.path)
        match self._found:
            case Standing.EMPTY if not self._create:
                raise StoreUnavailable(f"there is no store in {self.path} yet", "begin one with a command that writes")
            case Standing.OLDER if not (self._writable or self._as_it_is):
                raise other_version(self.place, version_of(connection))
            case Standing.STORE if not self._as_it_is:
                require_tables(connection, self.path)
        connection.execute("COMMIT")

    def _prepare_for_writing(self, connection: sqlite3.Connection) -> None:
        connection.execute(DURABLE)
        for setting in _SETTINGS:
            connection.execute(f"PRAGMA {setting}")
        (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
        if mode != "wal":
            raise StoreUnavailable(
                f"the disk under {self.path} does not let several programs share a store", "keep the store on a local disk"
            )
        if self._unsettled:
            self._settle(connection)
        connection.execute("BEGIN IMMEDIATE")
        found = standing(connection, self.path)
        if found is Standing.OLDER:  # put there since it was looked at
            raise other_version(self.place, version_of(connection))
        if found is Standing.EMPTY:
            create_schema(connection)
        require_tables(connection, self.path)
        require_triggers(connection, self.path)
        require_shape(connection, self.path, SCHEMA_VERSION)
        connection.execute("COMMIT")

    def _settle(self, connection: sqlite3.Connection) -> None:
        """Make what is found after a lost commit durable, and what is not found impossible to bring back.

        Its pages may lie in the log of pages unsynced, or beyond what the index of that log knows, where recovery after a crash would
        find them. Everything known is written to the file proper and synced anew, and the log of pages is cut to nothing.
        """
        for _ in range(BUSY_ATTEMPTS_MAX):
            (busy, *_) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            if not busy:
                self._unsettled = False
                return
        raise StoreUnavailable(
            f"a lost commit in {self.path} cannot be settled while another program reads", "end that program, then try again"
        )


def _patiently(action: Callable[[], T]) -> T:
    for _ in range(BUSY_ATTEMPTS_MAX - 1):
        try:
            return action()
        except sqlite3.OperationalError as problem:
            if not is_busy(problem):
                raise
        time.sleep(BUSY_PAUSE_SECONDS)
    return action()


def lenient_text(data: bytes) -> str:
    """Decode text so that a damaged one is found where it is checked, not where it is fetched."""
    return data.decode("utf-8", "surrogateescape")
