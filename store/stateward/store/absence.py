"""That a row is not there: as good as any other answer, and as much in need of a check.

A page that the disk altered, or that another one was written over, may hold a row no more; nothing that is read then is wrong. So before
a row is said to be missing, the rows on both sides of where it would be have to be what was written.
"""

from collections.abc import Callable, Sequence
from typing import Final

from stateward.store.connection import Connection, SqlValue
from stateward.store.prepared import Row
from stateward.store.texts import KEYS, statement


class Neighbours:
    """The rows of a table that are next to a key, in the order of its primary key."""

    def __init__(self, table: str, check: Callable[[str, Row], None]) -> None:
        self._names: Final = KEYS[table]
        self._table: Final = table
        self._check: Final = check
        self._next: Final = statement(f"next.{table}")
        self._previous: Final = statement(f"previous.{table}")

    def require_sound(self, connection: Connection, key: Sequence[SqlValue]) -> None:
        """Raise NotWritten when one of them is not what was written."""
        values = {f"key_{name}": value for name, value in zip(self._names, key, strict=True)}
        for each in (self._next, self._previous):
            row = each.first(connection, values)
            if row is not None:
                self._check(self._table, row)
