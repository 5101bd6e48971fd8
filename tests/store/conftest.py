"""What the tests of the store share."""

import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from stateward.store.database import open_store
from tests.postgres import Server, server
from tests.store.folders import MEMORY
from tests.store.guarded import make

Making = Callable[[str], None]


@pytest.fixture
def tmp_path(tmp_path: Path) -> Iterator[Path]:
    """A folder in memory where the system has one: these tests kill processes, not machines, and make thousands of commits.

    With STATEWARD_TESTS_LONG it is on the disk, as everywhere else.
    """
    if not _is_in_memory():
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(prefix="stateward-", dir=MEMORY) as folder:
        yield Path(folder)


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    """A server where these folders lie: many of its databases are copied whole."""
    with server(MEMORY if _is_in_memory() else None) as started:
        yield started


def _is_in_memory() -> bool:
    return not os.environ.get("STATEWARD_TESTS_LONG") and os.access(MEMORY, os.W_OK | os.X_OK)


@pytest.fixture(scope="session")
def database(postgres: Server) -> str:
    return postgres.database()


@pytest.fixture
def url(postgres: Server, database: str) -> Iterator[str]:
    """An empty database of PostgreSQL."""
    yield database
    postgres.empty(database)


@pytest.fixture(scope="session")
def templates() -> dict[Making, str]:
    """The databases that were made to be copied."""
    return {}


@pytest.fixture
def copied(postgres: Server, templates: dict[Making, str]) -> Iterator[Callable[[Making], str]]:
    """Make a database once, and give a copy of it to each test: a store takes long to begin there."""
    given: list[str] = []

    def copy(making: Making) -> str:
        if making not in templates:
            templates[making] = postgres.database()
            making(templates[making])
        given.append(postgres.database(templates[making]))
        return given[-1]

    yield copy
    for each in given:
        postgres.drop(each)


@pytest.fixture
def begun(copied: Callable[[Making], str]) -> str:
    """A database with a store in which nothing is."""
    return copied(begin)


def begin(url: str) -> None:
    open_store(url, write=True, create=True).close()


@pytest.fixture(params=["sqlite", "postgresql"])
def made(request: pytest.FixtureRequest) -> Path | str:
    """Where a store lies that holds what `make` keeps."""
    if request.param == "postgresql":
        copy: Callable[[Making], str] = request.getfixturevalue("copied")
        return copy(make)
    file: Path = request.getfixturevalue("tmp_path") / "folder" / "store.db"
    make(file)
    return file


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest) -> Path | str:
    """Where a store may be begun: for what holds wherever one lies."""
    if request.param == "postgresql":
        found: str = request.getfixturevalue("url")
        return found
    folder: Path = request.getfixturevalue("tmp_path")
    return folder / "folder" / "store.db"
