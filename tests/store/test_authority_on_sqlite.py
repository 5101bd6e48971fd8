"""The authority on flows over a store on SQLite, under the contract of every FlowAuthority."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from stateward.runtime.engine.flows import WorkspaceFlows
from stateward.store.database import Store, open_store
from tests.contracts.authority import *  # noqa: F403 -- a contract is all its tests
from tests.store.authorities import THERE, authority_over


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "store.db", write=True, create=True) as opened:
        yield opened


@pytest.fixture
def authority(store: Store) -> WorkspaceFlows:
    return authority_over(store.flows, store.workspaces)


@pytest.fixture
def second(store: Store) -> WorkspaceFlows:
    return authority_over(store.flows, store.workspaces, "bob")


@pytest.fixture
def elsewhere(tmp_path: Path) -> Iterator[WorkspaceFlows]:
    with open_store(tmp_path / "another.db", write=True, create=True) as another:
        yield authority_over(another.flows, another.workspaces, "eve", THERE)
