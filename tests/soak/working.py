"""What the processes of a soak do. A fault or a refusal that any of them hears of ends it with its trace, and the soak has failed."""

import json
import sqlite3
from itertools import count
from time import perf_counter
from typing import Any, Final

import psycopg

from stateward.runtime.core.events import Verdict
from stateward.runtime.engine.view import WorkerView
from stateward.runtime.ports import Answered, RecordedEntry, RecordKey
from stateward.runtime.session.entries import Kind
from stateward.store.postgres_rules import SCHEMA
from tests.cases.children import output_of
from tests.cases.opened import ROUND, Opened, opened
from tests.cases.stored import StoredPlace
from tests.runtime.engines import AGENT, HOST, PERSON, WORKSPACE, Judge, input_for, saying, submitted

MAINTENANCE_WAIT_SECONDS: Final = 60.0
WALKING: Final = Judge(saying({"go": Verdict.MET, "back": Verdict.MET}))


def reason_of(step: int) -> str:
    return f"step {step} is done"


def walk(here: StoredPlace, workers: int, transitions: int, start: Any, told: Any) -> None:
    """Start so many Workers and take each through so many transitions, one step of each in turn; tell their ids and what each step cost."""
    seconds: list[float] = []
    with opened(here) as desk:
        ours = [started(desk) for _ in range(workers)]
        start.wait()
        for step in range(transitions):
            for worker in ours:
                begun = perf_counter()
                answered = desk.engine.request_transition(worker, reason_of(step), AGENT, WALKING)
                seconds.append(perf_counter() - begun)
                assert isinstance(answered, Answered), answered
                assert answered.answer.transition == ("go", "back")[step % 2], answered
                WALKING.asked.clear()
    told.send((ours, seconds))


def started(desk: Opened) -> str:
    segments = input_for(ROUND.name)
    return submitted(desk.engine.start_worker(WORKSPACE, segments, PERSON, worked_by=AGENT.actor_class)).worker


def append(here: StoredPlace, worker: str, name: str, count: int, start: Any, told: Any) -> None:
    """Record so many results of tools of one Worker, as its host does; tell what each cost."""
    seconds: list[float] = []
    with opened(here) as desk:
        start.wait()
        for number in range(count):
            begun = perf_counter()
            key = RecordKey("host", name, str(number))
            recorded = desk.engine.record(worker, Kind.TOOL_RESULT, output_of(name, number), HOST, key)
            seconds.append(perf_counter() - begun)
            assert isinstance(recorded, RecordedEntry), recorded
            assert not recorded.repeated
    told.send(([worker], seconds))


def look(here: StoredPlace, pause_seconds: float, stop: Any) -> None:
    """List all Workers and look at each, and verify one whole log, again and again, until told to stop: nothing seen may ever be gone."""
    seen: dict[str, int] = {}
    with opened(here) as desk:
        for number in count():
            if stop.poll(pause_seconds):
                return
            rows = desk.engine.workers(WORKSPACE, 200)
            assert seen.keys() <= {row.worker for row in rows}
            for row in rows:
                view = desk.engine.view(row.worker)
                assert isinstance(view, WorkerView)
                assert seen.get(row.worker, 0) <= row.head.seq <= view.head.seq
                seen[row.worker] = view.head.seq
            if rows:
                verify(here, rows[number % len(rows)].worker)


def verify(here: StoredPlace, worker: str) -> None:
    """Verify a log by the program: it is one unbroken chain up to its head, all of it sealed, and no shorter than its witness knows."""
    ended = here.call("log", "verify", worker, "--json")
    verified = json.loads(ended.out)
    assert (0, "yes", "yes", "yes") == (ended.status, verified["intact"], verified["complete"], verified["anchored"]), verified
    assert (verified["entries"], 0) == (verified["sealed"], verified["unsealed"])


def maintain(here: StoredPlace, pause_seconds: float, stop: Any) -> None:
    """Tidy the store up from outside, again and again, as its owner's own scripts do, until told to stop."""
    while not stop.poll(pause_seconds):
        tidy(here)


def tidy(here: StoredPlace) -> None:
    if here.url:
        with psycopg.connect(here.url, autocommit=True) as client:
            client.execute(f"VACUUM (ANALYZE) {SCHEMA}.entries".encode())
        return
    connection = sqlite3.connect(here.store, isolation_level=None, timeout=MAINTENANCE_WAIT_SECONDS)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.execute("VACUUM")
    connection.close()
