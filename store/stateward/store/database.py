"""Opening a store: the one door to everything that lies in it.

Importing this loads SQLModel; whoever needs no store does not import it.
"""

from pathlib import Path
from types import TracebackType
from typing import Final, Self

from stateward.runtime.ports import FlowStore, LeaseStore, Sealer, SessionStore, StoredLogs, Witness, Workspaces
from stateward.store.leases import SqlLeaseStore
from stateward.store.seal import Seals
from stateward.store.sessions import NO_SEALS, SqlSessionStore
from stateward.store.sqlite import SqliteDatabase
from stateward.store.workspace import SqlFlowStore, SqlWorkspaces


class Store:
    """An open store; leaving its context closes it. May be shared between threads, not between processes."""

    def __init__(self, database: SqliteDatabase, seals: Seals = NO_SEALS, witness: Witness | None = None) -> None:
        self._database = database
        self.path: Final = database.path
        sessions = SqlSessionStore(database, seals, witness)
        self.sessions: Final[SessionStore] = sessions
        self.stored: Final[StoredLogs] = sessions
        self.leases: Final[LeaseStore] = SqlLeaseStore(database)
        self.flows: Final[FlowStore] = SqlFlowStore(database)
        self.workspaces: Final[Workspaces] = SqlWorkspaces(database)

    def close(self) -> None:
        """Close it."""
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


def open_store(path: Path, *, write: bool, create: bool = False, sealer: Sealer | None = None, witness: Witness | None = None) -> Store:
    """Open the store that lies in the file `path`.

    For reading, nothing is ever created, migrated or written. For writing, `create` makes the file and the folders it lies in where
    they are missing, readable for this user only, and opening checks that the store still guards what is written once. A `sealer` seals
    what is appended and checks what is read; for reading, entries under a key that it does not know are given as they are.

    Raises StoreUnavailable when it cannot be opened, StoreNewer when a newer program wrote it, Damaged when it lacks a table or a guard.
    """
    assert write or not create, "a reader creates nothing"
    database = SqliteDatabase(path, write=write, create=create)
    database.open()
    return Store(database, Seals(sealer, unknown_keys_pass=not write), witness)
