"""`stateward serve` as a process: where it listens, how it ends, and what outlives it."""

import json
import signal
import socket
import ssl
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import httpx2
import pytest

from tests.cli.program import Place, place
from tests.http.desk import flow
from tests.http.running import answer_of, request, running, token
from tests.remote.certificates import certificates

IMPATIENT = """
import sys
from stateward.runtime.surfaces.cli import main
from stateward.runtime.surfaces.http.serving import serve
serve.__kwdefaults__["grace_seconds"] = 0
main(sys.argv[1:])
"""
"""The program, but that it waits for nothing when it ends."""


@pytest.fixture
def here(tmp_path: Path) -> Place:
    return place(tmp_path)


def begun(service: object, source: str, slug: str = "paper") -> tuple[bytes, bytes]:
    """Give the two halves of a request that saves: one that is answered by `100 Continue`, and one that ends it."""
    body = json.dumps({"source": source}).encode()
    headers = (
        f"Authorization: Bearer {service.token}",  # type: ignore[attr-defined]
        "Content-Type: application/json",
        "If-None-Match: *",
        f"Content-Length: {len(body)}",
        "Expect: 100-continue",
    )
    return request("PUT", f"/v1/flows/{slug}", "localhost", *headers), body


def test_it_says_where_it_listens_and_ends_with_0(here: Place) -> None:
    with running(here) as service:
        assert service.address.startswith("http://127.0.0.1:")
        with service.client() as client:
            assert "ada" == client.get("/v1/workspace").json()["name"]
        assert 0 == service.end()
        assert service.process.stdout is not None
        assert "stopped\n" == service.process.stdout.read()


def test_a_folder_without_a_workspace_gets_one_and_whoever_has_no_token_is_told_how(here: Place) -> None:
    with running(here, given="none") as service:
        assert service.process.stdout is not None
        # the first line said that a Workspace was begun
        assert " at http://127.0.0.1:" in service.process.stdout.readline()
        assert "nobody has a token yet; `stateward token issue --name NAME --scope read` issues one\n" == service.process.stdout.readline()
        assert 0 == service.end(signal.SIGINT)


def test_a_request_under_way_is_finished_before_it_ends(here: Place) -> None:
    with running(here) as service:
        head, body = begun(service, flow())
        with service.socket as connection:
            connection.sendall(head)
            assert connection.recv(100).startswith(b"HTTP/1.1 100 ")
            service.process.send_signal(signal.SIGTERM)
            assert 1 == service.logged("stopping")["requests"]
            with pytest.raises(OSError):
                service.socket.close()  # nobody new is let in
            connection.sendall(body)
            status, answer = answer_of(connection)
        assert (201, True) == (status, b'"revision":1' in answer)
        assert 0 == service.logged("stopped")["unfinished"]
        assert 0 == service.process.wait()


def test_a_request_that_does_not_end_is_cut_off_after_a_while_and_that_is_told(here: Place) -> None:
    with running(here, program=(sys.executable, "-c", IMPATIENT)) as service:
        head, _ = begun(service, flow())
        with service.socket as connection:
            connection.sendall(head)
            assert connection.recv(100).startswith(b"HTTP/1.1 100 ")
            service.process.send_signal(signal.SIGTERM)
            assert 1 == service.logged("stopped")["unfinished"]
            assert 1 == service.process.wait()
        assert service.process.stdout is not None
        assert "stopped with requests unfinished\n" == service.process.stdout.read()


def test_a_second_signal_ends_it_at_once(here: Place) -> None:
    with running(here) as service:
        head, _ = begun(service, flow())
        with service.socket as connection:
            connection.sendall(head)
            assert connection.recv(100).startswith(b"HTTP/1.1 100 ")
            service.process.send_signal(signal.SIGTERM)
            service.logged("stopping")
            assert 128 + signal.SIGTERM == service.end()


def test_what_was_acknowledged_is_there_after_it_was_killed(here: Place) -> None:
    with running(here) as service:
        assert 201 == service.save(flow("One.")).status_code
        assert 200 == service.save(flow("Two."), 1).status_code
        head, body = begun(service, flow(name="half"), "half")
        with service.socket as connection:
            connection.sendall(head)
            assert connection.recv(100).startswith(b"HTTP/1.1 100 ")
            connection.sendall(body[:-1])
            assert -signal.SIGKILL == service.end(signal.SIGKILL)
    with running(here, given=service.token) as again, again.client() as client:
        assert [("paper", 2)] == [(each["last"]["slug"], each["last"]["revision"]) for each in client.get("/v1/flows").json()["flows"]]
        assert flow("Two.") == client.get("/v1/flows/paper/current").json()["source"]
        assert 200 == again.save(flow("Three."), 2).status_code


def test_of_two_who_save_on_the_same_revision_one_wins_and_the_other_is_told_who(here: Place) -> None:
    both = {name: token(here, name) for name in ("ada", "bob")}
    with running(here) as service:
        assert 201 == service.save(flow("0.")).status_code
        for base in range(1, 9):
            together = Barrier(2)

            def save(name: str, base: int = base, together: Barrier = together) -> httpx2.Response:
                together.wait()
                return service.save(flow(f"{base} by {name}."), base, token=both[name])

            with ThreadPoolExecutor(2) as threads:
                answers = dict(zip(both, threads.map(save, both), strict=True))
            assert [200, 412] == sorted(answer.status_code for answer in answers.values())
            winner, loser = sorted(both, key=lambda name: answers[name].status_code)
            told = answers[loser].json()
            assert (base, base + 1, winner) == (told["base"]["revision"], told["current"]["revision"], told["current"]["author"])
            assert flow(f"{base} by {winner}.") == told["current"]["source"]
        with service.client() as client:
            assert list(range(9, 0, -1)) == [each["revision"] for each in client.get("/v1/flows/paper/revisions").json()["revisions"]]


def test_a_token_is_good_as_soon_as_it_is_issued_and_no_longer_than_until_it_is_revoked(here: Place) -> None:
    with running(here) as service:
        late = token(here, "late", "--scope", "read")
        with service.client(late) as client:
            assert 200 == client.get("/v1/flows").status_code
            (listed,) = [each for each in map(json.loads, here.done("token", "list", "--json").splitlines()) if each["name"] == "late"]
            here.done("token", "revoke", listed["id"])
            assert 401 == client.get("/v1/flows").status_code


def test_the_service_encrypts_with_a_certificate(here: Place, tmp_path: Path) -> None:
    made = certificates(tmp_path)
    with running(here, "--tls-cert", str(tmp_path / "server.pem")) as service:
        assert service.address.startswith("https://127.0.0.1:")
        trusted = ssl.create_default_context(cafile=str(made.authority))
        with httpx2.Client(verify=trusted, trust_env=False, timeout=None) as client:
            assert 200 == client.get(f"{service.address}/healthz").status_code
        with service.socket as connection:
            connection.sendall(request("GET", "/healthz", "localhost"))
            assert b"live" not in b"".join(iter(lambda: connection.recv(100), b""))
        assert 0 == service.end()


def test_a_log_holds_no_token_no_query_and_no_body(here: Place) -> None:
    with running(here) as service:
        with service.client() as client:
            client.get(f"/v1/flows?after={service.token}")
            client.get(f"/v1/{service.token}")
            client.put("/v1/flows/paper", headers={"If-None-Match": "*"}, json={"source": "name = secretly;"})
        service.process.send_signal(signal.SIGTERM)
        _, err = service.process.communicate()
        lines = [json.loads(line) for line in err.splitlines()]
        asked = [(each["method"], each["path"], each["status"]) for each in lines if each["event"] == "request"]
        assert [("GET", "/v1/flows", 200), ("GET", "/v1/«secret:token»", 404), ("PUT", "/v1/flows/paper", 422)] == asked
        assert ["ada", None, "ada"] == [each.get("who") for each in lines if each["event"] == "request"]
        assert service.token not in err
        assert "secretly" not in err


# --- what keeps it from serving


def test_a_port_that_is_in_use_is_told_in_a_line(here: Place) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ended = here.call("serve", "--port", str(port))
    assert (3, f"error: port {port} of `127.0.0.1` is in use\n  = help: name another with `--port`, or 0 for any that is free\n") == (
        ended.status,
        ended.err,
    )


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (("--host", "0.0.0.0"), 2, "tokens and flows would go over the network as plain text from `0.0.0.0`"),  # noqa: S104
        (("--host", "192.0.2.1", "--insecure"), 3, "`192.0.2.1` is no address of this machine"),
        (("--host", "no.such.host.invalid"), 2, "the host `no.such.host.invalid` is not known here"),
        (("--tls-key", "key.pem"), 2, "a key was named and no certificate"),
        (("--tls-cert", "none.pem"), 2, "no certificate can be served with from `none.pem`"),
        (("--allow-host", "https://x"), 2, "invalid value for `--allow-host`: `https://x` is no name of a host without scheme and port"),
        (("--allow-origin", "desk.example.org"), 2, "`desk.example.org` is no origin, such as `https://desk.example.org`, in lower case"),
        (("--port", "65536"), 2, "65536 is not in the range 0<=x<=65535"),
    ],
)
def test_what_cannot_be_served_is_told_in_a_line(here: Place, arguments: tuple[str, ...], status: int, said: str) -> None:
    ended = here.call("serve", "--port", "0", *arguments)
    assert status == ended.status
    assert said in ended.err
    assert "Traceback" not in ended.err
    assert not (here.work / ".stateward").exists()  # what cannot be served begins no Workspace


def test_a_certificate_that_is_none_is_told(here: Place) -> None:
    (here.work / "cert.pem").write_text("nothing\n")
    ended = here.call("serve", "--port", "0", "--tls-cert", "cert.pem")
    assert (2, True) == (ended.status, "no certificate can be served with from `cert.pem`" in ended.err)


def test_without_the_extra_it_says_what_to_install(here: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [each for each in sys.modules if each.startswith("stateward.runtime.surfaces.http")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "fastapi", None)
    ended = here.call("serve", "--port", "0")
    assert (3, "error: serving needs the package fastapi\n  = help: install `stateward[server]`\n") == (ended.status, ended.err)
