"""Workers of a service are started and listed by its client, as they are over HTTP."""

from collections.abc import Iterator
from contextlib import closing

import httpx2
import pytest

from stateward.runtime.core.refusal import Refusal, RefusalCode
from stateward.runtime.ports import AccessRefused, Ids, Submitted
from stateward.runtime.remote.workers import ServiceWorkers
from stateward.runtime.wiring.reaching_workers import remote_workers
from stateward.runtime.wiring.system import TimeOrderedIds
from tests.contracts.work import PROGRAM
from tests.remote.odd_server import forwards, loses, odd_server
from tests.remote.work_services import Served, exchange, work_service
from tests.runtime.engines import AGENT, Desk

SELECTOR = "workspace:review"


@pytest.fixture
def served() -> Iterator[Served]:
    with work_service(Desk("review", PROGRAM, AGENT)) as opened:
        yield opened


def workers(served: Served, *scopes: str, ids: Ids | None = None) -> ServiceWorkers:
    access = served.access(*(scopes or ("operate",)))
    return ServiceWorkers(access, exchange(access), ids or TimeOrderedIds())


def test_a_worker_is_started_once_for_a_submission(served: Served) -> None:
    with workers(served) as operator:
        first = operator.start(SELECTOR, ("Ticket 41",), submission="s-1")
        again = operator.start(SELECTOR, ("Ticket 41",), submission="s-1")
        other = operator.start(SELECTOR, ("Ticket 41",))
        listed = [each.worker for each in operator.all()]
    assert isinstance(first, Submitted)
    assert isinstance(again, Submitted)
    assert isinstance(other, Submitted)
    assert (first.worker, False, True) == (again.worker, first.repeated, again.repeated)
    assert sorted([served.desk.worker, first.worker, other.worker]) == listed


def test_what_is_refused_over_http_is_refused_to_the_client_with_the_same_words(served: Served) -> None:
    access = served.access("operate")
    assert access.token is not None
    headers = {"Authorization": access.token.authorization}
    with httpx2.Client(base_url=served.address, headers=headers, trust_env=False) as http, workers(served) as operator:
        problem = http.post("/v1/workers", json={"selector": "nothing"}).json()
        refused = operator.start("nothing")
        asked = http.get("/v1/workers").json()["workers"]
        (listed,) = operator.rows(10)
    assert isinstance(refused, Refusal)
    assert (problem["code"], problem["detail"], problem.get("allowed", [])) == (refused.code, refused.message, list(refused.allowed))
    assert [(each["worker"], each["state"], each["status"], each["selector"], each["head"]["seq"]) for each in asked] == [
        (listed.worker, listed.state, listed.status, listed.selector, listed.head.seq)
    ]


def test_workers_are_listed_by_the_page(served: Served) -> None:
    with workers(served) as operator:
        for _ in range(3):
            assert isinstance(operator.start(SELECTOR), Submitted)
        whole = operator.rows(10)
        assert 4 == len(whole)
        assert whole == tuple(operator.all(page=3))
        assert (whole[:2], whole[2:], ()) == (operator.rows(2), operator.rows(2, whole[1].worker), operator.rows(0))


def test_what_is_no_text_is_sent_nowhere(served: Served) -> None:
    with workers(served) as operator:
        for refused in (
            operator.start("x\ud800"),
            operator.start(SELECTOR, ("x" * 2_000_000,)),
            operator.start(SELECTOR, inputs={"a": {1}}),
        ):
            assert isinstance(refused, Refusal)
            assert RefusalCode.TEXT_MALFORMED == refused.code
        assert 1 == len(operator.rows(10))


def test_a_start_whose_answer_was_lost_is_done_once(served: Served) -> None:
    access = served.access("operate")
    with odd_server(loses(served.address), forwards(served.address)) as between:
        reached = type(access)(type(access.address)(between.address), access.token)
        with closing(ServiceWorkers(reached, exchange(reached), TimeOrderedIds())) as operator:
            started = operator.start(SELECTOR)
    assert isinstance(started, Submitted)
    assert started.repeated
    with workers(served) as operator:
        assert 2 == len(operator.rows(10))


def test_a_token_that_is_for_no_operator_starts_and_lists_nothing(served: Served) -> None:
    with workers(served, f"work:{served.desk.worker}") as agent:
        with pytest.raises(AccessRefused):
            agent.start(SELECTOR)
        with pytest.raises(AccessRefused):
            agent.rows(1)


def test_workers_are_reached_with_the_token_of_the_environment(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    access = served.access("operate")
    assert access.token is not None
    monkeypatch.delenv("STATEWARD_TOKEN_FILE", raising=False)
    monkeypatch.setenv("STATEWARD_TOKEN", access.token.authorization.removeprefix("Bearer "))
    with remote_workers(served.address) as operator:
        assert [served.desk.worker] == [each.worker for each in operator.all()]
