"""Who may knock at all, over a real socket: pages in a browser, names that lead here, and bodies that do not end."""

import json
import socket
from collections.abc import Iterator

import pytest

from stateward.runtime.surfaces.http.service import JSON_BYTES_MAX
from tests.cli.program import place
from tests.http.running import Running, answer_of, request, running


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    allowed = ("--allow-host", "flows.example.org", "--allow-origin", "https://desk.example.org")
    with running(place(tmp_path_factory.mktemp("served")), *allowed) as started:
        yield started


def refused(answer: tuple[int, bytes]) -> tuple[int, str]:
    """Give status and code of a problem."""
    status, whole = answer
    head, _, body = whole.partition(b"\r\n\r\n")
    assert b"content-type: application/problem+json" in head
    return status, json.loads(body)["code"]


def bearer(service: Running) -> str:
    return f"Authorization: Bearer {service.token}"


OURS = ["flows.example.org", "FLOWS.example.org.", "flows.example.org:443", "localhost", "127.0.0.1", "127.0.0.1:1"]
FOREIGN = ["evil.example", "evil.example:8420", "127.0.0.1.evil.example", "localhost.evil.example", "[::2]", "10.0.0.1", ""]
FOREIGN += ["127.0.0.1:80@evil.example", "[::1]evil.example"]


@pytest.mark.parametrize("host", OURS)
def test_the_service_answers_to_its_names(service: Running, host: str) -> None:
    assert 200 == service.raw(request("GET", "/v1/flows", host, bearer(service)))[0]


@pytest.mark.parametrize("host", FOREIGN)
def test_a_name_that_somebody_lets_lead_here_reaches_nothing(service: Running, host: str) -> None:
    assert (403, "host_not_allowed") == refused(service.raw(request("GET", "/v1/flows", host, bearer(service))))
    assert (403, "host_not_allowed") == refused(service.raw(request("GET", "/healthz", host)))


def test_a_request_that_names_no_host_or_two_reaches_nothing(service: Running) -> None:
    assert (403, "host_not_allowed") == refused(service.raw(b"GET /v1/flows HTTP/1.0\r\n\r\n"))
    assert 400 == service.raw(b"GET /v1/flows HTTP/1.1\r\nConnection: close\r\n\r\n")[0]
    assert 400 == service.raw(request("GET", "/v1/flows", "localhost", "Host: evil.example"))[0]


def test_a_parameter_that_is_there_twice_is_refused_and_not_taken_once(service: Running) -> None:
    assert (400, "request_malformed") == refused(service.raw(request("GET", "/v1/flows?limit=1&limit=2", "localhost", bearer(service))))
    assert 200 == service.raw(request("GET", "/v1/flows?limit=1", "localhost", bearer(service)))[0]


ORIGINS = ["http://evil.example", "null", "https://desk.example.org.evil.example", "https://desk.example.org:444", ""]


@pytest.mark.parametrize("origin", ORIGINS)
def test_a_page_of_another_origin_reaches_nothing_even_with_a_token(service: Running, origin: str) -> None:
    for method in ("GET", "OPTIONS", "PUT"):
        answer = service.raw(request(method, "/v1/flows/paper", "localhost", bearer(service), f"Origin: {origin}"))
        assert (403, "origin_not_allowed") == refused(answer)
        assert b"access-control-allow-origin" not in answer[1].lower()


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_what_a_browser_fetches_for_a_page_of_another_site_without_saying_its_origin_reaches_nothing(service: Running, site: str) -> None:
    answer = service.raw(request("GET", "/healthz", "localhost", f"Sec-Fetch-Site: {site}"))
    assert (403, "origin_not_allowed") == refused(answer)
    assert 200 == service.raw(request("GET", "/healthz", "localhost", "Sec-Fetch-Site: none"))[0]


def test_a_page_of_an_origin_that_is_allowed_may_ask(service: Running) -> None:
    origin = "Origin: https://desk.example.org"
    asking = ("Access-Control-Request-Method: PUT", "Access-Control-Request-Headers: authorization, if-match, content-type")
    status, answer = service.raw(request("OPTIONS", "/v1/flows/paper", "localhost", origin, *asking))
    assert 200 == status
    assert b"access-control-allow-origin: https://desk.example.org" in answer
    assert b"access-control-allow-credentials" not in answer
    status, answer = service.raw(request("GET", "/v1/flows", "localhost", origin, bearer(service)))
    assert 200 == status
    assert b"access-control-allow-origin: https://desk.example.org" in answer


def test_a_form_of_a_page_cannot_change_anything(service: Running) -> None:
    form = request("POST", "/v1/bundle", "localhost", bearer(service), "Content-Type: text/plain", "Content-Length: 1", body=b"x")
    assert (415, "media_type_unknown") == refused(service.raw(form))


def test_a_body_that_goes_on_is_refused_at_the_limit_whatever_was_announced(service: Running) -> None:
    headers = (bearer(service), "Content-Type: application/json", "If-None-Match: *")
    announced = request("PUT", "/v1/flows/paper", "localhost", *headers, f"Content-Length: {JSON_BYTES_MAX + 1}")
    assert (413, "request_too_large") == refused(service.raw(announced))
    with service.socket as connection:
        connection.sendall(request("PUT", "/v1/flows/paper", "localhost", *headers, "Transfer-Encoding: chunked"))
        piece = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"
        for _ in range(JSON_BYTES_MAX // 0x10000 + 1):
            connection.sendall(piece)
        assert (413, "request_too_large") == refused(answer_of(connection))


def test_headers_that_go_on_are_refused(service: Running) -> None:
    status, _ = service.raw(request("GET", "/v1/flows", "localhost", f"X-Long: {'x' * 100_000}"))
    assert 431 == status


def test_what_is_no_http_is_refused_and_the_service_goes_on(service: Running) -> None:
    tls = b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n"
    for nonsense in (tls, b"GET\r\n\r\n", b"GET /\xff HTTP/1.1\r\nHost: x\r\n\r\n"):
        with service.socket as connection:
            connection.sendall(nonsense)
            connection.shutdown(socket.SHUT_WR)
            assert b" 400 " in answer_of(connection)[1]
    with service.client() as client:
        assert 200 == client.get("/readyz").status_code


def test_whoever_leaves_in_the_middle_of_a_body_changes_nothing(service: Running) -> None:
    headers = (bearer(service), "Content-Type: application/json", "If-None-Match: *", "Content-Length: 1000", "Expect: 100-continue")
    with service.socket as connection:
        connection.sendall(request("PUT", "/v1/flows/left", "localhost", *headers))
        assert connection.recv(1000).startswith(b"HTTP/1.1 100 ")
        connection.sendall(b'{"source": "')
    with service.client() as client:
        assert 404 == client.get("/v1/flows/left").status_code
