"""Looking after a store as a whole: which version it has, what a migration would do, whether it is sound.

Invariant: only `migrate` writes. What looks takes a store as it is, also where a command that uses it would refuse.
"""

from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from stateward.runtime.ports import Damaged
from stateward.store import care_of_files
from stateward.store.address import place_name
from stateward.store.database import open_database
from stateward.store.migrations.outcome import Migrated
from stateward.store.schema import SCHEMA_VERSION, is_older
from stateward.store.sqlite import SqliteDatabase


@dataclass(frozen=True, slots=True)
class StoreState:
    """A store's version, and what opening it for writing would do to it."""

    place: str
    """Fit for a message: it holds no password."""
    version: int
    known: int
    """The version that this program writes."""
    steps: tuple[str, ...]
    """What a migration would do, version by version; none when it has nothing to do."""
    backup: str
    """Where the copy would lie that a migration makes first; empty when it has nothing to do."""


@dataclass(frozen=True, slots=True)
class Checked:
    """What is wrong with a store: nothing, when there are no findings."""

    place: str
    version: int
    """0 when it could not be read."""
    findings: tuple[str, ...]


def look(place: Path | str) -> StoreState:
    """Say which version a store has. Raises what opening it for reading raises, but for an older version or a missing table."""
    with closing(open_database(place, write=False, as_it_is=True)) as database:
        if isinstance(database, SqliteDatabase):
            version = database.read(care_of_files.version)
            backup = care_of_files.backup(database.path, version) if is_older(version) else ""
        else:
            from stateward.store import care_of_servers  # noqa: PLC0415 -- its driver comes with an extra

            version = database.read(care_of_servers.version)
            backup = care_of_servers.backup(database, version) if is_older(version) else ""
        return StoreState(database.place, version, SCHEMA_VERSION, _steps(version), backup)


def _steps(version: int) -> tuple[str, ...]:
    if not is_older(version):
        return ()
    from stateward.store.migrations.steps import scripts  # noqa: PLC0415 -- loads alembic, for the one time it is needed

    return tuple((script.doc or script.revision).splitlines()[0] for script in scripts(version, SCHEMA_VERSION))


def migrate(place: Path | str) -> Migrated | None:
    """Bring a store to the present version; None when it is there already. Raises what opening it for writing raises."""
    with closing(open_database(place, write=True)) as database:
        return database.migrated


def check(place: Path | str) -> Checked:
    """Check a store as a whole: tables, rules, and in a file pages and references. Raises StoreUnavailable and StoreNewer."""
    try:
        with closing(open_database(place, write=False, as_it_is=True)) as database:
            if isinstance(database, SqliteDatabase):
                version, findings = database.read(care_of_files.findings)
            else:
                from stateward.store import care_of_servers  # noqa: PLC0415 -- its driver comes with an extra

                version, findings = database.read(care_of_servers.findings)
            return Checked(database.place, version, findings)
    except Damaged as problem:
        return Checked(place_name(place), 0, (problem.message,))
