"""What the cases share: a server of PostgreSQL, and a place on each database."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cases.stored import StoredPlace, place_on
from tests.postgres import Server, server


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    with server() as started:
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
