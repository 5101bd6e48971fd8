"""Every way in which a request is not answered with success, besides what flows themselves refuse."""

import asyncio
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from stateward.runtime.core.refusal import RefusalCode
from stateward.runtime.engine import flows
from stateward.runtime.ports import (
    Damaged,
    Fault,
    FlowAuthority,
    OutcomeUnknown,
    SealMismatch,
    StoreNewer,
    StoreOlder,
    StoreUnavailable,
)
from stateward.runtime.remote.forms import ProblemCode
from stateward.runtime.surfaces.http.problems import TITLES
from stateward.runtime.surfaces.http.service import Bounds
from tests.http.desk import BOTH, Desk, based_on, desk, fine, flow, problem

JSON = {"Content-Type": "application/json"}
ENGINE = Path(flows.__file__).parent
FLOW_FILES = {"flows.py", "bundles.py", "bundle_reading.py", "taking.py", "selectors.py", "snapshots.py"}
RAISED = re.compile(r"RefusalCode\.([A-Z_]+)")
WHERE = "/var/lib/secret/store.db"


def test_every_code_has_a_title() -> None:
    of_flows = RAISED.findall("".join(path.read_text("utf-8") for path in ENGINE.glob("*.py") if path.name in FLOW_FILES))
    assert 10 < len(of_flows)
    raised = {RefusalCode[each] for each in of_flows} | {RefusalCode.BAD_SELECTOR, RefusalCode.FLOW_BROKEN}
    assert {*map(str, ProblemCode), *raised} == set(TITLES)


@pytest.mark.parametrize(
    ("query", "wrong"),
    [
        ("limit=0", "query.limit: input should be greater than or equal to 1"),
        ("limit=501", "query.limit: input should be less than or equal to 500"),
        ("limit=1.0", "query.limit: it is no whole number in digits"),
        ("limit=1_0", "query.limit: it is no whole number in digits"),
        ("limit=", "query.limit: it is no whole number in digits"),
        ("limit=%D9%A1", "query.limit: it is no whole number in digits"),
        ("removed=yes", "query.removed: it is neither `true` nor `false`"),
        ("removed=1", "query.removed: it is neither `true` nor `false`"),
        ("limt=3", "query.limt: it is not known here"),
    ],
)
def test_a_parameter_that_is_not_as_documented_is_refused(service: Desk, query: str, wrong: str) -> None:
    assert wrong == problem(service.get(f"/v1/flows?{query}"), 400, "request_malformed")["detail"]


def test_everything_that_is_wrong_is_told_at_once(service: Desk) -> None:
    answer = service.get("/v1/flows?limit=0&removed=1&x=1")
    assert ["query.limit", "query.removed", "query.x"] == [each["at"] for each in problem(answer, 400, "request_malformed")["errors"]]


@pytest.mark.parametrize("path", ["/v1/workspace", "/v1/flows/paper", "/v1/flows/paper/current", "/v1/flows/paper/revisions/1"])
def test_where_no_parameter_is_known_any_is_refused(service: Desk, path: str) -> None:
    assert "query.x: it is not known here" == problem(service.get(f"{path}?x=1"), 400, "request_malformed")["detail"]


@pytest.mark.parametrize(
    ("body", "wrong"),
    [
        ("", "body: invalid JSON: EOF while parsing a value at line 1 column 0"),
        ("[]", "body: input should be an object"),
        ("{}", "body.source: it is missing"),
        ('{"source": 3}', "body.source: input should be a valid string"),
        ('{"source": "", "sauce": ""}', "body.sauce: it is not known here"),
        ('{"source": "", "dry_run": "true"}', "body.dry_run: input should be a valid boolean"),
        ('{"source": "", "note": null}', "body.note: input should be a valid string"),
    ],
)
def test_a_body_that_is_not_of_its_form_is_refused(service: Desk, body: str, wrong: str) -> None:
    answer = service.ask("PUT", "/v1/flows/paper", content=body, headers={**JSON, **based_on(None)})
    assert wrong == problem(answer, 400, "request_malformed")["detail"]


def test_a_body_that_is_no_text_is_refused(service: Desk) -> None:
    for body in (b'{"source": "\xff"}', b'{"source": "\\ud800"}', b"[" * 100_000):
        problem(service.ask("PUT", "/v1/flows/paper", content=body, headers={**JSON, **based_on(None)}), 400, "request_malformed")


@pytest.mark.parametrize(
    "given", ["", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/jsonp"]
)
def test_a_body_of_another_type_is_refused(service: Desk, given: str) -> None:
    answer = service.ask("PUT", "/v1/flows/paper", content=b"{}", headers={**based_on(None), "Content-Type": given})
    assert "the body has to come as `application/json`" == problem(answer, 415, "media_type_unknown")["detail"]


def test_a_type_may_say_its_encoding(service: Desk) -> None:
    body = json.dumps({"source": flow()}).encode()
    fine(
        service.ask("PUT", "/v1/flows/paper", content=body, headers={**based_on(None), "Content-Type": "Application/JSON; charset=utf-8"}),
        201,
    )


@pytest.mark.parametrize(
    ("headers", "detail"),
    [
        ({"If-Match": "3"}, '`If-Match` holds no revision in double quotes, such as `"3"`'),
        ({"If-Match": '"03"'}, '`If-Match` holds no revision in double quotes, such as `"3"`'),
        ({"If-Match": '"x"'}, '`If-Match` holds no revision in double quotes, such as `"3"`'),
        ({"If-Match": ""}, '`If-Match` holds no revision in double quotes, such as `"3"`'),
        ({"If-Match": 'W/"3"'}, "`If-Match` holds a weak tag, which is not enough to change something"),
        ({"If-Match": "*"}, "`If-Match: *` names no revision"),
        ({"If-Match": '"1", "2"'}, "`If-Match` names several revisions, and a change is made from one"),
        ({"If-None-Match": '"1"'}, "`If-None-Match` says that the slug is new, and then is `*`"),
    ],
)
def test_a_base_that_cannot_be_read_is_refused_with_the_reason(service: Desk, headers: dict[str, str], detail: str) -> None:
    answer = service.ask("PUT", "/v1/flows/paper", json={"source": flow()}, headers=headers)
    assert detail == problem(answer, 400, "precondition_malformed")["detail"]


def test_a_tag_that_cannot_be_read_is_refused_where_it_only_saves_sending(service: Desk) -> None:
    service.save(flow())
    for tag in ("3", '"x"', "", '"1" "2"', "*, *"):
        problem(service.get("/v1/flows/paper", headers={"If-None-Match": tag}), 400, "precondition_malformed")


def test_a_change_without_a_base_is_refused(service: Desk) -> None:
    service.save(flow())
    for method, path, more in (
        ("PUT", "/v1/flows/paper", {"json": {"source": flow()}}),
        ("POST", "/v1/flows/paper/restore", {"json": {"revision": 1}}),
        ("DELETE", "/v1/flows/paper", {}),
    ):
        refused = problem(service.ask(method, path, **more), 428, "precondition_missing")
        assert 'name the revision it was made from with `If-Match: "N"`' == refused["allowed"][0]
    both = {"If-Match": '"1"', "If-None-Match": "*"}
    refused = problem(service.ask("PUT", "/v1/flows/paper", json={"source": flow()}, headers=both), 428, "precondition_missing")
    assert "it holds both `If-Match` and `If-None-Match`, and only one can be so" in refused["detail"]


def test_a_path_that_is_no_route_is_told_where_routes_are(service: Desk) -> None:
    for path in ("/", "/v1", "/v1/", "/v1/flows/", "/v2/flows", "/docs", "/redoc", "/openapi.json", "/v1/flows/a%2Fb/current"):
        answer = service.get(path)
        assert "resources lie below `/v1`; see `/v1/openapi.json`" == problem(answer, 404, "route_not_found")["detail"]


def test_a_method_that_a_resource_does_not_know_is_told_those_that_it_does(service: Desk) -> None:
    for path, allowed in (("/v1/flows/paper", "DELETE, GET, PUT"), ("/v1/bundle", "GET, POST"), ("/readyz", "GET")):
        answer = service.ask("PATCH", path)
        assert allowed == answer.headers["allow"]
        assert f"the resource takes {allowed}" == problem(answer, 405, "method_not_allowed")["detail"]


def test_a_body_over_the_limit_is_refused_whether_it_was_announced_or_not() -> None:
    with desk(bounds=Bounds(json_bytes=1000, bundle_bytes=2000)) as small:
        for content in (b"x" * 1001, iter([b"x" * 600, b"x" * 600])):
            answer = small.ask("PUT", "/v1/flows/paper", content=content, headers={**JSON, **based_on(None)})
            assert "the body has more than 1000 bytes" == problem(answer, 413, "request_too_large")["detail"]
            assert "close" == answer.headers["connection"]
        exactly = small.ask("PUT", "/v1/flows/paper", content=b" " * 1000, headers={**JSON, **based_on(None)})
        problem(exactly, 400, "request_malformed")
        bundle = {"Content-Type": "application/octet-stream"}
        problem(small.ask("POST", "/v1/bundle", content=b"x" * 2001, headers=bundle), 413, "request_too_large")
        assert 413 != small.ask("POST", "/v1/bundle", content=b"x" * 2000, headers=bundle).status_code


def test_headers_over_the_limit_are_refused() -> None:
    with desk(bounds=Bounds(header_bytes=2000)) as small:
        problem(small.get("/v1/flows", headers={"X-Long": "x" * 2000}), 431, "headers_too_large")
        problem(small.get(f"/v1/flows?after={'x' * 2000}"), 431, "headers_too_large")
        fine(small.get("/v1/flows"))


def test_more_requests_than_are_taken_on_are_told_to_come_again() -> None:
    with desk(bounds=Bounds(requests=0)) as none:
        answer = none.get("/v1/flows")
        problem(answer, 503, "busy")
        assert "2" == answer.headers["retry-after"]
        assert 200 == none.client.get("/healthz").status_code
    with desk(bounds=Bounds(bundles=0)) as none:
        problem(none.ask("POST", "/v1/bundle", content=b"", headers={"Content-Type": "application/octet-stream"}), 503, "busy")


class Failing:
    """Flows that cannot be reached."""

    workspace = "0198c0de-0000-7000-8000-00000000000a"

    def __init__(self, problem: Exception) -> None:
        self._problem = problem

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def fails(*_given: object, **_named: object) -> Any:
            raise self._problem

        return fails


def failing(problem: Exception) -> Callable[[str], FlowAuthority]:
    return lambda _author: Failing(problem)  # type: ignore[return-value]  # it answers nothing


FAULTS: list[tuple[Fault, str, bool]] = [
    (StoreUnavailable(f"{WHERE} is held", "end what holds it"), "store_unavailable", True),
    (StoreNewer(f"{WHERE} is newer", "install it"), "store_newer", True),
    (StoreOlder(f"{WHERE} is older", "migrate it"), "store_older", True),
    (Damaged(f"{WHERE} is damaged", "restore it"), "store_damaged", True),
    (SealMismatch(f"{WHERE} is damaged", "restore it"), "store_damaged", True),
    (Fault(f"{WHERE} failed", "look"), "store_unavailable", True),
    (OutcomeUnknown(f"the answer of {WHERE} was lost", "look"), "outcome_unknown", False),
]


@pytest.mark.parametrize(("fault", "code", "again"), FAULTS, ids=[type(fault).__name__ for fault, _, _ in FAULTS])
def test_a_fault_is_told_without_where_things_lie_and_logged_with_what_to_do(fault: Fault, code: str, again: bool) -> None:
    with desk(reads=failing(fault), writes=failing(fault)) as broken:
        for answer in (broken.get("/v1/flows"), broken.save(flow()), broken.ask("DELETE", "/v1/flows/a", headers=based_on(1))):
            told = problem(answer, 503, code)
            assert WHERE not in answer.text
            assert again == ("retry-after" in answer.headers)
            logged = next(each for each in broken.log if each["event"] == "fault" and each["request_id"] == told["request_id"])
            assert (fault.message, fault.remedy, type(fault).__name__) == (logged["message"], logged["remedy"], logged["fault"])


def test_a_fault_while_it_is_looked_who_asks_is_no_refusal() -> None:
    with desk() as opened:
        secret = opened.token(*BOTH)
    with desk(tokens=Failing(StoreUnavailable("held", "wait"))) as broken:
        problem(broken.client.get("/v1/flows", headers={"Authorization": f"Bearer {secret}"}), 503, "store_unavailable")


def test_a_bug_is_told_with_the_id_under_which_the_log_has_its_traceback() -> None:
    with desk(reads=failing(ZeroDivisionError(f"at {WHERE}"))) as broken:
        answer = broken.get("/v1/flows")
        told = problem(answer, 500, "bug")
        assert WHERE not in answer.text
        assert "ZeroDivisionError" not in answer.text
        (logged,) = [each for each in broken.log if each["event"] == "bug"]
        assert (told["request_id"], True) == (logged["request_id"], "ZeroDivisionError" in logged["exception"])


def asked_piece_by_piece(opened: Desk, path: str, token: str, *received: dict[str, Any]) -> list[dict[str, Any]]:
    """Ask without a client between, and give the pieces of the answer; after what is received nothing comes any more."""
    sent: list[dict[str, Any]] = []
    coming = iter(received)

    async def receive() -> dict[str, Any]:
        given = next(coming, None)
        return given if given is not None else await asyncio.get_running_loop().create_future()

    async def send(message: Any) -> None:
        sent.append(message)

    headers = [(b"host", b"localhost"), (b"authorization", f"Bearer {token}".encode()), (b"content-type", b"application/json")]
    method = "PUT" if received and received[0].get("more_body") else "GET"
    scope = {
        "type": "http",
        "method": method,
        "path": path,
        "query_string": b"",
        "headers": [*headers, (b"if-none-match", b"*")] if method == "PUT" else headers,
    }
    asyncio.run(opened.app(scope, receive, send))
    return sent


def test_a_bundle_that_fails_half_way_is_left_unfinished_and_logged() -> None:
    def pieces() -> Iterator[bytes]:
        yield b"begun"
        raise Damaged("revision 2 of flow `paper` is not there", "restore it")

    class Halfway(Failing):
        def export(self, _slugs: object) -> Iterator[bytes]:
            return pieces()

    with desk(reads=lambda _author: Halfway(ValueError())) as broken:
        sent = asked_piece_by_piece(broken, "/v1/bundle", broken.token(*BOTH), {"type": "http.request", "body": b""})
        assert [(200, None), (None, True)] == [(each.get("status"), each.get("more_body")) for each in sent]
        (logged,) = [each for each in broken.log if each["event"] == "fault"]
        assert ("revision 2 of flow `paper` is not there", "restore it") == (logged["message"], logged["remedy"])


def test_a_body_of_which_no_more_comes_is_given_up() -> None:
    begun = {"type": "http.request", "body": b'{"source": "', "more_body": True}
    with desk(bounds=Bounds(body_seconds=0.01)) as opened:
        start, body = asked_piece_by_piece(opened, "/v1/flows/paper", opened.token(*BOTH), begun)
        assert (408, "request_incomplete") == (start["status"], json.loads(body["body"])["code"])
