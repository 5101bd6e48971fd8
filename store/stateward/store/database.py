"""Opening a store: the one door to everything that lies in it.

What lies in it besides the logs is loaded when it is asked for: most who open a store want one of its parts.
"""

from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self

from stateward.runtime.ports.faults import StoreUnavailable
from stateward.store.address import is_url
from stateward.store.connection import Database
from stateward.store.seal import Seals
from stateward.store.sessions import SqlSessionStore
from stateward.store.sqlite import SqliteDatabase
from stateward.store.workspace import SqlWorkspaces

if TYPE_CHECKING:
    from stateward.runtime.ports import (
        FlowStore,
        LeaseStore,
        Sealer,
        SessionStore,
        StoredLogs,
        TokenStore,
        Transcripts,
        Witness,
        Workspaces,
    )
    from stateward.store.postgres import PostgresDatabase


class Store:
    """An open store; leaving its context closes it. May be shared between threads, not between processes."""

    def __init__(self, database: Database, sessions: SqlSessionStore) -> None:
        self._database = database
        self.place: Final = database.place
        self.migrated: Final = database.migrated
        """What was done to it, if it was migrated when it was opened."""
        self.sessions: Final[SessionStore] = sessions
        self.stored: Final[StoredLogs] = sessions
        self.workspaces: Final[Workspaces] = SqlWorkspaces(database)

    @cached_property
    def leases(self) -> "LeaseStore":
        """Who verifies what, and until when."""
        from stateward.store.leases import SqlLeaseStore  # noqa: PLC0415 -- as the module says

        return SqlLeaseStore(self._database)

    @cached_property
    def transcripts(self) -> "Transcripts":
        """What went between verifiers and their models."""
        from stateward.store.transcripts import SqlTranscripts  # noqa: PLC0415 -- as the module says

        return SqlTranscripts(self._database)

    @cached_property
    def flows(self) -> "FlowStore":
        """The flows of Workspaces."""
        from stateward.store.flows import SqlFlowStore  # noqa: PLC0415 -- as the module says

        return SqlFlowStore(self._database)

    @cached_property
    def tokens(self) -> "TokenStore":
        """The tokens of the services of Workspaces."""
        from stateward.store.tokens import SqlTokens  # noqa: PLC0415 -- as the module says

        return SqlTokens(self._database)

    def close(self) -> None:
        """Close it."""
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


def open_store(
    place: Path | str, *, write: bool, create: bool = False, sealer: "Sealer | None" = None, witness: "Witness | None" = None
) -> Store:
    """Open the store that lies in a file, or in the database of PostgreSQL that a URL names (`postgresql://…`).

    For reading, nothing is ever created, migrated or written. For writing, a store of an older version is migrated, `create` makes the
    store where it is missing (a file and the folders it lies in, readable for this user only; or the tables in a database that is there),
    and opening checks that the store still guards what is written once. A `sealer` seals what is appended and checks what is read; for
    reading, entries under a key that it does not know are given as they are.

    Raises StoreUnavailable when it cannot be opened, StoreNewer when a newer program wrote it, StoreOlder when an older one did and it is
    to be read, Damaged when it lacks a table or a guard.
    """
    seals = Seals(sealer, unknown_keys_pass=not write)
    database = open_database(place, write=write, create=create)
    if isinstance(database, SqliteDatabase):
        return Store(database, SqlSessionStore(database, seals, witness))
    from stateward.store.postgres_sessions import PostgresSessionStore  # noqa: PLC0415 -- its driver comes with an extra

    return Store(database, PostgresSessionStore(database, seals, witness))


def open_database(place: Path | str, *, write: bool, create: bool = False, as_it_is: bool = False) -> "SqliteDatabase | PostgresDatabase":
    """Open what `open_store` opens, without the ports; `as_it_is` lets a store be looked at that is of an older version, or lacks a table.

    Raises what `open_store` raises.
    """
    assert write or not create, "a reader creates nothing"
    database = _database(place, write=write, create=create, as_it_is=as_it_is)
    try:
        database.open()
    except BaseException:
        database.close()
        raise
    return database


def _database(place: Path | str, *, write: bool, create: bool, as_it_is: bool) -> "SqliteDatabase | PostgresDatabase":
    if not is_url(place):
        return SqliteDatabase(Path(place), write=write, create=create, as_it_is=as_it_is)
    try:
        from stateward.store.postgres import PostgresDatabase  # noqa: PLC0415 -- the driver comes with an extra
    except ModuleNotFoundError as missing:
        if missing.name != "psycopg":
            raise
        raise StoreUnavailable("a store on PostgreSQL needs the package psycopg", "install `stateward[postgres]`") from missing
    return PostgresDatabase(str(place), write=write, create=create, as_it_is=as_it_is)
