"""Transcripts in memory, under the contract of every store of them."""

import pytest

from stateward.store.memory_transcripts import MemoryTranscripts
from tests.contracts.transcripts import *  # noqa: F403 -- a contract is all its tests


@pytest.fixture
def transcripts() -> MemoryTranscripts:
    return MemoryTranscripts()
