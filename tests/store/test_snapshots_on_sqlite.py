"""Resolving selectors over flows on SQLite, under the contract of everything that does: by a reader, beside a writer."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from stateward.runtime.engine.snapshots import WorkspaceSnapshots
from stateward.store.database import open_store
from tests.contracts.damaged_snapshots import *  # noqa: F403 -- a contract is all its tests
from tests.contracts.damaged_snapshots import Put
from tests.contracts.snapshots import *  # noqa: F403 -- the same
from tests.contracts.snapshots import HERE, Kept
from tests.store.hands import put_on_sqlite


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


@pytest.fixture
def kept(path: Path) -> Iterator[Kept]:
    with open_store(path, write=True, create=True) as writer, closing(sqlite3.connect(path)) as looking:
        writer.workspaces.ensure(HERE)

        def stored() -> object:
            return list(looking.iterdump()), looking.execute("PRAGMA data_version").fetchall()

        with open_store(path, write=False) as reader:
            yield Kept(WorkspaceSnapshots(HERE.id, reader.flows), writer.flows, writer.workspaces, stored)


@pytest.fixture
def put(path: Path) -> Put:
    return lambda digest, canonical: put_on_sqlite(path, digest, canonical)
