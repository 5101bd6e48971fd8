"""Seals, witnesses and logs as they lie, on PostgreSQL, under the contracts of every store of session logs."""

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from stateward.runtime.ports import Sealer, Witness
from stateward.store.database import open_store
from tests.contracts.seals import *  # noqa: F403 -- a contract is all its tests
from tests.contracts.seals import Begin
from tests.contracts.stored import *  # noqa: F403 -- as above
from tests.contracts.stored import Logs
from tests.store.both import both_of_logs


@pytest.fixture
def url(begun: str) -> str:
    return begun


@pytest.fixture
def logs(begin: Begin) -> Logs:
    return begin(None, None)


@pytest.fixture
def begin(url: str) -> Iterator[Begin]:
    with ExitStack() as open_stores:

        def on_disk(sealer: Sealer | None, witness: Witness | None) -> Logs:
            return both_of_logs(open_stores.enter_context(open_store(url, write=True, create=True, sealer=sealer, witness=witness)))

        yield on_disk
