"""Session logs on PostgreSQL, under the contract of every SessionStore."""

from collections.abc import Iterator

import pytest

from stateward.runtime.ports import SessionStore
from stateward.store.database import open_store
from tests.contracts.sessions import *  # noqa: F403 -- a contract is all its tests


@pytest.fixture
def url(begun: str) -> str:
    return begun


@pytest.fixture
def sessions(url: str) -> Iterator[SessionStore]:
    with open_store(url, write=True, create=True) as store:
        yield store.sessions
