"""Files of a store that are removed or replaced while it is open: nothing is acknowledged into a file that no path names."""

import shutil
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from stateward.runtime.ports import Committed, OutcomeUnknown, StoreUnavailable
from stateward.runtime.session.entries import Head
from stateward.store.database import Store, open_store
from tests.contracts.leases import ATTEMPT, SECONDS
from tests.contracts.sessions import NOON, WORKER, WORKSPACE, entry
from tests.store.children import connect_with
from tests.store.failing import Failing


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "folder" / "store.db"
    with open_store(path, write=True, create=True) as store:
        store.sessions.create(WORKER, WORKSPACE, (entry(b"0", "0"),), {})
    return path


@pytest.fixture
def store(path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    monkeypatch.setattr(sqlite3, "connect", connect_with(Failing))
    monkeypatch.setattr(Failing, "instead", None)
    with open_store(path, write=True, create=True) as store:
        yield store
        Failing.instead = None


def start_of(store: Store) -> Head:
    head = store.sessions.head(WORKER)
    assert head is not None
    return head


def keys(path: Path) -> list[str | None]:
    with open_store(path, write=False) as store:
        return [each.key for each in store.sessions.entries(WORKER)]


def remove(path: Path) -> None:
    path.unlink()


def move(path: Path) -> None:
    path.rename(path.with_name("elsewhere"))


def put_a_copy_in_its_place(path: Path) -> None:
    shutil.copy(path, path.with_name("copy"))
    path.with_name("copy").replace(path)


def move_the_folder(path: Path) -> None:
    path.parent.rename(path.parent.with_name("moved"))


CHANGES = [remove, move, put_a_copy_in_its_place, move_the_folder]
Use = Callable[[Store], object]
READS: list[Use] = [
    lambda store: store.sessions.head(WORKER),
    lambda store: list(store.sessions.entries(WORKER)),
    lambda store: store.sessions.find(WORKER, "0"),
    lambda store: store.sessions.workers(WORKSPACE, 10),
    lambda store: store.workspaces.get("here"),
]


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("suffix", ["", "-wal", "-shm"])
def test_nothing_is_written_to_a_file_that_was_removed_or_replaced(
    store: Store, path: Path, change: Callable[[Path], None], suffix: str
) -> None:
    head = start_of(store)
    file = path.with_name(path.name + suffix)
    change(file)
    named = str(file if change is not move_the_folder else path)
    with pytest.raises(StoreUnavailable) as refused:
        store.sessions.append(WORKER, head, (entry(b"1", "1"),))
    assert f"{named} was removed or replaced while it was open; nothing was written" == refused.value.message
    assert refused.value.remedy


@pytest.mark.parametrize("change", CHANGES)
def test_a_lease_is_not_taken_in_a_file_that_was_removed_or_replaced(store: Store, path: Path, change: Callable[[Path], None]) -> None:
    start_of(store)
    change(path)
    with pytest.raises(StoreUnavailable, match="was removed or replaced while it was open; nothing was written"):
        store.leases.take(WORKER, ATTEMPT, "d", NOON, SECONDS)


@pytest.mark.parametrize("write", [False, True])
@pytest.mark.parametrize("change", CHANGES)
def test_nothing_is_read_from_a_file_that_was_removed_or_replaced(path: Path, change: Callable[[Path], None], write: bool) -> None:
    for read in READS:
        with open_store(path, write=write) as store:
            start_of(store)
            kept = shutil.copytree(path.parent, path.parent.with_name("kept"))
            change(path)
            with pytest.raises(StoreUnavailable, match="was removed or replaced while it was open; nothing was read"):
                read(store)
        shutil.rmtree(path.parent, ignore_errors=True)
        shutil.rmtree(path.parent.with_name("moved"), ignore_errors=True)
        kept.rename(path.parent)


def test_a_store_that_was_removed_while_it_was_open_is_not_begun_anew(store: Store, path: Path) -> None:
    head = start_of(store)
    remove(path)
    with pytest.raises(StoreUnavailable, match="was removed or replaced"):
        store.sessions.append(WORKER, head, (entry(b"1", "1"),))
    with pytest.raises(StoreUnavailable, match="there is no store at"):
        store.sessions.append(WORKER, head, (entry(b"1", "1"),))
    assert not path.exists()


def test_after_it_was_said_the_store_that_lies_there_now_is_gone_on_with(store: Store, path: Path) -> None:
    head = start_of(store)
    put_a_copy_in_its_place(path)
    with pytest.raises(StoreUnavailable):
        store.sessions.append(WORKER, head, (entry(b"1", "1"),))
    assert isinstance(store.sessions.append(WORKER, start_of(store), (entry(b"2", "2"),)), Committed)
    store.close()
    assert ["0", "2"] == keys(path)


@pytest.mark.parametrize("suffix", ["-wal", "-shm"])
def test_what_was_acknowledged_before_a_file_beside_the_store_was_removed_is_kept(store: Store, path: Path, suffix: str) -> None:
    answer = store.sessions.append(WORKER, start_of(store), (entry(b"1", "1"),))
    assert isinstance(answer, Committed)
    remove(path.with_name(path.name + suffix))
    with pytest.raises(StoreUnavailable, match="nothing was written"):
        store.sessions.append(WORKER, answer.head, (entry(b"2", "2"),))
    assert isinstance(store.sessions.append(WORKER, answer.head, (entry(b"3", "3"),)), Committed)
    store.close()
    assert ["0", "1", "3"] == keys(path)


@pytest.mark.parametrize("change", CHANGES)
def test_a_file_removed_or_replaced_during_a_commit_leaves_its_outcome_unknown(
    store: Store, path: Path, change: Callable[[Path], None]
) -> None:
    head = start_of(store)

    def before_the_commit(connection: Failing, sql: str) -> None:
        if sql == "COMMIT":
            Failing.instead = None
            change(path)

    Failing.instead = before_the_commit
    with pytest.raises(OutcomeUnknown, match="was removed or replaced during a commit"):
        store.sessions.append(WORKER, head, (entry(b"1", "1"),))


def test_a_store_that_is_replaced_while_it_is_opened_is_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def replace_it(connection: Failing, sql: str) -> None:
        if sql == "BEGIN":
            Failing.instead = None
            put_a_copy_in_its_place(path)

    monkeypatch.setattr(sqlite3, "connect", connect_with(Failing))
    monkeypatch.setattr(Failing, "instead", replace_it)
    with pytest.raises(StoreUnavailable, match="was replaced while it was being opened"):
        open_store(path, write=False)


def names(path: Path) -> list[str]:
    return sorted(each.name for each in path.parent.iterdir())


def test_a_reader_leaves_nothing_beside_a_store_that_nobody_has_open(path: Path) -> None:
    before = path.read_bytes()
    for _ in range(2):
        assert ["0"] == keys(path)
        assert ["store.db"] == names(path)
    assert before == path.read_bytes()


def test_a_reader_takes_away_what_an_earlier_one_left_empty(path: Path) -> None:
    for suffix in ("-wal", "-shm"):
        path.with_name(path.name + suffix).touch()
    assert ["0"] == keys(path)
    assert ["store.db"] == names(path)


def test_a_reader_leaves_nothing_of_its_own_beside_a_store_that_is_in_use(path: Path) -> None:
    with open_store(path, write=True) as store:
        start_of(store)
        before = names(path)
        assert ["0"] == keys(path)
        assert before == names(path)
    assert ["store.db"] == names(path)


def test_a_reader_writes_nothing_of_what_a_crash_left_in_the_log_of_pages(path: Path, tmp_path: Path) -> None:
    left = tmp_path / "left" / "store.db"
    left.parent.mkdir()
    with open_store(path, write=True) as store:
        store.sessions.append(WORKER, start_of(store), (entry(b"1", "1"),))
        for name in ("store.db", "store.db-wal"):
            shutil.copy(path.with_name(name), left.with_name(name))
    before = {name: left.with_name(name).read_bytes() for name in names(left)}
    assert ["0", "1"] == keys(left)
    assert before == {name: left.with_name(name).read_bytes() for name in names(left) if not name.endswith("-shm")}
