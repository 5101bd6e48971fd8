"""Migrating a store in a file.

Invariants: see the package. The write lock is that of SQLite, taken with BEGIN IMMEDIATE and held until the end; the copy is made by a
second connection, which reads what is committed. An older program that has the store open finds the new version at its next write.
"""

import sqlite3
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

from sqlalchemy import Connection

from stateward.runtime.ports import Damaged, Fault, OutcomeUnknown
from stateward.store import read_through
from stateward.store.faults import FULL, RESTORE, code_of, is_bug, is_busy, unavailable
from stateward.store.migrations import frozen, steps
from stateward.store.migrations.file_backups import back_up
from stateward.store.migrations.outcome import AS_IT_WAS, Migrated, altered, bug, not_migrated
from stateward.store.schema import (
    SCHEMA_VERSION,
    Standing,
    create_triggers,
    held_triggers,
    require_tables,
    require_triggers,
    standing,
    unguarded,
    version_of,
)
from stateward.store.shape import require_shape
from stateward.store.sqlite import lenient_text

WAIT_SECONDS: Final = 1.0
"""How long SQLite itself waits for the write lock, each time."""
ATTEMPTS_MAX: Final = 600
"""Of taking the lock: somebody else may migrate a large store meanwhile."""
PAUSE_SECONDS: Final = 0.005


def migrate(path: Path) -> Migrated | None:
    """Bring the store in a file to the present version; None when somebody else did meanwhile.

    Raises StoreNewer, and StoreUnavailable or Damaged when it cannot be migrated: then it is as it was. Raises OutcomeUnknown when the
    answer to the commit was lost.
    """
    try:
        with closing(_connected(path)) as driver, steps.taken_over(driver, "sqlite://") as connection, _locked(driver):
            if standing(driver, path) is not Standing.OLDER:
                return None
            return _migrated(driver, connection, path)
    except sqlite3.Error as problem:
        raise unavailable(path, problem) from problem


def _connected(path: Path) -> sqlite3.Connection:
    driver = sqlite3.connect(f"{path.as_uri()}?mode=rw", timeout=WAIT_SECONDS, isolation_level=None, check_same_thread=False, uri=True)
    driver.text_factory = lenient_text
    # A step that makes a table anew drops the old one, and what refers to it refers to the new one after: looked over at the end.
    for setting in ("synchronous = FULL", "fullfsync = ON", "foreign_keys = OFF", "trusted_schema = OFF", "secure_delete = ON"):
        driver.execute(f"PRAGMA {setting}")
    return driver


@contextmanager
def _locked(driver: sqlite3.Connection) -> Iterator[None]:
    """Hold the write lock, and undo at the end what was not committed."""
    for _ in range(ATTEMPTS_MAX - 1):
        try:
            driver.execute("BEGIN IMMEDIATE")
            break
        except sqlite3.OperationalError as problem:
            if not is_busy(problem):
                raise
        time.sleep(PAUSE_SECONDS)
    else:
        driver.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        if driver.in_transaction:
            driver.execute("ROLLBACK")


def _migrated(driver: sqlite3.Connection, connection: Connection, path: Path) -> Migrated:
    version = version_of(driver)
    broken = frozen.broken_rule(held_triggers(driver), frozen.sqlite_rules(version))
    if broken is not None:
        raise unguarded(str(path), broken, AS_IT_WAS)
    found = read_through.faults(driver, version)
    if found:
        raise altered(str(path), version, found)
    backup = back_up(path, version)
    try:
        _change(driver, connection, path, version)
        _commit(driver, path, backup)
    except (sqlite3.Error, Damaged, *steps.FAILURES) as problem:
        raise not_migrated(str(path), version, str(backup), _fault(path, problem)) from problem
    return Migrated(version, SCHEMA_VERSION, str(backup))


def _change(driver: sqlite3.Connection, connection: Connection, path: Path, version: int) -> None:
    before = _counts(driver)
    for rule in frozen.sqlite_rules(version):
        driver.execute(f"DROP TRIGGER {rule}")
    steps.run(connection, version, SCHEMA_VERSION)
    create_triggers(driver)
    driver.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
    _look_over(driver, path, before)


def _look_over(driver: sqlite3.Connection, path: Path, before: Mapping[str, int]) -> None:
    """Refuse what is not a whole store of the present version with every row that there was."""
    require_tables(driver, path)
    require_triggers(driver, path)
    require_shape(driver, path, SCHEMA_VERSION)
    after = _counts(driver)
    for table, count in before.items():
        if after.get(table) != count:
            raise Damaged(f"`{table}` would have {after.get(table, 0)} rows in place of {count}", RESTORE)
    (found,) = driver.execute("PRAGMA integrity_check(1)").fetchone()
    if found != "ok":
        raise Damaged(f"its pages would not fit together ({' '.join(str(found).split())})", RESTORE)
    stray = driver.execute("PRAGMA foreign_key_check").fetchone()
    if stray is not None:
        raise Damaged(f"a row of `{stray[0]}` would refer to none of `{stray[2]}`", RESTORE)


def _counts(driver: sqlite3.Connection) -> Mapping[str, int]:
    tables = [name for (name,) in driver.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'")]
    return {name: driver.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0] for name in tables}  # noqa: S608 -- names of tables


def _commit(driver: sqlite3.Connection, path: Path, backup: Path) -> None:
    try:
        driver.execute("COMMIT")
    except sqlite3.Error as problem:
        if driver.in_transaction or code_of(problem) == FULL:
            raise  # undone with the transaction, or there was no room for its last page, which would have been the commit
        message = f"the answer to the commit of a migration of {path} was lost ({problem}); a copy of what it was is in {backup}"
        raise OutcomeUnknown(message, "try again: it is looked at anew") from problem


def _fault(path: Path, problem: Exception) -> Fault:
    if isinstance(problem, Fault):
        return problem
    said = steps.cause(problem)
    if isinstance(said, sqlite3.Error) and code_of(said) is not None and not is_bug(said):
        return unavailable(path, said)
    return bug(said)
