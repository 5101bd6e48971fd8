"""Statements and tables in SQLAlchemy's Core, compiled to the words of a database."""

from collections.abc import Sequence
from typing import Any, Final, TypeAlias

from sqlalchemy import Delete, Insert, Select, Table, Update, insert
from sqlalchemy.dialects.postgresql import insert as postgres_insert
from sqlalchemy.dialects.postgresql.base import PGTypeCompiler
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg
from sqlalchemy.dialects.sqlite.pysqlite import dialect as sqlite_dialect
from sqlalchemy.engine import Dialect
from sqlalchemy.types import String, TypeEngine

from stateward.store.prepared import Prepared, Text
from stateward.store.tables import UtcTime


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

Statement: TypeAlias = Select[Any] | Insert | Update | Delete


def prepared(statement: Statement, postgres: Statement | None = None) -> Prepared:
    """Compile a statement; `postgres` is how it reads there when that is another one."""
    return Prepared(_text(statement, SQLITE), lambda: _text(statement if postgres is None else postgres, POSTGRES))


def insert_unless_there(table: Table) -> Prepared:
    """Insert a row of a table whose key says what it holds: on PostgreSQL, where others insert at the same moment, theirs will do."""
    return prepared(insert(table), postgres_insert(table).on_conflict_do_nothing())


def _text(statement: Statement, dialect: Dialect) -> Text:
    compiled = statement.compile(dialect=dialect)
    columns = statement.selected_columns if isinstance(statement, Select) else ()
    places = tuple(compiled.positiontup or ())
    return Text(
        sql=str(compiled),
        table="" if isinstance(statement, Select) else str(statement.table.description),
        places=places,
        constants={name: compiled.binds[name].value for name in places if not compiled.binds[name].required},
        moments=_moments([compiled.binds[name].type for name in places]),
        columns=tuple(str(column.key) for column in columns),
        moments_given=_moments([column.type for column in columns]),
    )


def _moments(types: Sequence[TypeEngine[Any]]) -> tuple[int, ...]:
    return tuple(place for place, each in enumerate(types) if isinstance(each, UtcTime))
