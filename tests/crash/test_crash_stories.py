"""A few stories of crashes; `python -m tests.crash --kills 500` tells many."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.crash.stories import story
from tests.postgres import Server, server

LONG = bool(os.environ.get("STATEWARD_TESTS_LONG"))
SEEDS = range(20 if LONG else 1)
KILLS_MAX = 12 if LONG else 4


@pytest.fixture(scope="module")
def postgres() -> Iterator[Server]:
    with server() as started:
        yield started


@pytest.mark.parametrize("seed", SEEDS)
def test_a_run_on_sqlite_that_is_killed_and_resumed_loses_nothing(tmp_path: Path, seed: int) -> None:
    assert story(tmp_path, seed).tell(KILLS_MAX) > 0


@pytest.mark.parametrize("seed", SEEDS)
def test_a_run_on_postgresql_that_is_killed_and_resumed_loses_nothing(tmp_path: Path, postgres: Server, seed: int) -> None:
    assert story(tmp_path, seed, postgres.database()).tell(KILLS_MAX) > 0
