"""What a token for one Worker opens, as whom is acted with it, and what it tells of other Workers: nothing."""

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import httpx2
import pytest

from stateward.runtime.core.refusal import Refusal
from tests.contracts.work import PROGRAM
from tests.http.running import PLAIN
from tests.remote.work_services import Served, work_service
from tests.runtime.engines import AGENT, Desk

OTHER = "0198c0de-0000-7000-8000-ffffffffffff"
KEY = {"host": "claude", "session": "s-1", "use": "u-1"}
LOOK, WORK, RECORD = ("work", "record", "operate"), ("work",), ("record",)
ROUTES: list[tuple[str, str, tuple[str, ...], Any]] = [
    ("GET", "", LOOK, None),
    ("GET", "/flow", LOOK, None),
    ("GET", "/log", LOOK, None),
    ("GET", f"/attempts/{OTHER}", LOOK, None),
    ("POST", "/input", WORK, {"input": [{"kind": "text", "content": "Mind the gap."}]}),
    ("POST", "/requests", WORK, {"reason": "It is done.", "wait": 1}),
    ("POST", "/notes", WORK, {"text": "It is done."}),
    ("POST", "/variables", WORK, {"values": {"bugs": True}}),
    ("DELETE", "/verification", WORK, None),
    ("POST", "/records", RECORD, {"session": "s-1", "records": [{"kind": "tool_result", "payload": "eA==", "key": KEY}]}),
    ("GET", "/cursor?host=claude&session=s-1", RECORD, None),
    ("POST", "/runs", RECORD, {"run": "run-1"}),
    ("POST", "/stops", RECORD, {"reason": "enough"}),
]


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    with work_service(Desk("review", PROGRAM, AGENT)) as opened:
        yield opened


def ask(served: Served, scope: str, method: str, path: str, body: Any = None) -> httpx2.Response:
    access = served.access(scope)
    assert access.token is not None
    headers = {"Authorization": access.token.authorization}
    with httpx2.Client(base_url=served.address, trust_env=False, verify=PLAIN, timeout=None) as client:
        return client.request(method, f"/v1/workers{path}", headers=headers, json=body)


@pytest.mark.parametrize("scope", ["work", "record", "operate", "read", "verify"])
@pytest.mark.parametrize(("method", "path", "needed", "body"), ROUTES, ids=[f"{method} {path}" for method, path, _, _ in ROUTES])
def test_a_token_opens_what_its_scope_names(served: Served, method: str, path: str, needed: tuple[str, ...], body: Any, scope: str) -> None:
    named = f"{scope}:{served.desk.worker}" if scope in ("work", "record") else scope
    answer = ask(served, named, method, f"/{served.desk.worker}{path}", body)
    if scope not in needed:
        assert (403, "scope_missing") == (answer.status_code, answer.json()["code"])
    elif path.startswith("/attempts"):
        assert (404, "attempt_not_found") == (answer.status_code, answer.json()["code"])
    elif path == "/variables":  # of which this flow has none
        assert (409, "variable_unknown") == (answer.status_code, answer.json()["code"])
    else:
        assert 200 == answer.status_code, answer.text


@pytest.mark.parametrize(("method", "path", "needed", "body"), ROUTES, ids=[f"{method} {path}" for method, path, _, _ in ROUTES])
def test_a_token_for_another_worker_is_told_the_same_of_one_that_is_there_and_one_that_is_not(
    served: Served, method: str, path: str, needed: tuple[str, ...], body: Any
) -> None:
    scope = f"{needed[0]}:0198c0de-0000-7000-8000-eeeeeeeeeeee"
    told = []
    for worker in (served.desk.worker, OTHER):
        answer = ask(served, scope, method, f"/{worker}{path}", body)
        told.append((answer.status_code, {**answer.json(), "request_id": ""}, worker))
    (one, there, worker), (other, missing, _) = told
    assert (403, 403) == (one, other)
    assert {name: str(value).replace(worker, OTHER) for name, value in there.items()} == {
        name: str(value) for name, value in missing.items()
    }


def test_who_acts_follows_from_the_scope_and_the_name_of_the_token() -> None:
    with work_service(Desk("review", PROGRAM, AGENT)) as served:
        worker = served.desk.worker
        with closing(served.agent()) as agent, closing(served.host()) as host:
            agent.note("It is done.", "use-1")
            host.stop("enough", "stop-1")
        started = ask(served, "operate", "POST", "", {"selector": "workspace:review", "submission": "first"})
        again = ask(served, "operate", "POST", "", {"selector": "workspace:review", "submission": "first"})
        assert (201, 200) == (started.status_code, again.status_code)
        assert started.json()["worker"] == again.json()["worker"]
        acted = [each.entry.actor for each in (*served.desk.engine.log(worker, 2), *served.desk.engine.log(started.json()["worker"], 1))]
    assert [("agent", "http", "ada", "none"), ("host", "http", "ada", "none"), ("person", "http", "ada", "token")] == [
        (str(each.actor_class), each.channel, each.principal, str(each.assurance)) for each in acted
    ]


def test_workers_are_listed_in_pages(served: Served) -> None:
    ask(served, "operate", "POST", "", {"selector": "workspace:review", "submission": "second"})
    first = ask(served, "operate", "GET", "?limit=1").json()
    second = ask(served, "operate", "GET", f"?limit=1&after={first['next']}").json()
    assert (1, 1) == (len(first["workers"]), len(second["workers"]))
    assert first["workers"][0]["worker"] != second["workers"][0]["worker"]


def test_a_refusal_says_what_is_allowed_instead(served: Served) -> None:
    answer = ask(served, f"work:{served.desk.worker}", "POST", f"/{served.desk.worker}/requests", {"reason": " "})
    with closing(served.agent()) as agent:
        refused = agent.ask(" ", 0.0)
    assert isinstance(refused, Refusal)
    assert (409, str(refused.code), list(refused.allowed)) == (answer.status_code, answer.json()["code"], answer.json()["allowed"])


def test_a_worker_that_is_none_is_none_to_an_operator(served: Served) -> None:
    answer = ask(served, "operate", "GET", f"/{OTHER}")
    assert (404, "worker_not_found") == (answer.status_code, answer.json()["code"])
