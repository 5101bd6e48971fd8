"""What the cases share: a server of PostgreSQL, and a place on each database."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cases.stored import StoredPlace, place_on
from tests.postgres import Server, server
from tests.store.folders import MEMORY


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    """A server in memory where the system has some: many of its databases are copied whole."""
    with server(MEMORY if os.access(MEMORY, os.W_OK | os.X_OK) else None) as started:
        yield started


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest) -> Server | None:
    """The server whose databases stores lie in, or none for stores in files."""
    started: Server | None = None if request.param == "sqlite" else request.getfixturevalue("postgres")
    return started


@pytest.fixture
def here(database: Server | None, tmp_path: Path) -> StoredPlace:
    """An empty folder of work, whose store lies in a file or in a database."""
    return place_on(database, tmp_path / "place")
