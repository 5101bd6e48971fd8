"""A server that speaks as OpenAI's chat completions do, over a real socket on loopback, and does with each request what the test wants.

Each request takes the next step; one that finds none left is turned away, and says so. What was asked is kept.
"""

import json
import struct
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socket import SO_LINGER, SOL_SOCKET, socket
from threading import Event, Lock, Thread
from typing import Any, Protocol, TypeAlias

Json: TypeAlias = dict[str, Any]


class Step(Protocol):
    """What is done with one request."""

    def do(self, handler: "Handler", asked: Json) -> None:
        """Do it."""


@dataclass(frozen=True)
class Says:
    """Replies as a model does, streamed where that was asked for."""

    calls: tuple[tuple[str, Any], ...] = ()
    """Tools and their arguments: a value, or a text that stands for itself."""
    text: str | None = None
    ending: str = "tool_calls"
    usage: tuple[int, int] | None = (100, 10)
    ids: tuple[str, ...] = ()

    def do(self, handler: "Handler", asked: Json) -> None:
        """Reply."""
        if asked.get("stream"):
            handler.stream(self.chunks(asked))
        else:
            handler.answer(200, self.body(asked))

    def _calls(self) -> list[Json]:
        return [
            {
                "id": self.ids[place] if self.ids else f"call-{place}",
                "type": "function",
                "function": {"name": name, "arguments": given if isinstance(given, str) else json.dumps(given)},
            }
            for place, (name, given) in enumerate(self.calls)
        ]

    def _usage(self) -> Json:
        if self.usage is None:
            return {}
        given, made = self.usage
        return {"usage": {"prompt_tokens": given, "completion_tokens": made, "total_tokens": given + made}}

    def body(self, asked: Json) -> Json:
        message = {"role": "assistant", "content": self.text, **({"tool_calls": self._calls()} if self.calls else {})}
        choice = {"index": 0, "message": message, "finish_reason": self.ending}
        return {"id": "c-1", "object": "chat.completion", "created": 1, "model": asked["model"], "choices": [choice], **self._usage()}

    def chunks(self, asked: Json) -> Iterator[Json]:
        def chunk(delta: Json, ending: str | None = None) -> Json:
            choice = {"index": 0, "delta": delta, "finish_reason": ending}
            return {"id": "c-1", "object": "chat.completion.chunk", "created": 1, "model": asked["model"], "choices": [choice]}

        yield chunk({"role": "assistant", "content": ""})
        for piece in halves(self.text or ""):
            yield chunk({"content": piece})
        for place, call in enumerate(self._calls()):
            function = call["function"]
            yield chunk({"tool_calls": [{"index": place, **call, "function": {"name": function["name"], "arguments": ""}}]})
            for piece in halves(function["arguments"]):
                yield chunk({"tool_calls": [{"index": place, "function": {"arguments": piece}}]})
        yield chunk({}, self.ending)
        if self.usage is not None:
            yield {"id": "c-1", "object": "chat.completion.chunk", "created": 1, "model": asked["model"], "choices": [], **self._usage()}


def halves(text: str) -> tuple[str, ...]:
    middle = len(text) // 2
    return tuple(each for each in (text[:middle], text[middle:]) if each)


@dataclass(frozen=True)
class Fails:
    """Answers with a status."""

    status: int
    message: str = "not now"
    headers: tuple[tuple[str, str], ...] = ()

    def do(self, handler: "Handler", asked: Json) -> None:
        """Answer."""
        handler.answer(self.status, {"error": {"message": self.message, "type": "server_error", "code": None}}, self.headers)


@dataclass(frozen=True)
class Sends:
    """Answers 200 with these bytes, whatever they are."""

    body: bytes
    kind: str = "application/json"
    headers: tuple[tuple[str, str], ...] = ()

    def do(self, handler: "Handler", asked: Json) -> None:
        """Answer."""
        handler.begin(200, self.kind, len(self.body), self.headers)
        handler.wfile.write(self.body)


@dataclass(frozen=True)
class Hangs:
    """Sends this much of an answer and then nothing, until the client is gone."""

    before: bytes = b""

    def do(self, handler: "Handler", asked: Json) -> None:
        """Wait for the client to go."""
        if self.before:
            handler.begin(200, "text/event-stream", len(self.before) + 1000)
            handler.wfile.write(self.before)
        handler.book.hanging.set()
        with suppress(ConnectionError):
            while handler.connection.recv(1024):
                pass
        handler.book.gone.set()


@dataclass(frozen=True)
class Breaks:
    """Breaks the connection off, after this much of an answer of which there was to be more."""

    before: bytes = b""

    def do(self, handler: "Handler", asked: Json) -> None:
        """Break off."""
        if self.before:
            handler.begin(200, "text/event-stream", len(self.before) + 1000)
            handler.wfile.write(self.before)
        handler.connection.setsockopt(SOL_SOCKET, SO_LINGER, struct.pack("ii", 1, 0))
        handler.connection.close()


@dataclass
class Book:
    """What the server is to do, and what it was asked."""

    steps: list[Step]
    asked: list[Json] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    hanging: Event = field(default_factory=Event)
    """A client waits for what never comes."""
    gone: Event = field(default_factory=Event)
    """That client closed its connection."""
    url: str = ""
    lock: Lock = field(default_factory=Lock)

    def next(self, asked: Json, key: str) -> Step:
        with self.lock:
            self.asked.append(asked)
            self.keys.append(key)
            return self.steps.pop(0) if self.steps else Fails(400, "the test has no step for this request")


class Handler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    book: Book

    def do_POST(self) -> None:
        """Take the next step."""
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.close_connection = True
        self.book.next(asked, self.headers.get("authorization", "")).do(self, asked)

    def begin(self, status: int, kind: str, length: int, headers: Iterable[tuple[str, str]] = ()) -> None:
        self.send_response(status)
        for name, value in (("content-type", kind), ("content-length", str(length)), ("connection", "close"), *headers):
            self.send_header(name, value)
        self.end_headers()

    def answer(self, status: int, body: Json, headers: Iterable[tuple[str, str]] = ()) -> None:
        data = json.dumps(body).encode()
        self.begin(status, "application/json", len(data), headers)
        self.wfile.write(data)

    def stream(self, chunks: Iterable[Json]) -> None:
        data = events(chunks) + b"data: [DONE]\n\n"
        self.begin(200, "text/event-stream", len(data))
        self.wfile.write(data)

    def log_message(self, *given: Any) -> None:
        """Say nothing."""


def events(chunks: Iterable[Json]) -> bytes:
    return b"".join(b"data: " + json.dumps(each).encode() + b"\n\n" for each in chunks)


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: socket | tuple[bytes, socket], client_address: Any) -> None:
        """Say nothing of a client that is gone."""


@contextmanager
def serving(*steps: Step) -> Iterator[Book]:
    """Serve these steps, one after the other."""
    book = Book(list(steps))
    server = _Server(("127.0.0.1", 0), type("Bound", (Handler,), {"book": book}))
    book.url = f"http://127.0.0.1:{server.server_port}/v1"
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield book
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
