"""What a database of PostgreSQL says of the store in it, how one is made, and what is checked of one that is.

Invariants: a store is everything in the schema `stateward`, and holds its version in `store_version`; all of it is made in one
transaction, so there is no store yet or a whole one, and of several who begin it at once one does. A version that this program does not
know is refused before anything is written.
"""

from typing import Final

from sqlalchemy.schema import CreateIndex, CreateTable

from stateward.runtime.ports import Damaged, StoreNewer, StoreUnavailable
from stateward.store.connection import Connection
from stateward.store.faults import RESTORE
from stateward.store.postgres_rules import HELD, RULES, SCHEMA, broken_rule
from stateward.store.prepared import POSTGRES_TABLES
from stateward.store.schema import APPLICATION_ID, SCHEMA_VERSION, Standing
from stateward.store.tables import METADATA

SERVER_VERSION_MIN: Final = 140000
_VERSION_TABLE: Final = "store_version"
VERSION: Final = f"SELECT version FROM {SCHEMA}.{_VERSION_TABLE}"  # noqa: S608 -- constants of this program


def require_server(connection: Connection, name: str) -> None:
    """Refuse a server on which a store cannot be."""
    version, encoding = connection.execute(
        "SELECT current_setting('server_version_num')::int, current_setting('server_encoding')"
    ).fetchone()
    if version < SERVER_VERSION_MIN:
        raise StoreUnavailable(f"{name} is PostgreSQL {version // 10000}, a store needs 14 or later", "name a newer server")
    if encoding != "UTF8":
        raise StoreUnavailable(f"{name} keeps texts as {encoding}, a store needs UTF8", "create a database with the encoding UTF8")


def standing(connection: Connection, name: str) -> Standing:
    """Say what a database is. Raises StoreNewer for a newer store and StoreUnavailable for a schema of somebody else."""
    tables = _tables(connection)
    if _VERSION_TABLE in tables:
        require_same_version(connection, name)
        return Standing.STORE
    if tables:
        raise StoreUnavailable(f"the schema `{SCHEMA}` in {name} is that of another program", "name another database")
    return Standing.EMPTY


def require_same_version(connection: Connection, name: str) -> None:
    """Refuse a store of another version."""
    (version,) = connection.execute(VERSION).fetchone() or (0,)
    if version > SCHEMA_VERSION:
        raise StoreNewer(
            f"{name} was written by a newer stateward: its store version is {version}, this program knows {SCHEMA_VERSION}",
            "use the stateward that wrote it, or a newer one",
        )
    if version != SCHEMA_VERSION:
        raise StoreUnavailable(f"{name} has store version {version}, which no stateward ever wrote", RESTORE)


def create_schema(connection: Connection, name: str) -> None:
    """Make a store unless somebody was quicker. To be called inside a transaction."""
    connection.execute("SELECT pg_advisory_xact_lock(%s)", (APPLICATION_ID,))
    if standing(connection, name) is Standing.STORE:
        return
    connection.execute(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")
    for table in METADATA.sorted_tables:
        connection.execute(str(CreateTable(table).compile(dialect=POSTGRES_TABLES)))
        for index in sorted(table.indexes, key=lambda each: str(each.name)):
            connection.execute(str(CreateIndex(index).compile(dialect=POSTGRES_TABLES)))
    for rule in RULES:
        for statement in rule.statements:
            connection.execute(statement)
    connection.execute(f"CREATE TABLE {_VERSION_TABLE} (version INTEGER NOT NULL)")
    connection.execute(f"INSERT INTO {_VERSION_TABLE} VALUES ({SCHEMA_VERSION})")  # noqa: S608 -- constants of this program


def require_tables(connection: Connection, name: str) -> None:
    """Refuse a store that lacks a table."""
    missing = sorted(METADATA.tables.keys() - _tables(connection))
    if missing:
        raise Damaged(f"{name} is damaged: the table `{missing[0]}` is missing", RESTORE)


def require_rules(connection: Connection, name: str) -> None:
    """Refuse a store whose rules of immutability are not exactly ours."""
    held = {rule: (trigger, enabled, body) for rule, trigger, enabled, body in connection.execute(HELD).fetchall()}
    broken = broken_rule(held)
    if broken is not None:
        raise Damaged(f"{name} no longer guards what it holds: {broken}", "restore the store from a backup, or read it only")


def _tables(connection: Connection) -> set[str]:
    rows = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = %s", (SCHEMA,)).fetchall()
    return {name for (name,) in rows}
