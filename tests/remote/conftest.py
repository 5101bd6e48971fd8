"""What the tests of services share."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.store.folders import MEMORY


@pytest.fixture
def tmp_path(tmp_path: Path) -> Iterator[Path]:
    """A folder in memory where the system has one: what is written here need not survive the machine."""
    if not os.access(MEMORY, os.W_OK | os.X_OK):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(prefix="stateward-", dir=MEMORY) as folder:
        yield Path(folder)
