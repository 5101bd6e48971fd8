"""The program serving, as the process that a user starts, and sockets to talk to it as any client might."""

import json
import signal
import socket
import ssl
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import httpx2

from tests.cli.program import STATEWARD, Place
from tests.http.desk import based_on

ALL = ("--scope", "read", "--scope", "write", "--scope", "resolve")
PIECE = 64 * 1024
PLAIN = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""For addresses without TLS: for each client the library would read every authority that the system trusts."""


@dataclass
class Running:
    """A service that runs."""

    process: subprocess.Popen[str]
    address: str
    token: str

    @property
    def socket(self) -> socket.socket:
        """Connect to it."""
        parts = urlsplit(self.address)
        assert parts.hostname is not None
        assert parts.port is not None
        return socket.create_connection((parts.hostname, parts.port))

    @property
    def host(self) -> str:
        return urlsplit(self.address).netloc

    def client(self, token: str | None = None) -> httpx2.Client:
        headers = {"Authorization": f"Bearer {token or self.token}"}
        return httpx2.Client(base_url=self.address, headers=headers, trust_env=False, verify=PLAIN, timeout=None)

    def save(self, source: str, base: int | None = None, slug: str = "paper", token: str | None = None) -> httpx2.Response:
        with self.client(token) as client:
            return client.put(f"/v1/flows/{slug}", headers=based_on(base), json={"source": source})

    def logged(self, event: str) -> dict[str, Any]:
        """Wait until it has logged something."""
        assert self.process.stderr is not None
        for line in self.process.stderr:
            told: dict[str, Any] = json.loads(line)
            if told["event"] == event:
                return told
        raise AssertionError(f"it ended without `{event}` in its log")

    def end(self, sent: signal.Signals = signal.SIGTERM) -> int:
        """Send a signal, and give the status it ended with."""
        self.process.send_signal(sent)
        return self.process.wait()

    def raw(self, request: bytes) -> tuple[int, bytes]:
        """Send bytes, and give the status and all of the answer."""
        with self.socket as connection:
            connection.sendall(request)
            return answer_of(connection)


def answer_of(connection: socket.socket) -> tuple[int, bytes]:
    """Give the status and all of the answer that comes until the other side closes."""
    answer = b"".join(iter(lambda: connection.recv(PIECE), b""))
    return int(answer.split(b" ", 2)[1]), answer


def token(place: Place, name: str = "ada", *scopes: str) -> str:
    ended = place.call("token", "issue", "--name", name, *(scopes or ALL))
    assert 0 == ended.status, ended.err
    return ended.out.strip()


@contextmanager
def running(place: Place, *arguments: str, given: str | None = None, program: Sequence[str] = (str(STATEWARD),)) -> Iterator[Running]:
    """Let the service run, on any port that is free, and end it at the latest at the end."""
    secret = given or token(place)
    process = subprocess.Popen(
        [*program, "serve", "--port", "0", *arguments],
        cwd=place.work,
        env=place.environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        told = process.stdout.readline()
        assert process.poll() is None, process.communicate()
        yield Running(process, told.strip().rpartition(" ")[2], secret)
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def request(method: str, path: str, host: str, *headers: str, body: bytes = b"") -> bytes:
    """Write a request as it goes over the wire; the connection is closed after the answer."""
    lines = (f"{method} {path} HTTP/1.1", f"Host: {host}", "Connection: close", *headers, "", "")
    return "\r\n".join(lines).encode("latin-1") + body
