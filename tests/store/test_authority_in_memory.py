"""The authority on flows over a store in memory, under the contract of every FlowAuthority."""

import pytest

from stateward.runtime.engine.flows import WorkspaceFlows
from stateward.store.memory import MemoryFlowStore
from tests.contracts.authority import *  # noqa: F403 -- a contract is all its tests
from tests.store.authorities import THERE, authority_over


@pytest.fixture
def store() -> MemoryFlowStore:
    return MemoryFlowStore()


@pytest.fixture
def authority(store: MemoryFlowStore) -> WorkspaceFlows:
    return authority_over(store, store)


@pytest.fixture
def second(store: MemoryFlowStore) -> WorkspaceFlows:
    return authority_over(store, store, "bob")


@pytest.fixture
def elsewhere() -> WorkspaceFlows:
    another = MemoryFlowStore()
    return authority_over(another, another, "eve", THERE)
