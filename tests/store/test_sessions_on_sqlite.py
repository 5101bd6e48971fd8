"""Session logs on SQLite, under the contract of every SessionStore."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from stateward.runtime.ports import SessionStore
from stateward.store.database import open_store
from tests.contracts.sessions import *  # noqa: F403 -- a contract is all its tests


@pytest.fixture
def sessions(tmp_path: Path) -> Iterator[SessionStore]:
    with open_store(tmp_path / "store.db", write=True, create=True) as store:
        yield store.sessions
