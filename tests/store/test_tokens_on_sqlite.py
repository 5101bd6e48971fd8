"""Tokens on SQLite, under the contract of every TokenStore."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from stateward.runtime.ports import TokenStore
from stateward.store.connection import Refused
from stateward.store.database import open_store
from tests.contracts.flows import HERE, THERE
from tests.contracts.tokens import *  # noqa: F403 -- a contract is all its tests
from tests.contracts.tokens import issued


@pytest.fixture
def tokens(tmp_path: Path) -> Iterator[TokenStore]:
    with open_store(tmp_path / "store.db", write=True, create=True) as store:
        for workspace in (HERE, THERE):
            store.workspaces.ensure(workspace)
        yield store.tokens


def test_a_token_is_kept_only_in_a_workspace_that_is_there(tmp_path: Path) -> None:
    with open_store(tmp_path / "store.db", write=True, create=True) as store, pytest.raises(Refused):
        store.tokens.keep(issued())
