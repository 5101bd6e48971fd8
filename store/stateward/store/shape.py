"""Which tables and indexes a store is made of, and how a database that holds others differs.

Invariant: whether a store is written into depends on it. A column, a key or a condition that is missing would let in what nothing here
ever writes, and a statement of ours would then mean something else than it says.
"""

import sqlite3
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Final, TypeAlias

from stateward.runtime.ports import Damaged
from stateward.store.connection import Connection
from stateward.store.faults import RESTORE
from stateward.store.texts import COLUMNS, MADE

Part: TypeAlias = tuple[str, str, str]
"""What it belongs to, its kind, its name."""

_SINCE: Final[Mapping[str, int]] = {"flow_acts": 2, "tokens": 2, "flow_modules": 3}
"""The version in which a table came, where it is not the first; none was changed since it came."""
_HELD: Final = "SELECT tbl_name, type, name, sql FROM sqlite_master WHERE type IN ('table', 'index') AND sql IS NOT NULL"
_OF_SQLITE: Final = "sqlite_"
"""How the names of tables begin that SQLite keeps for itself."""


def tables_in(version: int) -> frozenset[str]:
    """Name the tables of a version."""
    return frozenset(name for name in COLUMNS if _SINCE.get(name, 1) <= version)


def differences(held: Mapping[Part, str], expected: Mapping[Part, str]) -> Iterator[str]:
    """Say in a line each what is missing, what is another one, and what is there besides."""
    tables = {table for table, _, _ in held}
    lost = sorted({table for table, _, _ in expected} - tables)
    yield from (f"the table `{table}` is missing" for table in lost)
    strange = sorted(tables - {table for table, _, _ in expected})
    yield from (f"there is a table `{table}` of somebody else" for table in strange)
    for part in sorted(expected.keys() | held.keys()):
        table, kind, name = part
        if table in lost or table in strange:
            continue
        what = f"the table `{table}`" if kind == "table" else f"the {kind} `{name}` of `{table}`"
        if part not in held:
            yield f"{what} is missing"
        elif part not in expected:
            yield f"`{table}` has the {kind} `{name}` of somebody else"
        elif held[part] != expected[part]:
            yield f"{what} was altered"


def differences_on_sqlite(connection: Connection, version: int) -> Iterator[str]:
    """Say what of a store in a file is not as in a new one of that version."""
    rows = connection.execute(_HELD).fetchall()
    held = {(table, kind, name): _words(sql) for table, kind, name, sql in rows if not table.startswith(_OF_SQLITE)}
    tables = tables_in(version)
    return differences(held, {part: sql for part, sql in _expected().items() if part[0] in tables})


def require_shape(connection: sqlite3.Connection, path: Path, version: int) -> None:
    """Refuse a store whose tables and indexes are not those of a version."""
    found = next(differences_on_sqlite(connection, version), None)
    if found is not None:
        raise Damaged(f"{path} is damaged: {found}", RESTORE)


@cache
def _expected() -> Mapping[Part, str]:
    return {(table, kind, name): _words(sql) for table, kind, name, sql in MADE}


def _words(sql: str) -> str:
    return " ".join(sql.split())
