"""A database of PostgreSQL, opened for reading or for writing.

Invariants
- Opened for reading it never creates, migrates or writes: every transaction is read only.
- What an older program wrote is migrated when it is opened for writing (`migrations`), before anything else is done with it.
- A write is one transaction, a statement run `at_once` another; with synchronous_commit on, what it wrote survives a crash of the server
  after it returned. If it raises, nothing was written, unless it raises OutcomeUnknown.
- After a commit whose answer was lost nothing is read or written before the server has ended the session that it was given to: what is
  then found is there, and what is not found will never come.
- Waiting for other programs is bounded; only past it does a caller hear that the store is held.
- A connection serves one thread at a time and is never carried across a fork. After an error it is dropped.
"""

import os
import secrets
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, TypeVar

import psycopg
from psycopg import errors
from psycopg.conninfo import conninfo_to_dict

from stateward.runtime.ports import OutcomeUnknown, StoreUnavailable
from stateward.store.address import place_name, without_passwords
from stateward.store.connection import Connection, Cursor, Refused, SqlValue
from stateward.store.faults import damaged
from stateward.store.postgres_faults import AGAIN, first_line, unavailable
from stateward.store.postgres_rules import SCHEMA
from stateward.store.postgres_schema import (
    create_schema,
    require_rules,
    require_same_version,
    require_server,
    require_tables,
    standing,
    version_of,
)
from stateward.store.postgres_shape import require_shape
from stateward.store.prepared import NotWritten
from stateward.store.schema import SCHEMA_VERSION, Standing, other_version

if TYPE_CHECKING:
    from stateward.store.migrations.outcome import Migrated

CONNECTIONS_MAX: Final = 8
CONNECT_SECONDS: Final = 10
LOCK_SECONDS: Final = 10
"""How long the server waits for a lock, each time."""
IDLE_SECONDS: Final = 60
"""After which the server ends a transaction in which nothing happens: whoever held it was stopped."""
UNANSWERED_SECONDS: Final = 30
"""After which the network is taken to be gone."""
END_SECONDS: Final = 10
"""How long a session is given to end."""
ATTEMPTS_MAX: Final = 6
PAUSE_SECONDS: Final = 0.02

_SETTINGS: Final = (
    f"-c search_path={SCHEMA} -c synchronous_commit=on -c lock_timeout={LOCK_SECONDS}s"
    f" -c idle_in_transaction_session_timeout={IDLE_SECONDS}s -c timezone=UTC"
)
_END: Final = "SELECT pg_terminate_backend(pid, %s) FROM pg_stat_activity WHERE pid = %s AND application_name = %s"

T = TypeVar("T")


class PostgresConnection:
    """A connection as the store's statements see it."""

    def __init__(self, driver: psycopg.Connection[tuple[Any, ...]], session: str) -> None:
        self.driver: Final = driver
        self.session: Final = (driver.info.backend_pid, session)

    def execute(self, sql: str, parameters: Sequence[SqlValue] = (), /) -> Cursor:
        """Run one statement."""
        return self.driver.execute(sql.encode(), parameters or None, binary=True)

    def roll_back(self) -> None:
        """Undo the transaction; where that cannot be said to the server, end the session, which undoes it as well."""
        try:
            self.execute("ROLLBACK")
        except psycopg.Error:
            self.driver.close()


class _Again(Exception):
    """Nothing was written, and another try may help."""


def _require_readable(url: str) -> None:
    """Refuse a URL that the driver cannot read. What the driver says may hold a password, and is not told."""
    try:
        conninfo_to_dict(url)
    except psycopg.Error:
        raise StoreUnavailable(
            "the URL of the store cannot be read", "see its names, and that what is special is percent-encoded"
        ) from None


class PostgresDatabase:
    """A store's database. Raises the store's faults; see the module."""

    def __init__(self, url: str, *, write: bool, create: bool, as_it_is: bool = False) -> None:
        """Take a URL; `as_it_is` lets a store be looked at that is of an older version, or lacks a table."""
        _require_readable(url)
        self.migrated: Migrated | None = None
        """What was done to it, if it was migrated when it was opened."""
        self.place: Final = place_name(url)
        self._url: Final = url
        self._writable: Final = write
        self._create: Final = create
        self._as_it_is: Final = as_it_is
        self._process: Final = os.getpid()
        self._lock: Final = threading.Lock()
        self._slots: Final = threading.BoundedSemaphore(CONNECTIONS_MAX)
        self._idle: list[PostgresConnection] = []
        self._lost: set[tuple[int, str]] = set()
        """The sessions that commits were given to whose answers were lost."""

    def open(self) -> None:
        """Open it now, so that what is wrong with it is said now."""
        self.read(lambda _: None)

    def close(self) -> None:
        """Close it; a later use opens it again."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.driver.close()

    def read(self, action: Callable[[Connection], T]) -> T:
        """Run statements that only read. `action` may be run again, so it is to have no effect of its own."""
        return self._patiently(lambda: self._read(action))

    def write(self, action: Callable[[Connection], T], *, durable: bool = True) -> T:
        """Run statements in one transaction and commit it; undo it when `action` raises. `action` may be run again.

        `durable=False` is for what may be forgotten when the server crashes. Raises OutcomeUnknown when the answer to COMMIT was lost,
        and Refused when the database refused a row.
        """
        self._require_writable()
        return self._patiently(lambda: self._write(action, durable=durable))

    def at_once(self, sql: str, parameters: Sequence[SqlValue]) -> int:
        """Run one statement that is a whole transaction, and give how many rows it wrote. Raises what `write` raises."""
        self._require_writable()
        return self._patiently(lambda: self._at_once(sql, parameters))

    def one_at_a_time(self, connection: Connection, name: str) -> None:
        """Let no other transaction that says the same name go on until this one has ended."""
        connection.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s::text, 0))", (name,))

    def _require_writable(self) -> None:
        if not self._writable:
            raise StoreUnavailable(f"{self.place} was opened for reading only", "open it for writing")

    def _patiently(self, action: Callable[[], T]) -> T:
        for attempt in range(ATTEMPTS_MAX):
            try:
                return action()
            except _Again:
                time.sleep(PAUSE_SECONDS * attempt)
            except NotWritten as problem:
                raise damaged(self.place, problem) from problem
        raise StoreUnavailable(f"{self.place} is held by another program", "end the program that holds it, then try again")

    def _read(self, action: Callable[[Connection], T]) -> T:
        with self._borrowed() as connection:
            try:
                return action(connection)
            except psycopg.Error as problem:
                if connection.driver.broken:
                    raise _Again from problem
                raise self._fault(problem) from problem

    def _write(self, action: Callable[[Connection], T], *, durable: bool) -> T:
        with self._borrowed() as connection:
            try:
                connection.execute("BEGIN")
                if not durable:
                    connection.execute("SET LOCAL synchronous_commit = off")
                require_same_version(connection, self.place)
                answer = action(connection)
            except psycopg.Error as problem:
                if connection.driver.broken:
                    raise _Again from problem  # nothing was committed, and the transaction went with the session
                connection.roll_back()
                raise self._fault(problem) from problem
            except BaseException:
                connection.roll_back()
                raise
            self._run_to_the_end(connection, "COMMIT", ())
        return answer

    def _at_once(self, sql: str, parameters: Sequence[SqlValue]) -> int:
        with self._borrowed() as connection:
            return self._run_to_the_end(connection, sql, parameters).rowcount

    def _run_to_the_end(self, connection: PostgresConnection, sql: str, parameters: Sequence[SqlValue]) -> Cursor:
        """Run what commits. What the server answers is certain; that it did not answer says nothing."""
        try:
            return connection.execute(sql, parameters)
        except psycopg.Error as problem:
            if not connection.driver.broken:
                raise self._fault(problem) from problem
            with self._lock:
                self._lost.add(connection.session)
            said = without_passwords(first_line(problem), self._url)
            raise OutcomeUnknown(f"the answer to a commit in {self.place} was lost ({said})", "see the log, then try again") from problem
        except BaseException:
            with self._lock:
                self._lost.add(connection.session)
            raise

    def _fault(self, problem: psycopg.Error) -> Exception:
        if isinstance(problem, AGAIN):
            return _Again()
        if isinstance(problem, psycopg.IntegrityError):
            return Refused(first_line(problem))
        if isinstance(problem, psycopg.DataError):
            return ValueError(f"{self.place} cannot hold that: {first_line(problem)}")
        return unavailable(self._url, problem)

    @contextmanager
    def _borrowed(self) -> Iterator[PostgresConnection]:
        assert os.getpid() == self._process, "a connection is never carried across a fork"
        with self._slots:
            connection = self._connected()
            try:
                yield connection
            except BaseException as problem:
                if isinstance(problem, Exception) and connection.driver.info.transaction_status == psycopg.pq.TransactionStatus.IDLE:
                    self._give_back(connection)
                else:
                    if connection.driver.broken:
                        self.close()  # what broke this one broke the idle ones too
                    connection.driver.close()
                raise
            self._give_back(connection)

    def _give_back(self, connection: PostgresConnection) -> None:
        with self._lock:
            self._idle.append(connection)

    def _connected(self) -> PostgresConnection:
        with self._lock:
            while self._idle and not self._lost:
                connection = self._idle.pop()
                if not connection.driver.closed:
                    return connection
            lost = set(self._lost)
        connection = self._connect()
        try:
            if lost:
                self._settle(connection, lost)
            self._prepare(connection)
        except psycopg.Error as problem:
            connection.driver.close()
            raise self._fault(problem) from problem
        except BaseException:
            connection.driver.close()
            raise
        return connection

    def _connect(self) -> PostgresConnection:
        session = f"stateward {secrets.token_hex(16)}"
        settings = _SETTINGS if self._writable else f"{_SETTINGS} -c default_transaction_read_only=on"
        try:
            driver = psycopg.connect(
                self._url,
                autocommit=True,
                options=settings,
                application_name=session,
                connect_timeout=CONNECT_SECONDS,
                tcp_user_timeout=UNANSWERED_SECONDS * 1000,
            )
        except psycopg.Error as problem:
            raise unavailable(self._url, problem) from problem
        return PostgresConnection(driver, session)

    def _prepare(self, connection: PostgresConnection) -> None:
        require_server(connection, self.place)
        found = standing(connection, self.place)
        if self._as_it_is and found is not Standing.EMPTY:
            return
        if found is Standing.OLDER:
            self._migrate(connection)
        if found is Standing.EMPTY:
            if not self._create:
                raise StoreUnavailable(f"there is no store in {self.place} yet", "begin one with a command that writes")
            with connection.driver.transaction():
                create_schema(connection, self.place)
        require_tables(connection, self.place)
        if self._writable:
            require_rules(connection, self.place)
            require_shape(connection, self.place, SCHEMA_VERSION)

    def _migrate(self, connection: PostgresConnection) -> None:
        if not self._writable:
            raise other_version(self.place, version_of(connection))
        from stateward.store.migrations.on_postgres import migrate  # noqa: PLC0415 -- loads alembic, for the one time it is needed

        self.migrated = migrate(self._connect, self.place, self._url) or self.migrated
        require_same_version(connection, self.place)

    def _settle(self, connection: PostgresConnection, lost: set[tuple[int, str]]) -> None:
        """End the sessions that lost commits were given to: only then is it certain whether they happened."""
        for pid, session in sorted(lost):
            try:
                row = connection.execute(_END, (END_SECONDS * 1000, pid, session)).fetchone()
            except errors.InsufficientPrivilege:
                row = (False,)
            if row is not None and not row[0]:
                raise StoreUnavailable(
                    f"a lost commit in {self.place} cannot be settled while its session goes on", "end that session, then try again"
                )
            with self._lock:
                self._lost.discard((pid, session))
