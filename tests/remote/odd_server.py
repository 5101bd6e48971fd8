"""A server over a real socket on loopback that does with each request what the test wants: it answers, or misbehaves.

It names its Workspace like a service does; every other request takes the next step, and the last step is taken again and again.
"""

import json
import ssl
import struct
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from http.client import HTTPConnection
from socket import SO_LINGER, SOL_SOCKET, socket
from socketserver import BaseRequestHandler, ThreadingTCPServer
from threading import Event, Lock, Thread
from typing import Any, TypeAlias

from stateward.runtime.remote.forms import JSON_TYPE, PREFIX, PROBLEM_TYPE, PROBLEM_URN

WORKSPACE = "0198c0de-0000-7000-8000-00000000000a"
OTHER_WORKSPACE = "0198c0de-0000-7000-8000-00000000000b"
LINE = b"\r\n"


@dataclass(frozen=True)
class Request:
    """What was asked."""

    method: str
    target: str
    headers: Mapping[str, str]
    """By their names in lower case."""
    body: bytes


Step: TypeAlias = Callable[[socket, Request], None]


def reply(body: bytes, status: int = 200, kind: str = JSON_TYPE, **headers: str) -> bytes:
    """Put a whole reply together."""
    given = {"Content-Type": kind, "Content-Length": str(len(body)), "Connection": "close"}
    given |= {name.replace("_", "-"): value for name, value in headers.items()}
    lines = [f"HTTP/1.1 {status} Said", *(f"{name}: {value}" for name, value in given.items() if value)]
    return LINE.join(line.encode("latin-1") for line in lines) + LINE + LINE + body


def says(body: Any, status: int = 200, kind: str = JSON_TYPE, **headers: str) -> Step:
    """Answer with JSON, or with bytes as they are."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return lambda connection, _: connection.sendall(reply(data, status, kind, **headers))


def problem(code: str, status: int, detail: str = "so it is", **members: Any) -> Step:
    """Answer with a problem."""
    form = {"type": f"{PROBLEM_URN}{code}", "title": code, "status": status, "detail": detail, "code": code, **members}
    return says(form, status, PROBLEM_TYPE)


def sends(data: bytes) -> Step:
    """Send bytes as they are, and close."""
    return lambda connection, _: connection.sendall(data)


def closes(_connection: socket, _request: Request) -> None:
    """Close without a word."""


def resets(connection: socket, _request: Request) -> None:
    """Break the connection off."""
    connection.setsockopt(SOL_SOCKET, SO_LINGER, struct.pack("ii", 1, 0))


def hangs(before: bytes = b"") -> Step:
    """Send this much and then nothing, until the client is gone."""

    def step(connection: socket, _: Request) -> None:
        connection.sendall(before)
        with suppress(OSError):
            while connection.recv(1024):
                pass

    return step


def asks(upstream: str, request: Request) -> bytes:
    """Ask a service what was asked here, and give its whole reply."""
    host, _, port = upstream.removeprefix("http://").partition(":")
    with closing(HTTPConnection(host, int(port))) as connection:
        headers = {**request.headers, "host": f"{host}:{port}", "connection": "close"}
        connection.request(request.method, request.target, request.body, headers)
        answer = connection.getresponse()
        return reply(answer.read(), answer.status, answer.headers["Content-Type"])


def forwards(upstream: str) -> Step:
    """Hand a request on, and the reply back."""
    return lambda connection, request: connection.sendall(asks(upstream, request))


def loses(upstream: str, instead: Step = closes) -> Step:
    """Hand a request on, and do something else than give the reply back."""

    def step(connection: socket, request: Request) -> None:
        asks(upstream, request)
        instead(connection, request)

    return step


def pours(piece: bytes = b"x" * 65536) -> Step:
    """Send a body without an end, until the client is gone."""

    def step(connection: socket, _: Request) -> None:
        with suppress(OSError):
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n")
            while True:
                connection.sendall(b"%x\r\n%s\r\n" % (len(piece), piece))

    return step


@dataclass
class OddServer:
    """What a test steers, and what was asked."""

    steps: list[Step] = field(default_factory=list)
    workspace: str = WORKSPACE
    asked: list[Request] = field(default_factory=list)
    """Besides the questions for the Workspace."""
    address: str = ""
    _lock: Lock = field(default_factory=Lock)

    def take(self, connection: socket) -> None:
        """Answer one connection."""
        request = _request(connection)
        if request is None:
            return
        if request.target == f"{PREFIX}/workspace":
            form = {"workspace": self.workspace, "program": "stateward 0", "name": "ada", "scopes": ["read", "resolve", "write"]}
            says(form)(connection, request)
            return
        with self._lock:
            self.asked.append(request)
            step = self.steps.pop(0) if len(self.steps) > 1 else self.steps[0]
        step(connection, request)


def _request(connection: socket) -> Request | None:
    data = b""
    while LINE + LINE not in data:
        piece = connection.recv(65536)
        if not piece:
            return None
        data += piece
        if not data[:1].isalpha():
            connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            return None
    head, _, body = data.partition(LINE + LINE)
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    while len(body) < int(headers.get("content-length", "0")):
        body += connection.recv(65536)
    method, target, _ = first.split(" ")
    return Request(method, target, headers, body)


@contextmanager
def odd_server(*steps: Step, tls: ssl.SSLContext | None = None) -> Iterator[OddServer]:
    """Serve on a port of its own until the context is left."""
    odd = OddServer(list(steps))

    class Handler(BaseRequestHandler):
        def handle(self) -> None:
            with suppress(OSError):
                connection = self.request if tls is None else tls.wrap_socket(self.request, server_side=True)
                with connection:
                    odd.take(connection)

    class Server(ThreadingTCPServer):
        allow_reuse_address = True
        daemon_threads = True
        request_queue_size = 32

    with Server(("127.0.0.1", 0), Handler) as server:
        odd.address = f"{'http' if tls is None else 'https'}://127.0.0.1:{server.server_address[1]}"
        begun = Event()
        thread = Thread(target=lambda: (begun.set(), server.serve_forever(0.01)), daemon=True)
        thread.start()
        begun.wait()
        try:
            yield odd
        finally:
            server.shutdown()
            thread.join()
