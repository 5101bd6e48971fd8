"""Transcripts on PostgreSQL, under the contract of every store of them."""

from collections.abc import Iterator

import psycopg
import pytest

from stateward.runtime.ports import Committed, Damaged, Transcripts
from stateward.store.database import open_store
from tests.contracts.sessions import NOON, WORKSPACE, entry
from tests.contracts.transcripts import *  # noqa: F403 -- a contract is all its tests
from tests.contracts.transcripts import ATTEMPT, WORKER


@pytest.fixture
def url(begun: str) -> str:
    return begun


@pytest.fixture
def transcripts(url: str) -> Iterator[Transcripts]:
    with open_store(url, write=True, create=True) as store:
        yield store.transcripts


def test_the_database_itself_lets_no_record_be_changed_deleted_or_left_out(url: str) -> None:
    with open_store(url, write=True, create=True) as store:
        store.transcripts.append(WORKER, ATTEMPT, 1, b"one")
    with psycopg.connect(url, autocommit=True) as connection:
        for statement, rule in (
            ("UPDATE stateward.transcripts SET content = ''", "no_update"),
            ("DELETE FROM stateward.transcripts", "no_delete"),
            ("TRUNCATE stateward.transcripts", "no_truncate"),
            ("INSERT INTO stateward.transcripts SELECT worker, attempt, 3, digest, content FROM stateward.transcripts", "only_next"),
        ):
            with pytest.raises(psycopg.IntegrityError, match=f"^transcripts_{rule}: "):
                connection.execute(statement)


def test_a_record_that_is_not_what_was_written_is_told_by_its_number(url: str) -> None:
    with open_store(url, write=True, create=True) as store:
        store.transcripts.append(WORKER, ATTEMPT, 1, b"one")
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("ALTER TABLE stateward.transcripts DISABLE TRIGGER transcripts_no_update")
            connection.execute("UPDATE stateward.transcripts SET content = ''")
        with pytest.raises(Damaged, match=r"^record 1 of the transcript of attempt"):
            store.transcripts.records(WORKER, ATTEMPT)


def test_deleting_a_worker_takes_its_transcripts_along_and_lets_none_come_after(url: str) -> None:
    with open_store(url, write=True, create=True) as store:
        created = store.sessions.create(WORKER, WORKSPACE, (entry(b"one"),), {})
        assert isinstance(created, Committed)
        store.transcripts.append(WORKER, ATTEMPT, 1, b"one")
        store.sessions.delete(WORKER, created.head, NOON)
        assert () == tuple(store.transcripts.records(WORKER, ATTEMPT))
        assert not store.transcripts.append(WORKER, ATTEMPT, 1, b"late")
