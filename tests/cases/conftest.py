"""What the cases share: a server of PostgreSQL, and a place on each database."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cases.stored import StoredPlace
from tests.postgres import Server, server


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    with server() as started:
        yield started


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def begun(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> StoredPlace:
    """An empty folder of work, whose store lies in a file or in a database."""
    return place_on(request, tmp_path_factory.mktemp(request.param) / "place")


def place_on(request: pytest.FixtureRequest, folder: Path) -> StoredPlace:
    (folder / "work").mkdir(parents=True)
    if request.param == "sqlite":
        return StoredPlace(folder)
    started: Server = request.getfixturevalue("postgres")
    return StoredPlace(folder, started, started.database())
