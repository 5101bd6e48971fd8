"""Who may ask what: every route against every scope, and every token that is not good."""

from datetime import timedelta
from typing import Any

import pytest

from stateward.runtime.surfaces.http.described import document
from tests.http.desk import BOTH, HERE, NOON, SCOPES, Desk, based_on, fine, flow, problem

WORKER = "0198c0de-0000-7000-8000-000000000001"
EVERY_SCOPE = (*SCOPES, f"work:{WORKER}", f"record:{WORKER}")
SOURCE = {"source": flow("Two.")}
ROUTES: list[tuple[str, str, str | None, dict[str, Any]]] = [
    ("GET", "/v1/workspace", None, {}),
    ("GET", "/v1/flows", "read", {}),
    ("GET", "/v1/flows/paper", "read", {}),
    ("GET", "/v1/flows/paper/current", "read", {}),
    ("GET", "/v1/flows/paper/revisions", "read", {}),
    ("GET", "/v1/flows/paper/revisions/1", "read", {}),
    ("GET", "/v1/flows/paper/acts", "read", {}),
    ("GET", "/v1/flows/paper/difference?old=1&new=1", "read", {}),
    ("GET", "/v1/flows/paper/holding?digest=x", "read", {}),
    ("GET", "/v1/bundle", "read", {}),
    ("GET", "/v1/snapshots?selector=workspace:paper", "resolve", {}),
    ("PUT", "/v1/flows/paper", "write", {"json": SOURCE, "headers": based_on(1)}),
    ("POST", "/v1/flows/paper/restore", "write", {"json": {"revision": 1}, "headers": based_on(1)}),
    ("DELETE", "/v1/flows/paper", "write", {"headers": based_on(1)}),
    ("GET", "/v1/workers", "operate", {}),
    ("POST", "/v1/workers", "operate", {"json": {"selector": "workspace:paper"}}),
    ("POST", "/v1/bundle", "write", {"content": b"", "headers": {"Content-Type": "application/octet-stream"}}),
]
BESIDE = {  # what tokens for one Worker open: tests/http/test_work_access.py
    ("GET", "/v1/workers/{worker}"),
    ("GET", "/v1/workers/{worker}/attempts/{attempt}"),
    ("GET", "/v1/workers/{worker}/cursor"),
    ("GET", "/v1/workers/{worker}/events"),
    ("GET", "/v1/workers/{worker}/flow"),
    ("POST", "/v1/workers/{worker}/input"),
    ("GET", "/v1/workers/{worker}/log"),
    ("POST", "/v1/workers/{worker}/notes"),
    ("POST", "/v1/workers/{worker}/records"),
    ("POST", "/v1/workers/{worker}/requests"),
    ("POST", "/v1/workers/{worker}/runs"),
    ("POST", "/v1/workers/{worker}/stops"),
    ("POST", "/v1/workers/{worker}/variables"),
    ("DELETE", "/v1/workers/{worker}/verification"),
}
NAMES = [f"{method} {path.partition('?')[0]}" for method, path, _, _ in ROUTES]


@pytest.fixture
def asked(service: Desk) -> Desk:
    service.save(flow("One."))
    return service


def test_the_list_of_routes_here_is_the_whole_service(service: Desk) -> None:
    declared = {
        (method.upper(), path.replace("{slug}", "paper").replace("{revision}", "1"))
        for path, operations in document(service.app)["paths"].items()
        for method in operations
    }
    assert declared == BESIDE | {(method, path.partition("?")[0]) for method, path, _, _ in ROUTES}


@pytest.mark.parametrize("scope", EVERY_SCOPE)
@pytest.mark.parametrize(("method", "path", "needed", "more"), ROUTES, ids=NAMES)
def test_a_scope_opens_its_own_routes_and_no_others(
    asked: Desk, method: str, path: str, needed: str | None, more: dict[str, Any], scope: str
) -> None:
    answer = asked.ask(method, path, scopes=(scope,), **more)
    if needed in (None, scope):
        assert answer.status_code not in (401, 403), answer.text
        return
    refused = problem(answer, 403, "scope_missing")
    assert (needed, f"the token was not issued for the scope `{needed}`") == (refused["scope"], refused["detail"])
    assert f'Bearer realm="stateward", error="insufficient_scope", scope="{needed}"' == answer.headers["www-authenticate"]
    assert 1 == fine(asked.get("/v1/flows/paper"))["last"]["revision"]


@pytest.mark.parametrize(("method", "path", "_needed", "more"), ROUTES, ids=NAMES)
def test_nothing_is_answered_to_whoever_shows_no_token(asked: Desk, method: str, path: str, _needed: str, more: dict[str, Any]) -> None:
    answer = asked.client.request(method, path, **more)
    problem(answer, 401, "token_missing")
    assert 'Bearer realm="stateward"' == answer.headers["www-authenticate"]


@pytest.mark.parametrize(
    "header", ["Bearer", "Bearer ", "Bearer sw_x", "Basic c3c6c3c=", "sw_x", "", "Bearer \xff", f"Bearer {'x' * 9000}"]
)
def test_every_token_that_is_not_good_gets_the_same_answer(asked: Desk, header: str) -> None:
    answer = asked.client.get("/v1/flows", headers={"Authorization": header.encode("latin-1")})
    assert "the token is unknown, expired or revoked" == problem(answer, 401, "token_refused")["detail"]
    assert 'Bearer realm="stateward", error="invalid_token"' == answer.headers["www-authenticate"]


def test_a_good_token_under_another_scheme_or_beside_another_is_none(asked: Desk) -> None:
    token = asked.token(*BOTH)
    problem(asked.client.get("/v1/flows", headers={"Authorization": f"Basic {token}"}), 401, "token_refused")
    both = [("Authorization", f"Bearer {token}"), ("Authorization", f"Bearer {token}")]
    problem(asked.client.get("/v1/flows", headers=both), 401, "token_refused")
    assert 200 == asked.client.get("/v1/flows", headers={"Authorization": f"bearer {token}"}).status_code


def test_a_token_in_the_address_is_none(asked: Desk) -> None:
    token = asked.token(*BOTH)
    problem(asked.client.get(f"/v1/flows?token={token}"), 401, "token_missing")
    assert token not in asked.written.getvalue()


def test_a_revoked_token_opens_nothing_from_the_next_request_on(asked: Desk) -> None:
    fine(asked.get("/v1/flows"))
    (token, *_) = asked.issuing.listed(HERE, 1)
    asked.issuing.revoke(HERE, token.id, NOON + timedelta(hours=1))
    problem(asked.get("/v1/flows"), 401, "token_refused")


def test_nothing_of_a_body_is_taken_in_before_it_is_known_who_asks(asked: Desk) -> None:
    def body() -> Any:
        yield b"x"
        raise AssertionError("the body was read")

    answer = asked.client.put("/v1/flows/paper", content=body(), headers={"Content-Type": "application/json", **based_on(1)})
    problem(answer, 401, "token_missing")


def test_the_service_says_as_whom_it_is_asked(asked: Desk) -> None:
    about = fine(asked.ask("GET", "/v1/workspace", scopes=("resolve",), name="ci"))
    assert {"workspace": HERE, "program": "stateward 0.1.0", "name": "ci", "scopes": ["resolve"]} == about
