"""The beginning of a request, before anything of ours is asked: how long its head may take, and how many connections there may be.

Invariants: a connection on which no whole head arrives within a bound is closed, the first as well as every later one; beyond a number of
open connections a new one is closed at once; what is no HTTP, or has too large a head, is answered with a problem like everything else that
is not done, and stands in the log.
"""

import asyncio
from secrets import token_hex
from typing import Any, Final

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from stateward.runtime.remote.forms import PROBLEM_TYPE, REQUEST_ID_HEADER, ProblemCode
from stateward.runtime.surfaces.http.logs import ServiceLog
from stateward.runtime.surfaces.http.problems import Problem
from stateward.runtime.surfaces.http.service import HEADER_BYTES_MAX

HEAD_SECONDS: Final = 10.0
"""How long the head of a request may take from its first byte, or from when the connection was made."""
CONNECTIONS_MAX: Final = 1_000


def bounded(log: ServiceLog, head_seconds: float = HEAD_SECONDS, connections_max: int = CONNECTIONS_MAX) -> type[asyncio.Protocol]:
    """Give the protocol of connections that are bounded so."""

    class Bounded(_BoundedHeads):
        """The protocol with its bounds."""

        service_log = log
        seconds = head_seconds
        most = connections_max

    return Bounded


class _BoundedHeads(H11Protocol):
    """One connection."""

    service_log: ServiceLog
    seconds: float
    most: int
    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as the library has it
        """Begin to wait for a head, unless there are too many connections."""
        super().connection_made(transport)
        if len(self.connections) > self.most:
            self.service_log.warned("too_many_connections", connections=len(self.connections))
            transport.abort()
            return
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Take bytes; wait for the rest of a head that has only begun."""
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._forget()
        elif self._timer is None and self.conn.trailing_data[0]:
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no more."""
        self._forget()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """Answer what is no request."""
        del msg
        request_id = token_hex(8)
        is_large = len(self.conn.trailing_data[0]) > HEADER_BYTES_MAX
        status = 431 if is_large else 400
        code = ProblemCode.HEADERS_TOO_LARGE if is_large else ProblemCode.REQUEST_MALFORMED
        detail = (
            f"the head of the request has more than {HEADER_BYTES_MAX} bytes" if is_large else "what was sent is no request of HTTP/1.1"
        )
        body = Problem(status, code, detail).form(request_id).json_bytes()
        headers = [
            (b"content-type", PROBLEM_TYPE.encode()),
            (b"content-length", str(len(body)).encode()),
            (REQUEST_ID_HEADER.encode(), request_id.encode()),
            (b"connection", b"close"),
        ]
        self._forget()
        for event in (h11.Response(status_code=status, headers=headers), h11.Data(data=body), h11.EndOfMessage()):
            output: Any = self.conn.send(event)
            self.transport.write(output)
        self.transport.close()
        self.service_log.request(status=status, client=self._asking, request_id=request_id)

    @property
    def _asking(self) -> str | None:
        return self.client[0] if self.client else None

    def _wait(self) -> None:
        self._forget()
        self._timer = self.loop.call_later(self.seconds, self._too_slow)

    def _forget(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _too_slow(self) -> None:
        self._timer = None
        if not self.transport.is_closing():
            self.service_log.warned("head_too_slow", client=self._asking)
            self.transport.abort()
