"""A few stories of flows that are saved by a process that is killed; `python -m tests.crash --story saving --kills 100` tells many."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.crash.saving import saving_story
from tests.postgres import Server, server
from tests.store.folders import MEMORY

LONG = bool(os.environ.get("STATEWARD_TESTS_LONG"))
SEEDS = range(9 if LONG else 1)
KILLS = 12 if LONG else 6


@pytest.fixture(scope="module")
def postgres() -> Iterator[Server]:
    with server(MEMORY if os.access(MEMORY, os.W_OK | os.X_OK) else None) as started:
        yield started


@pytest.mark.parametrize("seed", SEEDS)
def test_flows_on_sqlite_whose_saver_is_killed_keep_all_that_was_acknowledged(tmp_path: Path, seed: int) -> None:
    assert KILLS == saving_story(tmp_path / "store.db", seed).tell(KILLS)


@pytest.mark.parametrize("seed", SEEDS)
def test_flows_on_postgresql_whose_saver_or_server_is_killed_keep_all_that_was_acknowledged(postgres: Server, seed: int) -> None:
    mortal = None if postgres.folder is None else postgres
    assert KILLS == saving_story(postgres.database(), seed, mortal).tell(KILLS)
