"""A store on either database, with what somebody does to it who does not ask this program: change rows, copy it, put a copy back."""

import shutil
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit, urlunsplit

import psycopg
from psycopg.sql import SQL, Identifier

from stateward.store.postgres_rules import RULES, SCHEMA
from stateward.store.triggers import TRIGGERS
from tests.cli.program import Place
from tests.postgres import Server

_NUMBERS: Final = count()
Change = tuple[str, tuple[Any, ...]]
"""A statement, a question mark where a value goes, and the values."""


@dataclass(frozen=True)
class StoredPlace(Place):
    """A folder of work whose store is a file, or a database of a server."""

    server: Server | None = None
    url: str = ""

    @property
    def environment(self) -> Mapping[str, str]:
        return {**super().environment, "STATEWARD_STORE": self.url} if self.url else super().environment

    @property
    def keys(self) -> Path:
        return self.folder / ".local" / "share" / "stateward" / "keys"

    @property
    def witness(self) -> Path:
        return self.keys / "witness"

    def copied_to(self, folder: Path) -> "StoredPlace":
        """Give a place like this one, as it is now, that changes by itself."""
        shutil.copytree(self.folder, folder)
        if self.server is None:
            return StoredPlace(folder)
        parts = urlsplit(self.url)
        copy = urlunsplit(parts._replace(path=f"{parts.path}_{next(_NUMBERS)}"))
        _replace(self.server, copy, self.url)
        return StoredPlace(folder, self.server, copy)

    def change(self, *changes: Change) -> None:
        """Change rows as somebody does who takes the rules of immutability away first and puts them back after."""
        with self._by_hand() as connection:
            for statement, values in changes:
                connection.execute(statement, values)

    def rows(self, statement: str, *values: Any) -> Sequence[tuple[Any, ...]]:
        with self._by_hand() as connection:
            return list(connection.execute(statement, values))

    def replace_store(self, other: "StoredPlace") -> None:
        """Put the store of another place here, as a backup is put back."""
        if self.server is None:
            for beside in self.store.parent.glob(f"{self.store.name}-*"):
                beside.unlink()
            shutil.copy(other.store, self.store)
            return
        _replace(self.server, self.url, other.url)

    @contextmanager
    def _by_hand(self) -> Iterator["ByHand"]:
        if self.server is None:
            connection = sqlite3.connect(self.store, isolation_level=None)
            for name in TRIGGERS:
                connection.execute(f"DROP TRIGGER {name}")
            yield ByHand(connection, "?")
            for sql in TRIGGERS.values():
                connection.execute(sql)
            connection.close()
            return
        with psycopg.connect(self.url, autocommit=True) as client:
            client.execute(f"SET search_path = {SCHEMA}".encode())
            for rule in RULES:
                client.execute(SQL("ALTER TABLE {} DISABLE TRIGGER {}").format(Identifier(rule.table), Identifier(rule.name)))
            yield ByHand(client, "%s")
            for rule in RULES:
                client.execute(SQL("ALTER TABLE {} ENABLE ALWAYS TRIGGER {}").format(Identifier(rule.table), Identifier(rule.name)))


@dataclass(frozen=True)
class ByHand:
    """A connection to either database."""

    connection: Any
    mark: str
    """What stands in a statement where a value goes."""

    def execute(self, statement: str, values: tuple[Any, ...]) -> Any:
        return self.connection.execute(statement.replace("?", self.mark), values)


def place_on(server: Server | None, folder: Path) -> StoredPlace:
    """Give an empty folder of work, whose store lies in a file, or in a database of a server."""
    (folder / "work").mkdir(parents=True)
    return StoredPlace(folder) if server is None else StoredPlace(folder, server, server.database())


def _replace(server: Server, url: str, other: str) -> None:
    """Put a copy of another database in the place of one."""
    name, template = (Identifier(urlsplit(each).path.removeprefix("/")) for each in (url, other))
    server.run(SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(name))
    server.run(SQL("CREATE DATABASE {} TEMPLATE {}").format(name, template))
