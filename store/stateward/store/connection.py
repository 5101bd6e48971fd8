"""What statements need of a database, so that one set of them runs on SQLite and on PostgreSQL.

Invariants: a `write` is one transaction, and after it returned, what was written survives a killed process and, unless it said that it
need not, loss of power. If it raises, nothing was written, unless it raises OutcomeUnknown. No caller hears of a lock that waiting
frees.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar

if TYPE_CHECKING:
    from stateward.store.migrations.outcome import Migrated

SqlValue: TypeAlias = str | int | bytes | None

T = TypeVar("T")


class Refused(Exception):
    """A rule, a key or a reference of the database refused a row; the transaction was undone. Its text says which one."""


class Cursor(Protocol):
    """What running a statement gives."""

    @property
    def rowcount(self) -> int:
        """How many rows were written."""

    def fetchone(self) -> Any:
        """Give the next row, or None."""

    def fetchall(self) -> list[Any]:
        """Give all further rows."""

    def __iter__(self) -> Iterator[Any]:
        """Give further rows one by one."""

    def close(self) -> Any:
        """End what it reads from."""


class Connection(Protocol):
    """What statements are run on: a connection of `sqlite3`, or what stands before one to PostgreSQL."""

    def execute(self, sql: str, parameters: Sequence[SqlValue] = ..., /) -> Cursor:
        """Run one statement."""


class Database(Protocol):
    """An open store's database."""

    @property
    def place(self) -> str:
        """What names it in a message."""

    @property
    def migrated(self) -> "Migrated | None":
        """What was done to it, if it was migrated when it was opened."""

    def open(self) -> None:
        """Open it now, so that what is wrong with it is said now."""

    def close(self) -> None:
        """Close it; a later use opens it again."""

    def read(self, action: Callable[[Connection], T]) -> T:
        """Run statements that only read. `action` may be run again, so it is to have no effect of its own."""

    def write(self, action: Callable[[Connection], T], *, durable: bool = True) -> T:
        """Run statements in one transaction and commit it; undo it when `action` raises. `action` may be run again.

        `durable=False` is for what may be forgotten when the machine loses power. Raises Refused when the database refused a row.
        """

    def one_at_a_time(self, connection: Connection, name: str) -> None:
        """Let no other transaction that says the same name go on until this one has ended. To be called inside a `write`."""
