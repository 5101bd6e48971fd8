"""Statements on the tables, compiled once and run on the driver.

A statement is written with SQLAlchemy's Core on the tables of `tables.py`; here it becomes SQL text, the order of its parameters, and
what its columns' types do to values on their way in and out. Running it costs what the driver costs: a commit is not to wait for
machinery (docs/decisions/prepared-statements.md). The driver keeps the compiled program of each text.
"""

import sqlite3
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from sqlalchemy import Delete, Insert, Select, Update
from sqlalchemy.dialects.sqlite.pysqlite import dialect as sqlite_dialect
from sqlalchemy.types import TypeDecorator, TypeEngine

DIALECT: Final = sqlite_dialect()

Row: TypeAlias = Mapping[str, Any]
"""A row by the names of its columns."""

_Convert: TypeAlias = Callable[[Any], Any]


class NotWritten(ValueError):
    """A row holds what no store writes."""


class Prepared:
    """A statement, ready to run."""

    __slots__ = ("_binders", "_columns", "_constants", "_parameters", "_readers", "sql")

    def __init__(self, statement: Select[Any] | Insert | Update | Delete) -> None:
        compiled = statement.compile(dialect=DIALECT)
        columns = statement.selected_columns if isinstance(statement, Select) else ()
        self.sql: Final = str(compiled)
        self._parameters: Final = tuple(compiled.positiontup or ())
        self._constants: Final = {name: compiled.binds[name].value for name in self._parameters if not compiled.binds[name].required}
        self._binders: Final = _converters({name: compiled.binds[name].type for name in self._parameters}, "bind")
        self._columns: Final = tuple(str(column.key) for column in columns)
        self._readers: Final = _converters({str(column.key): column.type for column in columns}, "result")

    def run(self, connection: sqlite3.Connection, values: Row) -> sqlite3.Cursor:
        """Run it. Values are by the names of the parameters; further ones are passed over."""
        if self._constants:
            values = {**self._constants, **values}
        given = [values[name] for name in self._parameters]
        for place, convert in self._binders:
            given[place] = convert(given[place])
        return connection.execute(self.sql, given)

    def read(self, row: tuple[Any, ...]) -> Row:
        """Give a fetched row by the names of its columns. Raises NotWritten for a value that its column's type never wrote."""
        values = list(row)
        for place, convert in self._readers:
            try:
                values[place] = convert(values[place])
            except ValueError as problem:
                raise NotWritten(f"its `{self._columns[place]}`: {problem}") from problem
        return dict(zip(self._columns, values, strict=True))

    def first(self, connection: sqlite3.Connection, values: Row) -> Row | None:
        """Run it and give the first row."""
        cursor = self.run(connection, values)
        row = cursor.fetchone()
        cursor.close()  # ends what it reads from: a cursor left half read would hold back the checkpoints of everybody
        return None if row is None else self.read(row)

    def all(self, connection: sqlite3.Connection, values: Row) -> list[Row]:
        """Run it and give every row: for statements that bound their number."""
        return [self.read(row) for row in self.run(connection, values).fetchall()]


def _converters(types: Mapping[str, TypeEngine[Any]], direction: str) -> tuple[tuple[int, _Convert], ...]:
    found: list[tuple[int, _Convert]] = []
    for place, each in enumerate(types.values()):
        if not isinstance(each, TypeDecorator):
            continue  # what the driver takes and gives by itself
        adapted = each.dialect_impl(DIALECT)
        convert = adapted.bind_processor(DIALECT) if direction == "bind" else adapted.result_processor(DIALECT, None)
        if convert is not None:
            found.append((place, convert))
    return tuple(found)
