"""Resolving selectors over flows on PostgreSQL, under the contract of everything that does: by a reader, beside a writer."""

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from psycopg.sql import SQL, Identifier

from stateward.runtime.engine.snapshots import WorkspaceSnapshots
from stateward.store.database import open_store
from tests.contracts.damaged_snapshots import *  # noqa: F403 -- a contract is all its tests
from tests.contracts.damaged_snapshots import Put
from tests.contracts.snapshots import *  # noqa: F403 -- the same
from tests.contracts.snapshots import HERE, Kept

TABLES = "SELECT tablename FROM pg_tables WHERE schemaname = 'stateward' ORDER BY tablename"


@pytest.fixture
def url(begun: str) -> str:
    return begun


@pytest.fixture
def kept(url: str) -> Iterator[Kept]:
    with open_store(url, write=True, create=True) as writer, psycopg.connect(url, autocommit=True) as looking:
        writer.workspaces.ensure(HERE)

        def rows(table: str) -> list[tuple[Any, ...]]:
            """Give all rows with the transactions that wrote them, so that one that was written again shows."""
            return looking.execute(SQL("SELECT xmin::text, * FROM {}").format(Identifier("stateward", table))).fetchall()

        def stored() -> object:
            return {table: sorted(rows(table), key=repr) for (table,) in looking.execute(TABLES).fetchall()}

        with open_store(url, write=False) as reader:
            yield Kept(WorkspaceSnapshots(HERE.id, reader.flows), writer.flows, writer.workspaces, stored)


@pytest.fixture
def put(url: str) -> Put:
    def change(digest: str, canonical: bytes | None) -> None:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("ALTER TABLE stateward.definitions DISABLE TRIGGER ALL")
            if canonical is None:
                connection.execute("DELETE FROM stateward.definitions WHERE digest = %s", (digest,))
            else:
                connection.execute("UPDATE stateward.definitions SET canonical = %s WHERE digest = %s", (canonical, digest))

    return change
