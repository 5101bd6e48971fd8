"""Session logs on PostgreSQL: as on any database, but that an append is one statement, and so one round trip.

The statement locks the head while it is still the one that was expected, writes the entries, and moves the head, in this order; where the
head moved, or where another program made the store a newer one, it writes nothing. What is at fault then is found on the longer way.
"""

from collections.abc import Sequence
from functools import cache
from typing import Final

from stateward.runtime.ports import Witness
from stateward.runtime.session.entries import Entry, Head
from stateward.store.beside import lies_beside
from stateward.store.codecs import entry_parameters
from stateward.store.compiling import POSTGRES
from stateward.store.connection import Refused, SqlValue
from stateward.store.postgres import PostgresDatabase
from stateward.store.postgres_schema import VERSION
from stateward.store.schema import SCHEMA_VERSION
from stateward.store.seal import NO_SEALS, Seals
from stateward.store.sessions import SqlSessionStore
from stateward.store.tables import ENTRIES

AT_ONCE_ENTRIES_MAX: Final = 16
"""More entries are written one by one: each number of them is a statement of its own to the server."""


class PostgresSessionStore(SqlSessionStore):
    """The ports `SessionStore` and `StoredLogs` on PostgreSQL."""

    def __init__(self, database: PostgresDatabase, seals: Seals = NO_SEALS, witness: Witness | None = None) -> None:
        super().__init__(database, seals, witness)
        self._postgres = database

    def _appended_at_once(self, worker: str, expected: Head, linked: Sequence[Entry], head: Head) -> bool:
        if len(linked) > AT_ONCE_ENTRIES_MAX or any(lies_beside(entry) for entry in linked):
            return False
        parameters: list[SqlValue] = [worker, expected.seq, expected.digest]
        for entry in linked:
            parameters += entry_parameters(entry)
        parameters += [head.seq, head.digest, worker]
        try:
            return self._postgres.at_once(_append(len(linked)), parameters) == 1
        except Refused:
            return False


@cache
def _append(entries: int) -> str:
    """Write the statement that appends so many entries. Nothing but names of columns and types is put into it."""
    columns = ", ".join(f'"{name}"' for name in ENTRIES.c.keys())  # noqa: SIM118 -- the columns, by their names
    row = f"({', '.join(f'%s::{column.type.compile(dialect=POSTGRES)}' for column in ENTRIES.c)})"
    return (
        "WITH held AS (SELECT 1 FROM heads WHERE worker = %s AND seq = %s AND digest = %s"  # noqa: S608 -- see above
        f" AND ({VERSION}) = {SCHEMA_VERSION} FOR UPDATE),"
        f" added AS (INSERT INTO entries ({columns}) SELECT new.* FROM (VALUES {', '.join([row] * entries)}) AS new ({columns}), held"
        " ORDER BY new.seq RETURNING 1)"
        f" UPDATE heads SET seq = %s, digest = %s WHERE worker = %s AND (SELECT count(*) FROM added) = {entries}"
    )
