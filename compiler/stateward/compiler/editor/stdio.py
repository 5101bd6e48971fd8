"""The server at standard input and output: reading, writing, and when to end.

Invariants: nothing but the protocol is written to where standard output was; whatever else is printed goes to standard error. The server
ends when it is told to, when its input ends or holds no messages, when nobody reads what it writes, or when the process of the editor is
gone; nothing that is under way keeps it.
"""

import asyncio
import logging
import os
import sys
from collections.abc import Callable
from threading import Semaphore, Thread
from typing import Final

from pygls.exceptions import JsonRpcException

from stateward.compiler.editor.frames import BrokenStreamError, Frames
from stateward.compiler.editor.requests import register
from stateward.compiler.editor.server import FlowServer

STATUS_LEFT: Final = 1
"""The editor went without a word, or spoke another language."""
PIECE_BYTES: Final = 64 * 1024
PIECES_MAX: Final = 16
"""Pieces of input that were read and not yet looked at."""
WATCH_SECONDS: Final = 2.0
"""How often the server looks whether the process of the editor is there."""


def serve() -> int:
    """Serve the editor at standard input and output until it leaves, and give the status to end with."""
    if sys.stdin is None or sys.stdout is None:
        return _left("standard input and output are needed")
    writing = os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    sys.stdout = sys.stderr
    _log_to(logging.StreamHandler(sys.stderr))
    server = FlowServer()
    register(server)
    return asyncio.run(_converse(server, sys.stdin.fileno(), writing))


class Input:
    """What a file descriptor brings, read by a thread that never keeps the process."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._loop = asyncio.get_running_loop()
        self._pieces: asyncio.Queue[bytes] = asyncio.Queue()
        self._room = Semaphore(PIECES_MAX)
        Thread(target=self._read, name="input", daemon=True).start()

    async def piece(self) -> bytes:
        """Wait for the next piece; an empty one is the end."""
        piece = await self._pieces.get()
        self._room.release()
        return piece

    def end(self) -> None:
        """Make this the end, whatever else would come."""
        self._pieces.put_nowait(b"")

    def _read(self) -> None:
        """Read to the end. The descriptor is read by itself: a buffer that this thread held could not be closed when the process ends."""
        piece = b"-"
        while piece:
            self._room.acquire()
            try:
                piece = os.read(self._descriptor, PIECE_BYTES)
            except OSError:
                piece = b""
            if self._loop.is_closed():
                return
            self._loop.call_soon_threadsafe(self._pieces.put_nowait, piece)


class Output:
    """Where messages are written to. That nobody reads there is told once, and is no failure of who writes."""

    def __init__(self, descriptor: int, gone: Callable[[], None]) -> None:
        self._descriptor = descriptor
        self._gone = gone
        self._is_open = True

    def write(self, data: bytes) -> None:
        """Write a message, all of it."""
        rest = memoryview(data)
        while self._is_open and rest:
            try:
                rest = rest[os.write(self._descriptor, rest) :]
            except OSError:
                self.close()
                self._gone()

    def close(self) -> None:
        """Write nothing any more."""
        if self._is_open:
            self._is_open = False
            os.close(self._descriptor)


async def _converse(server: FlowServer, reading: int, writing: int) -> int:
    """Take messages in until there is a reason to end, and give the status for it."""
    given, frames = Input(reading), Frames()
    server.protocol.set_writer(Output(writing, given.end))
    watching = asyncio.ensure_future(_watch(server, given.end))
    try:
        while piece := await given.piece():
            for body in frames.feed(piece):
                server.protocol.take(body)
                await asyncio.sleep(0)
    except BrokenStreamError as broken:
        return _left(str(broken))
    except SystemExit as told:  # this is how pygls does what `exit` asks for
        return told.code if isinstance(told.code, int) else STATUS_LEFT
    finally:
        watching.cancel()
    return _left("the editor is gone")


async def _watch(server: FlowServer, gone: Callable[[], None]) -> None:
    """Look from time to time whether the process is there that the editor named as its own."""
    while server.process_id is None or _is_alive(server.process_id):
        await asyncio.sleep(WATCH_SECONDS)
    gone()


def _is_alive(process: int) -> bool:
    if os.name != "posix" or process <= 0:
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True


def _left(why: str) -> int:
    if sys.stderr is not None:
        print(f"stateward lsp: {why}", file=sys.stderr)
    return STATUS_LEFT


def _log_to(handler: logging.Handler) -> None:
    """Log failures that nobody foresaw; what a request is refused for stands in its answer."""
    handler.setLevel(logging.ERROR)
    handler.addFilter(lambda record: not (record.exc_info and isinstance(record.exc_info[1], JsonRpcException)))
    logging.getLogger().addHandler(handler)
