"""The in-memory store of flows, under the contract of every FlowStore."""

import pytest

from stateward.store.memory import MemoryFlowStore
from tests.contracts.flow_modules import *  # noqa: F403 -- a contract is all its tests
from tests.contracts.flows import *  # noqa: F403 -- a contract is all its tests


@pytest.fixture
def flows() -> MemoryFlowStore:
    return MemoryFlowStore()
