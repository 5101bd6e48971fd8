"""Tokens in memory, under the contract of every TokenStore."""

import pytest

from stateward.store.memory_tokens import MemoryTokens
from tests.contracts.tokens import *  # noqa: F403 -- a contract is all its tests


@pytest.fixture
def tokens() -> MemoryTokens:
    return MemoryTokens()
