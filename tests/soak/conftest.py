"""A place on each database."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cases.stored import StoredPlace, place_on
from tests.postgres import Server, server
from tests.store.folders import MEMORY


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    """A server in memory where the system has some; a long soak has one on the disk."""
    with server(MEMORY if os.access(MEMORY, os.W_OK | os.X_OK) else None) as started:
        yield started


@pytest.fixture(params=["sqlite", "postgresql"])
def here(request: pytest.FixtureRequest, tmp_path: Path) -> StoredPlace:
    """An empty folder of work, whose store lies in a file or in a database."""
    return place_on(None if request.param == "sqlite" else request.getfixturevalue("postgres"), tmp_path / "place")
