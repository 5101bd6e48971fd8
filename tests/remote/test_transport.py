"""How a service is asked: what is sent, what is asked again, and each way in which the way to it fails."""

import logging
import socket
from contextlib import closing
from itertools import count
from pathlib import Path

import pytest

from stateward.runtime.ports import (
    AccessRefused,
    Damaged,
    Fault,
    OutcomeUnknown,
    ServiceUnavailable,
    StoreNewer,
    StoreOlder,
    StoreUnavailable,
)
from stateward.runtime.remote.address import RemoteUnusable
from stateward.runtime.remote.exchange import JSON_BYTES_MAX, Asked, Waits
from stateward.runtime.remote.wire import HttpWire
from tests.remote.asking import SILENCE, TOKEN, Pauses, access, client_of
from tests.remote.certificates import Certificates, certificates
from tests.remote.odd_server import (
    OTHER_WORKSPACE,
    WORKSPACE,
    Step,
    closes,
    hangs,
    odd_server,
    pours,
    problem,
    reply,
    resets,
    says,
    sends,
)

EMPTY_PAGE = says({"flows": [], "next": None})


def refused_with(*steps: Step, waits: Waits | None = None) -> tuple[Fault, int]:
    """Give the fault that a listing ends with, and how often it was asked for."""
    with odd_server(*steps) as odd, client_of(odd.address, **({} if waits is None else {"waits": waits})) as client:
        with pytest.raises(Fault) as fault:
            client.flows(10)
        shown = f"{fault.value.message} {fault.value.remedy} {fault.value!r}"
        assert TOKEN not in shown
        assert "\n" not in fault.value.message
        assert fault.value.remedy
        return fault.value, len(odd.asked)


# --- what is sent -------------------------------------------------------------------------------------------------------------------


def test_a_request_carries_the_token_and_asks_for_json_as_it_is() -> None:
    with odd_server(EMPTY_PAGE) as odd, client_of(odd.address) as client:
        client.flows(10)
        (asked,) = odd.asked
    assert ("GET", "/v1/flows?limit=10") == (asked.method, asked.target)
    assert (f"Bearer {TOKEN}", "application/json", "identity", "stateward") == tuple(
        asked.headers[name] for name in ("authorization", "accept", "accept-encoding", "user-agent")
    )


def test_without_a_token_none_is_sent() -> None:
    with odd_server(EMPTY_PAGE) as odd, client_of(access(odd.address, token=None)) as client:
        client.flows(10)
        assert "authorization" not in odd.asked[0].headers


def test_a_service_below_a_path_is_asked_below_it() -> None:
    with odd_server(says({"workspace": WORKSPACE, "program": "p", "name": "n", "scopes": []})) as odd:
        with client_of(f"{odd.address}/team/") as client:
            assert WORKSPACE == client.workspace
        assert "/team/v1/workspace" == odd.asked[0].target


def test_no_proxy_and_no_certificate_of_the_environment_counts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "none"))
    with odd_server(EMPTY_PAGE) as odd, client_of(odd.address) as client:
        assert [] == list(client.flows(10))


def test_a_proxy_that_is_named_is_asked_in_the_place_of_the_service() -> None:
    whole = "http://127.0.0.1:9/v1/workspace"
    with odd_server(problem("token_missing", 401)) as odd, client_of(access("http://127.0.0.1:9", proxy=odd.address)) as client:
        with pytest.raises(AccessRefused):
            client.flows(10)
        assert [whole] == [each.target for each in odd.asked]


def test_nothing_that_is_logged_holds_the_token(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with odd_server(EMPTY_PAGE) as odd, client_of(odd.address) as client:
        client.flows(10)
    assert caplog.records
    assert TOKEN not in caplog.text


# --- the way to a service -----------------------------------------------------------------------------------------------------------


def test_a_service_that_is_not_there_is_named_after_a_few_tries() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"http://127.0.0.1:{taken.getsockname()[1]}"
    pauses = Pauses()
    with client_of(address, pauses=pauses) as client, pytest.raises(ServiceUnavailable) as fault:
        client.flows(10)
    assert f"{address} cannot be reached: connection refused" == fault.value.message
    assert "start it with `stateward serve`, or name another one" == fault.value.remedy
    assert [1.0, 4.0] == pauses.seconds


def test_a_host_that_nobody_knows_is_named() -> None:
    with client_of("http://nobody.localhost.localhost:1") as client, pytest.raises(ServiceUnavailable) as fault:
        client.flows(10)
    assert "http://nobody.localhost.localhost:1" in fault.value.message


@pytest.mark.parametrize(
    "step", [closes, resets, sends(b""), sends(b"HTTP/1.1 200 OK\r\nContent-Le")], ids=["closes", "resets", "nothing", "half"]
)
def test_a_connection_that_breaks_is_tried_again_and_then_named(step: Step) -> None:
    fault, asked = refused_with(step)
    assert isinstance(fault, ServiceUnavailable)
    assert fault.message.endswith("broke off before its answer was whole")
    assert 3 == asked


@pytest.mark.parametrize("step", [closes, problem("store_unavailable", 503), problem("stopping", 503), says(b"", 502, "text/html")])
def test_what_passes_is_not_noticed_when_reading(step: Step) -> None:
    pauses = Pauses()
    with odd_server(step, step, EMPTY_PAGE) as odd, client_of(odd.address, pauses=pauses) as client:
        assert [] == list(client.flows(10))
        assert (3, [1.0, 4.0]) == (len(odd.asked), pauses.seconds)


def test_a_truncated_answer_is_none() -> None:
    whole = reply(b'{"flows": [], "next": null}')
    fault, _ = refused_with(sends(whole[:-3]))
    assert fault.message.endswith("broke off before its answer was whole")


def test_a_service_that_says_nothing_is_given_up_once() -> None:
    fault, asked = refused_with(hangs(), waits=Waits(silence=SILENCE))
    assert fault.message.endswith(f"said nothing for {SILENCE:g} seconds")
    assert 1 == asked


def test_a_bundle_is_waited_for_longer_than_anything_else() -> None:
    """A service says nothing before it has compiled all of it."""
    waits = Waits(silence=0.0001, bundle=60.0)
    with odd_server(says(b"{}")) as odd, closing(HttpWire(access(odd.address), waits, lambda: 0.0)) as wire:
        assert 200 == wire.once(Asked("POST", "/v1/bundle", content=b"bundle", is_about_bundle=True)).status


def test_a_service_that_stops_in_the_middle_is_given_up() -> None:
    fault, _ = refused_with(hangs(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"), waits=Waits(silence=SILENCE))
    assert fault.message.endswith(f"said nothing for {SILENCE:g} seconds")


def test_an_answer_that_goes_on_for_too_long_is_given_up() -> None:
    ticks = count(0, 30)
    with (
        odd_server(pours(b"x")) as odd,
        client_of(odd.address, elapsed=lambda: float(next(ticks))) as client,
        pytest.raises(ServiceUnavailable) as fault,
    ):
        client.flows(10)
    assert f"{odd.address} was not done with its answer after 120 seconds" == fault.value.message


def test_an_answer_without_an_end_is_given_up_at_its_limit() -> None:
    fault, asked = refused_with(pours())
    assert fault.message.endswith(f"answered with more than {JSON_BYTES_MAX} bytes")
    assert 1 == asked


@pytest.mark.parametrize(
    "data",
    [b"SSH-2.0-OpenSSH_9.6\r\n\r\n", b"220 mail ESMTP\r\n\r\n", b"\x15\x03\x01\x00\x02\x02\x16", b"HTTP/1.1 banana\r\n\r\n"],
    ids=["ssh", "smtp", "tls", "banana"],
)
def test_another_protocol_on_that_port_is_told(data: bytes) -> None:
    fault, _ = refused_with(sends(data))
    assert fault.message.startswith("what answers at http://127.0.0.1:")
    assert fault.message.endswith("does not speak HTTP")


# --- TLS ----------------------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return certificates(tmp_path_factory.mktemp("certificates"))


def test_a_certificate_of_an_authority_that_is_named_is_trusted(pair: Certificates) -> None:
    with odd_server(EMPTY_PAGE, tls=pair.context) as odd, client_of(access(odd.address, ca_file=pair.authority)) as client:
        assert [] == list(client.flows(10))


def test_a_certificate_that_nobody_vouches_for_is_told_and_not_tried_again(pair: Certificates) -> None:
    pauses = Pauses()
    with odd_server(EMPTY_PAGE, tls=pair.context) as odd, client_of(odd.address, pauses=pauses) as client:
        with pytest.raises(ServiceUnavailable) as fault:
            client.flows(10)
        assert [] == odd.asked
    assert fault.value.message.startswith(f"the certificate of {odd.address} is not trusted: ")
    assert "STATEWARD_CA_FILE" in fault.value.remedy
    assert [] == pauses.seconds


def test_a_certificate_for_another_name_is_told(pair: Certificates) -> None:
    with odd_server(EMPTY_PAGE, tls=pair.context) as odd:
        address = odd.address.replace("127.0.0.1", "localhost")
        with client_of(access(address, ca_file=pair.authority)) as client, pytest.raises(ServiceUnavailable, match="is not trusted: "):
            client.flows(10)


def test_a_service_without_tls_is_told_where_tls_was_asked_for() -> None:
    with (
        odd_server(EMPTY_PAGE) as odd,
        client_of(odd.address.replace("http:", "https:")) as client,
        pytest.raises(ServiceUnavailable, match=r"^no TLS with https://"),
    ):
        client.flows(10)


def test_a_file_of_certificates_that_holds_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RemoteUnusable, match="cannot be read: no such file or directory"):
        client_of(access("https://127.0.0.1:9", ca_file=tmp_path / "missing"))
    (tmp_path / "empty").write_bytes(b"no certificate")
    with pytest.raises(RemoteUnusable, match="holds none"):
        client_of(access("https://127.0.0.1:9", ca_file=tmp_path / "empty"))


# --- what answers -------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (says(b"<html>", 200, "text/html"), "answered with `text/html`, where `application/json` was asked for"),
        (says(b"{}", 200, ""), "answered with something that does not say its type, where `application/json` was asked for"),
        (says(b"{}", 200, "application/json+evil"), "answered with `application/json+evil`, where `application/json` was asked for"),
        (says(b"", 302, "text/html", Location="http://127.0.0.1:9/"), "leads elsewhere, with status 302"),
        (says(b"", 404, "text/html"), "is no stateward service: status 404"),
        (says(b"", 400, "text/plain"), "is no stateward service: status 400"),
        (says(b"", 500, "text/plain"), "answered with status 500"),
        (says(b"", 503, "text/plain"), "answered with status 503"),
    ],
)
def test_another_program_on_that_port_is_told(step: Step, message: str) -> None:
    fault, _ = refused_with(step)
    assert isinstance(fault, ServiceUnavailable)
    assert fault.message.endswith(message)


def test_a_redirect_is_never_followed_so_nobody_else_is_told_the_token() -> None:
    with odd_server(EMPTY_PAGE) as elsewhere, odd_server(says(b"", 307, "", Location=f"{elsewhere.address}/v1/flows")) as odd:
        with client_of(odd.address) as client, pytest.raises(ServiceUnavailable, match="leads elsewhere"):
            client.flows(10)
        assert [] == elsewhere.asked


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"null",
        b"[]",
        b'{"flows": []}',
        b'{"flows": [], "next": null, "more": 1}',
        b'{"flows": [1], "next": null}',
        b'{"flows": "", "next": null}',
        b'{"flows": [], "next": 1}',
        b"[" * 100_000,
        b"\xff\xfe",
        b"9" * 100_000,
        b"NaN",
    ],
    ids=range(13),
)
def test_json_of_another_form_is_told(body: bytes) -> None:
    fault, _ = refused_with(says(body))
    assert isinstance(fault, ServiceUnavailable)
    assert "answered with what this program does not know: " in fault.message


def test_a_compressed_answer_is_never_unpacked() -> None:
    fault, _ = refused_with(says(b"\x1f\x8b\x08\x00", Content_Encoding="gzip"))
    assert "answered with what this program does not know: " in fault.message


@pytest.mark.parametrize(
    ("step", "kind", "message"),
    [
        (
            problem("store_unavailable", 503, "the store is locked"),
            StoreUnavailable,
            "the service at {}: the store is locked",
        ),
        (problem("store_newer", 503, "it is newer"), StoreNewer, "the service at {}: it is newer"),
        (problem("store_older", 503, "it is older"), StoreOlder, "the service at {}: it is older"),
        (problem("store_damaged", 500, "revision 3 is damaged"), Damaged, "the service at {}: revision 3 is damaged"),
        (problem("outcome_unknown", 503, "who knows"), OutcomeUnknown, "the service at {}: who knows"),
        (problem("stopping", 503), ServiceUnavailable, "{} is stopping"),
        (problem("busy", 503), ServiceUnavailable, "{} has as much to do as it takes on"),
        (problem("bug", 500, request_id="r-1"), ServiceUnavailable, "{} failed at the request, X-Request-ID r-1"),
        (problem("tomorrow", 507, "a new one"), ServiceUnavailable, "{} could not answer: a new one"),
        (problem("token_missing", 401), AccessRefused, "{} answers only whoever shows a token"),
        (problem("token_refused", 401, "it expired"), AccessRefused, "{} does not take the token: it expired"),
        (problem("scope_missing", 403, "it lacks `read`", scope="read"), AccessRefused, "the token may not do that: it lacks `read`"),
        (says(b"", 403, "text/html"), AccessRefused, "{} does not let the request through, with status 403"),
        (problem("host_not_allowed", 421, "`a` is not served"), ServiceUnavailable, "{} does not answer to that name: `a` is not served"),
        (problem("route_not_found", 404, "no such path"), ServiceUnavailable, "{} knows no such request: no such path"),
        (
            problem("request_malformed", 422, "it is malformed", errors=[{"at": "query.limit", "message": "too large"}]),
            ServiceUnavailable,
            "{} did not take the request: it is malformed (query.limit: too large)",
        ),
    ],
)
def test_a_problem_of_the_service_is_the_fault_it_says(step: Step, kind: type[Fault], message: str) -> None:
    with odd_server(step) as odd, client_of(odd.address) as client, pytest.raises(kind) as fault:
        client.flows(10)
    assert message.format(odd.address) == fault.value.message


def test_the_remedy_of_the_service_is_handed_on() -> None:
    fault, _ = refused_with(problem("store_older", 503, help="migrate it with `stateward store migrate`"))
    assert "migrate it with `stateward store migrate`" == fault.remedy


@pytest.mark.parametrize("told", [TOKEN, f"Bearer {TOKEN}\x1b[2J\nend", "x" * 60_000])
def test_what_a_service_says_is_one_line_without_the_token(told: str) -> None:
    with odd_server(problem("store_damaged", 500, told)) as odd, client_of(odd.address) as client, pytest.raises(Damaged) as fault:
        client.flows(10)
    assert TOKEN not in fault.value.message
    assert fault.value.message.isprintable()
    assert len(fault.value.message) <= 1100


# --- the Workspace --------------------------------------------------------------------------------------------------------------------


def test_the_workspace_is_that_of_the_service_and_asked_for_once() -> None:
    with odd_server(EMPTY_PAGE) as odd, client_of(odd.address, None) as client:
        assert WORKSPACE == client.workspace == client.workspace
        assert "ada" == client.author


@pytest.mark.parametrize("workspace", ["", "..", "../../evil", f"{WORKSPACE}/..", WORKSPACE.upper(), f"{WORKSPACE}\n", "a\0b"])
def test_a_workspace_that_is_no_id_is_never_given_on_for_it_becomes_the_name_of_a_folder(workspace: str) -> None:
    with odd_server(EMPTY_PAGE) as odd, client_of(odd.address, None) as client:
        odd.workspace = workspace
        with pytest.raises(ServiceUnavailable, match="is no id of one"):
            _ = client.workspace
        with pytest.raises(ServiceUnavailable, match="is no id of one"):
            client.flows(10)
        assert [] == odd.asked


def test_a_service_that_holds_another_workspace_is_asked_nothing_else() -> None:
    with odd_server(EMPTY_PAGE) as odd, client_of(odd.address, OTHER_WORKSPACE) as client:
        with pytest.raises(ServiceUnavailable) as fault:
            client.flows(10)
        assert [] == odd.asked
    assert f"{odd.address} holds Workspace `{WORKSPACE}`, and `{OTHER_WORKSPACE}` was expected" == fault.value.message
