"""Migrating a store in PostgreSQL.

Invariants: see the package. Who migrates holds a lock by advice from before the version is looked at until the end, so that one does; then
the table that holds the version, which everyone reads who writes, before anything is compared or changed: whoever began to write before
has ended by then, and whoever comes later finds the new version.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from typing import Final

import psycopg
from sqlalchemy import Connection as Tables

from stateward.runtime.ports import Damaged, Fault, OutcomeUnknown, StoreUnavailable
from stateward.store import read_through
from stateward.store.address import without_passwords
from stateward.store.faults import RESTORE
from stateward.store.migrations import frozen, steps
from stateward.store.migrations.outcome import AS_IT_WAS, Migrated, altered, bug, not_migrated
from stateward.store.migrations.schema_backups import Fingerprint, back_up, fingerprint
from stateward.store.postgres import PostgresConnection
from stateward.store.postgres_faults import AGAIN, first_line, unavailable
from stateward.store.postgres_rules import SCHEMA
from stateward.store.postgres_schema import (
    VERSION_TABLE,
    create_rules,
    held_rules,
    require_rules,
    require_tables,
    standing,
    tables_of,
    version_of,
)
from stateward.store.postgres_shape import require_shape
from stateward.store.schema import APPLICATION_ID, SCHEMA_VERSION, Standing, unguarded

LOCK_ATTEMPTS_MAX: Final = 60
"""Of taking the lock by advice, for as long each as the server waits for one: somebody else may migrate a large store meanwhile."""
ATTEMPTS_MAX: Final = 6
"""Of migrating, where others wrote after the copy was made, or stood in the way."""
PAUSE_SECONDS: Final = 0.05


class Migration:
    """The migration of one store, on a connection of its own."""

    def __init__(self, connection: PostgresConnection, tables: Tables, name: str, url: str) -> None:
        self._connection: Final = connection
        self._tables: Final = tables
        self._name: Final = name
        self._url: Final = url

    def run(self) -> Migrated | None:
        """Bring the store to the present version; None when somebody else did meanwhile."""
        with self._alone():
            for attempt in range(ATTEMPTS_MAX):
                if standing(self._connection, self._name) is not Standing.OLDER:
                    return None
                migrated = self._tried(version_of(self._connection))
                if migrated is not None:
                    return migrated
                time.sleep(PAUSE_SECONDS * attempt)
        raise StoreUnavailable(f"{self._name} is written to so often that it cannot be migrated", "end the programs that write to it")

    @contextmanager
    def _alone(self) -> Iterator[None]:
        for _ in range(LOCK_ATTEMPTS_MAX - 1):
            try:
                self._connection.execute("SELECT pg_advisory_lock(%s)", (APPLICATION_ID,))
                break
            except AGAIN:
                continue
        else:
            self._connection.execute("SELECT pg_advisory_lock(%s)", (APPLICATION_ID,))
        yield  # it is let go of with the session

    def _require_rules(self, version: int) -> None:
        expected = {rule.name: rule.held for rule in frozen.postgres_rules(version)}
        broken = frozen.broken_rule(held_rules(self._connection), expected)
        if broken is not None:
            raise unguarded(self._name, broken, AS_IT_WAS)

    def _require_as_written(self, version: int) -> None:
        self._connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")  # others may write meanwhile
        try:
            found = read_through.faults(self._connection, version)
        finally:
            self._connection.roll_back()
        if found:
            raise altered(self._name, version, found)

    def _tried(self, version: int) -> Migrated | None:
        """Migrate; None when somebody wrote after the store was copied, or held what was needed, and nothing was changed."""
        self._require_rules(version)
        backup = ""
        try:
            self._require_as_written(version)
            copied = back_up(self._connection, self._tables, self._name, version)
            backup = f"the schema `{copied.schema}` of that database"
            self._connection.execute("BEGIN")
            if not self._changed(version, copied.of):
                self._connection.roll_back()
                copied.forget(self._connection)
                return None
            self._commit(backup)
        except (psycopg.Error, Damaged, *steps.FAILURES) as problem:
            self._connection.roll_back()
            said = steps.cause(problem)
            if isinstance(said, AGAIN):
                return None
            fault = self._fault(said)
            raise (not_migrated(self._name, version, backup, fault) if backup else fault) from problem
        except BaseException:
            self._connection.roll_back()
            raise
        return Migrated(version, SCHEMA_VERSION, backup)

    def _changed(self, version: int, copied: Fingerprint) -> bool:
        """Do all that belongs to a migration, but for the commit; false when the store is no longer what was copied."""
        run = self._connection.execute
        run(f"LOCK TABLE {SCHEMA}.{VERSION_TABLE} IN ACCESS EXCLUSIVE MODE")
        if fingerprint(self._connection, SCHEMA, tuple(copied)) != copied:
            return False
        self._require_rules(version)
        for rule in frozen.postgres_rules(version):
            run(f"DROP TRIGGER {rule.name} ON {SCHEMA}.{rule.table}")
            run(f"DROP FUNCTION {SCHEMA}.{rule.name}()")
        steps.run(self._tables, version, SCHEMA_VERSION)
        create_rules(self._connection)
        run(f"UPDATE {SCHEMA}.{VERSION_TABLE} SET version = {SCHEMA_VERSION}")  # noqa: S608 -- constants of this program
        self._look_over({table: count for table, (count, _) in copied.items()})
        return True

    def _look_over(self, before: Mapping[str, int]) -> None:
        """Refuse what is not a whole store of the present version with every row that there was."""
        require_tables(self._connection, self._name)
        require_rules(self._connection, self._name)
        require_shape(self._connection, self._name, SCHEMA_VERSION)
        there = tables_of(self._connection, SCHEMA)
        for table, count in before.items():
            sql = f'SELECT count(*) FROM {SCHEMA}."{table}"'  # noqa: S608 -- a name of ours
            (after,) = self._connection.execute(sql).fetchone() if table in there else (0,)
            if after != count:
                raise Damaged(f"`{table}` would have {after} rows in place of {count}", RESTORE)

    def _commit(self, backup: str) -> None:
        try:
            self._connection.execute("COMMIT")
        except psycopg.Error as problem:
            if not self._connection.driver.broken:
                raise
            said = without_passwords(first_line(problem), self._url)
            message = f"the answer to the commit of a migration of {self._name} was lost ({said}); a copy of what it was is in {backup}"
            raise OutcomeUnknown(message, "try again: it is looked at anew") from problem

    def _fault(self, problem: BaseException) -> Fault:
        if isinstance(problem, Fault):
            return problem
        if not isinstance(problem, psycopg.Error):
            return bug(problem)
        try:
            return unavailable(self._url, problem)
        except psycopg.Error:  # what it does not know is a bug of ours
            return bug(problem)


def migrate(connect: Callable[[], PostgresConnection], name: str, url: str) -> Migrated | None:
    """Bring the store in a database to the present version; None when somebody else did meanwhile.

    `connect` opens a connection that nothing else uses. Raises StoreNewer, and StoreUnavailable or Damaged when the store cannot be
    migrated: then it is as it was. Raises OutcomeUnknown when the answer to the commit was lost.
    """
    connection = connect()
    try:
        with closing(connection.driver), steps.taken_over(connection.driver, "postgresql+psycopg://") as tables:
            return Migration(connection, tables, name, url).run()
    except psycopg.Error as problem:
        raise unavailable(url, problem) from problem
    except steps.FAILURES as problem:
        raise bug(steps.cause(problem)) from problem
