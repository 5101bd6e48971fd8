# ruff: noqa: S608 -- every statement is made of constants of this file
"""Logs that are sealed: what is appended can be checked, and what somebody without the key wrote is not gone on with."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from stateward.runtime.ports import Committed, Damaged, KeysUnusable, SealMismatch
from stateward.runtime.session.chain import link_all
from stateward.runtime.session.entries import GENESIS, Entry, Head
from stateward.store.codecs import entry_parameters
from stateward.store.database import Store, open_store
from stateward.store.keys import Purpose
from stateward.store.memory_sessions import MemorySessionStore
from stateward.store.seal import Seals
from stateward.store.triggers import TRIGGERS
from tests.contracts.sessions import WORKER, WORKSPACE, entry
from tests.store.sealing import key_folder, sealer

ENTRIES = 10


@pytest.fixture
def keys(tmp_path: Path) -> Path:
    return tmp_path / "keys"


@pytest.fixture
def path(tmp_path: Path, keys: Path) -> Path:
    path = tmp_path / "store.db"
    with open_store(path, write=True, create=True, sealer=sealer(keys)) as store:
        store.sessions.create(WORKER, WORKSPACE, [entry(f"payload {number}".encode(), f"k-{number}") for number in range(1, 11)], {})
    return path


def changed(path: Path, *statements: str) -> None:
    connection = sqlite3.connect(path, isolation_level=None)
    for name in TRIGGERS:
        connection.execute(f"DROP TRIGGER {name}")
    for statement in statements:
        connection.execute(statement)
    for sql in TRIGGERS.values():
        connection.execute(sql)
    connection.close()


def read(store: Store, after: int = 0) -> Iterator[Entry]:
    return store.sessions.entries(WORKER, after)


def until_mismatch(path: Path, keys: Path, *, write: bool = True) -> tuple[list[int], str]:
    numbers: list[int] = []
    with open_store(path, write=write, sealer=sealer(keys)) as store:
        with pytest.raises(SealMismatch) as mismatch:
            numbers.extend(each.seq for each in read(store))
        return numbers, mismatch.value.message


def test_every_entry_is_sealed_under_the_current_key_and_each_seal_checks(path: Path, keys: Path) -> None:
    ours = sealer(keys)
    with open_store(path, write=False, sealer=ours) as store:
        entries = list(read(store))
    assert [ours.key_id] * ENTRIES == [each.key_id for each in entries]
    assert [True] * ENTRIES == [ours.check(each.key_id or "", each.digest, each.seal or b"") for each in entries]


def test_what_the_store_in_memory_seals_is_what_the_one_on_disk_seals(path: Path, keys: Path) -> None:
    memory = MemorySessionStore(Seals(sealer(keys)))
    memory.create(WORKER, WORKSPACE, [entry(f"payload {number}".encode(), f"k-{number}") for number in range(1, 11)], {})
    with open_store(path, write=False, sealer=sealer(keys)) as store:
        assert list(memory.entries(WORKER)) == list(read(store))


def test_a_log_goes_on_under_a_new_key_and_all_of_it_checks(path: Path, keys: Path) -> None:
    key_folder(keys).rotate(Purpose.SEAL)
    with open_store(path, write=True, sealer=sealer(keys)) as store:
        head = store.sessions.head(WORKER)
        assert head is not None
        assert isinstance(store.sessions.append(WORKER, head, (entry(b"more"),)), Committed)
        assert 2 == len({each.key_id for each in read(store)})


def test_without_a_sealer_nothing_is_sealed_and_such_a_log_is_read_and_gone_on_with_under_seal(tmp_path: Path, keys: Path) -> None:
    path = tmp_path / "plain.db"
    with open_store(path, write=True, create=True) as store:
        store.sessions.create(WORKER, WORKSPACE, (entry(b"a"), entry(b"b")), {})
    with open_store(path, write=True, sealer=sealer(keys)) as store:
        head = store.sessions.head(WORKER)
        assert head is not None
        store.sessions.append(WORKER, head, (entry(b"c"),))
        assert [False, False, True] == [each.seal is not None for each in read(store)]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("seal = zeroblob(32)", "its seal is not one of key `seal-"),
        ("seal = x''", "its seal is not one of key `seal-"),
        ("seal = (SELECT seal FROM entries WHERE seq = 4)", "its seal is not one of key `seal-"),
        ("seal = NULL, key_id = NULL", "its seal is missing"),
        ("seal = NULL", "its seal is missing"),
        ("key_id = NULL", "its seal is missing"),
        ("key_id = 'seal-00000000000000000000000000000000'", "which is not in the key folder"),
        ("key_id = '../../etc/passwd'", "which is not in the key folder"),
    ],
)
def test_an_entry_whose_seal_does_not_check_ends_the_reading_by_name(path: Path, keys: Path, change: str, said: str) -> None:
    changed(path, f"UPDATE entries SET {change} WHERE seq = 5")
    numbers, message = until_mismatch(path, keys)
    assert [1, 2, 3, 4] == numbers
    assert message.startswith(f"entry E00000005 of Worker {WORKER} is not to be trusted: ")
    assert said in message


def test_it_is_found_when_reading_begins_just_there(path: Path, keys: Path) -> None:
    changed(path, "UPDATE entries SET seal = NULL, key_id = NULL WHERE seq = 5")
    with open_store(path, write=True, sealer=sealer(keys)) as store:
        with pytest.raises(SealMismatch, match="E00000005"):
            next(read(store, after=4))
        with pytest.raises(SealMismatch, match="E00000005"):
            store.sessions.find(WORKER, "k-5")


def test_a_chain_that_was_written_anew_without_the_key_is_found_at_its_first_entry(path: Path, keys: Path) -> None:
    with open_store(path, write=False) as store:
        stored = list(read(store))
    forged = link_all(WORKER, Head(4, stored[3].digest), [entry(f"forged {number}".encode()) for number in range(6)])
    connection = sqlite3.connect(path, isolation_level=None)
    for name in TRIGGERS:
        connection.execute(f"DROP TRIGGER {name}")
    connection.execute("DELETE FROM entries WHERE seq > 4")
    places = ", ".join("?" * len(entry_parameters(forged[0])))
    for each, original in zip(forged, stored[4:], strict=True):
        values = entry_parameters(each)
        connection.execute(f"INSERT INTO entries VALUES ({places})", (*values[:-2], original.key_id, original.seal))
    connection.execute("UPDATE heads SET digest = ?", (forged[-1].digest,))
    for sql in TRIGGERS.values():
        connection.execute(sql)
    connection.close()
    with open_store(path, write=False) as store:  # the chain by itself is whole
        assert ENTRIES == sum(1 for _ in read(store))
    assert [1, 2, 3, 4] == until_mismatch(path, keys)[0]
    assert [1, 2, 3, 4] == until_mismatch(path, keys, write=False)[0]


def test_a_store_whose_keys_are_elsewhere_is_read_and_not_gone_on_with(path: Path, tmp_path: Path) -> None:
    with open_store(path, write=False, sealer=sealer(tmp_path / "others")) as store:
        assert ENTRIES == sum(1 for _ in read(store))
    numbers, message = until_mismatch(path, tmp_path / "others")
    assert ([], True) == (numbers, "which is not in the key folder" in message)
    assert not (tmp_path / "others").exists()


def test_damage_comes_before_a_seal(path: Path, keys: Path) -> None:
    changed(path, "UPDATE entries SET payload = x'00', seal = NULL WHERE seq = 5")
    with open_store(path, write=True, sealer=sealer(keys)) as store, pytest.raises(Damaged, match="its payload is not what was written"):
        list(read(store))


def test_a_log_begins_nowhere_else_than_before(path: Path, keys: Path) -> None:
    with open_store(path, write=False, sealer=sealer(keys)) as store:
        first = next(read(store))
    assert GENESIS.digest == first.previous


def test_nothing_is_appended_under_a_key_whose_file_went(path: Path, keys: Path) -> None:
    with open_store(path, write=True, sealer=sealer(keys)) as store:
        head = store.sessions.head(WORKER)
        assert head is not None
        assert isinstance(store.sessions.append(WORKER, head, (entry(b"before"),)), Committed)
        for file in keys.glob("*.key"):
            file.unlink()
        grown = store.sessions.head(WORKER)
        assert grown is not None
        with pytest.raises(KeysUnusable, match="was removed while the key was in use"):
            store.sessions.append(WORKER, grown, (entry(b"after"),))
        assert grown == store.sessions.head(WORKER)
