"""Flows on SQLite, under the contract of every FlowStore."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from stateward.runtime.ports import FlowStore, Workspaces
from stateward.store.database import open_store
from tests.contracts.flows import *  # noqa: F403 -- a contract is all its tests


class Both:
    """The two ports of one store behind one name, as the contract wants them."""

    def __init__(self, flows: FlowStore, workspaces: Workspaces) -> None:
        self.ensure, self.get = workspaces.ensure, workspaces.get
        self.save, self.current, self.revision = flows.save, flows.current, flows.revision
        self.sources, self.definition = flows.sources, flows.definition


@pytest.fixture
def flows(tmp_path: Path) -> Iterator[Both]:
    with open_store(tmp_path / "store.db", write=True, create=True) as store:
        yield Both(store.flows, store.workspaces)
