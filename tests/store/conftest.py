"""What the tests of the store share."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.postgres import Server, server
from tests.store.folders import MEMORY


@pytest.fixture
def tmp_path(tmp_path: Path) -> Iterator[Path]:
    """A folder in memory where the system has one: these tests kill processes, not machines, and make thousands of commits.

    With STATEWARD_TESTS_LONG it is on the disk, as everywhere else.
    """
    if os.environ.get("STATEWARD_TESTS_LONG") or not os.access(MEMORY, os.W_OK | os.X_OK):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(prefix="stateward-", dir=MEMORY) as folder:
        yield Path(folder)


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    with server() as started:
        yield started


@pytest.fixture(scope="session")
def database(postgres: Server) -> str:
    return postgres.database()


@pytest.fixture
def url(postgres: Server, database: str) -> Iterator[str]:
    """An empty database of PostgreSQL."""
    yield database
    postgres.empty(database)


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest) -> Path | str:
    """Where a store may be begun: for what holds wherever one lies."""
    if request.param == "postgresql":
        found: str = request.getfixturevalue("url")
        return found
    folder: Path = request.getfixturevalue("tmp_path")
    return folder / "folder" / "store.db"
