"""What a service holds: a Workspace, who may ask, and how much it takes on at a time."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Event, Lock
from typing import Final

from starlette.requests import Request

from stateward.runtime.engine.attended import Attended
from stateward.runtime.ports import BUNDLE_BYTES_MAX, Clock, FlowAuthority, TokenStore
from stateward.runtime.remote.forms import ProblemCode
from stateward.runtime.surfaces.http.problems import RETRY_SECONDS, Problem
from stateward.runtime.wiring.serving import Served

JSON_BYTES_MAX: Final = 8 * 1024 * 1024
"""Of a body in JSON: the longest source in it, every character written as an escape."""
HEADER_BYTES_MAX: Final = 96 * 1024
"""Of the address and all headers of a request together."""
BODY_SECONDS_MAX: Final = 60.0
"""How long the next piece of a body is waited for."""
REQUESTS_MAX: Final = 128
"""Requests that are answered at a time."""
BUNDLES_MAX: Final = 2
"""Bundles that are taken in at a time."""
WAITS_MAX: Final = 16
"""Requests that wait for a verification at a time; each holds a thread."""
STREAMS_MAX: Final = 32
"""Streams of events that are open at a time."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a service takes; tests take less."""

    json_bytes: int = JSON_BYTES_MAX
    bundle_bytes: int = BUNDLE_BYTES_MAX
    header_bytes: int = HEADER_BYTES_MAX
    body_seconds: float = BODY_SECONDS_MAX
    requests: int = REQUESTS_MAX
    bundles: int = BUNDLES_MAX
    waits: int = WAITS_MAX
    streams: int = STREAMS_MAX


@dataclass(frozen=True, slots=True)
class Names:
    """Under which names a service answers, and to pages of which origins."""

    hosts: frozenset[str]
    """Names and addresses as a `Host` header has them, in lower case and without a port."""
    origins: frozenset[str] = frozenset()
    """As an `Origin` header has them: `https://desk.example.org`."""


class Slots:
    """How many may do something at a time. Nobody waits for a place."""

    def __init__(self, places: int) -> None:
        self._free = places
        self._lock = Lock()

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Give a context that holds a place. Raises Problem when there is none."""
        with self._lock:
            if self._free == 0:
                detail = "as many requests of this kind as the service takes on are under way"
                raise Problem(503, ProblemCode.BUSY, detail, headers={"Retry-After": str(RETRY_SECONDS)})
            self._free -= 1
        try:
            yield
        finally:
            with self._lock:
                self._free += 1


@dataclass(frozen=True, slots=True)
class Service:
    """What the routes work with. Everything in it may be shared between threads."""

    workspace: str
    program: str
    """Names the program and its version."""
    reads: Callable[[str], FlowAuthority]
    """Gives the flows as somebody of that name reads them: over a store that was opened for reading."""
    writes: Callable[[str], FlowAuthority]
    """Gives the flows as somebody of that name changes them."""
    tokens: TokenStore
    clock: Clock
    ready: Callable[[], None]
    """Reads from the store, as reading and writing do. Raises the fault that keeps it from answering."""
    names: Names
    bounds: Bounds = Bounds()
    workers: Attended | None = None
    """The Workers; None where the service attends to none."""
    stopping: Event = field(default_factory=Event)
    """Set once the service takes on no more."""


def service_over(opened: Served, names: Names, workers: Attended | None = None) -> Service:
    """Make the service of a Workspace that is open."""
    return Service(
        workspace=opened.workspace,
        program=opened.program,
        reads=opened.reads,
        writes=opened.writes,
        tokens=opened.tokens,
        clock=opened.clock,
        ready=opened.ready,
        names=names,
        workers=workers,
    )


def service_of(request: Request) -> Service:
    """Give the service that a request came to."""
    service = request.app.state.service
    assert isinstance(service, Service)
    return service


def request_id_of(request: Request) -> str | None:
    """Give the id of a request."""
    found = request.scope.get("state", {}).get("request_id")
    return found if isinstance(found, str) else None
