"""What the tests of the service share."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.http.desk import Desk, desk
from tests.postgres import server


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    with server() as started:
        yield started.database()


@pytest.fixture
def service() -> Iterator[Desk]:
    """A service over a store in memory."""
    with desk() as opened:
        yield opened


@pytest.fixture(params=["memory", "sqlite"])
def either(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Desk]:
    """A service over each kind of store."""
    with desk(None if request.param == "memory" else tmp_path / "store.db") as opened:
        yield opened
