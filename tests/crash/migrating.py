"""Migrations that are killed: after each kill the store is what it was or what it becomes, and whoever comes next gets through.

What is killed are processes of their own, at any statement that they run, before or after it, or in the middle of copying the store. A
story follows from its seed.
"""

import os
import signal
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

from stateward.store.care import check, migrate
from stateward.store.database import open_store
from stateward.store.schema import SCHEMA_VERSION
from tests.postgres import Server
from tests.store.children import child
from tests.store.releases import VERSIONS, Release, version

STATEMENTS_IN_FILE = 125
STATEMENTS_ON_SERVER = 385
"""About so many are run by a migration; one that is killed at none of them comes to its end."""
COPYING = 0.2
"""How often a kill falls while a file is copied, at one of its first pages."""
PAGES = 100


class Mortal(sqlite3.Connection):
    """A connection that kills its process at some statement, whoever runs it, or at some page that is copied."""

    left = 0
    after = False
    page: int | None = None

    def execute(self, sql: str, *given: Any) -> sqlite3.Cursor:
        return _counted(lambda: super(Mortal, self).execute(sql, *given))

    def cursor(self, *_: Any, **__: Any) -> sqlite3.Cursor:  # type: ignore[override]  # what SQLAlchemy runs its statements with
        return super().cursor(MortalCursor)

    def backup(self, target: sqlite3.Connection, **named: Any) -> None:
        def die(_: int, remaining: int, total: int) -> None:
            if total - remaining >= (Mortal.page or 0):
                os.kill(os.getpid(), signal.SIGKILL)

        if Mortal.page is None:
            super().backup(target, **named)
        else:
            super().backup(target, pages=1, progress=die)


class MortalCursor(sqlite3.Cursor):
    """See Mortal."""

    def execute(self, sql: str, *given: Any) -> sqlite3.Cursor:
        return _counted(lambda: super(MortalCursor, self).execute(sql, *given))


def _counted(run: Callable[[], Any]) -> Any:
    Mortal.left -= 1  # below 0 it is never reached
    if Mortal.left == 0 and not Mortal.after:
        os.kill(os.getpid(), signal.SIGKILL)
    answer = run()
    if Mortal.left == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return answer


def migrate_and_die(place: Path | str, statement: int, after: bool, page: int | None) -> None:
    """Migrate a store in this process and be killed at some statement or page, unless it is through before."""
    Mortal.left, Mortal.after, Mortal.page = statement, after, page
    if isinstance(place, Path):
        sqlite3.connect = partial(sqlite3.connect, factory=Mortal)  # type: ignore[assignment]
    else:
        import psycopg  # noqa: PLC0415 -- stories on SQLite need no driver

        execute = psycopg.Cursor.execute
        psycopg.Cursor.execute = (  # type: ignore[method-assign]
            lambda self, *given, **named: _counted(lambda: execute(self, *given, **named))
        )
    migrate(place)


@dataclass
class Migrating:
    """Migrations of the store of one release, killed again and again."""

    place: Path | str
    random: Random
    release: Release = field(default_factory=lambda: Release(VERSIONS[-1]))
    kills: int = 0
    seen: list[int] = field(default_factory=list)
    """The versions that the store had after each kill."""

    def tell(self, kills_max: int) -> int:
        """Kill, at most so often, then migrate and hold what is there against what was; give how many kills fell."""
        before = self.release.rows(self.release.put(self.place))
        while self.kills < kills_max:
            status = self._killed()
            if status == 0:
                break
            assert -signal.SIGKILL == status
            self.kills += 1
            assert before == self.release.rows(self.place)
            assert () == check(self.place).findings
            self.seen.append(version(self.place))
        with open_store(self.place, write=True):
            assert SCHEMA_VERSION == version(self.place)
        assert before == self.release.rows(self.place)
        assert () == check(self.place).findings
        self._look_at_copies(before)
        return self.kills

    def _killed(self) -> int | None:
        in_file = isinstance(self.place, Path)
        page = self.random.randint(0, PAGES) if in_file and self.random.random() < COPYING else None
        statement = self.random.randint(1, STATEMENTS_IN_FILE if in_file else STATEMENTS_ON_SERVER) if page is None else -1
        process = child(migrate_and_die, self.place, statement, self.random.random() < 0.5, page)
        process.join()
        return process.exitcode

    def _look_at_copies(self, before: Any) -> None:
        """One copy was made, whole, however often the migration was begun; nothing else was left behind."""
        if isinstance(self.place, Path):
            name = f"{self.place.name}.v{self.release.version}-backup"
            assert sorted([self.place.name, name]) == sorted(each.name for each in self.place.parent.iterdir())
            copy = self.place.with_name(name)
            assert before == self.release.rows(copy)
            assert (self.release.version, ()) == (check(copy).version, check(copy).findings)
            return
        import psycopg  # noqa: PLC0415 -- stories on SQLite need no driver

        with psycopg.connect(self.place, autocommit=True) as connection:
            there = connection.execute("SELECT nspname FROM pg_namespace WHERE nspname LIKE 'stateward%' ORDER BY 1").fetchall()
            assert [("stateward",), (f"stateward_v{self.release.version}_backup",)] == there
            connection.execute("ALTER SCHEMA stateward RENAME TO stateward_since")
            connection.execute(f"ALTER SCHEMA stateward_v{self.release.version}_backup RENAME TO stateward".encode())
        assert before == self.release.rows(self.place)
        assert (self.release.version, ()) == (check(self.place).version, check(self.place).findings)


def migrating_story(folder: Path, seed: int, server: Server | None = None) -> Migrating:
    """A story on a database of a server, or in a file."""
    return Migrating(server.database() if server else folder / "migrated" / "store.db", Random(seed))  # noqa: S311 -- to be told again
