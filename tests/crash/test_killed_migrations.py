"""A few migrations that are killed; `python -m tests.crash --story migrating --kills 100` kills many."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.crash.migrating import migrating_story
from tests.postgres import Server, server

LONG = bool(os.environ.get("STATEWARD_TESTS_LONG"))
SEEDS = range(20 if LONG else 2)
KILLS_MAX = 12 if LONG else 6


@pytest.fixture(scope="module")
def postgres() -> Iterator[Server]:
    with server() as started:
        yield started


@pytest.mark.parametrize("seed", SEEDS)
def test_a_migration_of_a_file_that_is_killed_again_and_again_loses_nothing(tmp_path: Path, seed: int) -> None:
    assert migrating_story(tmp_path, seed).tell(KILLS_MAX) > 0


@pytest.mark.parametrize("seed", SEEDS)
def test_a_migration_on_postgresql_that_is_killed_again_and_again_loses_nothing(tmp_path: Path, postgres: Server, seed: int) -> None:
    assert migrating_story(tmp_path, seed, postgres).tell(KILLS_MAX) > 0
