"""Resolving selectors by a service over a real socket, under the contract of everything that does."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from stateward.store.database import open_store
from tests.contracts.damaged_snapshots import *  # noqa: F403 -- a contract is all its tests
from tests.contracts.damaged_snapshots import Put
from tests.contracts.snapshots import *  # noqa: F403 -- the same
from tests.contracts.snapshots import HERE, Kept
from tests.remote.services import running
from tests.store.hands import put_on_sqlite


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


@pytest.fixture
def kept(path: Path) -> Iterator[Kept]:
    with (
        running(path, HERE.id) as service,
        service.client("ada", "resolve") as client,
        open_store(path, write=True) as writer,
        closing(sqlite3.connect(path)) as looking,
    ):

        def stored() -> object:
            return list(looking.iterdump()), looking.execute("PRAGMA data_version").fetchall()

        yield Kept(client, writer.flows, writer.workspaces, stored)


@pytest.fixture
def put(path: Path) -> Put:
    return lambda digest, canonical: put_on_sqlite(path, digest, canonical)
