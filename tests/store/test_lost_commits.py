"""A COMMIT that fails: what is certain is said, what is not is OutcomeUnknown, and looking the key up afterwards tells the truth."""

import errno
import os
import resource
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from stateward.runtime.ports import Committed, OutcomeUnknown, StoreUnavailable
from stateward.runtime.session.entries import Head
from stateward.store import sqlite as connections
from stateward.store.connection import Refused
from stateward.store.database import Store, open_store
from stateward.store.sqlite import SqliteDatabase
from tests.contracts.flows import HERE, draft
from tests.contracts.leases import ATTEMPT, SECONDS
from tests.contracts.sessions import NOON, OTHER, WORKER, WORKSPACE, entry
from tests.store.children import child, connect_with, pair
from tests.store.failing import Failing, problem

IO_ERROR = problem("SQLITE_IOERR_FSYNC", "disk I/O error")
INDEX_HEADER_BYTES = 96
"""Of the file `-shm`: how far the log of pages is known to reach, twice."""


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    monkeypatch.setattr(sqlite3, "connect", connect_with(Failing))
    monkeypatch.setattr(Failing, "instead", None)
    with open_store(tmp_path / "store.db", write=True, create=True) as store:
        store.sessions.create(WORKER, WORKSPACE, (entry(b"0", "0"),), {})
        yield store
        Failing.instead = None


def file_of(store: Store) -> Path:
    return Path(store.place)


def start_of(store: Store) -> Head:
    head = store.sessions.head(WORKER)
    assert head is not None
    return head


def keys(store: Store) -> list[str | None]:
    return [each.key for each in store.sessions.entries(WORKER)]


def commit_then_lose_the_answer(connection: Failing, sql: str) -> None:
    if sql == "COMMIT":
        Failing.instead = None
        connection.really("COMMIT")
        raise IO_ERROR


def undo_then_fail(connection: Failing, sql: str) -> None:
    if sql == "COMMIT":
        Failing.instead = None
        connection.really("ROLLBACK")
        raise IO_ERROR


def test_a_commit_whose_answer_was_lost_is_unknown_and_found_by_its_key(store: Store) -> None:
    head = start_of(store)
    Failing.instead = commit_then_lose_the_answer
    with pytest.raises(OutcomeUnknown):
        store.sessions.append(WORKER, head, pair(1))
    found = store.sessions.find(WORKER, "1-b")
    assert found is not None
    assert start_of(store) == Head(found.seq, found.digest)
    assert ["0", "1-a", "1-b"] == keys(store)


def test_a_commit_that_failed_and_was_undone_is_unknown_and_not_found_by_its_key(store: Store) -> None:
    head = start_of(store)
    Failing.instead = undo_then_fail
    with pytest.raises(OutcomeUnknown):
        store.sessions.append(WORKER, head, pair(1))
    assert None is store.sessions.find(WORKER, "1-b")
    assert isinstance(store.sessions.append(WORKER, head, pair(1)), Committed)
    assert ["0", "1-a", "1-b"] == keys(store)


@pytest.mark.parametrize("name", ["SQLITE_FULL", "SQLITE_BUSY"])
def test_a_commit_that_certainly_did_not_happen_is_said_to_have_not(store: Store, name: str) -> None:
    head = start_of(store)

    def refuse(connection: Failing, sql: str) -> None:
        if sql == "COMMIT":
            Failing.instead = None
            raise problem(name, "refused")

    Failing.instead = refuse
    with pytest.raises(StoreUnavailable):
        store.sessions.append(WORKER, head, pair(1))
    assert ["0"] == keys(store)
    assert isinstance(store.sessions.append(WORKER, head, pair(1)), Committed)


@pytest.mark.parametrize("statement", ["BEGIN IMMEDIATE", "INSERT INTO entries", "UPDATE heads"])
def test_a_disk_that_fails_before_the_commit_leaves_nothing(store: Store, statement: str) -> None:
    head = start_of(store)

    def fail(connection: Failing, sql: str) -> None:
        if sql.startswith(statement):
            Failing.instead = None
            raise problem("SQLITE_IOERR_WRITE", "disk I/O error")

    Failing.instead = fail
    with pytest.raises(StoreUnavailable, match="the disk failed"):
        store.sessions.append(WORKER, head, pair(1))
    assert ["0"] == keys(store)
    assert isinstance(store.sessions.append(WORKER, head, pair(1)), Committed)


def test_an_interrupt_between_two_statements_leaves_nothing_and_the_store_goes_on(store: Store) -> None:
    head = start_of(store)

    def interrupt(connection: Failing, sql: str) -> None:
        if sql.startswith("UPDATE heads"):
            Failing.instead = None
            raise KeyboardInterrupt

    Failing.instead = interrupt
    with pytest.raises(KeyboardInterrupt):
        store.sessions.append(WORKER, head, pair(1))
    assert isinstance(store.sessions.append(WORKER, head, pair(2)), Committed)
    assert ["0", "2-a", "2-b"] == keys(store)


def keys_after_a_failed_sync_and_a_crash(store: Store, crashed: Path) -> list[str | None]:
    """A failed sync leaves the commit's pages in the log of pages, unknown to its index: recovery after a crash finds them there."""
    index = file_of(store).with_name("store.db-shm")
    head = start_of(store)

    def write_pages_and_fail(connection: Failing, sql: str) -> None:
        if sql == "COMMIT":
            Failing.instead = None
            known = index.read_bytes()[:INDEX_HEADER_BYTES]
            connection.really("COMMIT")
            with index.open("r+b") as file:
                file.write(known)
            raise IO_ERROR

    with open_store(file_of(store), write=False) as other:  # a second user, for whom the index is kept
        assert head == start_of(other)
        Failing.instead = write_pages_and_fail
        with pytest.raises(OutcomeUnknown):
            store.sessions.append(WORKER, head, pair(1))
        assert None is store.sessions.find(WORKER, "1-b")
        shutil.copy(file_of(store), crashed)
        shutil.copy(file_of(store).with_name("store.db-wal"), crashed.with_name(f"{crashed.name}-wal"))
    with open_store(crashed, write=False) as recovered:
        return keys(recovered)


def test_what_was_looked_up_as_absent_is_not_brought_back_by_a_crash(store: Store, tmp_path: Path) -> None:
    assert ["0"] == keys_after_a_failed_sync_and_a_crash(store, tmp_path / "crashed.db")


def test_it_would_be_brought_back_if_it_were_not_settled(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SqliteDatabase, "_settle", lambda *_: None)
    assert ["0", "1-a", "1-b"] == keys_after_a_failed_sync_and_a_crash(store, tmp_path / "crashed.db")


def test_a_lost_commit_is_not_spoken_of_before_it_is_settled(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "BUSY_WAIT_SECONDS", 0.0)
    monkeypatch.setattr(connections, "BUSY_ATTEMPTS_MAX", 3)
    reading = sqlite3.connect(file_of(store), isolation_level=None)
    reading.execute("BEGIN")
    reading.execute("SELECT count(*) FROM entries").fetchone()
    head = start_of(store)
    Failing.instead = commit_then_lose_the_answer
    with pytest.raises(OutcomeUnknown):
        store.sessions.append(WORKER, head, pair(1))
    with pytest.raises(StoreUnavailable, match="cannot be settled while another program reads"):
        store.sessions.find(WORKER, "1-b")
    reading.close()
    assert store.sessions.find(WORKER, "1-b") is not None


def append_on_a_full_disk(path: Path) -> None:
    with open_store(path, write=True) as store:
        head = start_of(store)
        _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size, hard))
        try:
            store.sessions.append(WORKER, head, (entry(b"p" * 200_000, "big"),))
        except OutcomeUnknown:
            resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
        assert None is store.sessions.find(WORKER, "big")
        assert isinstance(store.sessions.append(WORKER, head, (entry(b"small", "small"),)), Committed)
    os._exit(17)


def test_a_write_that_the_system_really_refuses_leaves_nothing(store: Store) -> None:
    process = child(append_on_a_full_disk, file_of(store))
    process.join()
    assert 17 == process.exitcode
    assert ["0", "small"] == keys(store)


def test_a_store_that_may_not_grow_says_so_and_takes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "store.db"
    with open_store(path, write=True, create=True) as store:
        start = store.sessions.create(WORKER, WORKSPACE, (entry(b"0", "0"),), {})
        assert isinstance(start, Committed)

    def bound(connection: Failing, sql: str) -> None:
        if sql.startswith("BEGIN"):
            connection.really("PRAGMA max_page_count = 1")

    monkeypatch.setattr(sqlite3, "connect", connect_with(Failing))
    monkeypatch.setattr(Failing, "instead", bound)
    with open_store(path, write=True) as store:
        with pytest.raises(StoreUnavailable, match="no space left"):
            store.sessions.append(WORKER, start.head, (entry(b"p" * 200_000, "big"),))
        assert ["0"] == keys(store)


@pytest.mark.parametrize("name", ["SQLITE_FULL", "SQLITE_IOERR_SHMSIZE"])
@pytest.mark.parametrize("statement", ["BEGIN IMMEDIATE", "INSERT INTO entries", "UPDATE heads"])
def test_a_disk_without_space_is_said_to_be_full(store: Store, statement: str, name: str) -> None:
    head = start_of(store)

    def refuse(connection: Failing, sql: str) -> None:
        if sql.startswith(statement):
            raise problem(name, "refused")

    Failing.instead = refuse
    for _ in range(2):
        with pytest.raises(StoreUnavailable, match=r"^there is no space left for .*; nothing was written$") as full:
            store.sessions.append(WORKER, head, pair(1))
        assert "free some space on that disk" == full.value.remedy
    Failing.instead = None
    assert ["0"] == keys(store)
    assert isinstance(store.sessions.append(WORKER, head, pair(1)), Committed)


@pytest.mark.parametrize("name", ["SQLITE_IOERR_WRITE", "SQLITE_IOERR_FSYNC", "SQLITE_CANTOPEN"])
@pytest.mark.parametrize(("blocks", "nodes", "full"), [(0, 9, True), (1 << 20, 0, True), (1 << 20, 9, False)])
def test_what_fails_on_a_disk_that_is_full_is_said_to_fail_for_want_of_space(
    store: Store, monkeypatch: pytest.MonkeyPatch, name: str, blocks: int, nodes: int, full: bool
) -> None:
    head = start_of(store)

    def refuse(connection: Failing, sql: str) -> None:
        if sql == "BEGIN IMMEDIATE":
            raise problem(name, "refused")

    found = os.statvfs(file_of(store).parent)
    told = os.statvfs_result((found.f_bsize, 4096, 1 << 20, blocks, blocks, 1 << 10, nodes, nodes, found.f_flag, found.f_namemax))
    monkeypatch.setattr(os, "statvfs", lambda _: told)
    Failing.instead = refuse
    with pytest.raises(StoreUnavailable) as refused:
        store.sessions.append(WORKER, head, pair(1))
    assert full is refused.value.message.startswith("there is no space left for")


def test_an_index_that_found_no_space_at_the_commit_leaves_its_outcome_to_be_looked_up(store: Store) -> None:
    """The pages of the commit are in the log of pages by then."""
    head = start_of(store)

    def commit_and_refuse(connection: Failing, sql: str) -> None:
        if sql == "COMMIT":
            Failing.instead = None
            connection.really("COMMIT")
            raise problem("SQLITE_IOERR_SHMSIZE", "disk I/O error")

    Failing.instead = commit_and_refuse
    with pytest.raises(OutcomeUnknown):
        store.sessions.append(WORKER, head, pair(1))
    assert store.sessions.find(WORKER, "1-b") is not None
    assert ["0", "1-a", "1-b"] == keys(store)


def write_everything_on_a_full_disk(path: Path, room: int) -> None:
    """Nothing may grow beyond `room` bytes: every write is refused in order or happens whole."""
    with open_store(path, write=True) as store:
        head = start_of(store)
        _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, hard))
        writes: list[Callable[[], object]] = [
            lambda: store.sessions.append(WORKER, head, (entry(b"p" * 200_000, "large"),)),
            lambda: store.sessions.create(OTHER, WORKSPACE, (entry(b"p" * 200_000),), {}),
            lambda: store.workspaces.ensure(HERE),
            lambda: store.flows.save(HERE.id, draft(content=b"p" * 200_000), None),
            lambda: store.leases.take(WORKER, ATTEMPT, "d", NOON, SECONDS),
            lambda: store.transcripts.append(WORKER, ATTEMPT, 1, b"p" * 200_000),
        ]
        for write in writes:
            with suppress(OutcomeUnknown, StoreUnavailable, Refused):
                write()
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    with open_store(path, write=True) as store:
        assert store.sessions.find(WORKER, "large") is None or start_of(store).seq == 2
        assert isinstance(store.sessions.append(WORKER, start_of(store), (entry(b"small", "small"),)), Committed)
        assert "small" == keys(store)[-1]
        assert store.workspaces.ensure(HERE) == HERE
    os._exit(17)


@pytest.mark.parametrize("room", [0, 40_000, 100_000, 200_000, 400_000])
def test_on_a_disk_that_fills_up_every_write_happens_whole_or_not_at_all(store: Store, room: int) -> None:
    path = file_of(store)
    store.close()
    process = child(write_everything_on_a_full_disk, path, room)
    process.join()
    assert 17 == process.exitcode


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_store_for_which_there_is_no_space_is_not_begun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    def refuse(*_: object, **__: object) -> int:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(StoreUnavailable, match=r"^there is no space left for"):
        open_store(tmp_path / "store.db", write=True, create=True)
