"""Session logs in memory, under the contract of every SessionStore."""

import pytest

from stateward.store.memory_sessions import MemorySessionStore
from tests.contracts.sessions import *  # noqa: F403 -- a contract is all its tests


@pytest.fixture
def sessions() -> MemorySessionStore:
    return MemorySessionStore()
