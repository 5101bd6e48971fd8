"""The authority on flows over a store on PostgreSQL, under the contract of every FlowAuthority."""

from collections.abc import Iterator

import pytest

from stateward.runtime.engine.flows import WorkspaceFlows
from stateward.store.database import Store, open_store
from tests.contracts.authority import *  # noqa: F403 -- a contract is all its tests
from tests.store.authorities import THERE, authority_over


@pytest.fixture
def url(begun: str) -> str:
    return begun


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    with open_store(url, write=True, create=True) as opened:
        yield opened


@pytest.fixture
def authority(store: Store) -> WorkspaceFlows:
    return authority_over(store.flows, store.workspaces)


@pytest.fixture
def second(store: Store) -> WorkspaceFlows:
    return authority_over(store.flows, store.workspaces, "bob")


@pytest.fixture
def elsewhere(store: Store) -> WorkspaceFlows:
    return authority_over(store.flows, store.workspaces, "eve", THERE)
