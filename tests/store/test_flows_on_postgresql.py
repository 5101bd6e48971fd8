"""Flows on PostgreSQL, under the contract of every FlowStore."""

from collections.abc import Iterator

import pytest

from stateward.store.connection import Refused
from stateward.store.database import open_store
from tests.contracts.flow_modules import *  # noqa: F403 -- a contract is all its tests
from tests.contracts.flows import *  # noqa: F403 -- a contract is all its tests
from tests.contracts.flows import HERE, draft
from tests.store.both import Both


@pytest.fixture
def url(begun: str) -> str:
    return begun


@pytest.fixture
def flows(url: str) -> Iterator[Both]:
    with open_store(url, write=True, create=True) as store:
        yield Both(store.flows, store.workspaces)


def test_a_flow_is_saved_only_in_a_workspace_that_is_there(url: str) -> None:
    with open_store(url, write=True, create=True) as store, pytest.raises(Refused):
        store.flows.save(HERE.id, draft(), None)
