"""Answers that the network loses: what is certain is said, what is not is OutcomeUnknown, and looking the key up tells the truth."""

import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from stateward.runtime.ports import Committed, Duplicate, OutcomeUnknown, StoreUnavailable
from stateward.runtime.session.entries import Head
from stateward.store.connection import Cursor, SqlValue
from stateward.store.database import Store, open_store
from stateward.store.postgres import PostgresConnection
from tests.contracts.sessions import WORKER, WORKSPACE, entry
from tests.postgres import Server
from tests.store.children import LONG, append_until_the_server_is_gone, child, pair, pipe
from tests.store.cutting import Door, door_before

APPEND = b"WITH held"
WAITING = "SELECT 1 FROM pg_locks WHERE NOT granted AND locktype IN ('transactionid', 'tuple')"
KILLS = 50 if LONG else 3


@pytest.fixture
def door_and_store(url: str) -> Iterator[tuple[Door, Store]]:
    with (
        tempfile.TemporaryDirectory(prefix="sw-") as folder,
        door_before(url, Path(folder)) as (door, through),
        open_store(through, write=True, create=True) as store,
    ):
        store.sessions.create(WORKER, WORKSPACE, (entry(b"0", "0"),), {})
        yield door, store


def start_of(store: Store) -> Head:
    head = store.sessions.head(WORKER)
    assert head is not None
    return head


def keys(store: Store) -> list[str | None]:
    return [each.key for each in store.sessions.entries(WORKER)]


def test_an_append_whose_answer_was_lost_is_unknown_and_found_by_its_key(door_and_store: tuple[Door, Store]) -> None:
    door, store = door_and_store
    head = start_of(store)
    door.word, door.answers = APPEND, True
    with pytest.raises(OutcomeUnknown, match=r"the answer to a commit in .* was lost"):
        store.sessions.append(WORKER, head, pair(1))
    found = store.sessions.find(WORKER, "1-b")
    assert found is not None
    assert start_of(store) == Head(found.seq, found.digest)
    assert ["0", "1-a", "1-b"] == keys(store)


def test_an_append_that_the_server_never_heard_is_unknown_and_not_found_by_its_key(door_and_store: tuple[Door, Store]) -> None:
    door, store = door_and_store
    head = start_of(store)
    door.word = APPEND
    with pytest.raises(OutcomeUnknown):
        store.sessions.append(WORKER, head, pair(1))
    assert None is store.sessions.find(WORKER, "1-b")
    assert isinstance(store.sessions.append(WORKER, head, pair(1)), Committed)
    assert ["0", "1-a", "1-b"] == keys(store)


def test_an_interrupt_between_two_statements_leaves_nothing_and_holds_nobody_up(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    ends: list[str] = []
    execute = PostgresConnection.execute

    def interrupted(connection: PostgresConnection, sql: str, parameters: Sequence[SqlValue] = (), /) -> Cursor:
        if sql.startswith("UPDATE heads"):
            raise KeyboardInterrupt
        ends.append(sql)
        return execute(connection, sql, parameters)

    with open_store(url, write=True, create=True) as store:
        store.sessions.create(WORKER, WORKSPACE, (entry(b"0", "0"),), {})
        head = start_of(store)
        large = entry(b"p" * 300_000, "large")
        monkeypatch.setattr(PostgresConnection, "execute", interrupted)
        with pytest.raises(KeyboardInterrupt):
            store.sessions.append(WORKER, head, (large,))
        monkeypatch.undo()
        assert "ROLLBACK" == ends[-1]
        assert isinstance(store.sessions.append(WORKER, head, (large,)), Committed)
        assert ["0", "large"] == keys(store)


@pytest.mark.parametrize("answers", [False, True])
def test_a_transaction_whose_commit_was_lost_is_unknown_and_looked_up(door_and_store: tuple[Door, Store], answers: bool) -> None:
    door, store = door_and_store
    head = start_of(store)
    door.word, door.answers = b"COMMIT", answers
    large = entry(b"p" * 300_000, "large")
    with pytest.raises(OutcomeUnknown):
        store.sessions.append(WORKER, head, (large,))
    assert answers is (store.sessions.find(WORKER, "large") is not None)
    assert (["0", "large"] if answers else ["0"]) == keys(store)


def test_a_session_lost_before_its_commit_wrote_nothing_and_the_write_is_done_again(door_and_store: tuple[Door, Store]) -> None:
    door, store = door_and_store
    head = start_of(store)
    door.word = b"UPDATE heads SET"
    assert isinstance(store.sessions.append(WORKER, head, (entry(b"p" * 300_000, "large"),)), Committed)
    assert ["0", "large"] == keys(store)


def test_what_was_looked_up_as_absent_does_not_come_when_the_server_gets_to_it(door_and_store: tuple[Door, Store], url: str) -> None:
    door, store = door_and_store
    head = start_of(store)
    with psycopg.connect(url) as holder:
        holder.execute("SELECT 1 FROM stateward.heads FOR UPDATE")
        door.word, door.hears = APPEND, True
        with pytest.raises(OutcomeUnknown):
            store.sessions.append(WORKER, head, pair(1))
        # The server still works on the append: it waits for the head.
        assert None is store.sessions.find(WORKER, "1-b")
    assert ["0"] == keys(store)
    assert isinstance(store.sessions.append(WORKER, head, pair(2)), Committed)
    assert ["0", "2-a", "2-b"] == keys(store)


def test_a_server_that_crashed_keeps_what_was_acknowledged_and_is_gone_on_with(postgres: Server, url: str) -> None:
    if postgres.folder is None:
        pytest.skip("a server that others use is not made to crash")
    with open_store(url, write=True, create=True) as store:
        store.sessions.create(WORKER, WORKSPACE, (entry(b"0", "0"),), {})
        assert isinstance(store.sessions.append(WORKER, start_of(store), pair(1)), Committed)
        postgres.restart()
        assert ["0", "1-a", "1-b"] == keys(store)
        assert isinstance(store.sessions.append(WORKER, start_of(store), pair(2)), Committed)
        postgres.restart()
        large = entry(b"p" * 300_000, "large")
        assert isinstance(store.sessions.append(WORKER, start_of(store), (large,)), Committed)
        assert ["0", "1-a", "1-b", "2-a", "2-b", "large"] == keys(store)


@pytest.fixture
def mortal(postgres: Server) -> Server:
    if postgres.folder is None:
        pytest.skip("a server that others use is not killed")
    return postgres


def test_an_append_during_which_the_server_is_killed_is_unknown_and_settled_by_looking_again(mortal: Server, url: str) -> None:
    with ThreadPoolExecutor(1) as threads, open_store(url, write=True, create=True) as store:
        store.sessions.create(WORKER, WORKSPACE, (entry(b"0", "0"),), {})
        head = start_of(store)
        with closing(psycopg.connect(url)) as holder:
            holder.execute("SELECT 1 FROM stateward.heads FOR UPDATE")
            appending = threads.submit(store.sessions.append, WORKER, head, pair(1))
            while not holder.execute(WAITING).fetchone():
                pass
            mortal.kill()
            with pytest.raises(OutcomeUnknown):
                appending.result()
        with pytest.raises(StoreUnavailable):
            store.sessions.find(WORKER, "1-b")  # nothing is said of it while nobody can know
        mortal.start()
        assert None is store.sessions.find(WORKER, "1-b")
        assert isinstance(store.sessions.append(WORKER, head, pair(1)), Committed)
        assert ["0", "1-a", "1-b"] == keys(store)


@pytest.mark.parametrize("kill", range(KILLS))
def test_a_server_killed_at_any_moment_loses_nothing_that_was_acknowledged(mortal: Server, url: str, kill: int) -> None:
    with open_store(url, write=True, create=True) as store:
        store.sessions.create(WORKER, WORKSPACE, (entry(b"0", "0"),), {})
    receiving, sending = pipe()
    process = child(append_until_the_server_is_gone, url, WORKER, sending)
    acknowledged: Head = receiving.recv()
    for _ in range(kill * 7 % 23):
        acknowledged = receiving.recv()
    mortal.kill()
    process.join()
    assert 0 == process.exitcode
    while receiving.poll():
        acknowledged = receiving.recv()
    mortal.start()
    with open_store(url, write=True) as store:
        entries = list(store.sessions.entries(WORKER))
        assert list(range(1, len(entries) + 1)) == [each.seq for each in entries]
        assert acknowledged.digest == entries[acknowledged.seq - 1].digest
        assert len(entries) in {acknowledged.seq, acknowledged.seq + 2}
        assert isinstance(store.sessions.append(WORKER, start_of(store), pair(0)), Committed | Duplicate)
