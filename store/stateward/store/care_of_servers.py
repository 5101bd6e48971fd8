"""What can be found out of a store in PostgreSQL as a whole. That references hold is what the server itself sees to."""

from collections.abc import Iterator

from stateward.store import postgres_rules, read_through
from stateward.store.connection import Connection, Database
from stateward.store.migrations import frozen
from stateward.store.postgres_schema import held_rules, tables_of, version_of
from stateward.store.postgres_shape import differences_on_postgres
from stateward.store.schema import is_older


def version(connection: Connection) -> int:
    """Give its version."""
    return version_of(connection)


def backup(database: Database, version: int) -> str:
    """Say where the next copy of it would lie, unless one of those that are there holds the same."""
    from stateward.store.migrations.schema_backups import names  # noqa: PLC0415 -- loads alembic, for the one time it is needed

    def free(connection: Connection) -> str:
        return next((each for each in names(version) if not tables_of(connection, each)), "")

    return f"the schema `{database.read(free)}` of that database"


def findings(connection: Connection) -> tuple[int, tuple[str, ...]]:
    """Give its version, and say what is wrong with it."""
    connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")  # others may write meanwhile
    try:
        held = version_of(connection)
        return held, tuple(_findings(connection, held))
    finally:
        connection.execute("ROLLBACK")


def _findings(connection: Connection, version: int) -> Iterator[str]:
    different = tuple(differences_on_postgres(connection, version))
    yield from different
    rules = held_rules(connection)
    if is_older(version):
        broken = frozen.broken_rule(rules, {rule.name: rule.held for rule in frozen.postgres_rules(version)})
    else:
        broken = postgres_rules.broken_rule(rules)
    if broken is not None:
        yield broken
    if not different:  # what lacks a column cannot be read
        yield from read_through.faults(connection, version)
