"""The channel of a harness that loads no library: over a store in a file it does what the engine's own does, and writes the same rows."""

import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from stateward.runtime.core.refusal import Refusal
from stateward.runtime.engine.hosting import EngineHostChannel
from stateward.runtime.engine.worker import Engine
from stateward.runtime.ports import Cursor, Fault, HostChannel
from stateward.runtime.profile import DEMONSTRATION
from stateward.runtime.session.acts import RunOutcome
from stateward.runtime.wiring import active_workers, host_channel
from stateward.runtime.wiring.places import Location
from stateward.runtime.wiring.storing import Kept, opened_store
from stateward.runtime.wiring.system import SystemClock
from tests.contracts.hosting import *  # noqa: F403 -- the contract
from tests.contracts.hosting import SECRET, Hosted, result
from tests.runtime.engines import HOST, NOON, PERSON, WORKSPACE, Catalog, CountingIds, input_for, submitted

SESSION = replace(HOST, host_session="s-1")
MISSING = "0198c0de-0000-7000-8000-ffffffffffff"
TABLES = ("workspaces", "definitions", "workers", "payloads", "heads", "entries")


@dataclass
class Folder:
    """A folder of work with a Workspace whose store lies in a file."""

    path: Path
    store: Path

    @contextmanager
    def engine(self) -> Iterator[tuple[Engine, Kept]]:
        """The whole engine over the store."""
        with opened_store(Location(WORKSPACE, self.store), write=True) as kept:
            yield (
                Engine(
                    kept.store.sessions,
                    Catalog(),
                    kept.clock,
                    CountingIds(),
                    DEMONSTRATION,
                    leases=kept.store.leases,
                    witness=kept.witness,
                    secrets=kept.secrets,
                ),
                kept,
            )

    def begin(self, submission: str = "s-1") -> str:
        """Start a Worker on the flow `review`."""
        with self.engine() as (engine, _):
            return submitted(engine.start_worker(WORKSPACE, input_for("review", "Ticket 41"), PERSON, submission)).worker

    def rows(self) -> dict[str, list[tuple[Any, ...]]]:
        """All that was written, table by table."""
        with sqlite3.connect(self.store) as connection:
            found = {table: connection.execute(f"SELECT * FROM {table}").fetchall() for table in TABLES}  # noqa: S608 -- names of ours
        connection.close()
        return found


def folder(path: Path) -> Folder:
    (path / "work" / ".stateward").mkdir(parents=True)
    (path / "work" / ".stateward" / "workspace").write_text(f"{WORKSPACE}\n")
    return Folder(path / "work", path / "state" / "store.db")


@pytest.fixture(autouse=True)
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("STATEWARD_KEYS", str(tmp_path / "keys"))
    monkeypatch.setenv("SOME_PASSWORD", SECRET)
    monkeypatch.delenv("STATEWARD_STORE", raising=False)


@pytest.fixture
def work(tmp_path: Path) -> Folder:
    return folder(tmp_path)


@pytest.fixture
def hosted(work: Folder) -> Iterator[Hosted]:
    worker = work.begin()
    with host_channel(work.path, work.store, worker, SESSION) as channel, work.engine() as (engine, _):
        yield Hosted(channel, engine)


def acts(channel: HostChannel) -> None:
    """Everything that a harness does, twice."""
    for _ in range(2):
        channel.start_run("run-1")
        channel.record((result("u-1"), result("u-2", b"x" * 300_000, by="agent-7")), Cursor("claude", "s-1", f"/{SECRET}", 9, "l"))
        channel.record((result("u-3", f"key {SECRET}".encode()),))
        channel.stop("unfinished", "stop-1")
        channel.end_run("run-1", RunOutcome.COMPLETED, "it is over")


def test_both_ways_to_a_worker_write_the_same_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SystemClock, "now", lambda _: NOON)
    lean, whole = folder(tmp_path / "lean"), Folder(tmp_path / "whole" / "work", tmp_path / "whole" / "state" / "store.db")
    worker = lean.begin()
    shutil.copytree(tmp_path / "lean", tmp_path / "whole")
    shutil.copytree(tmp_path / "keys", tmp_path / "other keys")
    with host_channel(lean.path, lean.store, worker, SESSION) as channel:
        acts(channel)
    monkeypatch.setenv("STATEWARD_KEYS", str(tmp_path / "other keys"))
    with whole.engine() as (engine, _):
        acts(EngineHostChannel(engine, worker, SESSION))
    assert whole.rows() == lean.rows()
    assert all(row[-1] is not None for row in lean.rows()["entries"]), "every entry is sealed"


def test_a_worker_that_is_none_is_refused(work: Folder) -> None:
    work.begin()
    with host_channel(work.path, work.store, MISSING, SESSION) as channel:
        for answer in (channel.standing(), channel.is_active(), channel.record(()), channel.start_run("r"), channel.stop("x")):
            assert isinstance(answer, Refusal)
            assert "worker_not_found" == answer.code


def test_what_is_written_is_witnessed_and_a_log_that_went_back_is_only_looked_at(work: Folder) -> None:
    worker = work.begin()
    before = work.store.read_bytes()
    with host_channel(work.path, work.store, worker, SESSION) as channel:
        channel.record((result("u-1"),))
    work.store.write_bytes(before)
    with host_channel(work.path, work.store, worker, SESSION) as channel:
        refused = channel.record((result("u-2"),))
        standing = channel.standing()
    assert isinstance(refused, Refusal)
    assert "rolled_back" == refused.code
    assert not isinstance(standing, Refusal)
    assert "is known outside the store" in standing.read_only


def test_the_workers_whose_flow_is_active_are_listed_oldest_first(work: Folder) -> None:
    first, second, third = (work.begin(each) for each in ("s-1", "s-2", "s-3"))
    with work.engine() as (engine, _):
        engine.delete(second, PERSON)
    assert [first, third] == list(active_workers(work.path, work.store))


def _newer(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA user_version = 99")


def _unguarded(connection: sqlite3.Connection) -> None:
    connection.execute("DROP TRIGGER entries_no_update")


@pytest.mark.parametrize(("change", "said"), [(_newer, "newer stateward"), (_unguarded, "no longer guards")])
def test_a_store_that_is_not_as_it_was_left_is_refused_by_name(
    work: Folder, change: Callable[[sqlite3.Connection], None], said: str
) -> None:
    worker = work.begin()
    connection = sqlite3.connect(work.store)
    change(connection)
    connection.commit()
    connection.close()
    with pytest.raises(Fault, match=said), host_channel(work.path, work.store, worker, SESSION):
        pass
