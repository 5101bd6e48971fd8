"""Opening a store: what is created, what is refused, what is said, and what stays as it is."""

import os
import shutil
import socket
import sqlite3
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from stateward.runtime.ports import Committed, Fault, StoreNewer, StoreUnavailable
from stateward.store import sqlite as connections
from stateward.store.database import Store, open_store
from stateward.store.schema import APPLICATION_ID, SCHEMA_VERSION
from tests.contracts.flows import HERE, draft
from tests.contracts.sessions import WORKER, WORKSPACE, entry
from tests.store.children import Telling, connect_with

NOBODY = 65534


def make_store(path: Path) -> None:
    with open_store(path, write=True, create=True) as store:
        store.workspaces.ensure(HERE)
        store.flows.save(HERE.id, draft(), None)
        store.sessions.create(WORKER, WORKSPACE, (entry(b"one", "k-1"),), {})


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def read_all(store: Store) -> list[bytes]:
    assert store.flows.current(HERE.id, "paper") is not None
    return [each.payload for each in store.sessions.entries(WORKER)]


def refused(path: Path, says: str, *, write: bool, create: bool = False, kind: type[Fault] = StoreUnavailable) -> None:
    """Opening and reading is refused in one line that says what to do."""
    with pytest.raises(kind, match=says) as fault, open_store(path, write=write, create=create) as store:
        store.sessions.head(WORKER)
    assert type(fault.value) is kind
    assert "\n" not in fault.value.message
    assert str(path) in fault.value.message
    assert fault.value.remedy


@pytest.fixture
def path(tmp_path: Path) -> Path:
    make_store(tmp_path / "store.db")
    return tmp_path / "store.db"


@contextmanager
def plain_user(folder: Path) -> Iterator[None]:
    """Be a user whom permissions bind; `folder` and what is in it become theirs."""
    if os.geteuid() != 0:
        yield
        return
    for each in (folder, *folder.rglob("*")):
        os.chown(each, NOBODY, NOBODY)
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def reachable() -> Iterator[Path]:
    """A folder with a store that any user can reach: those of the test runner are its own."""
    folder = Path(tempfile.mkdtemp(prefix="stateward-"))
    folder.chmod(0o755)
    make_store(folder / "store.db")
    yield folder
    folder.chmod(0o755)
    shutil.rmtree(folder)


# --- creating -----------------------------------------------------------------------------------------------------------------------


def test_what_is_created_is_for_this_user_only(tmp_path: Path) -> None:
    path = tmp_path / "state" / "stateward" / "store.db"
    with open_store(path, write=True, create=True) as store:
        store.workspaces.ensure(HERE)
        assert {"store.db", "store.db-shm", "store.db-wal"} == {each.name for each in path.parent.iterdir()}
        assert {0o600} == {stat.S_IMODE(each.stat().st_mode) for each in path.parent.iterdir()}
    assert {0o700} == {stat.S_IMODE(folder.stat().st_mode) for folder in (path.parent, path.parent.parent)}


def test_a_folder_that_was_there_keeps_its_mode(tmp_path: Path) -> None:
    folder = tmp_path / "there"
    folder.mkdir(mode=0o755)
    make_store(folder / "store.db")
    assert 0o755 == stat.S_IMODE(folder.stat().st_mode)


def test_opening_again_with_create_keeps_what_is_there(path: Path) -> None:
    with open_store(path, write=True, create=True) as store:
        assert [b"one"] == read_all(store)


def test_the_file_names_its_program_and_the_version_of_its_schema(path: Path) -> None:
    connection = sqlite3.connect(path)
    assert (APPLICATION_ID,) == connection.execute("PRAGMA application_id").fetchone()
    assert (SCHEMA_VERSION,) == connection.execute("PRAGMA user_version").fetchone()
    assert ("wal",) == connection.execute("PRAGMA journal_mode").fetchone()
    connection.close()


def test_every_constraint_has_a_name_by_convention(path: Path) -> None:
    connection = sqlite3.connect(path)
    tables = dict(connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'").fetchall())
    connection.close()
    for name, sql in tables.items():
        assert f"CONSTRAINT pk_{name} PRIMARY KEY" in sql
        assert sql.count("CONSTRAINT") == sum(sql.count(kind) for kind in ("PRIMARY KEY", "FOREIGN KEY", "UNIQUE", "CHECK"))


def test_a_writer_syncs_every_commit_and_obeys_foreign_keys(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[sqlite3.Connection] = []
    connect = sqlite3.connect

    def keep(*given: Any, **named: Any) -> sqlite3.Connection:
        opened.append(connect(*given, **named))
        return opened[-1]

    monkeypatch.setattr(sqlite3, "connect", keep)
    with open_store(path, write=True):
        assert (2,) == opened[-1].execute("PRAGMA synchronous").fetchone()
        assert (1,) == opened[-1].execute("PRAGMA foreign_keys").fetchone()
        with pytest.raises(sqlite3.IntegrityError):
            opened[-1].execute("INSERT INTO flow_sources VALUES ('nowhere', 'f', 's', 1, 'Z', 'Z', NULL)")


# --- what is no store ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("write", [False, True])
def test_a_missing_file_is_refused_and_not_created(tmp_path: Path, write: bool) -> None:
    refused(tmp_path / "folder" / "store.db", "there is no store at", write=write)
    assert [] == list(tmp_path.iterdir())


@pytest.mark.parametrize("write", [False, True])
def test_a_folder_is_refused(tmp_path: Path, write: bool) -> None:
    refused(tmp_path, "is a folder, not a store", write=write, create=write)
    assert [] == list(tmp_path.iterdir())


@pytest.mark.parametrize("write", [False, True])
def test_a_path_below_a_file_is_refused(tmp_path: Path, write: bool) -> None:
    (tmp_path / "file").write_text("text")
    refused(tmp_path / "file" / "store.db", "not a directory", write=write, create=write)


@pytest.mark.parametrize("write", [False, True])
def test_what_is_no_regular_file_is_refused_without_waiting(tmp_path: Path, write: bool) -> None:
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(os.path.relpath(tmp_path / "socket"))
        for name in ("pipe", "socket"):
            refused(tmp_path / name, "is no regular file", write=write, create=write)


@pytest.mark.parametrize("write", [False, True])
@pytest.mark.parametrize(
    "content", [b"name = 1;\n" * 100, b"SQLite format 3\0" + b"\0" * 84, b"\0" * 4096], ids=["text", "header only", "zeros"]
)
def test_a_file_that_is_no_database_is_refused_and_left_as_it_is(tmp_path: Path, write: bool, content: bytes) -> None:
    path = tmp_path / "store.db"
    path.write_bytes(content)
    refused(path, "is no store|is damaged", write=write, create=write)
    assert content == path.read_bytes()


@pytest.mark.parametrize("write", [False, True])
@pytest.mark.parametrize("mark", ["user_version = 1", f"application_id = {APPLICATION_ID + 1}", "user_version = 0"])
@pytest.mark.parametrize("mode", ["WAL", "DELETE"])
def test_the_database_of_another_program_is_refused_and_left_as_it_is(tmp_path: Path, write: bool, mark: str, mode: str) -> None:
    path = tmp_path / "other.db"
    connection = sqlite3.connect(path, isolation_level=None)
    for statement in (f"PRAGMA journal_mode = {mode}", "CREATE TABLE theirs (x)", f"PRAGMA {mark}"):
        connection.execute(statement)
    connection.close()
    before = path.read_bytes()
    refused(path, "is the database of another program", write=write, create=write)
    assert before == path.read_bytes()


@pytest.mark.parametrize("write", [False, True])
def test_an_empty_file_holds_no_store_until_one_is_made(tmp_path: Path, write: bool) -> None:
    path = tmp_path / "store.db"
    path.touch()
    refused(path, "there is no store in .* yet", write=write)
    assert {"store.db": b""} == {name: data for name, data in files(tmp_path).items() if name == "store.db"}
    make_store(path)


# --- versions -----------------------------------------------------------------------------------------------------------------------


def set_version(path: Path, version: int) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute(f"PRAGMA user_version = {version}")
    return connection


@pytest.mark.parametrize("write", [False, True])
def test_a_newer_store_is_refused_by_name_and_left_as_it_is(path: Path, write: bool) -> None:
    set_version(path, SCHEMA_VERSION + 1).close()
    before = path.read_bytes()
    refused(
        path,
        f"newer stateward: its store version is {SCHEMA_VERSION + 1}, this program knows {SCHEMA_VERSION}",
        write=write,
        kind=StoreNewer,
    )
    assert before == path.read_bytes()


@pytest.mark.parametrize("write", [False, True])
def test_a_newer_store_that_says_so_only_in_its_log_of_pages_is_refused_and_left_as_it_is(path: Path, tmp_path: Path, write: bool) -> None:
    newer = set_version(path, SCHEMA_VERSION + 1)
    left = tmp_path / "left" / "store.db"
    left.parent.mkdir()
    for name in ("store.db", "store.db-wal"):  # as a crash of the newer program leaves it
        shutil.copy(path.with_name(name), left.with_name(name))
    newer.close()
    before = files(left.parent)
    refused(left, "newer stateward", write=write, create=write, kind=StoreNewer)
    assert before == {name: data for name, data in files(left.parent).items() if not name.endswith("-shm")}


def test_a_version_that_never_was_is_refused(path: Path) -> None:
    set_version(path, 0).close()
    for write in (False, True):
        refused(path, "store version 0, which no stateward ever wrote", write=write)


def test_a_store_that_a_newer_program_takes_over_while_it_is_open_is_written_no_more(path: Path) -> None:
    with open_store(path, write=True) as store:
        head = store.sessions.head(WORKER)
        assert head is not None
        set_version(path, SCHEMA_VERSION + 1).close()
        with pytest.raises(StoreNewer):
            store.sessions.append(WORKER, head, (entry(b"two"),))
        set_version(path, SCHEMA_VERSION).close()
        assert [b"one"] == read_all(store)
        assert isinstance(store.sessions.append(WORKER, head, (entry(b"two"),)), Committed)


# --- reading ------------------------------------------------------------------------------------------------------------------------


def test_a_reader_runs_nothing_that_writes_and_changes_no_byte(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = path.read_bytes()
    Telling.statements.clear()
    monkeypatch.setattr(sqlite3, "connect", connect_with(Telling))
    with open_store(path, write=False) as store:
        assert [b"one"] == read_all(store)
        assert 1 == len(store.sessions.workers(WORKSPACE, 10))
        assert HERE == store.workspaces.ensure(HERE)
    assert before == path.read_bytes()
    assert {"PRAGMA", "BEGIN", "SELECT", "COMMIT"} == {sql.split()[0] for sql in Telling.statements}
    assert {"PRAGMA query_only = ON", "PRAGMA application_id", "PRAGMA user_version"} == {
        sql for sql in Telling.statements if sql.startswith("PRAGMA")
    }


def test_a_reader_refuses_to_write(path: Path) -> None:
    with open_store(path, write=False) as store:
        head = store.sessions.head(WORKER)
        assert head is not None
        for write in (
            lambda: store.sessions.append(WORKER, head, (entry(),)),
            lambda: store.sessions.create("another", WORKSPACE, (entry(),), {}),
            lambda: store.flows.save(HERE.id, draft(content=b"two"), 1),
        ):
            with pytest.raises(StoreUnavailable, match="was opened for reading only"):
                write()


def test_a_reader_sees_what_a_writer_commits_meanwhile(path: Path) -> None:
    with open_store(path, write=False) as reader, open_store(path, write=True) as writer:
        head = reader.sessions.head(WORKER)
        assert head is not None
        writer.sessions.append(WORKER, head, (entry(b"two"),))
        assert [b"one", b"two"] == read_all(reader)


def test_a_reading_under_way_is_not_disturbed_by_appends(path: Path) -> None:
    with open_store(path, write=True) as store:
        head = store.sessions.head(WORKER)
        assert head is not None
        answer = store.sessions.append(WORKER, head, tuple(entry(b"x") for _ in range(999)))
        assert isinstance(answer, Committed)
        reading = store.sessions.entries(WORKER)
        first = next(reading)
        store.sessions.append(WORKER, answer.head, (entry(b"later"),))
        assert list(range(1, 1001)) == [first.seq, *(each.seq for each in reading)]


def test_large_payloads_are_read_a_few_at_a_time(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    payload = b"p" * 3_000_000
    with open_store(path, write=True) as store:
        store.sessions.create("large", WORKSPACE, tuple(entry(payload) for _ in range(4)), {})
        Telling.statements.clear()
    monkeypatch.setattr(sqlite3, "connect", connect_with(Telling))
    with open_store(path, write=False) as store:
        assert [payload] * 4 == [each.payload for each in store.sessions.entries("large")]
    assert 2 == sum("entries.payload" in sql for sql in Telling.statements)


# --- permissions --------------------------------------------------------------------------------------------------------------------


def test_a_store_whose_file_cannot_be_written_is_read_and_not_opened_for_writing(reachable: Path) -> None:
    path = reachable / "store.db"
    path.chmod(0o444)
    with plain_user(reachable):
        refused(path, "cannot be written", write=True, create=True)
        with open_store(path, write=False) as store:
            assert [b"one"] == read_all(store)


def test_a_store_whose_folder_cannot_be_written_says_what_reading_needs(reachable: Path) -> None:
    path = reachable / "store.db"
    reachable.chmod(0o555)
    with plain_user(reachable):
        for write in (False, True):
            refused(path, "the store needs the files `-wal` and `-shm` there, for reading too", write=write)
        assert ["store.db"] == names(reachable)


def test_a_store_in_use_is_read_from_a_folder_that_cannot_be_written(reachable: Path) -> None:
    path = reachable / "store.db"
    with plain_user(reachable), open_store(path, write=True) as writer:
        head = writer.sessions.head(WORKER)
        assert head is not None
        writer.sessions.append(WORKER, head, (entry(b"two"),))
        reachable.chmod(0o555)
        with open_store(path, write=False) as store:
            assert [b"one", b"two"] == read_all(store)
        reachable.chmod(0o755)


def test_a_file_that_may_not_be_read_is_refused(reachable: Path) -> None:
    path = reachable / "store.db"
    path.chmod(0)
    with plain_user(reachable):
        for write in (False, True):
            refused(path, "cannot be opened", write=write)


def test_a_folder_in_which_nothing_may_be_made_gets_no_store(reachable: Path) -> None:
    reachable.chmod(0o555)
    with plain_user(reachable):
        refused(reachable / "new.db", "cannot be created: permission denied", write=True, create=True)
        refused(reachable / "new" / "new.db", "cannot be created: permission denied", write=True, create=True)
    assert ["store.db"] == names(reachable)


def test_a_folder_that_may_not_be_entered_is_refused(reachable: Path) -> None:
    inner = reachable / "inner"
    inner.mkdir()
    inner.chmod(0)
    with plain_user(reachable):
        for write in (False, True):
            refused(inner / "store.db", "permission denied", write=write, create=write)
    inner.chmod(0o755)


# --- other users of the file --------------------------------------------------------------------------------------------------------


def test_a_store_held_for_too_long_is_said_to_be_held(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "BUSY_WAIT_SECONDS", 0.0)
    monkeypatch.setattr(connections, "BUSY_ATTEMPTS_MAX", 3)
    with open_store(path, write=True) as store:
        head = store.sessions.head(WORKER)
        assert head is not None
        holder = sqlite3.connect(path, isolation_level=None)
        holder.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreUnavailable, match="is held by another program"):
            store.sessions.append(WORKER, head, (entry(b"two"),))
        refused(path, "is held by another program", write=True)
        assert [b"one"] == read_all(store)
        holder.close()
        assert isinstance(store.sessions.append(WORKER, head, (entry(b"two"),)), Committed)


def test_a_store_is_not_carried_into_another_process(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_store(path, write=True) as store:
        monkeypatch.setattr(os, "getpid", lambda: -1)
        with pytest.raises(AssertionError, match="never carried across a fork"):
            store.sessions.head(WORKER)
        monkeypatch.undo()


def test_paths_with_marks_that_mean_something_in_an_address_are_paths(tmp_path: Path) -> None:
    path = tmp_path / "a?mode=rw#b%20c é" / "st ore.db"
    make_store(path)
    with open_store(path, write=False) as store:
        assert [b"one"] == read_all(store)
    assert ["st ore.db"] == [name for name in names(path.parent) if not name.endswith(("-wal", "-shm"))]


@pytest.mark.parametrize("module", ["stateward.store.memory", "stateward.store.revisions", "stateward.store"])
def test_what_needs_no_database_loads_none(module: str) -> None:
    code = f"import sys, {module}; print(*sorted({{'sqlmodel', 'sqlalchemy', 'sqlite3'}} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert "" == done.stdout.strip()
