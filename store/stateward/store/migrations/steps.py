"""The scripts of alembic, in their order, run in a transaction of ours.

Invariant: alembic is told of no table of its own and commits nothing. Which version a store has is said by the store's header, which
whoever runs the scripts writes in the same transaction (docs/decisions/migrations.md).
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

import alembic.util
from alembic.operations import Operations
from alembic.runtime.migration import MigrationContext
from alembic.script import Script, ScriptDirectory
from sqlalchemy import Connection, StaticPool, create_engine
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

BASE: Final = 0
"""The version of an empty database."""
FOLDER: Final = Path(__file__).parent
FAILURES: Final = (SQLAlchemyError, alembic.util.CommandError)
"""How a script fails, besides by what the driver raises."""


def scripts(start: int, end: int) -> tuple[Script, ...]:
    """Give the scripts that lead from one version to a later one, in the order in which they are run."""
    directory = ScriptDirectory(str(FOLDER), version_locations=[str(FOLDER / "versions")])
    lower = "base" if start == BASE else str(start)
    return tuple(reversed([each for each in directory.iterate_revisions(str(end), lower) if each.revision != lower]))


def run(connection: Connection, start: int, end: int) -> None:
    """Bring the tables from one version to a later one. To be called inside a transaction; raises FAILURES."""
    operations = Operations(MigrationContext.configure(connection))
    for script in scripts(start, end):
        script.module.upgrade(operations)


@contextmanager
def taken_over(driver: Any, dialect: str) -> Iterator[Connection]:
    """Give a connection of the driver's as one of SQLAlchemy's. It is to be in no transaction, before and after."""
    opened: Callable[[], Any] = lambda: driver  # noqa: E731 -- its type says more than a function would
    engine = create_engine(dialect, creator=opened, poolclass=StaticPool, pool_reset_on_return=None)
    connection = engine.connect()
    try:
        yield connection
    finally:
        with suppress(DBAPIError):  # what broke is closed by whoever opened it
            connection.close()


def cause(problem: Exception) -> BaseException:
    """Give what the driver raised, where SQLAlchemy put it into an error of its own."""
    return problem.orig if isinstance(problem, DBAPIError) and problem.orig is not None else problem
