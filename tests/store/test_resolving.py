"""Resolving a flow never writes: not a row, not a byte, not a transaction, and no statement that could."""

import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.sql import SQL, Identifier

from stateward.runtime.engine.flows import WorkspaceFlows
from stateward.runtime.engine.snapshots import WorkspaceSnapshots
from stateward.runtime.ports import Saved, Snapshot, StoreUnavailable, Unresolved
from stateward.store.database import Store, open_store
from tests.contracts.flows import HERE, LATER, draft
from tests.postgres import Server
from tests.runtime.engines import TickingClock
from tests.store.children import connect_with
from tests.store.guarded import TABLES, by_hand

SOURCE = """schema_version = 1;
name = "%s";
initial = "write";
states = {
    write = { instructions = "Write."; transitions = { ready = { target = "done"; condition = "It is written."; }; }; };
    done = { instructions = ""; terminal = true; };
};
"""
READS = re.compile(r"SELECT|BEGIN|COMMIT|PRAGMA (application_id|user_version|query_only = ON)$")
"""How statements begin that write nothing."""


def keep(store: Store, slug: str) -> None:
    authority = WorkspaceFlows(store.flows, HERE.id, "ada", "stateward 0", TickingClock())
    assert isinstance(authority.save(slug, (SOURCE % slug).encode(), base=None), Saved)


def begin(place: Path | str) -> None:
    """Keep a flow that is there and one that was removed."""
    with open_store(place, write=True, create=True) as store:
        store.workspaces.ensure(HERE)
        for slug in ("paper", "gone"):
            keep(store, slug)
        store.flows.remove(HERE.id, "gone", 1, author="ada", note="", time=LATER)


@pytest.fixture
def kept(place: Path | str) -> Path | str:
    begin(place)
    return place


def resolve_all(place: Path | str) -> None:
    """Resolve what is there, what was removed and what never was, and read whatever a resolver might."""
    with open_store(place, write=False) as store:
        snapshots = WorkspaceSnapshots(HERE.id, store.flows)
        found = snapshots.resolve("workspace:paper")
        assert isinstance(found, Snapshot)
        assert ("paper", 1, "write") == (found.definition.name, found.flow_revision, found.definition.initial)
        for selector in ("workspace:gone", "workspace:none", "builtin:none"):
            assert isinstance(snapshots.resolve(selector), Unresolved)
        assert isinstance(snapshots.resolve("builtin:coder-review"), Snapshot)
        assert store.flows.find(HERE.id, "paper")
        assert store.flows.definition(found.definition_digest) == found.definition_bytes


def rows(place: Path | str) -> dict[str, list[tuple[Any, ...]]]:
    with by_hand(place) as connected:
        return connected.contents()


def test_no_row_is_another_after_resolving(kept: Path | str) -> None:
    before = rows(kept)
    resolve_all(kept)
    assert before == rows(kept)
    assert {table: bool(before[table]) for table in TABLES} == {table: table != "tokens" for table in TABLES}


def test_who_may_only_read_is_refused_every_change(kept: Path | str) -> None:
    before = rows(kept)
    with open_store(kept, write=False) as store:
        changes: list[Callable[[], object]] = [
            lambda: store.flows.save(HERE.id, draft(content=b"two"), 1),
            lambda: store.flows.remove(HERE.id, "paper", 1, author="ada", note="", time=LATER),
            lambda: store.tokens.revoke(HERE.id, "none", LATER),
        ]
        for change in changes:
            with pytest.raises(StoreUnavailable, match="opened for reading only"):
                change()
    assert before == rows(kept)


# --- on SQLite ----------------------------------------------------------------------------------------------------------------------


class Traced(sqlite3.Connection):
    """A connection that tells every statement that the database runs."""

    seen: list[str] = []  # noqa: RUF012 -- shared by all of them, so that none escapes

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self.set_trace_callback(Traced.seen.append)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "store.db"
    begin(path)
    return path


@pytest.fixture
def statements(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.setattr(sqlite3, "connect", connect_with(Traced))
    monkeypatch.setattr(Traced, "seen", [])
    return Traced.seen


def bytes_of(folder: Path) -> dict[str, bytes]:
    """Every file there but the index of the log of pages, which lies in memory that readers share."""
    return {each.name: each.read_bytes() for each in sorted(folder.iterdir()) if not each.name.endswith("-shm")}


def test_a_file_at_rest_has_the_same_bytes_after_resolving_and_nothing_beside_it(file: Path) -> None:
    before = bytes_of(file.parent)
    resolve_all(file)
    assert before == bytes_of(file.parent)
    assert ["store.db"] == [each.name for each in file.parent.iterdir()]


def test_beside_a_writer_no_byte_of_the_file_or_of_its_log_of_pages_changes(file: Path) -> None:
    with open_store(file, write=True) as writer:
        keep(writer, "fresh")
        before = bytes_of(file.parent)
        assert {"store.db", "store.db-wal"} == before.keys()
        resolve_all(file)
        assert before == bytes_of(file.parent)


def test_another_connection_sees_no_change_of_data(file: Path) -> None:
    watcher = sqlite3.connect(file, isolation_level=None)
    version = watcher.execute("PRAGMA data_version").fetchone()
    resolve_all(file)
    assert version == watcher.execute("PRAGMA data_version").fetchone()
    with open_store(file, write=True) as store:
        keep(store, "fresh")
    assert version != watcher.execute("PRAGMA data_version").fetchone()
    watcher.close()


def test_every_statement_of_resolving_reads(file: Path, statements: list[str]) -> None:
    resolve_all(file)
    assert [] == [each for each in statements if not READS.match(each)]
    assert any("flow_source_revisions" in each for each in statements)
    with open_store(file, write=True) as store:
        keep(store, "fresh")
    assert [] != [each for each in statements if not READS.match(each)]


# --- on PostgreSQL ------------------------------------------------------------------------------------------------------------------


@pytest.fixture
def client(url: str) -> Iterator[psycopg.Connection[tuple[Any, ...]]]:
    begin(url)
    with psycopg.connect(url, autocommit=True) as connected:
        yield connected


def next_transaction(client: psycopg.Connection[tuple[Any, ...]]) -> object:
    """The number that the next transaction gets that writes; one that only reads gets none."""
    return client.execute("SELECT pg_snapshot_xmax(pg_current_snapshot())::text").fetchone()


def test_no_transaction_of_resolving_writes(url: str, client: psycopg.Connection[tuple[Any, ...]]) -> None:
    before = next_transaction(client)
    resolve_all(url)
    assert before == next_transaction(client)
    with open_store(url, write=True) as store:
        keep(store, "fresh")
    assert before != next_transaction(client)


def test_every_statement_that_the_server_hears_of_resolving_reads(
    postgres: Server, url: str, client: psycopg.Connection[tuple[Any, ...]]
) -> None:
    if postgres.folder is None:
        pytest.skip("the log of a server that is not ours is not ours to read")
    log = postgres.folder / "log"
    with everything_logged(client):
        start = log.stat().st_size
        resolve_all(url)
        heard = statements_in(log.read_bytes()[start:].decode())
        assert [] == [each for each in heard if not READS.match(each)]
        assert any("flow_source_revisions" in each for each in heard)
        with open_store(url, write=True) as store:
            keep(store, "fresh")
        assert [] != [each for each in statements_in(log.read_bytes()[start:].decode()) if not READS.match(each)]


@contextmanager
def everything_logged(client: psycopg.Connection[tuple[Any, ...]]) -> Iterator[None]:
    """Let the server write down every statement that it is given in this database."""
    database = Identifier(client.info.dbname)
    for setting in ("log_statement = 'all'", "log_min_messages = 'log'"):
        client.execute(SQL("ALTER DATABASE {} SET " + setting).format(database))
    yield
    client.execute(SQL("ALTER DATABASE {} RESET ALL").format(database))


def statements_in(log: str) -> list[str]:
    return re.findall(r"LOG:  (?:statement|execute [^:]*): (.*)", log)
