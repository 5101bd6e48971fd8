"""Transcripts on SQLite, under the contract of every store of them."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from stateward.runtime.ports import Committed, Damaged, Transcripts
from stateward.store.database import open_store
from tests.contracts.sessions import NOON, WORKSPACE, entry
from tests.contracts.transcripts import *  # noqa: F403 -- a contract is all its tests
from tests.contracts.transcripts import ATTEMPT, OTHER, WORKER


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


@pytest.fixture
def transcripts(path: Path) -> Iterator[Transcripts]:
    with open_store(path, write=True, create=True) as store:
        yield store.transcripts


def test_records_are_there_when_the_store_is_opened_again(path: Path) -> None:
    with open_store(path, write=True, create=True) as store:
        store.transcripts.append(WORKER, ATTEMPT, 1, b"one")
    with open_store(path, write=False) as store:
        assert (b"one",) == tuple(store.transcripts.records(WORKER, ATTEMPT))


@pytest.mark.parametrize(
    ("statement", "rule"),
    [
        ("UPDATE transcripts SET content = ''", "no_update"),
        ("DELETE FROM transcripts", "no_delete"),
        ("INSERT OR REPLACE INTO transcripts SELECT worker, attempt, 1, digest, '' FROM transcripts", "only_next"),
        ("INSERT INTO transcripts SELECT worker, attempt, 3, digest, content FROM transcripts", "only_next"),
    ],
)
def test_the_database_itself_lets_no_record_be_changed_deleted_or_left_out(path: Path, statement: str, rule: str) -> None:
    with open_store(path, write=True, create=True) as store:
        store.transcripts.append(WORKER, ATTEMPT, 1, b"one")
    with closing(sqlite3.connect(path)) as connection, pytest.raises(sqlite3.IntegrityError, match=f"^transcripts_{rule}: "):
        connection.execute(statement)


def test_a_record_that_is_not_what_was_written_is_told_by_its_number(path: Path) -> None:
    with open_store(path, write=True, create=True) as store:
        store.transcripts.append(WORKER, ATTEMPT, 1, b"one")
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("DROP TRIGGER transcripts_no_update")
        connection.execute("UPDATE transcripts SET content = x'00'")
    with open_store(path, write=False) as store, pytest.raises(Damaged, match=r"^record 1 of the transcript of attempt"):
        store.transcripts.records(WORKER, ATTEMPT)


def test_deleting_a_worker_takes_its_transcripts_along_and_lets_none_come_after(path: Path) -> None:
    with open_store(path, write=True, create=True) as store:
        created = store.sessions.create(WORKER, WORKSPACE, (entry(b"one"),), {})
        assert isinstance(created, Committed)
        for worker in (WORKER, OTHER):
            store.transcripts.append(worker, ATTEMPT, 1, b"one")
        store.sessions.delete(WORKER, created.head, NOON)
        assert [(), (b"one",)] == [tuple(store.transcripts.records(each, ATTEMPT)) for each in (WORKER, OTHER)]
        assert not store.transcripts.append(WORKER, ATTEMPT, 1, b"late")
