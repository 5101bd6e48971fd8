"""Crash and resume, on both databases: what people met elsewhere (DUR) does not happen here."""

import json
import tracemalloc
from collections.abc import Callable
from itertools import count

import pytest

from stateward.runtime.engine.view import WorkerView
from stateward.runtime.ports import Answered, InProgress
from stateward.runtime.session.export import read_export
from stateward.store.memory_sessions import MemorySessionStore
from tests.cases.ageing import EVIDENCE_BYTES, aged, put
from tests.cases.children import TO_AND_FRO, go_to_and_fro, verify_while_told
from tests.cases.opened import PATIENT, ROUND, Opened, begin, opened
from tests.cases.stored import Change, StoredPlace
from tests.runtime.engines import AGENT, PERSON, WORKSPACE, Catalog, Judge, engine_on, input_for, submitted
from tests.store.children import LONG, child, exit_statuses, pipe

_NUMBERS = count()
SWEEPS = 1000
TRANSITIONS = 500 if LONG else 30


def started(desk: Opened, flow: str) -> str:
    return submitted(desk.engine.start_worker(WORKSPACE, input_for(flow), PERSON, worked_by=AGENT.actor_class)).worker


# --- S-DUR-2 ------------------------------------------------------------------------------------------------------------------------

ENTRY_5 = "worker = (SELECT max(worker) FROM heads) AND seq = 5"
DAMAGE: dict[str, tuple[tuple[Change, ...], int]] = {
    "a byte of event 5 flipped": (((f"UPDATE entries SET payload = ? WHERE {ENTRY_5}", (b"{}",)),), 5),  # noqa: S608 -- a constant
    "event 5 deleted": (((f"DELETE FROM entries WHERE {ENTRY_5}", ()),), 5),  # noqa: S608 -- a constant
    "event 7 before event 6": (tuple(("UPDATE entries SET seq = ? WHERE seq = ?", each) for each in ((99, 7), (7, 6), (6, 99))), 6),
}
"""What is done to a log of ten entries or more, and at which entry it is damaged then."""


@pytest.mark.parametrize(("changes", "at"), DAMAGE.values(), ids=DAMAGE)
def test_a_record_damaged_in_the_middle_ends_reading_there_and_is_not_gone_on_with(
    here: StoredPlace, changes: tuple[Change, ...], at: int
) -> None:
    """S-DUR-2: a damaged record in the middle is skipped, or makes everything after it vanish."""
    here.call(*here.scripted("--max-requests", "4"))
    before = here.status()["head"]
    here.change(*changes)
    shown = here.call("log", "--json")
    assert (3, list(range(1, at))) == (shown.status, [json.loads(line)["seq"] for line in shown.out.splitlines()])
    assert shown.err.startswith(f"error: entry E{at:08d} of Worker ")
    resumed = here.call(*here.scripted("--resume"))
    assert (3, True) == (resumed.status, f"entry E{at:08d}" in resumed.err)
    assert [(before["seq"], before["digest"])] == list(here.rows("SELECT seq, digest FROM heads"))


# --- S-DUR-3 ------------------------------------------------------------------------------------------------------------------------


def test_a_recovery_sweep_leaves_alone_what_a_driver_in_another_process_verifies(here: StoredPlace) -> None:
    """S-DUR-3: start-up recovery adopts a run that is alive in the same millisecond and runs it twice."""
    begin(here)
    with opened(here, holder="sweep") as desk:
        worker = started(desk, "fork")
        (judging, judges), (going, go), (hearing, tells) = pipe(), pipe(), pipe()
        driver = child(verify_while_told, here, worker, judges, going, tells)
        attempt = judging.recv()
        swept = {desk.engine.expire(worker) for _ in range(SWEEPS)}
        taken = desk.engine.claim(worker, attempt, "sweep")
        go.send(None)
        assert [0] == exit_statuses([driver])
        view = desk.engine.view(worker)
    assert ({None}, 1) == (swept, hearing.recv())
    assert isinstance(taken, InProgress)
    assert "driver" == taken.holder
    assert isinstance(view, WorkerView)
    assert view.flow is not None
    assert ("b", 2) == (view.flow.state, view.flow.visit)


# --- S-DUR-4 ------------------------------------------------------------------------------------------------------------------------


def test_each_look_and_each_export_during_transitions_shows_exactly_one_current_state(here: StoredPlace) -> None:
    """S-DUR-4: a snapshot taken during a transition shows no active state and restores as running but dead."""
    begin(here)
    with opened(here) as desk:
        worker = started(desk, ROUND.name)
    driver = child(go_to_and_fro, here, worker, TRANSITIONS)
    visits: list[int] = []
    exports: list[str] = []
    while driver.is_alive() or not visits:
        flow = here.status()["flow"]
        assert ("active", ("there", "here")[flow["visit"] % 2]) == (flow["status"], flow["state"])
        visits.append(flow["visit"])
        exports.append(here.done("log", "export", worker))
    assert [0] == exit_statuses([driver])
    assert sorted(visits) == visits
    exports.append(here.done("log", "export", worker))
    assert TRANSITIONS + 1 == [_goes_on_elsewhere(each) for each in exports][-1]


def _goes_on_elsewhere(text: str) -> int:
    """Import an export into another store and go on there; give the visit that it was exported at."""
    read = read_export(text.splitlines(keepends=True))
    assert read.state.instance is not None
    sessions = MemorySessionStore()
    put(sessions, read.worker, iter(read.entries), read.definitions)
    answered = engine_on(sessions, PATIENT, Catalog(ROUND)).request_transition(read.worker, "and on elsewhere", AGENT, Judge(TO_AND_FRO))
    assert isinstance(answered, Answered)
    assert answered.answer.transition in {"go", "back"}
    return read.state.instance.visit


# --- S-DUR-5 ------------------------------------------------------------------------------------------------------------------------

VISITS, EVIDENCE = (20_000, 5_000) if LONG else (512, 96)
MEMORY_BYTES_MAX = 8 * 1024 * 1024
"""Of what is allocated at one time: two pages of payloads, which is less than the log has together."""


def test_a_worker_with_a_long_history_goes_on_in_memory_that_does_not_grow_with_it(here: StoredPlace) -> None:
    """S-DUR-5: a long-lived loop ends because its history is too long, or cannot be loaded any more."""
    assert MEMORY_BYTES_MAX < EVIDENCE * EVIDENCE_BYTES
    begin(here)
    with opened(here) as desk:
        worker = aged(desk.store.sessions, VISITS, EVIDENCE)
    for use in (_look_at, _move, _export):
        use(here, worker)  # what is loaded once is loaded now
        assert MEMORY_BYTES_MAX > _peak(use, here, worker), use.__name__
    assert VISITS + 2 == here.status()["flow"]["visit"]


def _peak(use: Callable[[StoredPlace, str], None], here: StoredPlace, worker: str) -> int:
    tracemalloc.start()
    try:
        use(here, worker)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def _look_at(here: StoredPlace, worker: str) -> None:
    here.done("status", worker)


def _move(here: StoredPlace, worker: str) -> None:
    with opened(here) as desk:
        answered = desk.engine.request_transition(worker, f"one step more, {next(_NUMBERS)}", AGENT, Judge(TO_AND_FRO))
    assert isinstance(answered, Answered)
    assert answered.answer.transition in {"go", "back"}


def _export(here: StoredPlace, worker: str) -> None:
    here.done("log", "export", worker, "--output", "log.jsonl")
