"""The folder of sources in memory that tests use, under the contract of every SourceFolder."""

from collections.abc import MutableMapping

import pytest

from stateward.runtime.engine.folders import FileProblem
from tests.contracts.source_folders import *  # noqa: F403 -- a contract is all its tests
from tests.runtime.source_folders import MemoryFolder


@pytest.fixture
def folder() -> MemoryFolder:
    return MemoryFolder()


@pytest.fixture
def files(folder: MemoryFolder) -> MutableMapping[str, bytes | FileProblem]:
    return folder.files
