"""What a durable append costs, beside what the disk and bare SQLite cost in the same process on the same disk.

Measured in turns, so that whatever else the machine does falls on all alike: a probe (append to a growing file, fdatasync), bare
sqlite3 (same columns, WAL, synchronous FULL, head row swapped), our store, and our store with a witness. Figures are microseconds and
ratios to the probe; `mean` holds the checkpoints, `median` does not. The same on PostgreSQL, beside one bare INSERT and its commit; a
transition is two appends. Run `python -m benchmarks.store`; it prints JSON.
"""

import argparse
import json
import os
import platform
import sqlite3
import sys
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean, median
from time import perf_counter

import psycopg

from stateward.runtime.ports import Committed
from stateward.runtime.session.chain import link
from stateward.runtime.session.entries import GENESIS, Actor, ActorClass, Head, Kind, NewEntry
from stateward.store.codecs import entry_parameters
from stateward.store.compiling import POSTGRES
from stateward.store.database import Store, open_store
from stateward.store.tables import ENTRIES
from stateward.store.witness import FileWitness
from tests.postgres import server

WORKER = "0198c0de-0000-7000-8000-000000000001"
WORKSPACE = "0198c0de-0000-7000-8000-00000000000a"
ACTOR = Actor(ActorClass.AGENT, "terminal")
PAYLOAD_BYTES = 600
"""A tool result with a state's instructions, or a judgement with rationales of 100 bytes."""
PROBE_BYTES = 1024
GROWTH_ENTRIES = 10_000

Act = Callable[[], None]


def new_entry(number: int) -> NewEntry:
    """Give an entry as the runtime appends them: with a key, and of the usual size."""
    return NewEntry(Kind.TOOL_RESULT, ACTOR, datetime.now(UTC), b"p" * PAYLOAD_BYTES, f"0198c0de-0000-7000-8001-{number:012d}")


class Probe:
    """What the disk costs: a few bytes at the end of a file, made durable."""

    def __init__(self, folder: Path) -> None:
        self._file = os.open(folder / "probe", os.O_CREAT | os.O_WRONLY | os.O_APPEND)

    def __call__(self) -> None:
        """Append and sync."""
        os.write(self._file, b"p" * PROBE_BYTES)
        os.fdatasync(self._file)


class Bare:
    """What SQLite costs, driven by hand: the same columns and the same guarantee, nothing checked, nothing digested."""

    def __init__(self, folder: Path) -> None:
        entry = link(WORKER, GENESIS, new_entry(0))
        self._values = dict(zip(ENTRIES.c.keys(), entry_parameters(entry), strict=True))
        columns = ", ".join(f'"{name}"' for name in self._values)
        self._insert = f"INSERT INTO entries VALUES ({', '.join('?' * len(self._values))})"  # noqa: S608 -- question marks
        self._connection = sqlite3.connect(folder / "bare.db", isolation_level=None)
        for statement in (
            "PRAGMA journal_mode = WAL",
            "PRAGMA synchronous = FULL",
            f"CREATE TABLE entries ({columns}, PRIMARY KEY (worker, seq))",
            'CREATE UNIQUE INDEX entry_keys ON entries (worker, "key")',
            "CREATE TABLE heads (worker PRIMARY KEY, seq, digest) WITHOUT ROWID",
        ):
            self._connection.execute(statement)
        self._connection.execute("INSERT INTO heads VALUES (?, 0, '')", (WORKER,))
        self._seq = 0

    def __call__(self) -> None:
        """Insert an entry and swap the head in one commit."""
        self._seq += 1
        values = self._values | {"seq": self._seq, "key": f"0198c0de-0000-7000-8001-{self._seq:012d}"}
        execute = self._connection.execute
        execute("BEGIN IMMEDIATE")
        execute(self._insert, tuple(values.values()))
        execute("UPDATE heads SET seq = ?, digest = ? WHERE worker = ? AND seq = ?", (self._seq, values["digest"], WORKER, self._seq - 1))
        execute("COMMIT")


class BareOnPostgresql:
    """What PostgreSQL costs, driven by hand: one INSERT of the same columns and its commit, nothing checked, nothing digested."""

    def __init__(self, connection: psycopg.Connection[tuple[object, ...]]) -> None:
        entry = link(WORKER, GENESIS, new_entry(0))
        self._values = dict(zip(ENTRIES.c.keys(), entry_parameters(entry), strict=True))
        self._connection = connection
        columns = ", ".join(f'"{column.name}" {column.type.compile(dialect=POSTGRES)}' for column in ENTRIES.c)
        connection.execute(f"CREATE TABLE bare ({columns}, PRIMARY KEY (worker, seq))".encode())
        self._insert = f"INSERT INTO bare VALUES ({', '.join(['%s'] * len(self._values))})".encode()  # noqa: S608 -- placeholders
        self._seq = 0

    def __call__(self) -> None:
        """Insert an entry in a commit of its own."""
        self._seq += 1
        values = self._values | {"seq": self._seq, "key": f"0198c0de-0000-7000-8001-{self._seq:012d}"}
        self._connection.execute(self._insert, tuple(values.values()), binary=True)


class Ours:
    """What our store costs."""

    def __init__(self, store: Store) -> None:
        self._sessions = store.sessions
        self._head = self._committed(self._sessions.create(WORKER, WORKSPACE, (new_entry(0),), {}))

    def __call__(self) -> None:
        """Append an entry."""
        self._head = self._committed(self._sessions.append(WORKER, self._head, (new_entry(self._head.seq),)))

    @staticmethod
    def _committed(answer: object) -> Head:
        assert isinstance(answer, Committed)  # noqa: S101 -- a benchmark that appended nothing measures nothing
        return answer.head


def timed(act: Act, times: int) -> list[float]:
    """Run it so often, and give what each took, in microseconds."""
    taken: list[float] = []
    for _ in range(times):
        begin = perf_counter()
        act()
        taken.append((perf_counter() - begin) * 1e6)
    return taken


def in_turns(acts: dict[str, Act], rounds: int, times: int) -> dict[str, list[float]]:
    """Run all of them, some of each in turn."""
    taken: dict[str, list[float]] = {name: [] for name in acts}
    for _ in range(rounds):
        for name, act in acts.items():
            taken[name] += timed(act, times)
    return taken


def commits(folder: Path, rounds: int) -> dict[str, dict[str, float]]:
    """Measure one durable commit each way."""
    witness = FileWitness(folder / "witness", print)
    with (
        open_store(folder / "commits.db", write=True, create=True) as store,
        open_store(folder / "witnessed.db", write=True, create=True, witness=witness) as witnessed,
    ):
        acts: dict[str, Act] = {"probe": Probe(folder), "bare": Bare(folder), "ours": Ours(store), "witnessed": Ours(witnessed)}
        in_turns(acts, 1, 50)
        taken = in_turns(acts, rounds, 50)
    probe = taken["probe"]
    return {
        name: {
            "median_us": round(median(each), 1),
            "mean_us": round(fmean(each), 1),
            "median_x_probe": round(median(each) / median(probe), 2),
            "mean_x_probe": round(fmean(each) / fmean(probe), 2),
        }
        for name, each in taken.items()
    }


def commits_on_postgresql(folder: Path, rounds: int) -> dict[str, object]:
    """Measure one durable commit each way on a server of our own, whose files lie in the folder."""
    folder.chmod(0o755)
    with server(folder, durable=True) as started:
        url = started.database()
        with open_store(url, write=True, create=True) as store, psycopg.connect(url, autocommit=True) as connection:
            acts: dict[str, Act] = {"bare": BareOnPostgresql(connection), "ours": Ours(store)}
            in_turns(acts, 1, 50)
            taken = in_turns(acts, rounds, 50)
    found = {name: {"median_us": round(median(each), 1), "mean_us": round(fmean(each), 1)} for name, each in taken.items()}
    transitions = median(taken["bare"]) / (2 * median(taken["ours"]))
    return {**found, "transitions_over_bare_commits": round(transitions, 2)}


def growth(folder: Path, entries: int) -> dict[str, float]:
    """Measure the last tenth of a long log against its first tenth, each relative to the probe taken beside it."""
    path = folder / "growth.db"
    with open_store(path, write=True, create=True) as store:
        taken = in_turns({"probe": Probe(folder), "ours": Ours(store)}, entries // 50, 50)
        begin = perf_counter()
        read = sum(1 for _ in store.sessions.entries(WORKER))
        reading = (perf_counter() - begin) * 1e6 / read
    tenth = entries // 10
    cost = {name: (median(each[:tenth]), median(each[-tenth:])) for name, each in taken.items()}
    first, last = cost["ours"][0] / cost["probe"][0], cost["ours"][1] / cost["probe"][1]
    return {
        "entries": entries,
        "first_tenth_x_probe": round(first, 2),
        "last_tenth_x_probe": round(last, 2),
        "last_over_first": round(last / first, 3),
        "bytes_an_entry": round(path.stat().st_size / read),
        "read_us_an_entry": round(reading, 1),
    }


def measure(folder: Path, rounds: int = 40, entries: int = GROWTH_ENTRIES) -> dict[str, object]:
    """Measure everything in a folder on the disk that is meant."""
    return {
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        "commit": commits(folder, rounds),
        "commit_on_postgresql": commits_on_postgresql(folder, rounds),
        "growth": growth(folder, entries),
    }


def main() -> None:
    """Measure, and print JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=None, help="where to measure (default: a new folder beside this one)")
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--entries", type=int, default=GROWTH_ENTRIES)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=given.folder or Path.cwd()) as folder:
        json.dump(measure(Path(folder), given.rounds, given.entries), sys.stdout, indent=2)
    sys.stdout.write("\n")


if __name__ == "__main__":
    main()
