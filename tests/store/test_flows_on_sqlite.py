"""Flows on SQLite, under the contract of every FlowStore."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from stateward.store.connection import Refused
from stateward.store.database import open_store
from tests.contracts.flow_modules import *  # noqa: F403 -- a contract is all its tests
from tests.contracts.flows import *  # noqa: F403 -- a contract is all its tests
from tests.contracts.flows import HERE, NOON, draft
from tests.store.both import Both


@pytest.fixture
def flows(tmp_path: Path) -> Iterator[Both]:
    with open_store(tmp_path / "store.db", write=True, create=True) as store:
        yield Both(store.flows, store.workspaces)


def test_a_removed_flow_is_not_current_and_keeps_its_revisions(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with open_store(path, write=True, create=True) as store:
        store.workspaces.ensure(HERE)
        store.flows.save(HERE.id, draft(slug="gone"), None)
        store.flows.save(HERE.id, draft(slug="here"), None)
        store.flows.remove(HERE.id, "gone", 1, author="ada", note="", time=NOON)
    with open_store(path, write=False) as store:
        assert None is store.flows.current(HERE.id, "gone")
        assert ["here"] == [each.last.slug for each in store.flows.sources(HERE.id, 10)]
        assert store.flows.revision(HERE.id, "gone", 1) is not None


def test_a_flow_is_saved_only_in_a_workspace_that_is_there(tmp_path: Path) -> None:
    with open_store(tmp_path / "store.db", write=True, create=True) as store, pytest.raises(Refused):
        store.flows.save(HERE.id, draft(), None)
