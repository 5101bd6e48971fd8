"""Serving: the socket, the signals, and an end in good order.

Invariants: once told to stop, the service takes on nothing new, finishes what it is at within a bound, and says whether it did; told a
second time, the process ends at once, which no acknowledged write minds. The event loop runs on the thread that signals come to.
"""

import asyncio
import logging
import os
import signal
import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from types import FrameType
from typing import Final, Literal

import uvicorn
from starlette.types import ASGIApp

from stateward.runtime.surfaces.http.heads import CONNECTIONS_MAX, HEAD_SECONDS, bounded
from stateward.runtime.surfaces.http.logs import LoggedWarnings, ServiceLog
from stateward.runtime.surfaces.http.service import HEADER_BYTES_MAX, Service

GRACE_SECONDS: Final = 30
"""How long requests that are under way may take once the service is told to stop."""
IDLE_SECONDS: Final = 15
"""How long a connection is kept on which nothing is asked."""
BACKLOG: Final = 256
_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)
_SERVER_LOGGERS: Final = ("uvicorn.error", "uvicorn.asgi", "uvicorn")


@dataclass(frozen=True, slots=True)
class Certificate:
    """What the service shows who it is with."""

    chain: Path
    key: Path | None = None
    """The private key, where it does not lie in the same file."""


@dataclass(frozen=True, slots=True)
class Place:
    """An address of this machine, as the system knows it."""

    family: int
    host: str
    port: int

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach it."""
        return ip_address(self.host.partition("%")[0]).is_loopback


def place(host: str, port: int) -> Place:
    """Look an address up. Raises OSError."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    family, _, _, _, address = found[0]
    return Place(family, str(address[0]), int(address[1]))


def listen(at: Place) -> socket.socket:
    """Give a socket that takes connections there. Raises OSError."""
    listening = socket.create_server((at.host, at.port), family=at.family, backlog=BACKLOG)
    # Connections inherit it. The event loop sets it only where a socket names its protocol; without it the second part of an answer
    # waits until whoever asks acknowledges the first, which takes 40 ms.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening


def is_loopback(listening: socket.socket) -> bool:
    """Tell whether only this machine can reach a socket."""
    return ip_address(listening.getsockname()[0].partition("%")[0]).is_loopback


def address_of(listening: socket.socket, *, secure: bool) -> str:
    """Give the address of a service as one would ask it."""
    host, port = listening.getsockname()[:2]
    return f"{'https' if secure else 'http'}://{f'[{host}]' if ':' in host else host}:{port}"


def require_usable(certificate: Certificate) -> None:
    """Require that a certificate can be served with. Raises OSError, of which `ssl.SSLError` is one."""
    ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate.chain, certificate.key)


def serve(
    app: ASGIApp,
    service: Service,
    listening: socket.socket,
    log: ServiceLog,
    *,
    certificate: Certificate | None = None,
    started: Callable[[], None] = lambda: None,
    grace_seconds: int = GRACE_SECONDS,
    head_seconds: float = HEAD_SECONDS,
    connections_max: int = CONNECTIONS_MAX,
    lifespan: Literal["on", "off"] = "off",
) -> bool:
    """Serve until told to stop, and say whether everything that was under way then was finished.

    With `lifespan` on, the app is told when it begins and ends.
    """
    config = uvicorn.Config(
        app,
        http=bounded(log, head_seconds, connections_max),
        loop="asyncio",
        ws="none",
        lifespan=lifespan,
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        h11_max_incomplete_event_size=HEADER_BYTES_MAX + 32 * 1024,
        timeout_keep_alive=IDLE_SECONDS,
        timeout_graceful_shutdown=grace_seconds,
        ssl_certfile=None if certificate is None else certificate.chain,
        ssl_keyfile=None if certificate is None else certificate.key,
    )
    server = _Server(config, service, log, started)
    with _warnings_in(log):
        server.run(sockets=[listening])
    return server.is_finished


class _Server(uvicorn.Server):
    """The server, with our answer to signals."""

    def __init__(self, config: uvicorn.Config, service: Service, log: ServiceLog, started: Callable[[], None]) -> None:
        super().__init__(config)
        self._service = service
        self._log = log
        self._tell_started = started
        self.is_finished = True
        """Whether no request was cut off at the end."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Take connections."""
        await super().startup(sockets)
        self._tell_started()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Take no more connections, and finish what is under way."""
        for each in self.servers:
            each.close()
        self._log.told("stopping", requests=len(self.server_state.tasks))
        await super().shutdown(sockets)
        left = {each for each in self.server_state.tasks if not each.done()}
        if left:  # they were told to end, and their threads cannot be
            await asyncio.wait(left, timeout=1)
            self.is_finished = False
        self._log.told("stopped", unfinished=len(left))

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Answer to the signals that end a service, and to none of them as if it had killed the process."""
        former = {each: signal.signal(each, self.handle_exit) for each in _SIGNALS}
        try:
            yield
        finally:
            for each, handler in former.items():
                signal.signal(each, handler)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begin to stop; at the second signal, end at once."""
        if self.should_exit:
            os._exit(128 + sig)
        self._service.stopping.set()
        self.should_exit = True


@contextmanager
def _warnings_in(log: ServiceLog) -> Iterator[None]:
    """Let the server library's warnings stand in our log, and nowhere else."""
    handler = LoggedWarnings(log)
    loggers = [logging.getLogger(each) for each in _SERVER_LOGGERS]
    former = [(each.propagate, each.level) for each in loggers]
    for each in loggers:
        each.addHandler(handler)
        each.propagate = False
        each.setLevel(logging.WARNING)
    try:
        yield
    finally:
        for each, (propagate, level) in zip(loggers, former, strict=True):
            each.removeHandler(handler)
            each.propagate, each.level = propagate, level
