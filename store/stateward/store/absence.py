"""That a row is not there: as good as any other answer, and as much in need of a check.

A page that the disk altered, or that another one was written over, may hold a row no more; nothing that is read then is wrong. So before
a row is said to be missing, the rows on both sides of where it would be have to be what was written.
"""

from collections.abc import Callable
from typing import Final

from sqlalchemy import ColumnElement, Table, bindparam, select

from stateward.store.connection import Connection
from stateward.store.prepared import Prepared, Row


class Neighbours:
    """The rows of a table with one column as its key that are next to a key."""

    def __init__(self, table: Table, check: Callable[[Table, Row], None]) -> None:
        (key,) = table.primary_key.columns
        place: ColumnElement[str] = bindparam("key")
        self._table: Final = table
        self._check: Final = check
        self._next: Final = Prepared(select(table).where(key >= place).order_by(key).limit(1))
        self._previous: Final = Prepared(select(table).where(key < place).order_by(key.desc()).limit(1))

    def require_sound(self, connection: Connection, key: str) -> None:
        """Raise NotWritten when one of them is not what was written."""
        for statement in (self._next, self._previous):
            row = statement.first(connection, {"key": key})
            if row is not None:
                self._check(self._table, row)
