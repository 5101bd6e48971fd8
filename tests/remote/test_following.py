"""A log of a service is followed over as many connections as it takes, and whoever lies about it is told."""

from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from http.client import HTTPConnection
from itertools import islice
from socket import SHUT_RDWR, socket
from typing import Any

import pytest

from stateward.runtime.ports import AccessRefused, EntryShown, ServiceUnavailable
from stateward.runtime.remote import following
from stateward.runtime.remote.address import Address
from stateward.runtime.remote.channels import HttpWorkerChannel, WorkerRequests
from stateward.runtime.remote.credentials import Access
from stateward.runtime.session.chain import digest_of
from stateward.runtime.wiring.system import TimeOrderedIds
from tests.contracts.work import PEOPLE, evidence
from tests.remote.odd_server import Request, Step, closes, odd_server, problem, resets, says, sends
from tests.remote.work_services import Served, exchange, work_service
from tests.runtime.engines import AGENT, Desk

PAUSES = (0.0, 0.0, 0.0)
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n: followed\n\n"


@pytest.fixture
def served() -> Iterator[Served]:
    with work_service(Desk("review", PEOPLE, AGENT)) as opened:
        yield opened


def channel(address: str, access: Access, worker: str) -> HttpWorkerChannel:
    reached = Access(Address(address), access.token)
    return HttpWorkerChannel(WorkerRequests(reached, exchange(reached), worker), TimeOrderedIds())


def numbers(of: Iterator[EntryShown], count: int) -> list[int]:
    return [each.seq for each in islice(of, count)]


def handed_on(upstream: str, until: Callable[[bytes], bool]) -> Step:
    """Hand a request on and the reply back as it comes, until so much was sent; then break the connection off."""

    def step(connection: socket, request: Request) -> None:
        host, _, port = upstream.removeprefix("http://").partition(":")
        with closing(HTTPConnection(host, int(port))) as beyond:
            beyond.request(request.method, request.target, headers={**request.headers, "host": f"{host}:{port}"})
            answer = beyond.getresponse()
            connection.sendall(HEAD.partition(b": followed")[0])
            sent = b""
            while not until(sent):
                piece = answer.read1(1)
                sent += piece
                connection.sendall(piece)
            assert beyond.sock is not None
            with suppress(OSError):
                beyond.sock.shutdown(SHUT_RDWR)

    return step


def test_entries_come_whoever_appends_them_until_the_caller_stops(served: Served) -> None:
    desk = served.desk
    with closing(served.agent()) as agent:
        entries = agent.follow()
        assert [1, 2] == numbers(entries, 2)
        evidence(desk.engine, desk.worker, "use-1")
        (third,) = islice(entries, 1)
        assert (3, digest_of(b"exit status 0"), "exit status 0") == (third.seq, third.payload_digest, third.payload)
        entries.close()  # type: ignore[attr-defined]
        assert [] == list(entries)
        assert [3] == numbers(agent.follow(2), 1)


def test_a_connection_that_is_cut_within_an_event_loses_and_repeats_nothing(served: Served) -> None:
    desk = served.desk
    for each in range(4):
        evidence(desk.engine, desk.worker, f"use-{each}")
    cut = [
        handed_on(served.address, lambda sent: sent.endswith(b"id: 2\nevent: entry\nda")),
        handed_on(served.address, lambda sent: b"id: 3\n" in sent and sent.endswith(b"}\n")),  # all of it but the empty line
        closes,
        resets,
        handed_on(served.address, lambda sent: sent.endswith(b"id: 6\n")),
        handed_on(served.address, lambda _: False),
    ]
    with odd_server(*cut) as between:
        with closing(channel(between.address, served.access(f"work:{desk.worker}"), desk.worker)) as agent:
            assert [1, 2, 3, 4, 5, 6] == numbers(agent.follow(pauses=PAUSES), 6)
        assert ["0", "1", "2", "2", "2", "5"] == [each.headers["last-event-id"] for each in between.asked]


def test_a_service_that_stays_away_is_told_after_so_many_tries() -> None:
    worker = "0198c0de-0000-7000-8000-00000000000c"
    with odd_server(closes) as between, closing(channel(between.address, Access(Address(between.address), None), worker)) as agent:
        with pytest.raises(ServiceUnavailable):
            next(agent.follow(pauses=PAUSES))
        assert 1 + len(PAUSES) == len(between.asked)


def test_a_stream_that_ends_at_once_again_and_again_is_told() -> None:
    worker = "0198c0de-0000-7000-8000-00000000000c"
    with odd_server(sends(HEAD)) as between, closing(channel(between.address, Access(Address(between.address), None), worker)) as agent:
        entries = agent.follow(pauses=PAUSES)
        with pytest.raises(ServiceUnavailable, match="again and again"):
            next(entries)
        assert 1 + len(PAUSES) == len(between.asked)


def test_a_service_that_is_busy_is_asked_again(served: Served) -> None:
    desk = served.desk
    steps = (problem("busy", 503), handed_on(served.address, lambda _: False))
    with odd_server(*steps) as between, closing(channel(between.address, served.access(f"work:{desk.worker}"), desk.worker)) as agent:
        assert [1, 2] == numbers(agent.follow(pauses=PAUSES), 2)


# --- lies


def told(served: Served, change: Callable[[dict[str, Any]], None], number: int = 2) -> bytes:
    """Give the stream of a log in which an entry was changed."""
    from stateward.runtime.remote.work_forms import EntryForm  # noqa: PLC0415 -- only here

    text = HEAD
    with closing(served.agent()) as agent:
        for entry in islice(agent.follow(), 2):
            form = EntryForm.of(entry).model_dump(mode="json")
            if entry.seq == number:
                change(form)
            text += f"id: {form['seq']}\nevent: entry\ndata: {EntryForm(**_read(form)).model_dump_json()}\n\n".encode()
    return text


def _read(form: dict[str, Any]) -> dict[str, Any]:
    from datetime import datetime  # noqa: PLC0415 -- only here

    return {**form, "time": datetime.fromisoformat(form["time"]), "events": tuple(form["events"])}


ZERO = f"sha256:{64 * '0'}"
LIES: list[tuple[dict[str, Any], str]] = [
    ({"worker": "another"}, "of Worker `another`"),
    ({"seq": 3}, "sent entry 3 behind entry 1"),
    ({"seq": 1}, "sent entry 1 behind entry 1"),
    ({"previous": ZERO}, "does not stand on the one before"),
]


@pytest.mark.parametrize(("change", "said"), LIES)
def test_an_entry_that_is_not_what_was_asked_for_is_told(served: Served, change: dict[str, Any], said: str) -> None:
    stream = told(served, lambda form: form.update(change))
    with odd_server(sends(stream)) as between:
        reached = Access(Address(between.address), None)
        with closing(channel(between.address, reached, served.desk.worker)) as agent:
            entries = agent.follow(pauses=PAUSES)
            assert 1 == next(entries).seq
            with pytest.raises(ServiceUnavailable, match=said):
                next(entries)
        assert 1 == len(between.asked)


OTHERS: list[tuple[Step, type[Exception]]] = [
    (says(b"<html>Welcome</html>", kind="text/html"), ServiceUnavailable),
    (says({"entries": [], "head": {"seq": 1, "digest": ZERO}}), ServiceUnavailable),
    (sends(HEAD + b"event: entry\ndata: <html>\n\n"), ServiceUnavailable),
    (sends(HEAD + b"id: 1\nevent: entry\ndata: " + b"x" * 5000), ServiceUnavailable),
    (says(b"", status=302, Location="https://evil.example"), ServiceUnavailable),
    (problem("worker_not_found", 404), ServiceUnavailable),
    (problem("token_refused", 401), AccessRefused),
]


@pytest.mark.parametrize(("step", "fault"), OTHERS)
def test_what_is_no_stream_of_events_is_told(step: Step, fault: type[Exception], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(following, "EVENT_BYTES_MAX", 4096)
    with odd_server(step) as between, closing(channel(between.address, Access(Address(between.address), None), "one")) as agent:
        with pytest.raises(fault):
            next(agent.follow(pauses=PAUSES))
        assert 1 == len(between.asked)
