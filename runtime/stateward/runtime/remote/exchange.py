"""Requests and replies, and which requests are made again.

Invariants: what only reads is made again a bounded number of times, after waits that are handed in; what writes is made again only where
no byte of it was sent, for a service that was asked once may still be at it; a reply is bounded before it is looked at.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Final, Protocol

from stateward.runtime.ports import ServiceUnavailable

JSON_BYTES_MAX: Final = 40 * 1024 * 1024
"""Of a reply in JSON: the largest definition there is, written with escapes, lies below."""
BUSY: Final = frozenset({502, 503, 504})
"""Statuses that say that somebody else, or the same a moment later, could answer."""


@dataclass(frozen=True, slots=True)
class Waits:
    """How long is waited, in seconds."""

    connect: float = 5.0
    silence: float = 30.0
    """For the next piece of a reply."""
    bundle: float = 600.0
    """The same where a bundle is asked for or sent: a service compiles all of it before it says anything."""
    whole: float = 120.0
    """For all of a reply, from when it begins."""
    again: tuple[float, ...] = (0.2, 1.0)
    """Before each of the further tries."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A request."""

    method: str
    path: str
    """Below the address of the service, with its query."""
    headers: Mapping[str, str] = field(default_factory=dict)
    content: bytes | None = None
    reply_bytes: int = JSON_BYTES_MAX
    is_about_bundle: bool = False


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back, whole."""

    status: int
    media_type: str
    """Without parameters, in lower case."""
    body: bytes


class Unreachable(ServiceUnavailable):
    """No byte of the request was sent. `passing` tells whether trying again can help."""

    def __init__(self, message: str, remedy: str, *, passing: bool) -> None:
        super().__init__(message, remedy)
        self.passing = passing


class AnswerLost(ServiceUnavailable):
    """The request was sent, and no reply came that tells what became of it. `passing` tells whether reading again can help."""

    def __init__(self, message: str, remedy: str, *, passing: bool = False) -> None:
        super().__init__(message, remedy)
        self.passing = passing


class Wire(Protocol):
    """Makes one request, once. Raises Unreachable or AnswerLost; whatever status a reply has, it is a reply."""

    def once(self, asked: Asked) -> Reply:
        """Make it and give all of the reply."""

    def stream(self, asked: Asked, media_type: str) -> AbstractContextManager[Reply | Iterator[bytes]]:
        """Make it and give, where it is a success of that type, the pieces of the reply as they come; else all of it."""

    def close(self) -> None:
        """Let go of its connections."""


class Exchange:
    """Makes requests over a wire."""

    def __init__(self, wire: Wire, waits: Waits, sleep: Callable[[float], None]) -> None:
        self._wire = wire
        self._again = waits.again
        self._sleep = sleep

    def read(self, asked: Asked) -> Reply:
        """Make a request that changes nothing, again where that can help. Raises ServiceUnavailable."""
        for wait in self._again:
            try:
                reply = self._wire.once(asked)
            except (Unreachable, AnswerLost) as fault:
                if not fault.passing:
                    raise
            else:
                if reply.status not in BUSY:
                    return reply
            self._sleep(wait)
        return self._wire.once(asked)

    def write(self, asked: Asked) -> Reply:
        """Make a request that may change something, again only where nothing was sent. Raises Unreachable or AnswerLost."""
        for wait in self._again:
            try:
                return self._wire.once(asked)
            except Unreachable as fault:
                if not fault.passing:
                    raise
            self._sleep(wait)
        return self._wire.once(asked)

    def stream(self, asked: Asked, media_type: str) -> AbstractContextManager[Reply | Iterator[bytes]]:
        """Make a request once, whose reply is taken as it comes. Raises Unreachable or AnswerLost, which passes when the rest is lost."""
        return self._wire.stream(asked, media_type)

    def pause(self, seconds: float) -> None:
        """Wait."""
        self._sleep(seconds)

    def close(self) -> None:
        """Let go of the connections."""
        self._wire.close()
