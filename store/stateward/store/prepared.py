"""Statements on the tables, ready to be run on the driver.

A statement is SQL text, the order of its parameters, and where in it moments go in and come out. Those of SQLite are written down
(`texts.json`, read by `texts.py`), so that opening a store loads no library; they are made of what `statements.py` and its modules say in
SQLAlchemy's Core, which is also what PostgreSQL's are compiled from when they are first run there. Running one costs what the driver costs:
a commit is not to wait for machinery (docs/decisions/prepared-statements.md). The driver keeps the compiled program of each text.
"""

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple, TypeAlias

from stateward.runtime.session.chain import time_text
from stateward.store.connection import Connection, Cursor, SqlValue

Row: TypeAlias = Mapping[str, Any]
"""A row by the names of its columns."""


class NotWritten(ValueError):
    """A row holds what no store writes."""


class Inconsistent(NotWritten):
    """Rows do not fit together; the text says which."""


def moment_text(value: datetime | None) -> str | None:
    """Write a moment as a column holds it. Raises ValueError for a naive time."""
    return None if value is None else time_text(value)


def moment_of(value: object) -> datetime | None:
    """Read a moment of a column, aware, UTC. Raises ValueError for anything else."""
    if value is None:
        return None
    if not (isinstance(value, str) and value.endswith("Z")):
        raise ValueError(f"{value!r} is no time in UTC")
    return datetime.fromisoformat(value).astimezone(UTC)


class Text(NamedTuple):
    """A statement in the words of one database."""

    sql: str
    table: str
    """The one that it writes into; empty for one that only reads."""
    places: tuple[str, ...]
    """The names of its parameters, in order."""
    constants: Mapping[str, SqlValue]
    """Values of parameters that it brings along."""
    moments: tuple[int, ...]
    """Which of its parameters are moments."""
    columns: tuple[str, ...]
    """The names of what it gives."""
    moments_given: tuple[int, ...]
    """Which of these are moments."""

    def parameters(self, values: Row) -> list[SqlValue]:
        """Give values by name in the order of the parameters, as the driver takes them."""
        if self.constants:
            values = {**self.constants, **values}
        given = [values[name] for name in self.places]
        for place in self.moments:
            given[place] = moment_text(given[place])
        return given

    def read(self, row: tuple[Any, ...]) -> Row:
        """Give a fetched row by the names of its columns. Raises NotWritten for a moment that is none."""
        values = list(row)
        for place in self.moments_given:
            try:
                values[place] = moment_of(values[place])
            except ValueError as problem:
                raise NotWritten(f"its `{self.columns[place]}`: {problem}") from problem
        return dict(zip(self.columns, values, strict=True))


class Prepared:
    """A statement, ready to run on either database."""

    __slots__ = ("_make_postgres", "_postgres", "sqlite")

    def __init__(self, sqlite: Text, postgres: Callable[[], Text]) -> None:
        """Take how it reads on SQLite, and what makes how it reads on PostgreSQL, when it is first run there."""
        self.sqlite: Final = sqlite
        self._make_postgres: Final = postgres
        self._postgres: Text | None = None

    def run(self, connection: Connection, values: Row) -> Cursor:
        """Run it. Values are by the names of the parameters; further ones are passed over."""
        text = self._text(connection)
        return connection.execute(text.sql, text.parameters(values))

    def write_one(self, connection: Connection, values: Row) -> None:
        """Run what is to write one row. Raises Inconsistent when it wrote another number: what would be answered was not kept."""
        self._require_one(self.run(connection, values).rowcount)

    def write_one_in_order(self, connection: Connection, values: Sequence[SqlValue]) -> None:
        """Run what is to write one row, as `run_in_order` does. Raises what `write_one` raises."""
        self._require_one(self.run_in_order(connection, values).rowcount)

    def _require_one(self, written: int) -> None:
        assert self.sqlite.table, "what selects writes nothing"
        if written != 1:
            raise Inconsistent(f"a statement that is to write one row of `{self.sqlite.table}` wrote {written}")

    def run_in_order(self, connection: Connection, values: Sequence[SqlValue]) -> Cursor:
        """Run it with values that are those of the driver already, in the order of the parameters."""
        return connection.execute(self._text(connection).sql, values)

    def read(self, row: tuple[Any, ...]) -> Row:
        """Give a fetched row by the names of its columns. Raises NotWritten for a value that its column's type never wrote."""
        return self.sqlite.read(row)

    def first(self, connection: Connection, values: Row) -> Row | None:
        """Run it and give the first row."""
        cursor = self.run(connection, values)
        row = cursor.fetchone()
        cursor.close()  # ends what it reads from: a cursor left half read would hold back the checkpoints of everybody
        return None if row is None else self.read(row)

    def all(self, connection: Connection, values: Row) -> list[Row]:
        """Run it and give every row: for statements that bound their number."""
        return [self.read(row) for row in self.run(connection, values).fetchall()]

    def for_postgres(self) -> Text:
        """Give how it reads on PostgreSQL."""
        if self._postgres is None:
            self._postgres = self._make_postgres()
        return self._postgres

    def _text(self, connection: Connection) -> Text:
        return self.sqlite if isinstance(connection, sqlite3.Connection) else self.for_postgres()
