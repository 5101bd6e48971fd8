"""What can be found out of a store in a file as a whole."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from stateward.store import triggers
from stateward.store.connection import Connection
from stateward.store.migrations import file_backups, frozen
from stateward.store.schema import held_triggers, is_older, version_of
from stateward.store.tables import METADATA

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
    held = version_of(connection)
    return held, tuple(_findings(connection, held))


def _findings(connection: Connection, version: int) -> Iterator[str]:
    older = is_older(version)
    if not older:
        there = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        yield from (f"the table `{name}` is missing" for name in sorted(METADATA.tables.keys() - there))
    rules = held_triggers(connection)
    broken = frozen.broken_rule(rules, frozen.sqlite_rules(version)) if older else triggers.broken_rule(rules)
    if broken is not None:
        yield broken
    for (found,) in connection.execute(f"PRAGMA integrity_check({FINDINGS_MAX})").fetchall():
        if found != "ok":
            yield " ".join(str(found).split())
    for table, _, referred, _ in connection.execute("PRAGMA foreign_key_check").fetchall()[:FINDINGS_MAX]:
        yield f"a row of `{table}` refers to none of `{referred}`"
