"""Processes that are killed with -9 at every statement, and at any moment: what was acknowledged is there, and nothing is half there."""

import shutil
import signal
import sqlite3
from pathlib import Path

import pytest

from stateward.runtime.ports import Committed
from stateward.runtime.session.entries import Head
from stateward.store.database import open_store
from tests.contracts.sessions import WORKER, WORKSPACE, entry
from tests.store.children import LONG, Telling, append_and_die, child, connect_with, create_and_die, pair, pipe

APPEND_STATEMENTS = 6
"""BEGIN, the version, two entries, the swap, COMMIT."""
OFFSETS_STEP = 1 if LONG else 61


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "store.db"
    with open_store(path, write=True, create=True) as store:
        store.sessions.create(WORKER, WORKSPACE, (entry(b"0", "0"),), {})
    return path


def opened_again(path: Path) -> list[str | None]:
    """The keys of the log, read and verified; one more entry is appended and read, so that the log can go on."""
    with open_store(path, write=True) as store:
        keys = [each.key for each in store.sessions.entries(WORKER)]
        head = store.sessions.head(WORKER)
        assert head is not None
        assert isinstance(store.sessions.append(WORKER, head, (entry(b"more"),)), Committed)
        assert [*keys, None] == [each.key for each in store.sessions.entries(WORKER)]
        return keys


def test_the_statements_of_an_append_are_as_many_as_are_killed_at(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite3, "connect", connect_with(Telling))
    with open_store(path, write=True) as store:
        head = store.sessions.head(WORKER)
        assert head is not None
        Telling.statements.clear()
        store.sessions.append(WORKER, head, pair(1))
    assert APPEND_STATEMENTS == len(Telling.statements)
    assert ("BEGIN IMMEDIATE", "COMMIT") == (Telling.statements[0], Telling.statements[-1])


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("statement", range(1, APPEND_STATEMENTS + 1))
def test_a_process_killed_at_a_statement_of_an_append_leaves_all_of_it_or_nothing(path: Path, statement: int, after: bool) -> None:
    receiving, sending = pipe()
    process = child(append_and_die, path, WORKER, statement, after, sending)
    acknowledged: Head = receiving.recv()
    process.join()
    assert -signal.SIGKILL == process.exitcode
    first, second = ["0", "1-a", "1-b"], ["2-a", "2-b"]
    assert 3 == acknowledged.seq
    assert (first + second if (statement, after) == (APPEND_STATEMENTS, True) else first) == opened_again(path)


@pytest.mark.parametrize("statement", range(1, 60, 1 if LONG else 4))
def test_a_process_killed_while_it_creates_a_store_leaves_none_or_a_whole_one(tmp_path: Path, statement: int) -> None:
    path = tmp_path / "folder" / "store.db"
    process = child(create_and_die, path, statement, False)
    process.join()
    assert process.exitcode in {-signal.SIGKILL, 0}
    with open_store(path, write=True, create=True) as store:
        assert isinstance(store.sessions.create(WORKER, WORKSPACE, (entry(b"0"),), {}), Committed)


def test_a_log_of_pages_cut_at_any_byte_holds_all_earlier_entries_and_the_last_ones_only_whole(path: Path, tmp_path: Path) -> None:
    torn = tmp_path / "torn" / "store.db"
    torn.parent.mkdir()
    pages, torn_pages = path.with_name("store.db-wal"), torn.with_name("store.db-wal")
    with open_store(path, write=True) as store:
        head = store.sessions.head(WORKER)
        assert head is not None
        answer = store.sessions.append(WORKER, head, pair(1))
        assert isinstance(answer, Committed)
        begin = pages.stat().st_size
        store.sessions.append(WORKER, answer.head, pair(2))
        whole = pages.read_bytes()
        database = path.read_bytes()
    assert len(whole) > begin
    for size in [*range(begin, len(whole), OFFSETS_STEP), len(whole) - 1, len(whole)]:
        torn.write_bytes(database)
        torn_pages.write_bytes(whole[:size])
        last = ["2-a", "2-b"] if size == len(whole) else []
        assert ["0", "1-a", "1-b", *last] == opened_again(torn), size
    shutil.rmtree(torn.parent)
