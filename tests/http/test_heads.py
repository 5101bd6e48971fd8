"""The beginning of a request: bounded in time and size, and answered like everything else."""

import asyncio
import io
import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
import uvicorn
from starlette.responses import PlainTextResponse
from uvicorn.server import ServerState

from stateward.runtime.surfaces.http.heads import bounded
from stateward.runtime.surfaces.http.logs import ServiceLog
from stateward.runtime.surfaces.http.service import HEADER_BYTES_MAX

Talk = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[bytes]]
WHOLE = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
SOON = 0.05
NEVER = 3600.0


async def _served(talk: Talk, log: io.StringIO, seconds: float, most: int, connections: int) -> bytes:
    protocol = bounded(ServiceLog(log, mask=str, as_text=False), seconds, most)
    app = PlainTextResponse("here")
    config = uvicorn.Config(app, http=protocol, log_config=None, lifespan="off", h11_max_incomplete_event_size=HEADER_BYTES_MAX + 32 * 1024)
    config.load()
    state, loop = ServerState(), asyncio.get_running_loop()
    server = await loop.create_server(lambda: protocol(config=config, server_state=state, app_state={}), "127.0.0.1", 0)  # type: ignore[call-arg]
    port = server.sockets[0].getsockname()[1]
    opened = [await asyncio.open_connection("127.0.0.1", port) for _ in range(connections)]
    try:
        return await talk(*opened[-1])
    finally:
        for _, writer in opened:
            writer.close()
        server.close()
        if state.tasks:
            await asyncio.wait(state.tasks)


def served(talk: Talk, seconds: float = NEVER, most: int = 100, connections: int = 1) -> tuple[bytes, list[dict[str, Any]]]:
    """Talk to a service, and give what it said with what it logged."""
    log = io.StringIO()
    said = asyncio.run(_served(talk, log, seconds, most, connections))
    return said, [json.loads(line) for line in log.getvalue().splitlines()]


async def to_the_end(reader: asyncio.StreamReader) -> bytes:
    """Wait until the other side has closed."""
    try:
        return await reader.read()
    except ConnectionResetError:
        return b""


@pytest.mark.parametrize("begun", [b"", b"GET / HT", WHOLE[:-2]])
def test_a_head_that_is_not_whole_in_time_ends_the_connection(begun: bytes) -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
        writer.write(begun)
        return await to_the_end(reader)

    said, log = served(talk, SOON)
    assert (b"", ["head_too_slow"]) == (said, [each["event"] for each in log])


def test_a_later_head_is_bounded_too() -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
        writer.write(WHOLE)
        answered = await reader.readuntil(b"here")
        writer.write(WHOLE[:-2])
        return answered + await to_the_end(reader)

    said, log = served(talk, SOON)
    assert said.startswith(b"HTTP/1.1 200 OK")
    assert 1 == said.count(b"HTTP/1.1")
    assert ["head_too_slow"] == [each["event"] for each in log]


def test_more_connections_than_there_may_be_are_closed_at_once() -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
        return await to_the_end(reader)

    said, log = served(talk, most=2, connections=3)
    assert (b"", ["too_many_connections"]) == (said, [each["event"] for each in log])


@pytest.mark.parametrize(
    ("sent", "status", "code"),
    [
        (b"\x16\x03\x01 what is this\r\n\r\n", 400, "request_malformed"),
        (b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400, "request_malformed"),
        (b"GET / HTTP/1.1\r\n\r\n", 400, "request_malformed"),
        (b"GET / HTTP/1.1\r\nHost: a\r\nX: " + b"x" * 2 * HEADER_BYTES_MAX, 431, "headers_too_large"),
    ],
    ids=["no HTTP", "two hosts", "no host", "too large"],
)
def test_what_is_no_request_is_answered_with_a_problem_and_logged(sent: bytes, status: int, code: str) -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
        writer.write(sent)
        return await to_the_end(reader)

    said, log = served(talk)
    head, _, body = said.partition(b"\r\n\r\n")
    problem = json.loads(body)
    assert head.startswith(f"HTTP/1.1 {status} ".encode())
    assert b"application/problem+json" in head
    assert f"x-request-id: {problem['request_id']}".encode() in head.lower()
    assert (status, code) == (problem["status"], problem["code"])
    assert (status, problem["request_id"]) == (log[-1]["status"], log[-1]["request_id"])
