"""Resolving selectors over flows in memory, under the contract of everything that does."""

from copy import deepcopy

import pytest

from stateward.runtime.engine.snapshots import WorkspaceSnapshots
from stateward.store.memory import MemoryFlowStore
from tests.contracts.snapshots import *  # noqa: F403 -- a contract is all its tests
from tests.contracts.snapshots import HERE, Kept


@pytest.fixture
def kept() -> Kept:
    store = MemoryFlowStore()
    store.ensure(HERE)
    return Kept(WorkspaceSnapshots(HERE.id, store), store, store, lambda: deepcopy((store._flows, store._definitions, store._workspaces)))
