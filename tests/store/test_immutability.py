# ruff: noqa: S608 -- every statement is made of constants of this file
"""What the database refuses by itself, whoever asks: every statement here comes from a bare sqlite3 connection."""

import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from stateward.runtime.ports import Committed, Damaged
from stateward.store.database import open_store
from stateward.store.tables import ENTRIES
from stateward.store.triggers import TRIGGERS
from tests.contracts.flows import HERE, draft
from tests.contracts.sessions import NOON, OTHER, THIRD, WORKER, WORKSPACE, entry, redaction
from tests.contracts.tokens import issued

COPY = "INSERT {how} INTO {table} SELECT * FROM {table}"
GONE = "0198c0de-0000-7000-8000-00000000000f"
FOURTH = "0198c0de-0000-7000-8000-000000000004"
WRITTEN_ONCE = ("definitions", "entries", "flow_acts", "flow_source_revisions", "payloads", "tokens", "tombstones", "workers", "workspaces")
LARGE = b"p" * 300_000


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "store.db"
    with open_store(path, write=True, create=True) as store:
        store.workspaces.ensure(HERE)
        store.flows.save(HERE.id, draft(content=b"one"), None)
        store.flows.save(HERE.id, draft(content=b"two"), 1)
        store.flows.remove(HERE.id, "paper", 2, author="ada", note="", time=NOON)
        store.tokens.keep(issued())
        for worker in (WORKER, OTHER):
            store.sessions.create(worker, WORKSPACE, (entry(b"one", "k-1"), entry(b"two", "k-2")), {})
        gone = store.sessions.create(GONE, WORKSPACE, (entry(LARGE),), {})
        assert isinstance(gone, Committed)
        store.sessions.create(FOURTH, WORKSPACE, (entry(LARGE),), {})
        store.sessions.delete(GONE, gone.head, NOON)
    return path


@pytest.fixture
def by_hand(path: Path) -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(path, isolation_level=None)
    yield connection
    connection.close()


def contents(connection: sqlite3.Connection) -> dict[str, list[tuple[object, ...]]]:
    return {table: connection.execute(f"SELECT * FROM {table}").fetchall() for table in (*WRITTEN_ONCE, "heads", "flow_sources")}


def refused(connection: sqlite3.Connection, rule: str, statement: str, *values: object) -> None:
    before = contents(connection)
    with pytest.raises(sqlite3.IntegrityError, match=f"^{re.escape(rule)}: "):
        connection.execute(statement, values)
    assert before == contents(connection)


@pytest.mark.parametrize("table", WRITTEN_ONCE)
@pytest.mark.parametrize("how", ["", "OR IGNORE", "OR REPLACE", "OR FAIL"])
def test_no_row_is_updated(by_hand: sqlite3.Connection, table: str, how: str) -> None:
    (column, *_) = (row[1] for row in by_hand.execute(f"PRAGMA table_info({table})"))
    refused(by_hand, f"{table}_no_update", f"UPDATE {how} {table} SET {column} = {column}")


@pytest.mark.parametrize("table", [*WRITTEN_ONCE, "heads", "flow_sources"])
def test_no_row_is_deleted(by_hand: sqlite3.Connection, table: str) -> None:
    refused(by_hand, f"{table}_no_delete", f"DELETE FROM {table}")


@pytest.mark.parametrize("how", ["", "OR IGNORE", "OR REPLACE"])
@pytest.mark.parametrize(
    ("table", "rule"),
    [
        ("definitions", "definitions_only_new"),
        ("entries", "entries_only_next"),
        ("flow_acts", "flow_acts_only_next"),
        ("flow_source_revisions", "flow_source_revisions_only_next"),
        ("flow_sources", "flow_sources_only_new"),
        ("heads", "heads_only_first"),
        ("payloads", "payloads_only_new"),
        ("tokens", "tokens_only_new"),
        ("tombstones", "tombstones_only_last"),
        ("workers", "workers_only_new"),
        ("workspaces", "workspaces_only_new"),
    ],
)
def test_no_row_is_replaced_by_one_with_its_key(by_hand: sqlite3.Connection, table: str, rule: str, how: str) -> None:
    refused(by_hand, rule, COPY.format(how=how, table=table))
    refused(by_hand, rule, f"REPLACE INTO {table} SELECT * FROM {table}")


def next_entry(connection: sqlite3.Connection, **changed: object) -> tuple[str, list[object]]:
    """An INSERT OR REPLACE of an entry that would follow WORKER's last one, but for what is changed."""
    cursor = connection.execute("SELECT * FROM entries WHERE worker = ? AND seq = 2", (WORKER,))
    row = dict(zip((column[0] for column in cursor.description), cursor.fetchone(), strict=True))
    row |= {"seq": 3, "key": "k-3", "previous": row["digest"], "digest": "sha256:" + "1" * 64} | changed
    columns = ", ".join(f'"{name}"' for name in row)
    return f"INSERT OR REPLACE INTO entries ({columns}) VALUES ({', '.join('?' * len(row))})", list(row.values())


@pytest.mark.parametrize(
    "changed",
    [
        {"key": "k-1"},
        {"rowid": 1},
        {"_rowid_": 2},
        {"seq": 2},
        {"seq": 4},
        {"seq": None},
        {"previous": "sha256:" + "0" * 64},
        {"previous": None},
        {"worker": THIRD},
        {"worker": GONE},
        {"payload": None},
        {"worker": THIRD, "seq": 1},
    ],
    ids=str,
)
def test_an_entry_is_accepted_only_after_the_last_one_and_over_no_other(by_hand: sqlite3.Connection, changed: dict[str, object]) -> None:
    statement, values = next_entry(by_hand, **changed)
    refused(by_hand, "entries_only_next", statement, *values)


def test_an_entry_that_follows_is_accepted_so_the_rule_refuses_nothing_else(by_hand: sqlite3.Connection) -> None:
    statement, values = next_entry(by_hand)
    by_hand.execute(statement, values)
    by_hand.execute("UPDATE heads SET seq = 3, digest = ? WHERE worker = ?", ("sha256:" + "1" * 64, WORKER))
    assert (3,) == by_hand.execute("SELECT seq FROM heads WHERE worker = ?", (WORKER,)).fetchone()


@pytest.mark.parametrize(
    "change",
    [
        "seq = 1, digest = (SELECT digest FROM entries AS e WHERE e.worker = heads.worker AND e.seq = 1)",
        "seq = 3",
        "seq = 2",
        "digest = 'sha256:' || digest",
        f"worker = '{THIRD}'",
    ],
)
@pytest.mark.parametrize("how", ["", "OR REPLACE"])
def test_a_head_moves_to_nothing_but_what_was_appended(by_hand: sqlite3.Connection, change: str, how: str) -> None:
    refused(by_hand, "heads_only_forward", f"UPDATE {how} heads SET {change} WHERE worker = '{WORKER}'")


def test_a_revision_is_accepted_only_after_the_last_one(by_hand: sqlite3.Connection) -> None:
    others = "content, content_digest, definition_digest, compiler, author, note, created, row_digest"
    revisions = "flow_source_revisions"
    skipped = f"INSERT INTO {revisions} SELECT workspace, flow_id, 4, {others} FROM {revisions} WHERE revision = 1"
    refused(by_hand, "flow_source_revisions_only_next", skipped)


@pytest.mark.parametrize(
    ("worker", "seq", "digest"), [(WORKER, 1, "digest"), (WORKER, 2, "'sha256:'"), (THIRD, 1, "digest"), (GONE, 1, "digest")]
)
def test_a_tombstone_is_written_only_for_a_log_as_it_is(by_hand: sqlite3.Connection, worker: str, seq: int, digest: str) -> None:
    values = f"'{worker}', '{WORKSPACE}', {seq}, (SELECT {digest} FROM entries WHERE worker = '{WORKER}' AND seq = 1), 'Z', ''"
    refused(by_hand, "tombstones_only_last", f"INSERT OR REPLACE INTO tombstones VALUES ({values})")


def test_a_worker_that_was_deleted_never_comes_again(by_hand: sqlite3.Connection) -> None:
    columns = "workspace, created, base_seq, base_digest, row_digest"
    refused(by_hand, "workers_only_new", f"INSERT OR REPLACE INTO workers SELECT '{GONE}', {columns} FROM workers LIMIT 1")


def test_a_payload_is_deleted_with_the_last_entry_that_refers_to_it(path: Path, by_hand: sqlite3.Connection) -> None:
    with open_store(path, write=True) as store:
        head = store.sessions.head(FOURTH)
        assert head is not None
        assert [(1,)] == by_hand.execute("SELECT count(*) FROM payloads").fetchall()
        store.sessions.delete(FOURTH, head, NOON)
        assert [(0,)] == by_hand.execute("SELECT count(*) FROM payloads").fetchall()


@pytest.mark.parametrize("rule", sorted(TRIGGERS))
def test_a_store_that_lacks_a_rule_is_not_opened_for_writing(path: Path, by_hand: sqlite3.Connection, rule: str) -> None:
    by_hand.execute(f"DROP TRIGGER {rule}")
    with pytest.raises(Damaged, match=f"the rule `{rule}` is missing"):
        open_store(path, write=True)
    with open_store(path, write=False) as store:
        assert ["one", "two"] == [each.payload.decode() for each in store.sessions.entries(WORKER)]


def test_a_store_whose_rule_was_altered_is_not_opened_for_writing(path: Path, by_hand: sqlite3.Connection) -> None:
    by_hand.execute("DROP TRIGGER entries_no_delete")
    by_hand.execute("CREATE TRIGGER entries_no_delete BEFORE DELETE ON entries BEGIN SELECT 1; END")
    with pytest.raises(Damaged, match="the rule `entries_no_delete` was altered"):
        open_store(path, write=True)


def test_a_store_with_a_rule_of_somebody_else_is_not_opened_for_writing(path: Path, by_hand: sqlite3.Connection) -> None:
    by_hand.execute("CREATE TRIGGER extra AFTER INSERT ON entries BEGIN SELECT 1; END")
    with pytest.raises(Damaged, match="there is a rule `extra` of somebody else"):
        open_store(path, write=True)


def test_a_store_that_lacks_a_table_is_not_opened_at_all(path: Path, by_hand: sqlite3.Connection) -> None:
    by_hand.execute("DROP TABLE heads")
    for write in (True, False):
        with pytest.raises(Damaged, match="the table `heads` is missing"):
            open_store(path, write=write)


# --- an entry out of which a secret was taken ---------------------------------------------------------------------------------------


@pytest.fixture
def redacted(path: Path) -> Iterator[sqlite3.Connection]:
    with open_store(path, write=True) as store:
        head = store.sessions.head(WORKER)
        assert head is not None
        assert isinstance(store.sessions.redact(WORKER, head, redaction(1, b"*"), 1, b"*"), Committed)
    connection = sqlite3.connect(path, isolation_level=None)
    yield connection
    connection.close()


@pytest.mark.parametrize("column", [row.name for row in ENTRIES.c if row.name != "payload"])
def test_nothing_but_its_payload_is_updated(redacted: sqlite3.Connection, column: str) -> None:
    refused(redacted, "entries_no_update", f"UPDATE entries SET \"{column}\" = 'another' WHERE worker = ? AND seq = 1", WORKER)


def test_its_payload_is_not_taken_away_and_no_other_is_updated(redacted: sqlite3.Connection) -> None:
    refused(redacted, "entries_no_update", "UPDATE entries SET payload = NULL WHERE worker = ? AND seq = 1", WORKER)
    refused(redacted, "entries_no_update", "UPDATE entries SET payload = x'00' WHERE worker = ? AND seq = 2", WORKER)
    refused(redacted, "entries_no_update", "UPDATE entries SET payload = x'00' WHERE worker = ? AND seq = 1", OTHER)


def test_a_payload_that_is_not_the_one_that_was_said_is_damage(redacted: sqlite3.Connection, path: Path) -> None:
    redacted.execute("UPDATE entries SET payload = x'00' WHERE worker = ? AND seq = 1", (WORKER,))
    with open_store(path, write=False) as store, pytest.raises(Damaged, match=r"E00000001.*its payload is not what was written"):
        list(store.sessions.entries(WORKER))
