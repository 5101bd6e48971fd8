"""That a row is not there: as good as any other answer, and as much in need of a check.

A page that the disk altered, or that another one was written over, may hold a row no more; nothing that is read then is wrong. So before
a row is said to be missing, the rows on both sides of where it would be have to be what was written.
"""

from collections.abc import Callable, Sequence
from typing import Final

from sqlalchemy import Table, bindparam, select, tuple_

from stateward.store.connection import Connection, SqlValue
from stateward.store.prepared import Prepared, Row


class Neighbours:
    """The rows of a table that are next to a key, in the order of its primary key."""

    def __init__(self, table: Table, check: Callable[[Table, Row], None]) -> None:
        columns = list(table.primary_key.columns)
        self._names: Final = tuple(str(column.key) for column in columns)
        key, place = tuple_(*columns), tuple_(*(bindparam(f"key_{name}") for name in self._names))
        self._table: Final = table
        self._check: Final = check
        self._next: Final = Prepared(select(table).where(key >= place).order_by(*columns).limit(1))
        self._previous: Final = Prepared(select(table).where(key < place).order_by(*(column.desc() for column in columns)).limit(1))

    def require_sound(self, connection: Connection, key: Sequence[SqlValue]) -> None:
        """Raise NotWritten when one of them is not what was written."""
        values = {f"key_{name}": value for name, value in zip(self._names, key, strict=True)}
        for statement in (self._next, self._previous):
            row = statement.first(connection, values)
            if row is not None:
                self._check(self._table, row)
