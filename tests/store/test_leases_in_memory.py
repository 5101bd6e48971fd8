"""Leases in memory, under the contract of every LeaseStore."""

import pytest

from stateward.store.memory_leases import MemoryLeaseStore
from tests.contracts.leases import *  # noqa: F403 -- a contract is all its tests


@pytest.fixture
def leases() -> MemoryLeaseStore:
    return MemoryLeaseStore()
