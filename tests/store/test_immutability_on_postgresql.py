# ruff: noqa: S608 -- every statement is made of constants of this file
"""What PostgreSQL refuses by itself, whoever asks: every statement here comes from a bare connection."""

import re
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest

from stateward.runtime.ports import Committed, Damaged
from stateward.store.database import open_store
from stateward.store.postgres_rules import RULES
from stateward.store.tables import ENTRIES
from tests.contracts.flows import HERE, draft
from tests.contracts.sessions import NOON, OTHER, THIRD, WORKER, WORKSPACE, entry, redaction
from tests.contracts.tokens import issued

GONE = "0198c0de-0000-7000-8000-00000000000f"
LARGE = b"p" * 300_000
KEYS = {
    "definitions": "digest",
    "entries": "worker, seq",
    "flow_acts": "workspace, flow_id, number",
    "flow_source_revisions": "workspace, flow_id, revision",
    "payloads": "digest",
    "tokens": "workspace, id",
    "tombstones": "worker",
    "workers": "id",
    "workspaces": "id",
}
CLIENT = psycopg.Connection[tuple[Any, ...]]


def keep(url: str) -> None:
    with open_store(url, write=True, create=True) as store:
        store.workspaces.ensure(HERE)
        store.flows.save(HERE.id, draft(content=b"one"), None)
        store.flows.save(HERE.id, draft(content=b"two"), 1)
        store.flows.remove(HERE.id, "paper", 2, author="ada", note="", time=NOON)
        store.tokens.keep(issued())
        for worker in (WORKER, OTHER):
            store.sessions.create(worker, WORKSPACE, (entry(b"one", "k-1"), entry(b"two", "k-2"), entry(LARGE)), {})
        gone = store.sessions.create(GONE, WORKSPACE, (entry(LARGE),), {})
        assert isinstance(gone, Committed)
        store.sessions.delete(GONE, gone.head, NOON)


@pytest.fixture
def stored(copied: Callable[[Callable[[str], None]], str]) -> str:
    return copied(keep)


@pytest.fixture
def by_hand(stored: str) -> Iterator[CLIENT]:
    with psycopg.connect(stored, autocommit=True) as connection:
        connection.execute("SET search_path = stateward")
        yield connection


def run(connection: CLIENT, statement: str) -> Any:
    return connection.execute(statement.encode())


def contents(connection: CLIENT) -> dict[str, list[tuple[Any, ...]]]:
    return {table: sorted(run(connection, f"SELECT * FROM {table}").fetchall(), key=repr) for table in (*KEYS, "heads", "flow_sources")}


def refused(connection: CLIENT, rule: str, statement: str) -> None:
    before = contents(connection)
    with pytest.raises(psycopg.IntegrityError, match=f"^{re.escape(rule)}: "):
        run(connection, statement)
    assert before == contents(connection)


@pytest.mark.parametrize("role", ["origin", "replica"])
@pytest.mark.parametrize("table", KEYS)
def test_no_row_is_updated_or_deleted_in_whichever_role(by_hand: CLIENT, table: str, role: str) -> None:
    run(by_hand, f"SET session_replication_role = {role}")
    column = KEYS[table].split(",")[0]
    refused(by_hand, f"{table}_no_update", f"UPDATE {table} SET {column} = {column}")
    refused(by_hand, f"{table}_no_delete", f"DELETE FROM {table}")


@pytest.mark.parametrize("table", [*KEYS, "heads", "flow_sources"])
def test_no_table_is_emptied(by_hand: CLIENT, table: str) -> None:
    with pytest.raises(psycopg.IntegrityError, match=r"^[a-z_]+_no_truncate: "):
        run(by_hand, f"TRUNCATE {table} CASCADE")


@pytest.mark.parametrize("table", ["heads", "flow_sources"])
def test_no_head_and_no_flow_is_deleted(by_hand: CLIENT, table: str) -> None:
    refused(by_hand, f"{table}_no_delete", f"DELETE FROM {table}")


@pytest.mark.parametrize("table", ["definitions", "payloads", "tokens", "workers", "workspaces"])
def test_no_row_is_replaced_by_one_with_its_key(by_hand: CLIENT, table: str) -> None:
    column = KEYS[table].split(",")[0]
    upsert = f"INSERT INTO {table} SELECT * FROM {table} ON CONFLICT ({KEYS[table]}) DO UPDATE SET {column} = EXCLUDED.{column}"
    refused(by_hand, f"{table}_no_update", upsert)
    refused(
        by_hand,
        f"{table}_no_update",
        f"MERGE INTO {table} AS t USING {table} AS s ON t.{column} = s.{column} WHEN MATCHED THEN UPDATE SET {column} = s.{column}",
    )


@pytest.mark.parametrize(
    ("table", "rule"),
    [
        ("entries", "entries_only_next"),
        ("flow_acts", "flow_acts_only_next"),
        ("flow_source_revisions", "flow_source_revisions_only_next"),
        ("tombstones", "tombstones_only_last"),
    ],
)
def test_no_row_is_written_again(by_hand: CLIENT, table: str, rule: str) -> None:
    refused(by_hand, rule, f"INSERT INTO {table} SELECT * FROM {table} ON CONFLICT DO NOTHING")


def follower(connection: CLIENT, **changed: str) -> str:
    """An insert of an entry that would follow WORKER's last one, but for what is changed."""
    names = [column.name for column in run(connection, "SELECT * FROM entries LIMIT 0").description]
    ours = {"seq": "4", "key": "'k-4'", "previous": "digest", "digest": f"'sha256:{'1' * 64}'", "payload": "''::bytea"} | changed
    return (
        f"INSERT INTO entries SELECT {', '.join(ours.get(name, name) for name in names)} FROM entries WHERE worker = '{WORKER}' AND seq = 3"
    )


@pytest.mark.parametrize(
    "changed",
    [
        {"seq": "3"},
        {"seq": "5"},
        {"previous": "previous"},
        {"worker": f"'{THIRD}'"},
        {"worker": f"'{GONE}'"},
        {"payload": "NULL", "payload_digest": "'sha256:'"},
    ],
    ids=str,
)
def test_an_entry_is_accepted_only_after_the_last_one(by_hand: CLIENT, changed: dict[str, str]) -> None:
    refused(by_hand, "entries_only_next", follower(by_hand, **changed))


def test_an_entry_that_follows_is_accepted_so_the_rule_refuses_nothing_else(by_hand: CLIENT) -> None:
    with pytest.raises(psycopg.errors.UniqueViolation, match="uq_entries_worker_key"):
        run(by_hand, follower(by_hand, key="'k-1'"))
    run(by_hand, follower(by_hand))
    run(by_hand, f"UPDATE heads SET seq = 4, digest = 'sha256:{'1' * 64}' WHERE worker = '{WORKER}'")
    assert (4,) == run(by_hand, f"SELECT seq FROM heads WHERE worker = '{WORKER}'").fetchone()


@pytest.mark.parametrize("change", ["seq = 2", "seq = 4", "seq = 3", "digest = 'x'", f"worker = '{THIRD}'"])
def test_a_head_moves_to_nothing_but_what_was_appended(by_hand: CLIENT, change: str) -> None:
    refused(by_hand, "heads_only_forward", f"UPDATE heads SET {change} WHERE worker = '{WORKER}'")


@pytest.mark.parametrize(("worker", "seq"), [(WORKER, 1), (THIRD, 1), (GONE, 1)])
def test_a_tombstone_is_written_only_for_a_log_as_it_is(by_hand: CLIENT, worker: str, seq: int) -> None:
    digest = f"(SELECT digest FROM entries WHERE worker = '{WORKER}' AND seq = 1)"
    refused(by_hand, "tombstones_only_last", f"INSERT INTO tombstones VALUES ('{worker}', '{WORKSPACE}', {seq}, {digest}, 'Z', '')")


def test_a_worker_that_was_deleted_never_comes_again(by_hand: CLIENT) -> None:
    columns = "workspace, created, base_seq, base_digest, row_digest"
    refused(by_hand, "workers_only_new", f"INSERT INTO workers SELECT '{GONE}', {columns} FROM workers LIMIT 1")


def test_a_payload_is_deleted_with_the_last_entry_that_refers_to_it(stored: str, by_hand: CLIENT) -> None:
    with open_store(stored, write=True) as store:
        for worker, left in ((WORKER, 1), (OTHER, 0)):
            head = store.sessions.head(worker)
            assert head is not None
            store.sessions.delete(worker, head, NOON)
            assert (left,) == run(by_hand, "SELECT count(*) FROM payloads").fetchone()


def not_opened_for_writing(url: str, says: str) -> None:
    with pytest.raises(Damaged, match=says):
        open_store(url, write=True)
    with open_store(url, write=False) as store:
        assert [b"one", b"two", LARGE] == [each.payload for each in store.sessions.entries(WORKER)]


def test_a_store_that_lacks_a_rule_is_not_opened_for_writing(stored: str, by_hand: CLIENT) -> None:
    for rule in RULES:
        run(by_hand, f"DROP TRIGGER {rule.name} ON {rule.table}")
        not_opened_for_writing(stored, f"the rule `{rule.name}` is missing")
        for statement in rule.statements[1:]:
            run(by_hand, statement)


@pytest.mark.parametrize(
    "change",
    [
        "ALTER TABLE entries DISABLE TRIGGER entries_no_delete",
        "ALTER TABLE entries ENABLE TRIGGER entries_no_delete",
        "CREATE OR REPLACE FUNCTION entries_no_delete() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN OLD; END'",
    ],
)
def test_a_store_whose_rule_was_altered_is_not_opened_for_writing(stored: str, by_hand: CLIENT, change: str) -> None:
    run(by_hand, change)
    not_opened_for_writing(stored, "the rule `entries_no_delete` was altered")


def test_a_store_with_a_rule_of_somebody_else_is_not_opened_for_writing(stored: str, by_hand: CLIENT) -> None:
    run(by_hand, "CREATE TRIGGER extra AFTER INSERT ON entries EXECUTE FUNCTION entries_no_truncate()")
    not_opened_for_writing(stored, "there is a rule `extra` of somebody else")


def test_a_store_that_lacks_a_table_is_not_opened_at_all(stored: str, by_hand: CLIENT) -> None:
    run(by_hand, "DROP TABLE heads")
    for write in (True, False):
        with pytest.raises(Damaged, match="the table `heads` is missing"):
            open_store(stored, write=write)


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE entries SET payload = 'x' WHERE seq = 2",
        "DELETE FROM entries WHERE seq = 2",
        "UPDATE entries SET time = 'noonZ' WHERE seq = 2",
    ],
)
def test_what_was_changed_by_hand_is_named_and_what_is_before_it_is_read(stored: str, by_hand: CLIENT, change: str) -> None:
    run(by_hand, "ALTER TABLE entries DISABLE TRIGGER ALL")
    run(by_hand, f"{change} AND worker = '{WORKER}'")
    read: list[int] = []
    with open_store(stored, write=False) as store:
        with pytest.raises(Damaged, match=f"entry E00000002 of Worker {WORKER} is damaged"):
            read.extend(each.seq for each in store.sessions.entries(WORKER))
        assert [1] == read
        assert 3 == sum(1 for _ in store.sessions.entries(OTHER))


# --- an entry out of which a secret was taken ---------------------------------------------------------------------------------------


@pytest.fixture
def redacted(stored: str) -> Iterator[CLIENT]:
    with open_store(stored, write=True) as store:
        head = store.sessions.head(WORKER)
        assert head is not None
        assert isinstance(store.sessions.redact(WORKER, head, redaction(1, b"*"), 1, b"*"), Committed)
    with psycopg.connect(stored, autocommit=True) as connection:
        connection.execute("SET search_path = stateward")
        yield connection


@pytest.mark.parametrize("column", [row.name for row in ENTRIES.c if row.name != "payload"])
def test_nothing_but_its_payload_is_updated(redacted: CLIENT, column: str) -> None:
    other = {"seq": "99", "version": "99", "seal": "'\\x00'"}.get(column, "'another'")
    refused(redacted, "entries_no_update", f"UPDATE entries SET {column} = {other} WHERE worker = '{WORKER}' AND seq = 1")


def test_its_payload_is_not_taken_away_and_no_other_is_updated(redacted: CLIENT) -> None:
    refused(redacted, "entries_no_update", f"UPDATE entries SET payload = NULL WHERE worker = '{WORKER}' AND seq = 1")
    refused(redacted, "entries_no_update", f"UPDATE entries SET payload = 'x' WHERE worker = '{WORKER}' AND seq = 2")
    refused(redacted, "entries_no_update", f"UPDATE entries SET payload = 'x' WHERE worker = '{OTHER}' AND seq = 1")


def test_a_payload_that_is_not_the_one_that_was_said_is_damage(redacted: CLIENT, stored: str) -> None:
    run(redacted, f"UPDATE entries SET payload = 'x' WHERE worker = '{WORKER}' AND seq = 1")
    with open_store(stored, write=False) as store, pytest.raises(Damaged, match=r"E00000001.*its payload is not what was written"):
        list(store.sessions.entries(WORKER))
