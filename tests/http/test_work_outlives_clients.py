"""A client that gives up stops nothing: what it asked is judged once, and what came of it is read later."""

from collections.abc import Iterator
from contextlib import closing
from threading import Event, Thread

import httpx2
import pytest

from stateward.runtime.core.refusal import Refusal
from stateward.runtime.ports import Answered, Asked, AttemptShown, InProgress
from stateward.runtime.remote.address import Address
from stateward.runtime.remote.channels import HttpWorkerChannel, WorkerRequests
from stateward.runtime.remote.credentials import Access
from stateward.runtime.surfaces.http import events
from stateward.runtime.wiring.system import TimeOrderedIds
from tests.contracts.work import PROGRAM, evidence
from tests.http.running import PLAIN
from tests.http.test_work_events import lines
from tests.remote.odd_server import forwards, loses, odd_server
from tests.remote.work_services import Served, exchange, work_service
from tests.runtime.engines import AGENT, Desk

LONG = 20.0


@pytest.fixture
def served() -> Iterator[Served]:
    desk = Desk("review", PROGRAM, AGENT)
    evidence(desk.engine, desk.worker)
    with work_service(desk) as opened:
        yield opened


def test_a_client_whose_own_time_is_over_is_answered_when_it_asks_again_and_nothing_is_judged_twice(served: Served) -> None:
    worker = served.desk.worker
    access = served.access(f"work:{worker}")
    assert access.token is not None
    headers = {"Authorization": access.token.authorization}
    served.judge.gate.clear()
    asked = {"reason": "It is done.", "wait": LONG}
    with httpx2.Client(base_url=served.address, headers=headers, trust_env=False, verify=PLAIN, timeout=0.2) as impatient:
        for _ in range(2):
            with pytest.raises(httpx2.ReadTimeout):
                impatient.post(f"/v1/workers/{worker}/requests", json=asked)
    reached = HttpWorkerChannel(WorkerRequests(access, exchange(access), worker), TimeOrderedIds())
    with closing(reached) as again:
        going_on = again.ask("It is done.", 0.0)
        assert isinstance(going_on, InProgress)
        served.judge.gate.set()
        told = again.ask("It is done.", LONG)
        shown = again.attempt(going_on.attempt)
    assert isinstance(shown, AttemptShown)
    assert shown.answer is not None
    assert isinstance(told, Answered)
    assert told.answer == shown.answer
    assert [going_on.attempt] == [each.attempt for each in served.judge.asked]


def test_a_reply_that_was_lost_is_read_by_the_id_of_its_attempt(served: Served) -> None:
    worker = served.desk.worker
    access = served.access(f"work:{worker}")
    served.judge.gate.clear()
    with odd_server(forwards(served.address), loses(served.address), forwards(served.address)) as between:
        reached = Access(Address(between.address), access.token)
        with closing(HttpWorkerChannel(WorkerRequests(reached, exchange(reached), worker), TimeOrderedIds())) as agent:
            going_on = agent.ask("It is done.", 0.0)
            assert isinstance(going_on, InProgress)
            served.judge.gate.set()
            agent.ask("It is done.", LONG)
            shown = agent.attempt(going_on.attempt)
    assert isinstance(shown, AttemptShown)
    assert shown.answer is not None
    assert going_on.attempt == shown.attempt


def test_a_service_that_stops_lets_go_of_what_it_verifies_and_the_next_one_goes_on_with_the_attempt() -> None:
    desk = Desk("review", PROGRAM, AGENT)
    evidence(desk.engine, desk.worker)
    waited: list[Asked] = []
    with work_service(desk) as first, closing(first.agent()) as agent, closing(first.agent()) as other:
        first.judge.gate.clear()
        began = agent.ask("It is done.", 0.0)
        assert isinstance(began, InProgress)
        ready = Event()
        waiting = Thread(target=lambda: (ready.set(), waited.append(agent.ask("It is done.", LONG))))
        waiting.start()
        ready.wait()
        assert isinstance(other.ask("It is done.", 0.0), InProgress)
        first.service.stopping.set()
        waiting.join()
    assert isinstance(waited[0], InProgress)
    with work_service(desk) as second, closing(second.agent()) as agent:
        shown = agent.attempt(began.attempt)
        assert isinstance(shown, AttemptShown)
        assert "verifying" == shown.status
        told = agent.ask("It is done.", LONG)
        assert not isinstance(told, Refusal | InProgress), told
        assert isinstance(told, Answered)
        assert began.attempt == told.answer.attempt
        assert 1 == len(second.judge.asked)


def test_a_stream_on_which_nothing_happens_tells_that_it_is_there(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "BEAT_SECONDS", 0.0)
    with lines(served, "?after=3") as stream:
        beats = [line for _, line in zip(range(6), stream, strict=False) if line.startswith(":")]
    assert [": followed", ": still here", ": still here"] == beats
