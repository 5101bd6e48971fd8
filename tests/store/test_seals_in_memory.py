"""Seals, witnesses and logs as they lie, in memory, under the contracts of every store of session logs."""

import pytest

from stateward.runtime.ports import Sealer, Witness
from stateward.store.memory_sessions import MemorySessionStore
from stateward.store.seal import Seals
from tests.contracts.seals import *  # noqa: F403 -- a contract is all its tests
from tests.contracts.seals import Begin
from tests.contracts.stored import *  # noqa: F403 -- as above
from tests.contracts.stored import Logs


@pytest.fixture
def logs() -> MemorySessionStore:
    return MemorySessionStore()


@pytest.fixture
def begin() -> Begin:
    def in_memory(sealer: Sealer | None, witness: Witness | None) -> Logs:
        return MemorySessionStore(Seals(sealer), witness)

    return in_memory
