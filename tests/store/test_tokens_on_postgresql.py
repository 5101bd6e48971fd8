"""Tokens on PostgreSQL, under the contract of every TokenStore."""

from collections.abc import Iterator

import pytest

from stateward.runtime.ports import TokenStore
from stateward.store.connection import Refused
from stateward.store.database import open_store
from tests.contracts.flows import HERE, THERE
from tests.contracts.tokens import *  # noqa: F403 -- a contract is all its tests
from tests.contracts.tokens import issued


@pytest.fixture
def url(begun: str) -> str:
    return begun


@pytest.fixture
def tokens(url: str) -> Iterator[TokenStore]:
    with open_store(url, write=True, create=True) as store:
        for workspace in (HERE, THERE):
            store.workspaces.ensure(workspace)
        yield store.tokens


def test_a_token_is_kept_only_in_a_workspace_that_is_there(url: str) -> None:
    with open_store(url, write=True, create=True) as store, pytest.raises(Refused):
        store.tokens.keep(issued())
