# ruff: noqa: S608 -- every statement is made of constants of this file
"""Opening a store in PostgreSQL: what is created, what is refused, what is said, and what stays as it is."""

import subprocess
import sys
from typing import Any

import psycopg
import pytest

from stateward.runtime.ports import Committed, Fault, StoreNewer, StoreUnavailable
from stateward.store import postgres as connections
from stateward.store.address import place_name
from stateward.store.database import Store, open_store
from stateward.store.postgres import PostgresConnection
from stateward.store.schema import SCHEMA_VERSION
from tests.contracts.flows import HERE, draft
from tests.contracts.sessions import OTHER, WORKER, WORKSPACE, entry
from tests.postgres import Server


def make_store(url: str) -> None:
    with open_store(url, write=True, create=True) as store:
        store.workspaces.ensure(HERE)
        store.flows.save(HERE.id, draft(), None)
        store.sessions.create(WORKER, WORKSPACE, (entry(b"one", "k-1"),), {})


def run(url: str, statement: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(statement.encode())


def payloads(store: Store) -> list[bytes]:
    return [each.payload for each in store.sessions.entries(WORKER)]


def refused(url: str, says: str, *, write: bool, create: bool = False, kind: type[Fault] = StoreUnavailable) -> None:
    with pytest.raises(kind, match=says) as fault, open_store(url, write=write, create=create) as store:
        store.sessions.head(WORKER)
    assert type(fault.value) is kind
    assert "\n" not in fault.value.message
    assert fault.value.remedy


@pytest.fixture
def stored(url: str) -> str:
    make_store(url)
    return url


@pytest.mark.parametrize("write", [False, True])
def test_a_database_without_a_store_is_refused_and_left_as_it_is(url: str, write: bool) -> None:
    refused(url, "there is no store in .* yet", write=write)
    with psycopg.connect(url) as connection:
        assert (None,) == connection.execute("SELECT to_regnamespace('stateward')").fetchone()


def test_opening_again_with_create_keeps_what_is_there(stored: str) -> None:
    with open_store(stored, write=True, create=True) as store:
        assert [b"one"] == payloads(store)


@pytest.mark.parametrize("write", [False, True])
@pytest.mark.parametrize(
    ("version", "kind", "says"),
    [
        (SCHEMA_VERSION + 1, StoreNewer, f"was written by a newer stateward: its store version is {SCHEMA_VERSION + 1}"),
        (0, StoreUnavailable, "has store version 0, which no stateward ever wrote"),
    ],
)
def test_a_store_of_another_version_is_refused_by_name(stored: str, version: int, kind: type[Fault], says: str, write: bool) -> None:
    run(stored, f"UPDATE stateward.store_version SET version = {version}")
    refused(stored, says, write=write, create=write, kind=kind)


def test_a_store_that_a_newer_program_migrated_meanwhile_is_not_written(stored: str) -> None:
    with open_store(stored, write=True) as store:
        head = store.sessions.head(WORKER)
        assert head is not None
        run(stored, f"UPDATE stateward.store_version SET version = {SCHEMA_VERSION + 1}")
        for new in (entry(b"two"), entry(b"p" * 300_000)):
            with pytest.raises(StoreNewer):
                store.sessions.append(WORKER, head, (new,))
        assert [b"one"] == payloads(store)


@pytest.mark.parametrize("write", [False, True])
def test_a_schema_of_another_program_is_refused_and_left_as_it_is(url: str, write: bool) -> None:
    run(url, "CREATE SCHEMA stateward")
    run(url, "CREATE TABLE stateward.theirs (x int)")
    refused(url, "the schema `stateward` in .* is that of another program", write=write, create=write)


def test_a_reader_cannot_write(stored: str) -> None:
    with open_store(stored, write=False) as store:
        head = store.sessions.head(WORKER)
        assert head is not None
        with pytest.raises(StoreUnavailable, match="was opened for reading only"):
            store.sessions.append(WORKER, head, (entry(b"two"),))


def test_a_reader_opens_sessions_in_which_the_server_lets_nothing_be_written(stored: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections.PostgresDatabase, "_require_writable", lambda _: None)
    with open_store(stored, write=False) as store:
        head = store.sessions.head(WORKER)
        assert head is not None
        with pytest.raises(StoreUnavailable, match="it is a standby or set to be read only"):
            store.sessions.append(WORKER, head, (entry(b"two"),))


SECRET = "hunter2-%C3%A9"  # noqa: S105 -- of no one


@pytest.mark.parametrize(
    "url",
    [
        f"postgresql://ada:{SECRET}@127.0.0.1:1/stateward",
        f"postgresql://127.0.0.1:1/stateward?user=ada&password={SECRET}&sslpassword={SECRET}",
        f"postgres://ada:{SECRET}@/stateward?host=/nowhere",
    ],
)
def test_a_server_that_is_not_there_is_named_without_its_password(url: str) -> None:
    with pytest.raises(StoreUnavailable, match="cannot be used") as fault:
        open_store(url, write=True, create=True)
    assert "stateward" in fault.value.message
    for said in (str(fault.value), fault.value.remedy, place_name(url)):
        assert "hunter2" not in said


def test_a_store_on_postgresql_without_its_driver_says_what_to_install() -> None:
    code = (
        "import sys; sys.modules['psycopg'] = None\n"
        "from stateward.runtime.ports import StoreUnavailable\n"
        "from stateward.store.database import open_store\n"
        "try: open_store('postgresql://nowhere/x', write=False)\n"
        "except StoreUnavailable as fault: print(fault.message, '|', fault.remedy)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert "a store on PostgreSQL needs the package psycopg | install `stateward[postgres]`" == done.stdout.strip()


def test_a_database_in_another_encoding_is_refused(postgres: Server, url: str) -> None:
    run(postgres.url, "CREATE DATABASE stateward_latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")
    try:
        latin = url.replace(url.split("/")[3].split("?", maxsplit=1)[0], "stateward_latin")
        refused(latin, "keeps texts as LATIN1, a store needs UTF8", write=True, create=True)
    finally:
        run(postgres.url, "DROP DATABASE stateward_latin WITH (FORCE)")


def test_a_store_held_for_too_long_is_said_to_be_held(stored: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "_SETTINGS", "-c search_path=stateward -c lock_timeout=10ms")
    monkeypatch.setattr(connections, "ATTEMPTS_MAX", 2)
    with open_store(stored, write=True) as store:
        head = store.sessions.head(WORKER)
        assert head is not None
        with psycopg.connect(stored) as holder:
            holder.execute("SELECT 1 FROM stateward.heads FOR UPDATE")
            for new in (entry(b"two"), entry(b"p" * 300_000)):
                with pytest.raises(StoreUnavailable, match="is held by another program"):
                    store.sessions.append(WORKER, head, (new,))
            assert [b"one"] == payloads(store)
        assert isinstance(store.sessions.append(WORKER, head, (entry(b"two"),)), Committed)


def statements_of(store: Store, monkeypatch: pytest.MonkeyPatch, action: Any) -> list[str]:
    said: list[str] = []
    execute = PostgresConnection.execute

    def telling(self: PostgresConnection, sql: str, parameters: Any = ()) -> Any:
        said.append(sql)
        return execute(self, sql, parameters)

    monkeypatch.setattr(PostgresConnection, "execute", telling)
    action(store)
    monkeypatch.undo()
    return said


def test_an_append_is_one_statement_and_waits_for_the_disk(stored: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_store(stored, write=True) as store:
        head = store.sessions.head(WORKER)
        assert head is not None
        said = statements_of(store, monkeypatch, lambda store: store.sessions.append(WORKER, head, (entry(b"two"), entry(b"three"))))
        assert 1 == len(said)
        assert [b"one", b"two", b"three"] == payloads(store)
        database = connections.PostgresDatabase(stored, write=True, create=False)
        assert ("on",) == database.read(lambda connection: connection.execute("SHOW synchronous_commit").fetchone())
        database.close()


def test_large_payloads_are_read_a_few_at_a_time(stored: str, monkeypatch: pytest.MonkeyPatch) -> None:
    large = b"p" * 3_000_000
    with open_store(stored, write=True) as store:
        store.sessions.create(OTHER, WORKSPACE, tuple(entry(large) for _ in range(4)), {})
        said = statements_of(store, monkeypatch, lambda store: [0 for _ in store.sessions.entries(OTHER)])
        assert 2 == sum("entries.payload_digest" in sql for sql in said)
        assert [large] * 4 == [each.payload for each in store.sessions.entries(OTHER)]


def test_texts_are_listed_by_their_bytes_whatever_the_language_of_the_database(stored: str) -> None:
    with psycopg.connect(stored) as connection:
        columns = "SELECT DISTINCT collation_name FROM information_schema.columns WHERE table_schema = 'stateward' AND data_type = 'text'"
        assert [("C",)] == connection.execute(columns).fetchall()
