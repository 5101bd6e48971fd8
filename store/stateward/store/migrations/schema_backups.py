"""The copy of a store in PostgreSQL that is made before it is migrated: the schema `stateward_v<version>_backup` of the same database.

It is a whole store of that version, rules included, which the program of that version opens once the schema has the name `stateward`.

Invariants: made in one transaction, so that it is whole or not there; never put over what lies there: a second one of other content gets
a number. What was written while it was made is found when a fingerprint of it is held against one of the store under a lock.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from graphlib import TopologicalSorter
from typing import Final, TypeAlias

from psycopg import errors
from sqlalchemy import Connection as Tables

from stateward.runtime.ports import Damaged, StoreUnavailable
from stateward.store.connection import Connection
from stateward.store.faults import RESTORE
from stateward.store.migrations import frozen, steps
from stateward.store.migrations.outcome import not_backed_up
from stateward.store.postgres_rules import SCHEMA
from stateward.store.postgres_schema import VERSION_TABLE, create_version, tables_of

BACKUPS_MAX: Final = 100
"""Of one store and version."""
Fingerprint: TypeAlias = Mapping[str, tuple[int, int]]
"""Of each table how many rows it has, and the sum of a hash of each."""
_REFERENCES: Final = """
SELECT f.relname, t.relname FROM pg_constraint AS c JOIN pg_class AS f ON f.oid = c.conrelid JOIN pg_class AS t ON t.oid = c.confrelid
WHERE c.contype = 'f' AND c.connamespace = %s::regnamespace
"""


@dataclass(frozen=True, slots=True)
class Copied:
    """A copy of a store: where it lies, whether it was made just now, and of what."""

    schema: str
    is_new: bool
    of: Fingerprint

    def forget(self, connection: Connection) -> None:
        """Drop it if it was made just now and turned out to be none of the store as it is."""
        if self.is_new:
            connection.execute(f"DROP SCHEMA {self.schema} CASCADE")


def names(version: int) -> Iterator[str]:
    """Give the schemas in which copies of a store of a version may lie, the first one first."""
    for number in range(1, BACKUPS_MAX + 1):
        yield f"{SCHEMA}_v{version}_backup" + ("" if number == 1 else f"_{number}")


def fingerprint(connection: Connection, schema: str, tables: Sequence[str]) -> Fingerprint:
    """Take the fingerprint of tables."""
    return {table: _fingerprint(connection, f'{schema}."{table}"') for table in tables}


def _fingerprint(connection: Connection, table: str) -> tuple[int, int]:
    sql = f"SELECT count(*), coalesce(sum(hashtextextended(each::text, 0)), 0)::text FROM {table} AS each"  # noqa: S608 -- a name of ours
    count, total = connection.execute(sql).fetchone()
    return count, int(total)


def back_up(connection: Connection, tables: Tables, name: str, version: int) -> Copied:
    """Copy the store of a version; a copy that is there and holds the same serves as well.

    To be called outside a transaction. Raises StoreUnavailable when no copy can be made, Damaged when the store lacks a table, and what
    the driver raises.
    """
    held = tables_of(connection, SCHEMA)
    for schema in names(version):
        there = tables_of(connection, schema)
        if not there:
            return Copied(schema, is_new=True, of=_copy(connection, tables, name, version, schema))
        if VERSION_TABLE in there and there <= held:
            found = fingerprint(connection, schema, sorted(there))
            if found == fingerprint(connection, SCHEMA, sorted(there)):
                return Copied(schema, is_new=False, of=found)
    raise StoreUnavailable(f"{name} has {BACKUPS_MAX} copies of store version {version} already", "drop the schemas that are not needed")


def _copy(connection: Connection, tables: Tables, name: str, version: int, schema: str) -> Fingerprint:
    connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")  # one moment of the store, without holding anybody up
    try:
        created = _build(connection, tables, version, schema)
        _fill(connection, name, schema, created)
        for rule in frozen.postgres_rules(version):
            for statement in rule.statements(schema):
                connection.execute(statement)
        create_version(connection, version)
        found = fingerprint(connection, schema, sorted((*created, VERSION_TABLE)))
        connection.execute("COMMIT")
    except errors.InsufficientPrivilege as problem:
        connection.execute("ROLLBACK")
        why = f"this role may not create the schema `{schema}` ({str(problem).splitlines()[0]})"
        raise not_backed_up(name, version, why, "grant the role CREATE on that database") from problem
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    return found


def _build(connection: Connection, tables: Tables, version: int, schema: str) -> set[str]:
    (there,) = connection.execute("SELECT to_regnamespace(%s) IS NOT NULL", (schema,)).fetchone()
    if not there:  # it may be, empty, for a role that may make none
        connection.execute(f"CREATE SCHEMA {schema}")
    connection.execute(f"SET LOCAL search_path = {schema}")
    steps.run(tables, steps.BASE, version)
    return tables_of(connection, schema)


def _fill(connection: Connection, name: str, schema: str, tables: set[str]) -> None:
    missing = sorted(tables - tables_of(connection, SCHEMA))
    if missing:
        raise Damaged(f"{name} is damaged: the table `{missing[0]}` is missing", RESTORE)
    for table in _in_order(connection, schema, tables):
        connection.execute(f'INSERT INTO {schema}."{table}" SELECT * FROM {SCHEMA}."{table}"')  # noqa: S608 -- names of ours


def _in_order(connection: Connection, schema: str, tables: set[str]) -> Iterator[str]:
    """Give tables so that each comes after those that it refers to."""
    order: TopologicalSorter[str] = TopologicalSorter(dict.fromkeys(sorted(tables), ()))
    for table, referred in connection.execute(_REFERENCES, (schema,)).fetchall():
        order.add(table, referred)
    return iter(order.static_order())
