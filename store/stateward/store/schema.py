"""What a store's database says of itself, how an empty one becomes a store, and what is checked of one that is.

Invariants: the header of the file holds our application id and the version of the schema; both are written in the transaction that
makes tables and triggers, so a file is either no store yet or a whole one. A version that this program does not know is refused
before anything is written; one that an older program wrote is migrated by whoever opens it for writing (`migrations`), and refused to
whoever reads.
"""

import sqlite3
from enum import Enum, auto
from pathlib import Path
from typing import Final

from stateward.runtime.ports import Damaged, Fault, StoreNewer, StoreOlder, StoreUnavailable
from stateward.store.connection import Connection
from stateward.store.faults import RESTORE
from stateward.store.texts import COLUMNS, MADE
from stateward.store.triggers import TRIGGERS, broken_rule

APPLICATION_ID: Final = 0x53745764
SCHEMA_VERSION: Final = 3
OLDEST_VERSION: Final = 1
"""The first that was released."""


class Standing(Enum):
    """What a database is to this program."""

    EMPTY = auto()
    """Nothing was ever made in it."""
    STORE = auto()
    """A store of the version that this program writes."""
    OLDER = auto()
    """A store of a version that this program migrates."""


def standing(connection: sqlite3.Connection, path: Path) -> Standing:
    """Say what a database is. To be called inside a transaction, so that what it reads belongs together.

    Raises StoreNewer for a newer store and StoreUnavailable for what is no store.
    """
    application, version = _number(connection, "application_id"), version_of(connection)
    if application == APPLICATION_ID:
        if version == SCHEMA_VERSION:
            return Standing.STORE
        if is_older(version):
            return Standing.OLDER
        raise other_version(str(path), version)
    if (application, version) == (0, 0) and not _names(connection, "table"):
        return Standing.EMPTY
    raise StoreUnavailable(f"{path} is the database of another program", "name another file")


def version_of(connection: Connection) -> int:
    """Give the version that the header holds."""
    return _number(connection, "user_version")


def is_older(version: int) -> bool:
    """Whether it is a version that this program migrates."""
    return OLDEST_VERSION <= version < SCHEMA_VERSION


def other_version(name: str, version: int) -> Fault:
    """Say why a store of another version is not used."""
    if version > SCHEMA_VERSION:
        return StoreNewer(
            f"{name} was written by a newer stateward: its store version is {version}, this program knows {SCHEMA_VERSION}",
            "use the stateward that wrote it, or a newer one",
        )
    if is_older(version):
        return StoreOlder(
            f"{name} was written by an older stateward: its store version is {version}, this program reads {SCHEMA_VERSION}",
            "`stateward store migrate` brings it up",
        )
    return StoreUnavailable(f"{name} has store version {version}, which no stateward ever wrote", RESTORE)


def require_same_version(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse a store that another program migrated while we had it open. To be called under the write lock."""
    version = version_of(connection)
    if version != SCHEMA_VERSION:
        raise other_version(str(path), version)


def create_schema(connection: sqlite3.Connection) -> None:
    """Make an empty database a store. To be called inside a transaction."""
    for _, _, _, sql in MADE:
        connection.execute(sql)
    create_triggers(connection)
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")


def create_triggers(connection: sqlite3.Connection) -> None:
    """Make the rules of immutability, on tables that have none."""
    for trigger in TRIGGERS.values():
        connection.execute(trigger)


def require_tables(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse a store that lacks a table."""
    missing = sorted(COLUMNS.keys() - _names(connection, "table"))
    if missing:
        raise Damaged(f"{path} is damaged: the table `{missing[0]}` is missing", RESTORE)


def require_triggers(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse a store whose rules of immutability are not exactly ours."""
    broken = broken_rule(held_triggers(connection))
    if broken is not None:
        raise unguarded(str(path), broken)


def held_triggers(connection: Connection) -> dict[str, str]:
    """Give the triggers that a database holds, by their names."""
    return dict(connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall())


def unguarded(name: str, broken: str, remedy: str = "restore the store from a backup, or read it only") -> Damaged:
    """Say that a store lacks a rule of immutability, or holds another one. `remedy` is for one that this program does not read."""
    return Damaged(f"{name} no longer guards what it holds: {broken}", remedy)


def _names(connection: sqlite3.Connection, kind: str) -> set[str]:
    return {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = ?", (kind,))}


def _number(connection: Connection, pragma: str) -> int:
    (number,) = connection.execute(f"PRAGMA {pragma}").fetchone()
    assert isinstance(number, int)
    return number
