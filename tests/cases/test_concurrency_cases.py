"""Many at once, on both databases: what people met elsewhere (CON) does not happen here."""

import json
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from multiprocessing.process import BaseProcess
from typing import Any

from stateward.runtime.core.events import StateEntered
from stateward.runtime.core.refusal import Refusal, RefusalCode
from stateward.runtime.ports import Answered, InProgress, Submitted
from tests.cases.children import ask_to_leave, output_of, record_for_ever, submit_once
from tests.cases.opened import begin, opened
from tests.cases.stored import StoredPlace
from tests.runtime.engines import AGENT, HOST, PERSON, WORKSPACE, input_for, submitted
from tests.store.children import LONG, barrier, child, exit_statuses, pipe

PROCESSES = 8 if LONG else 4
AT_ONCE, KILLS = (8, 100) if LONG else (3, 5)


def at_once(action: Callable[..., None], given: Sequence[tuple[Any, ...]]) -> list[Any]:
    """Do something in as many processes, none of which begins before all are there; give what they told."""
    start = barrier(len(given))
    hearing, telling = pipe()
    processes = [child(action, *each, start, telling) for each in given]
    assert [0] * len(given) == exit_statuses(processes)
    return [hearing.recv() for _ in given]


def test_requests_at_once_from_many_processes_enter_one_state(here: StoredPlace) -> None:
    """S-CON-1: two mutating calls in one model turn both see the old state and both succeed."""
    begin(here)
    with opened(here) as desk:
        worker = submitted(desk.engine.start_worker(WORKSPACE, input_for("fork"), PERSON, worked_by=AGENT.actor_class)).worker
    told = at_once(ask_to_leave, [(here, worker, number, "xy"[number % 2]) for number in range(PROCESSES)])
    with opened(here) as desk:
        entered = [each.event for each in desk.engine.events(worker) if isinstance(each.event, StateEntered) and each.event.attempt]
    assert 1 == len(entered)
    moved = {answer.answer.state for answer, _ in told if isinstance(answer, Answered) and answer.answer.transition}
    assert {entered[0].state} == moved
    for answer, asked in told:
        match answer:
            case Answered():
                assert entered[0].state == answer.answer.state
            case Refusal():
                assert (RefusalCode.STATE_CHANGED, 0) == (answer.code, asked)
                assert f"`{entered[0].state}`" in answer.message
            case _:
                assert isinstance(answer, InProgress)
                assert 0 == asked


def test_a_submission_that_is_repeated_at_once_and_after_a_restart_makes_one_run(here: StoredPlace) -> None:
    """S-CON-2: a retried submit starts a second run."""
    begin(here)
    told = at_once(submit_once, [(here, "ticket-41", "the secret is hunter2") for _ in range(PROCESSES)])
    told += at_once(submit_once, [(here, "ticket-41", "the secret is hunter2")])
    assert {Submitted} == {type(each) for each in told}
    (first,) = {each.instance for each in told}
    assert [False] + [True] * PROCESSES == sorted(each.repeated for each in told)
    (other,) = at_once(submit_once, [(here, "ticket-41", "another")])
    assert isinstance(other, Refusal)
    assert (RefusalCode.SUBMISSION_CONFLICT, True) == (other.code, f"`{first}`" in other.message)
    without = at_once(submit_once, [(here, None, "the same"), (here, None, "the same")])
    assert 2 == len({each.instance for each in without})


def test_processes_that_are_killed_while_others_append_take_nothing_with_them(here: StoredPlace) -> None:
    """S-CON-3, with kills: an event is lost, or a lock stays behind."""
    begin(here)
    with opened(here) as desk:
        worker = submitted(desk.engine.start_worker(WORKSPACE, input_for("fork"), PERSON, worked_by=AGENT.actor_class)).worker
    acknowledged: dict[str, int] = {}
    running: deque[tuple[str, BaseProcess, Any]] = deque()
    for number in range(KILLS + AT_ONCE):
        hearing, telling = pipe()
        name = f"process {number}"
        running.append((name, child(record_for_ever, here, worker, name, telling), hearing))
        if len(running) > AT_ONCE:
            name, process, hearing = running.popleft()
            acknowledged[name] = killed_after(process, hearing, number)
    for name, process, hearing in running:
        acknowledged[name] = killed_after(process, hearing, 1)
    verified = json.loads(here.done("log", "verify", worker, "--json"))
    assert ("yes", "yes", "yes") == (verified["intact"], verified["complete"], verified["anchored"])
    with opened(here) as desk:
        recorded = [each.payload for each in desk.store.sessions.entries(worker) if each.actor.actor_class is HOST.actor_class]
    for name, last in acknowledged.items():
        ours = [each for each in recorded if each.startswith(f"{name}: ".encode())]
        assert [output_of(name, number) for number in range(len(ours))] == ours
        assert len(ours) in {last + 1, last + 2}  # what was written and not yet acknowledged may be there


def killed_after(process: BaseProcess, hearing: Any, acknowledgements: int) -> int:
    """Kill a process after so many acknowledgements more; give the last that it sent."""
    last = [hearing.recv() for _ in range(1 + acknowledgements)][-1]
    process.kill()
    process.join()
    with suppress(EOFError):
        while hearing.poll():
            last = hearing.recv()
    return int(last)
