# ruff: noqa: S608 -- every statement is made of constants of this file
"""Stores that somebody changed by hand: what is before the damage is read, and the damage is named, never skipped or repaired."""

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from stateward.runtime.ports import Committed, Damaged
from stateward.runtime.session.chain import digest_of
from stateward.runtime.session.entries import Head
from stateward.store.database import open_store
from stateward.store.triggers import TRIGGERS
from tests.contracts.flows import HERE, draft
from tests.contracts.sessions import OTHER, WORKER, WORKSPACE, entry

DEFINITION = b'{"definition":"of the flow"}'
ENTRIES = 10
NO_FIT = "is damaged: its pages do not fit together"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "store.db"
    with open_store(path, write=True, create=True) as store:
        for worker in (WORKER, OTHER):
            entries = [entry(f"payload {number} of {worker}".encode(), f"k-{number}") for number in range(1, ENTRIES + 1)]
            store.sessions.create(worker, WORKSPACE, entries, {digest_of(DEFINITION): DEFINITION})
        store.workspaces.ensure(HERE)
        store.flows.save(HERE.id, draft(content=b"name = 1;", definition=DEFINITION), None)
    return path


def by_hand(path: Path, *statements: str) -> None:
    """Run statements with the rules out of the way; the rules are put back, so that they do not give it away."""
    connection = sqlite3.connect(path, isolation_level=None)
    for name in TRIGGERS:
        connection.execute(f"DROP TRIGGER {name}")
    for statement in statements:
        connection.execute(statement)
    for sql in TRIGGERS.values():
        connection.execute(sql)
    connection.close()


def read_until_damage(path: Path, worker: str = WORKER, after: int = 0, *, write: bool = True) -> tuple[list[int], str]:
    """The numbers read, and what was said at the end."""
    numbers: list[int] = []
    with open_store(path, write=write) as store:
        with pytest.raises(Damaged) as damaged:
            numbers.extend(each.seq for each in store.sessions.entries(worker, after))
        return numbers, damaged.value.message


FIFTH = f"WHERE worker = '{WORKER}' AND seq = 5"


@pytest.mark.parametrize(
    "change",
    [
        "payload = replace(payload, 'payload 5', 'payload 6')",
        "payload = CAST('payload 5' AS TEXT)",
        "payload = 7",
        "payload = x''",
        "payload = NULL",
        "payload_digest = 'sha256:' || substr(payload_digest, 8, 63) || 'x'",
        "previous = digest",
        "digest = previous",
        "digest = x'00'",
        "kind = 'user_input'",
        "kind = CAST(x'746f6fff' AS TEXT)",
        "kind = replace(printf('%1025d', 0), ' ', 'k')",
        "time = '2026-03-01T12:00:00.123457Z'",
        "time = '2026-03-01 12:00:00.123456'",
        "time = 'noonZ'",
        "time = 12",
        "actor_class = 'person'",
        "actor_class = 'nobody'",
        "assurance = 'tty'",
        "assurance = NULL",
        "channel = ''",
        "principal = 'ada'",
        "host_session = ''",
        "key = 'k-5 '",
        "key = NULL",
        "version = 2",
        "version = 'one'",
    ],
)
def test_a_changed_entry_is_named_and_the_ones_before_it_are_read(path: Path, change: str) -> None:
    # A column that may not hold NULL is made to by way of the table's text.
    loosen = ["PRAGMA writable_schema = ON", "UPDATE sqlite_master SET sql = replace(sql, ' NOT NULL', '') WHERE name = 'entries'"]
    by_hand(path, *loosen, "PRAGMA writable_schema = RESET", f"UPDATE entries SET {change} {FIFTH}")
    numbers, said = read_until_damage(path, write=False)  # whoever would write is told of the table
    assert [1, 2, 3, 4] == numbers
    assert f"entry E00000005 of Worker {WORKER} is damaged" in said
    assert [] == read_until_damage(path, after=4, write=False)[0]


@pytest.mark.parametrize("change", ["DELETE FROM payloads", "UPDATE payloads SET content = x'00'", "UPDATE payloads SET digest = 'x'"])
def test_an_entry_whose_payload_beside_it_was_changed_is_named(path: Path, change: str) -> None:
    with open_store(path, write=True) as store:
        head = store.sessions.head(WORKER)
        assert head is not None
        store.sessions.append(WORKER, head, (entry(b"p" * 300_000), entry(b"after")))
    by_hand(path, change)
    numbers, said = read_until_damage(path)
    assert list(range(1, 11)) == numbers
    assert f"entry E00000011 of Worker {WORKER} is damaged" in said


def test_a_log_beside_a_damaged_one_is_read_whole(path: Path) -> None:
    by_hand(path, f"UPDATE entries SET payload = x'00' {FIFTH}")
    with open_store(path, write=False) as store:
        assert ENTRIES == sum(1 for _ in store.sessions.entries(OTHER))


def test_a_deleted_entry_is_named(path: Path) -> None:
    by_hand(path, f"DELETE FROM entries {FIFTH}")
    numbers, said = read_until_damage(path)
    assert ([1, 2, 3, 4], f"entry E00000005 of Worker {WORKER} is damaged: it is missing") == (numbers, said)


def test_a_deleted_entry_is_named_when_reading_begins_after_it(path: Path) -> None:
    by_hand(path, f"DELETE FROM entries {FIFTH}")
    assert ([], f"entry E00000005 of Worker {WORKER} is damaged: it is missing") == read_until_damage(path, after=5)


@pytest.mark.parametrize("other", [6, 7, 10])
def test_two_swapped_entries_are_found_at_the_first(path: Path, other: int) -> None:
    swap = f"UPDATE entries SET seq = CASE seq WHEN 50 THEN {other} ELSE 5 END WHERE worker = '{WORKER}' AND seq"
    by_hand(path, f"UPDATE entries SET seq = 50 {FIFTH}", f"{swap} = {other}", f"{swap} = 50")
    numbers, said = read_until_damage(path)
    if other == ENTRIES:  # the head says so before anything is read
        assert ([], True) == (numbers, "its head is E00000010" in said)
    else:
        assert ([1, 2, 3, 4], True) == (numbers, "entry E00000005" in said)


@pytest.mark.parametrize("cut", [1, 9])
def test_a_cut_tail_is_seen_at_the_head(path: Path, cut: int) -> None:
    by_hand(path, f"DELETE FROM entries WHERE worker = '{WORKER}' AND seq > {ENTRIES - cut}")
    said = f"the log of Worker {WORKER} is damaged: its head is E00000010, its last entry E{ENTRIES - cut:08}"
    assert ([], said) == read_until_damage(path)


def test_a_log_without_entries_is_not_taken_for_an_empty_one(path: Path) -> None:
    by_hand(path, f"DELETE FROM entries WHERE worker = '{WORKER}'")
    assert "its last entry E00000000" in read_until_damage(path)[1]


def test_a_missing_head_is_damage(path: Path) -> None:
    by_hand(path, f"DELETE FROM heads WHERE worker = '{WORKER}'")
    assert ([], f"the log of Worker {WORKER} is damaged: its head is missing") == read_until_damage(path)


def test_a_head_put_back_is_damage_and_nothing_is_appended_over_what_follows_it(path: Path) -> None:
    earlier = f"(SELECT digest FROM entries WHERE worker = '{WORKER}' AND seq = 9)"
    by_hand(path, f"UPDATE heads SET seq = 9, digest = {earlier} WHERE worker = '{WORKER}'")
    assert "its head is E00000009, its last entry E00000010" in read_until_damage(path)[1]
    connection = sqlite3.connect(path)
    (digest,) = connection.execute(f"SELECT digest FROM heads WHERE worker = '{WORKER}'").fetchone()
    connection.close()
    with open_store(path, write=True) as store, pytest.raises(Damaged, match="entries_only_next"):
        store.sessions.append(WORKER, Head(9, digest), (entry(b"over"),))


def test_an_entry_of_another_log_put_into_this_one_is_named(path: Path) -> None:
    others = f"(SELECT {{}} FROM entries AS e WHERE e.worker = '{OTHER}' AND e.seq = entries.seq)"
    columns = ("payload", "payload_digest", "previous", "digest")
    by_hand(path, f"UPDATE entries SET {', '.join(f'{name} = {others.format(name)}' for name in columns)} {FIFTH}")
    numbers, said = read_until_damage(path)
    assert [1, 2, 3, 4] == numbers
    assert "E00000005" in said


def test_a_damaged_entry_is_not_found_by_its_key(path: Path) -> None:
    by_hand(path, f"UPDATE entries SET payload = x'00' {FIFTH}")
    with open_store(path, write=False) as store, pytest.raises(Damaged, match="E00000005"):
        store.sessions.find(WORKER, "k-5")


@pytest.mark.parametrize("change", ["canonical = x'7b7d'", "canonical = 'text'", "canonical = 3"])
def test_a_damaged_definition_is_neither_read_nor_pinned_again(path: Path, change: str) -> None:
    by_hand(path, f"UPDATE definitions SET {change}")
    with open_store(path, write=True) as store:
        for read in (store.sessions.definition, store.flows.definition):
            with pytest.raises(Damaged, match=digest_of(DEFINITION)):
                read(digest_of(DEFINITION))
        head = store.sessions.head(WORKER)
        assert head is not None
        with pytest.raises(Damaged, match=digest_of(DEFINITION)):
            store.sessions.append(WORKER, head, (entry(),), {digest_of(DEFINITION): DEFINITION})
        assert isinstance(store.sessions.append(WORKER, head, (entry(),)), Committed)


@pytest.mark.parametrize("change", ["content = x'00'", "content = 'text'", "created = 'then'", "author = x'00'"])
def test_a_damaged_revision_is_neither_read_nor_saved_over(path: Path, change: str) -> None:
    by_hand(path, f"UPDATE flow_source_revisions SET {change}")
    with open_store(path, write=True) as store:
        reads: list[Callable[[], object]] = [
            lambda: store.flows.current(HERE.id, "paper"),
            lambda: store.flows.revision(HERE.id, "paper", 1),
            lambda: store.flows.save(HERE.id, draft(content=b"two"), 1),
        ]
        if not change.startswith("content ="):  # which is not looked at where it is not told
            reads += [
                lambda: store.flows.find(HERE.id, "paper"),
                lambda: store.flows.sources(HERE.id, 10),
                lambda: store.flows.history(HERE.id, "paper", 10),
                lambda: store.flows.holding(HERE.id, "paper", digest_of(b"name = 1;")),
            ]
        for read in reads:
            with pytest.raises(Damaged):
                read()


@pytest.mark.parametrize(
    ("table", "change"), [("workers", "created = 'then'"), ("workspaces", "created = 5"), ("workspaces", "name = x'00'")]
)
def test_a_row_that_no_store_writes_is_damage(path: Path, table: str, change: str) -> None:
    by_hand(path, f"UPDATE {table} SET {change}")
    with open_store(path, write=False) as store, pytest.raises(Damaged, match="a row holds what no store writes"):
        _ = store.sessions.workers(WORKSPACE, 10), store.workspaces.get(HERE.id)


def test_a_byte_changed_in_what_a_table_refers_to_is_damage_to_whoever_would_write(path: Path) -> None:
    data = path.read_bytes()
    refers = b"REFERENCES flow_sources (workspace, flow_id)"
    assert 2 == data.count(refers)
    place = data.rindex(refers) + refers.index(b"workspace")
    path.write_bytes(data[:place] + b"v" + data[place + 1 :])
    with pytest.raises(Damaged, match=r"the table `flow_[a-z_]+` was altered"), open_store(path, write=True):
        pass


def test_a_byte_changed_in_the_file_is_named_by_its_entry(path: Path) -> None:
    data = path.read_bytes()
    place = data.index(f"payload 5 of {WORKER}".encode())
    path.write_bytes(data[:place] + b"q" + data[place + 1 :])
    numbers, said = read_until_damage(path)
    assert [1, 2, 3, 4] == numbers
    assert "E00000005" in said


@pytest.mark.parametrize("keep", [1000, 4096, 20480])
def test_a_file_that_was_cut_is_refused_in_one_line(path: Path, keep: int) -> None:
    path.write_bytes(path.read_bytes()[:keep])
    with (
        pytest.raises(Damaged, match=NO_FIT) as refused,
        open_store(path, write=True) as store,
    ):
        list(store.sessions.entries(WORKER))
    assert "\n" not in refused.value.message
    assert refused.value.remedy


def test_a_file_whose_pages_were_overwritten_is_refused_in_one_line(path: Path) -> None:
    size = path.stat().st_size
    path.write_bytes(path.read_bytes()[:4096] + b"\xa5" * (size - 4096))
    with pytest.raises(Damaged, match=NO_FIT), open_store(path, write=True) as store:
        list(store.sessions.entries(WORKER))
