"""The wire of standard input and output: what is no message, what is too much, and a client that takes nothing any more."""

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from threading import Event, Thread
from typing import Any, NoReturn

import anyio

from stateward.runtime.surfaces.mcp.server import Served, make_server
from stateward.runtime.surfaces.mcp.stdio import CALLS_MAX, LINE_BYTES_MAX, serve
from stateward.runtime.wiring import NoWorker
from tests.cli.program import STATEWARD
from tests.mcp.desk import INITIALIZE, desk

CALLS = CALLS_MAX + 100
"""So few that the pipe takes the answers while all of them are sent."""
LEFT_SECONDS = 60.0
"""After which a test is given up that would otherwise hang."""


def status(number: int) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": "flow_status", "arguments": {}}}


def line(message: object) -> bytes:
    return json.dumps(message).encode() + b"\n"


class Ends:
    """Both ends of a server in this process."""

    def __init__(self, server: Served, stalled_seconds: float = LEFT_SECONDS) -> None:
        self._stalled = stalled_seconds
        self._reading, writing = os.pipe()
        reading, self._writing = os.pipe()
        self.into, self.out_of = os.fdopen(writing, "wb", buffering=0), os.fdopen(reading, "rb")
        self._server = make_server(server)

    def serve(self) -> None:
        """Serve until the input ends."""
        with os.fdopen(self._reading, "rb") as reading, os.fdopen(self._writing, "wb", buffering=0) as writing:
            anyio.run(partial(serve, self._server, reading, writing, self._stalled))

    def received(self) -> dict[str, Any]:
        message: dict[str, Any] = json.loads(self.out_of.readline())
        return message


@contextmanager
def talking(server: Served, talk: Any) -> Iterator[None]:
    """Serve on this thread, to which signals come, while another one talks to the server."""
    ends = Ends(server)
    failures: list[BaseException] = []

    def client() -> None:
        try:
            talk(ends)
        except BaseException as failure:  # noqa: BLE001 -- raised on the thread of the test
            failures.append(failure)
        finally:
            ends.into.close()

    thread = Thread(target=client)
    thread.start()
    ends.serve()
    thread.join()
    ends.out_of.close()
    if failures:
        raise failures[0]
    yield


def nobody(_: object) -> NoReturn:
    raise NoWorker("no Worker of this Workspace is active", "start one")


def test_a_line_that_is_no_message_is_answered_and_ends_nothing() -> None:
    def talk(ends: Ends) -> None:
        ends.into.write(line(INITIALIZE))
        assert 1 == ends.received()["id"]
        for bad, code, request in (
            (b"no message\n", -32700, None),
            (b"\xff\n", -32700, None),
            (b"[" * 100_000 + b"\n", -32700, None),
            (b"[]\n", -32600, None),
            (b'{"jsonrpc": "2.0"}\n', -32600, None),
            (b'{"jsonrpc": "2.0", "id": 7, "method": 3}\n', -32600, 7),
            (b'"' + b"x" * LINE_BYTES_MAX + b'"\n', -32600, None),
            (b'"' + b"x" * (2 * LINE_BYTES_MAX + 1) + b'"\n', -32600, None),
        ):
            ends.into.write(bad)
            answer = ends.received()
            assert ("2.0", request, code) == (answer["jsonrpc"], answer["id"], answer["error"]["code"])
        ends.into.write(line(status(2)))
        assert 2 == ends.received()["id"]

    with talking(Served(nobody, "1"), talk):
        pass


def test_of_many_calls_at_once_each_is_answered_and_those_too_many_are_turned_away() -> None:
    gate, begun = Event(), Event()

    def held(_: object) -> NoReturn:
        begun.set()
        gate.wait()
        nobody(_)

    answers: list[dict[str, Any]] = []

    def talk(ends: Ends) -> None:
        ends.into.write(line(INITIALIZE))
        assert 1 == ends.received()["id"]
        for number in range(2, CALLS + 2):
            ends.into.write(line(status(number)))
        begun.wait()
        answers.extend(ends.received() for _ in range(CALLS - CALLS_MAX))
        gate.set()
        answers.extend(ends.received() for _ in range(CALLS_MAX))

    with talking(Served(held, "1"), talk):
        pass
    assert list(range(2, CALLS + 2)) == sorted(each["id"] for each in answers)
    assert {-32000} == {each["error"]["code"] for each in answers[: CALLS - CALLS_MAX]}
    assert {True} == {each["result"]["isError"] for each in answers[CALLS - CALLS_MAX :]}


def test_a_client_that_reads_nothing_does_not_keep_the_server_from_ending(tmp_path: Path) -> None:
    at = desk(tmp_path)
    silent, out = os.pipe()
    server = subprocess.Popen(
        [STATEWARD, "mcp"], cwd=at.work, env=at.environment, stdin=subprocess.PIPE, stdout=out, stderr=subprocess.PIPE
    )
    os.close(out)
    assert server.stdin is not None
    server.stdin.write(line(INITIALIZE))
    for number in range(2, 600):  # more than the pipe takes of the answers
        server.stdin.write(line({"jsonrpc": "2.0", "id": number, "method": "tools/list"}))
    server.stdin.flush()
    assert os.read(silent, 1)
    server.terminate()
    errors = server.communicate(timeout=LEFT_SECONDS)[1]
    os.close(silent)
    assert (0, b"") == (server.returncode, errors)


def test_a_client_that_reads_nothing_for_too_long_is_left() -> None:
    ends = Ends(Served(nobody, "1"), stalled_seconds=0.05)

    def talk() -> None:
        ends.into.write(line(INITIALIZE))
        with suppress(BrokenPipeError):  # the server has left
            for number in range(2, 2_000):
                ends.into.write(line({"jsonrpc": "2.0", "id": number, "method": "tools/list"}))

    thread = Thread(target=talk, daemon=True)
    thread.start()
    ends.serve()
    ends.out_of.close()
    ends.into.close()


def test_a_server_whose_output_nobody_takes_any_more_ends(tmp_path: Path) -> None:
    at = desk(tmp_path)
    silent, out = os.pipe()
    server = subprocess.Popen(
        [STATEWARD, "mcp"], cwd=at.work, env=at.environment, stdin=subprocess.PIPE, stdout=out, stderr=subprocess.PIPE
    )
    os.close(out)
    os.close(silent)
    assert server.stdin is not None
    server.stdin.write(line(INITIALIZE))
    server.stdin.flush()
    assert 0 == server.wait(LEFT_SECONDS)
    server.communicate()
