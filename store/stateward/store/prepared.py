"""Statements on the tables, compiled once and run on the driver.

A statement is written with SQLAlchemy's Core on the tables of `tables.py`; here it becomes SQL text, the order of its parameters, and
what its columns' types do to values on their way in and out, for SQLite when it is written down and for PostgreSQL when it is first
run there. Running it costs what the driver costs: a commit is not to wait for machinery (docs/decisions/prepared-statements.md). The
driver keeps the compiled program of each text.
"""

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from sqlalchemy import Delete, Insert, Select, Table, Update, insert
from sqlalchemy.dialects.postgresql import insert as postgres_insert
from sqlalchemy.dialects.postgresql.base import PGTypeCompiler
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg
from sqlalchemy.dialects.sqlite.pysqlite import dialect as sqlite_dialect
from sqlalchemy.engine import Dialect
from sqlalchemy.types import String, TypeDecorator, TypeEngine

from stateward.store.connection import Connection, Cursor, SqlValue


class _ByteOrder(PGTypeCompiler):
    """Texts compare by their bytes, whichever language the database was made for: pages are listed in that order."""

    def visit_VARCHAR(self, type_: String, **_: Any) -> str:  # noqa: N802 -- SQLAlchemy's name
        return 'TEXT COLLATE "C"'


class _PostgresTables(PGDialect_psycopg):
    type_compiler_cls = _ByteOrder


SQLITE: Final[Dialect] = sqlite_dialect()
POSTGRES: Final[Dialect] = PGDialect_psycopg(paramstyle="format")  # type: ignore[no-untyped-call]
POSTGRES_TABLES: Final[Dialect] = _PostgresTables()  # type: ignore[no-untyped-call]
"""For what makes tables."""

Row: TypeAlias = Mapping[str, Any]
"""A row by the names of its columns."""

_Convert: TypeAlias = Callable[[Any], Any]


class NotWritten(ValueError):
    """A row holds what no store writes."""


class Inconsistent(NotWritten):
    """Rows do not fit together; the text says which."""


Statement: TypeAlias = Select[Any] | Insert | Update | Delete


class Prepared:
    """A statement, ready to run; `postgres` is how it reads there when that is another one."""

    __slots__ = ("_postgres", "_sqlite", "_statement")

    def __init__(self, statement: Statement, postgres: Statement | None = None) -> None:
        self._statement: Final = statement if postgres is None else postgres
        self._sqlite: Final = _Text(statement, SQLITE)
        self._postgres: _Text | None = None

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
        assert not isinstance(self._statement, Select), "what selects writes nothing"
        if written != 1:
            raise Inconsistent(f"a statement that is to write one row of `{self._statement.table.description}` wrote {written}")

    def run_in_order(self, connection: Connection, values: Sequence[SqlValue]) -> Cursor:
        """Run it with values that are those of the driver already, in the order of the parameters."""
        return connection.execute(self._text(connection).sql, values)

    def read(self, row: tuple[Any, ...]) -> Row:
        """Give a fetched row by the names of its columns. Raises NotWritten for a value that its column's type never wrote."""
        return self._sqlite.read(row)

    def first(self, connection: Connection, values: Row) -> Row | None:
        """Run it and give the first row."""
        cursor = self.run(connection, values)
        row = cursor.fetchone()
        cursor.close()  # ends what it reads from: a cursor left half read would hold back the checkpoints of everybody
        return None if row is None else self.read(row)

    def all(self, connection: Connection, values: Row) -> list[Row]:
        """Run it and give every row: for statements that bound their number."""
        return [self.read(row) for row in self.run(connection, values).fetchall()]

    def _text(self, connection: Connection) -> "_Text":
        if isinstance(connection, sqlite3.Connection):
            return self._sqlite
        if self._postgres is None:
            self._postgres = _Text(self._statement, POSTGRES)
        return self._postgres


def insert_unless_there(table: Table) -> Prepared:
    """Insert a row of a table whose key says what it holds: on PostgreSQL, where others insert at the same moment, theirs will do."""
    return Prepared(insert(table), postgres_insert(table).on_conflict_do_nothing())


class _Text:
    """A statement in the words of one database."""

    __slots__ = ("_binders", "_columns", "_constants", "_parameters", "_readers", "sql")

    def __init__(self, statement: Statement, dialect: Dialect) -> None:
        compiled = statement.compile(dialect=dialect)
        columns = statement.selected_columns if isinstance(statement, Select) else ()
        self.sql: Final = str(compiled)
        self._parameters: Final = tuple(compiled.positiontup or ())
        self._constants: Final = {name: compiled.binds[name].value for name in self._parameters if not compiled.binds[name].required}
        self._binders: Final = _converters([compiled.binds[name].type for name in self._parameters], dialect, "bind")
        self._columns: Final = tuple(str(column.key) for column in columns)
        self._readers: Final = _converters([column.type for column in columns], dialect, "result")

    def parameters(self, values: Row) -> list[SqlValue]:
        if self._constants:
            values = {**self._constants, **values}
        given = [values[name] for name in self._parameters]
        for place, convert in self._binders:
            given[place] = convert(given[place])
        return given

    def read(self, row: tuple[Any, ...]) -> Row:
        values = list(row)
        for place, convert in self._readers:
            try:
                values[place] = convert(values[place])
            except ValueError as problem:
                raise NotWritten(f"its `{self._columns[place]}`: {problem}") from problem
        return dict(zip(self._columns, values, strict=True))


def _converters(types: Sequence[TypeEngine[Any]], dialect: Dialect, direction: str) -> tuple[tuple[int, _Convert], ...]:
    found: list[tuple[int, _Convert]] = []
    for place, each in enumerate(types):
        if not isinstance(each, TypeDecorator):
            continue  # what the driver takes and gives by itself
        adapted = each.dialect_impl(dialect)
        convert = adapted.bind_processor(dialect) if direction == "bind" else adapted.result_processor(dialect, None)
        if convert is not None:
            found.append((place, convert))
    return tuple(found)
