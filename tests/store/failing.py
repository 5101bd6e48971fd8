"""A connection whose statements fail as told, the way SQLite fails them."""

import sqlite3
from collections.abc import Callable
from typing import Any


def problem(name: str, said: str) -> sqlite3.OperationalError:
    """An error as SQLite raises it, with its result code."""
    error = sqlite3.OperationalError(said)
    error.sqlite_errorcode = getattr(sqlite3, name)
    error.sqlite_errorname = name
    return error


class Failing(sqlite3.Connection):
    """Asks `instead`, when there is one, before every statement; what that raises is what the statement comes to."""

    instead: Callable[["Failing", str], None] | None = None

    def execute(self, sql: str, *given: Any) -> sqlite3.Cursor:
        if Failing.instead is not None:
            Failing.instead(self, sql)
        return super().execute(sql, *given)

    def really(self, sql: str) -> None:
        super().execute(sql)
