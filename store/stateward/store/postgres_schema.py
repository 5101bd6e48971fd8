"""What a database of PostgreSQL says of the store in it, how one is made, and what is checked of one that is.

Invariants: a store is everything in the schema `stateward`, and holds its version in `store_version`; all of it is made in one
transaction, so there is no store yet or a whole one, and of several who begin it at once one does. A version that this program does not
know is refused before anything is written; one that an older program wrote is migrated by whoever opens it for writing (`migrations`),
and refused to whoever reads.
"""

from typing import Final

from sqlalchemy.schema import CreateIndex, CreateTable

from stateward.runtime.ports import Damaged, StoreUnavailable
from stateward.store.compiling import POSTGRES_TABLES
from stateward.store.connection import Connection
from stateward.store.faults import RESTORE
from stateward.store.postgres_rules import HELD, RULES, SCHEMA, broken_rule
from stateward.store.schema import APPLICATION_ID, SCHEMA_VERSION, Standing, is_older, other_version, unguarded
from stateward.store.tables import METADATA

SERVER_VERSION_MIN: Final = 140000
VERSION_TABLE: Final = "store_version"
VERSION: Final = f"SELECT version FROM {SCHEMA}.{VERSION_TABLE}"  # noqa: S608 -- constants of this program


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
    tables = tables_of(connection)
    if VERSION_TABLE in tables:
        version = version_of(connection)
        if version == SCHEMA_VERSION:
            return Standing.STORE
        if is_older(version):
            return Standing.OLDER
        raise other_version(name, version)
    if tables:
        raise StoreUnavailable(f"the schema `{SCHEMA}` in {name} is that of another program", "name another database")
    return Standing.EMPTY


def version_of(connection: Connection) -> int:
    """Give the version that a store holds."""
    (version,) = connection.execute(VERSION).fetchone() or (0,)
    assert isinstance(version, int)
    return version


def require_same_version(connection: Connection, name: str) -> None:
    """Refuse a store of another version."""
    version = version_of(connection)
    if version != SCHEMA_VERSION:
        raise other_version(name, version)


def create_schema(connection: Connection, name: str) -> None:
    """Make a store unless somebody was quicker. To be called inside a transaction."""
    connection.execute("SELECT pg_advisory_xact_lock(%s)", (APPLICATION_ID,))
    if standing(connection, name) is not Standing.EMPTY:
        return
    connection.execute(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")
    for table in METADATA.sorted_tables:
        connection.execute(str(CreateTable(table).compile(dialect=POSTGRES_TABLES)))
        for index in sorted(table.indexes, key=lambda each: str(each.name)):
            connection.execute(str(CreateIndex(index).compile(dialect=POSTGRES_TABLES)))
    create_rules(connection)
    create_version(connection, SCHEMA_VERSION)


def create_rules(connection: Connection) -> None:
    """Make the rules of immutability, on tables that have none."""
    for rule in RULES:
        for statement in rule.statements:
            connection.execute(statement)


def create_version(connection: Connection, version: int) -> None:
    """Say in a schema which version of the store is in it."""
    connection.execute(f"CREATE TABLE {VERSION_TABLE} (version INTEGER NOT NULL)")
    connection.execute(f"INSERT INTO {VERSION_TABLE} VALUES ({version})")  # noqa: S608 -- a constant of this program


def require_tables(connection: Connection, name: str) -> None:
    """Refuse a store that lacks a table."""
    missing = sorted(METADATA.tables.keys() - tables_of(connection))
    if missing:
        raise Damaged(f"{name} is damaged: the table `{missing[0]}` is missing", RESTORE)


def require_rules(connection: Connection, name: str) -> None:
    """Refuse a store whose rules of immutability are not exactly ours."""
    broken = broken_rule(held_rules(connection))
    if broken is not None:
        raise unguarded(name, broken)


def held_rules(connection: Connection) -> dict[str, tuple[str, str, str]]:
    """Give the rules that a database holds, by their names: trigger, how it is enabled, body of its function."""
    held: dict[str, tuple[str, str, str]] = {}
    for rule, trigger, enabled, body in connection.execute(HELD).fetchall():
        held[f"{rule} besides" if rule in held else rule] = (trigger, enabled, body)  # a name may be that of one on each table
    return held


def tables_of(connection: Connection, schema: str = SCHEMA) -> set[str]:
    """Name the tables of a schema; none when there is no such schema."""
    rows = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = %s", (schema,)).fetchall()
    return {name for (name,) in rows}
