"""Leases on PostgreSQL, under the contract of every LeaseStore."""

from collections.abc import Iterator

import pytest

from stateward.runtime.ports import LeaseStore
from stateward.store.database import open_store
from tests.contracts.leases import *  # noqa: F403 -- a contract is all its tests


@pytest.fixture
def url(begun: str) -> str:
    return begun


@pytest.fixture
def leases(url: str) -> Iterator[LeaseStore]:
    with open_store(url, write=True, create=True) as store:
        yield store.leases
