"""Leases on SQLite, under the contract of every LeaseStore."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from stateward.runtime.ports import Lease, LeaseStore
from stateward.store.database import open_store
from tests.contracts.leases import *  # noqa: F403 -- a contract is all its tests
from tests.contracts.leases import ATTEMPT, SECONDS, WORKER, at, taken


@pytest.fixture
def leases(tmp_path: Path) -> Iterator[LeaseStore]:
    with open_store(tmp_path / "store.db", write=True, create=True) as store:
        yield store.leases


def test_a_worker_that_took_a_thousand_attempts_leaves_one_row(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with open_store(path, write=True, create=True) as store:
        for number in range(1000):
            attempt = f"{ATTEMPT}-{number}"
            store.leases.release(WORKER, attempt, taken(store.leases, at(number), attempt=attempt).token)
    connection = sqlite3.connect(path)
    assert [(1,)] == connection.execute("SELECT count(*) FROM leases").fetchall()
    connection.close()


def test_a_token_is_greater_though_the_row_of_the_lease_before_is_lost(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with open_store(path, write=True, create=True) as store:
        first = taken(store.leases)
        connection = sqlite3.connect(path, isolation_level=None)
        connection.execute("DELETE FROM leases")
        connection.close()
        assert taken(store.leases, at(0.001)).token > first.token


def test_after_a_lease_the_next_append_waits_for_the_disk_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[sqlite3.Connection] = []
    connect = sqlite3.connect

    def keep(*given: object, **named: object) -> sqlite3.Connection:
        opened.append(connect(*given, **named))  # type: ignore[call-overload]
        return opened[-1]

    monkeypatch.setattr(sqlite3, "connect", keep)
    with open_store(tmp_path / "store.db", write=True, create=True) as store:
        assert isinstance(store.leases.take(WORKER, ATTEMPT, "d", at(0), SECONDS), Lease)
        assert (2,) == opened[-1].execute("PRAGMA synchronous").fetchone()
