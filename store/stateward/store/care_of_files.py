"""What can be found out of a store in a file as a whole."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from stateward.store import read_through, shape, triggers
from stateward.store.connection import Connection
from stateward.store.migrations import file_backups, frozen
from stateward.store.schema import held_triggers, is_older, version_of

FINDINGS_MAX: Final = 100
"""Of each kind."""


def version(connection: Connection) -> int:
    """Give its version."""
    return version_of(connection)


def backup(path: Path, version: int) -> str:
    """Say where the next copy of it would lie, unless one of those that are there holds the same."""
    return str(next((each for each in file_backups.names(path, version) if not os.path.lexists(each)), ""))


def findings(connection: Connection) -> tuple[int, tuple[str, ...]]:
    """Give its version, and say what is wrong with it."""
    connection.execute("BEGIN")  # others may write meanwhile
    try:
        held = version_of(connection)
        return held, tuple(_findings(connection, held))
    finally:
        connection.execute("ROLLBACK")


def _findings(connection: Connection, version: int) -> Iterator[str]:
    older = is_older(version)
    different = tuple(shape.differences_on_sqlite(connection, version))
    yield from different
    rules = held_triggers(connection)
    broken = frozen.broken_rule(rules, frozen.sqlite_rules(version)) if older else triggers.broken_rule(rules)
    if broken is not None:
        yield broken
    checked = [str(found) for (found,) in connection.execute(f"PRAGMA integrity_check({FINDINGS_MAX})").fetchall()]
    whole = checked == ["ok"]
    yield from () if whole else (" ".join(found.split()) for found in checked)
    for table, _, referred, _ in connection.execute("PRAGMA foreign_key_check").fetchall()[:FINDINGS_MAX]:
        yield f"a row of `{table}` refers to none of `{referred}`"
    if whole and not different:  # what lacks a page or a column cannot be read through
        yield from read_through.faults(connection, version)
