"""The server at standard input and output.

Invariants: a line that is no message is answered as one; the end of input, SIGTERM and SIGINT end the server, which stops what is verified
and waits for no thread.
"""

import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from threading import Thread
from typing import Any, BinaryIO, Final

import anyio
import mcp_types as types
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.server.lowlevel import Server
from mcp.shared.message import SessionMessage

LINE_BYTES_MAX: Final = 4 * 1024 * 1024
"""Of one message; a longer one is answered as none."""
WAITING_MAX: Final = 64
"""Messages that were read and are not answered yet."""
Incoming = SessionMessage | Exception


async def serve(server: Server[Any], reading: BinaryIO, writing: BinaryIO) -> None:
    """Serve until the input ends or a signal comes."""
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_signalled, tasks.cancel_scope)
        async with _streams(reading, writing) as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())
        tasks.cancel_scope.cancel()


async def _signalled(scope: anyio.CancelScope) -> None:
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
        async for _ in signals:
            scope.cancel()
            return


@asynccontextmanager
async def _streams(
    reading: BinaryIO, writing: BinaryIO
) -> AsyncIterator[tuple[MemoryObjectReceiveStream[Incoming], MemoryObjectSendStream[SessionMessage]]]:
    """Give the messages of the wire as streams. What reads them is a thread that the process does not wait for."""
    token = anyio.lowlevel.current_token()
    into, incoming = anyio.create_memory_object_stream[Incoming](WAITING_MAX)
    outgoing, out_of = anyio.create_memory_object_stream[SessionMessage](WAITING_MAX)
    Thread(target=_read, args=(reading, into, token), name="stateward input", daemon=True).start()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_write, writing, out_of)
        yield incoming, outgoing
        tasks.cancel_scope.cancel()


def _read(reading: BinaryIO, into: MemoryObjectSendStream[Incoming], token: Any) -> None:
    buffered = open(reading.fileno(), "rb", closefd=False)  # noqa: SIM115 -- ends with the process
    try:
        while line := buffered.readline(LINE_BYTES_MAX + 1):
            anyio.from_thread.run(into.send, _message(line, buffered), token=token)
        anyio.from_thread.run_sync(into.close, token=token)
    except (anyio.BrokenResourceError, anyio.ClosedResourceError, RuntimeError):  # the server has ended
        return


def _message(line: bytes, buffered: BinaryIO) -> Incoming:
    if len(line) > LINE_BYTES_MAX:
        while line and not line.endswith(b"\n"):
            line = buffered.readline(LINE_BYTES_MAX)
        return ValueError(f"a message has more than {LINE_BYTES_MAX} bytes")
    try:
        return SessionMessage(types.jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValueError as problem:
        return problem


async def _write(writing: BinaryIO, out_of: MemoryObjectReceiveStream[SessionMessage]) -> None:
    async for each in out_of:
        line = each.message.model_dump_json(by_alias=True, exclude_unset=True)
        await anyio.to_thread.run_sync(_written, writing, f"{line}\n".encode())


def _written(writing: BinaryIO, line: bytes) -> None:
    rest = memoryview(line)
    while rest:
        rest = rest[writing.write(rest) :]
