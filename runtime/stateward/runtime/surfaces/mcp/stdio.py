"""The server at standard input and output.

Invariants: what is no message is answered as such, and so is a request over the number that is answered at a time; a client that cancels
because its own time is over is told apart from one that does not want the answer; the end of input, an output that nobody takes any more,
SIGTERM and SIGINT end the server, which stops what is verified and waits for no thread.
"""

import re
import signal
from collections.abc import AsyncIterator
from concurrent.futures import CancelledError
from contextlib import asynccontextmanager
from threading import Thread
from typing import Any, BinaryIO, Final

import anyio
import mcp_types as types
from anyio.from_thread import BlockingPortal
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.server.lowlevel import Server
from mcp.shared.message import SessionMessage
from pydantic import ValidationError
from pydantic_core import from_json

from stateward.runtime.surfaces.mcp.server import GivenUp

LINE_BYTES_MAX: Final = 4 * 1024 * 1024
"""Of one message; a longer one is answered as none."""
WAITING_MAX: Final = 64
"""Messages that were read, or are to be written, and wait for that."""
CALLS_MAX: Final = 256
"""Requests that are under way at a time; one more is turned away."""
STALLED_SECONDS: Final = 30.0
"""How long a client may leave one answer untaken; then nobody is there."""
LAST_WORDS_SECONDS: Final = 1.0
"""How long the client may take what was answered when its input ended."""
REASON_CHARACTERS_MAX: Final = 1024
"""Of the reason for which a call is cancelled, so many are looked at."""
BUSY: Final = -32000
_CANCELLED: Final = "notifications/cancelled"
_OUT_OF_TIME: Final = re.compile(r"tim(ed?|ing)[ _-]?out", re.IGNORECASE)
"""What the libraries of clients give as the reason when the time is over that a call may take."""
Incoming = SessionMessage | Exception


async def serve(
    server: Server[Any],
    reading: BinaryIO,
    writing: BinaryIO,
    stalled_seconds: float = STALLED_SECONDS,
    given_up: GivenUp | None = None,
) -> None:
    """Serve until the input ends, nobody takes the answers, or a signal comes; note in `given_up` whose clients had no more time."""
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_signalled, tasks.cancel_scope)
        async with _streams(reading, writing, stalled_seconds, given_up or GivenUp()) as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())
        tasks.cancel_scope.cancel()


async def _signalled(scope: anyio.CancelScope) -> None:
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
        async for _ in signals:
            scope.cancel()
            return


@asynccontextmanager
async def _streams(
    reading: BinaryIO, writing: BinaryIO, stalled_seconds: float, given_up: GivenUp
) -> AsyncIterator[tuple[MemoryObjectReceiveStream[Incoming], MemoryObjectSendStream[SessionMessage]]]:
    """Give the messages of the wire as streams. What reads them is a thread that the process does not wait for."""
    into, incoming = anyio.create_memory_object_stream[Incoming](WAITING_MAX)
    outgoing, out_of = anyio.create_memory_object_stream[SessionMessage](WAITING_MAX)
    wire = _Wire(into, outgoing.clone(), stalled_seconds, given_up)
    written = anyio.Event()
    async with BlockingPortal() as portal, incoming, out_of, anyio.create_task_group() as tasks:
        Thread(target=_read, args=(reading, wire, portal), name="stateward input", daemon=True).start()
        tasks.start_soon(wire.write, writing, out_of, written)
        yield incoming, outgoing
        outgoing.close()
        wire.close()
        with anyio.move_on_after(LAST_WORDS_SECONDS):
            await written.wait()
        tasks.cancel_scope.cancel()


class _NotTaken(Exception):
    """A line is answered and not passed on."""

    def __init__(self, code: int, message: str, request: types.RequestId | None = None) -> None:
        super().__init__(message)
        self.answer: Final = types.JSONRPCError(jsonrpc="2.0", id=request, error=types.ErrorData(code=code, message=message))


class _Wire:
    """What goes in and out, and which requests are under way. It lives on the event loop."""

    def __init__(
        self,
        into: MemoryObjectSendStream[Incoming],
        outgoing: MemoryObjectSendStream[SessionMessage],
        stalled_seconds: float,
        given_up: GivenUp,
    ) -> None:
        self._into, self._outgoing, self._stalled, self._given_up = into, outgoing, stalled_seconds, given_up
        self._calls: set[types.RequestId] = set()

    def close(self) -> None:
        """Let the server know that nothing more comes."""
        self._into.close()
        self._outgoing.close()

    async def take(self, line: bytes) -> None:
        """Take a line in: pass a message on, and answer what is none."""
        try:
            message = _message(line)
            self._note(message)
        except _NotTaken as problem:
            await self._outgoing.send(SessionMessage(problem.answer))
        else:
            await self._into.send(SessionMessage(message))

    def _note(self, message: types.JSONRPCMessage) -> None:
        """Note which requests are under way. Raises _NotTaken for one too many."""
        if isinstance(message, types.JSONRPCRequest):
            if len(self._calls) >= CALLS_MAX:
                raise _NotTaken(BUSY, f"{CALLS_MAX} requests are under way, which is the most that there may be", message.id)
            self._calls.add(message.id)
        elif isinstance(message, types.JSONRPCNotification) and message.method == _CANCELLED:  # it has no answer
            said = message.params or {}
            cancelled = {each for each in self._calls if each == said.get("requestId")}
            self._calls -= cancelled
            if _OUT_OF_TIME.search(str(said.get("reason", ""))[:REASON_CHARACTERS_MAX]) is not None:
                self._given_up.note(cancelled)

    async def write(self, writing: BinaryIO, out_of: MemoryObjectReceiveStream[SessionMessage], written: anyio.Event) -> None:
        """Write what goes out, until there is no more, or nobody takes it."""
        own = anyio.CapacityLimiter(1)  # calls may hold every thread that there is for calls
        async for each in out_of:
            if isinstance(each.message, types.JSONRPCResponse | types.JSONRPCError):
                self._calls.discard("" if each.message.id is None else each.message.id)
            line = each.message.model_dump_json(by_alias=True, exclude_unset=True)
            try:
                with anyio.fail_after(self._stalled):
                    await anyio.to_thread.run_sync(_written, writing, f"{line}\n".encode(), abandon_on_cancel=True, limiter=own)
            except (OSError, TimeoutError):  # the client is gone
                break
        self._into.close()
        written.set()


def _read(reading: BinaryIO, wire: _Wire, portal: BlockingPortal) -> None:
    buffered = open(reading.fileno(), "rb", closefd=False)  # noqa: SIM115 -- ends with the process
    try:
        while line := buffered.readline(LINE_BYTES_MAX + 1):
            portal.call(wire.take, line)
            while len(line) > LINE_BYTES_MAX and not line.endswith(b"\n"):
                line = buffered.readline(LINE_BYTES_MAX + 1)
        portal.call(wire.close)
    except (anyio.BrokenResourceError, anyio.ClosedResourceError, CancelledError, RuntimeError):  # the server has ended
        return


def _message(line: bytes) -> types.JSONRPCMessage:
    """Read a line. Raises _NotTaken for what is no message."""
    if len(line) > LINE_BYTES_MAX:
        raise _NotTaken(types.INVALID_REQUEST, f"a message has more than {LINE_BYTES_MAX} bytes")
    try:
        return types.jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValidationError:
        try:
            value = from_json(line)
        except ValueError:
            raise _NotTaken(types.PARSE_ERROR, "the line is no JSON") from None
        named = value.get("id") if isinstance(value, dict) else None
        known = named if isinstance(named, str) or type(named) is int else None
        raise _NotTaken(types.INVALID_REQUEST, "the line is no message of JSON-RPC", known) from None


def _written(writing: BinaryIO, line: bytes) -> None:
    rest = memoryview(line)
    while rest:
        rest = rest[writing.write(rest) :]
