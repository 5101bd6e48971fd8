"""What stands before every route: who may knock at all, how much is taken in, and that every request is answered and logged.

Invariants: a request that names another host, or comes from a page of an origin that is not allowed, reaches no route, so that no page in
somebody's browser can ask a service on the machine it runs on; bytes of a body are counted as they come, whatever was announced; what a
route did not foresee becomes one problem and one entry of the log. Pure ASGI: nothing is buffered here.
"""

import asyncio
import re
from collections import Counter
from contextlib import ExitStack
from ipaddress import ip_address
from secrets import token_hex
from time import monotonic
from typing import Final
from urllib.parse import parse_qsl

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from stateward.runtime.ports import Fault
from stateward.runtime.remote.forms import PREFIX, REQUEST_ID_HEADER, ProblemCode
from stateward.runtime.surfaces.http.logs import PATH_CHARACTERS_MAX, ServiceLog
from stateward.runtime.surfaces.http.problems import Problem, malformed_request
from stateward.runtime.surfaces.http.service import Service, Slots

_REQUEST_ID_BYTES: Final = 8
_LISTS: Final = frozenset({"slug"})
"""Parameters that may be there more than once."""
_HOST: Final = re.compile(r"(?:\[(?P<address>[0-9A-Fa-f:.]{2,45})\]|(?P<name>[A-Za-z0-9._-]{1,253}))(?::[0-9]{0,5})?")
_FOREIGN_SITES: Final = frozenset({b"cross-site", b"same-site"})
_ANSWERED_TO_ALL: Final = frozenset({"/healthz", "/readyz"})
"""Asked by what watches the service; no place is taken for it."""


class Guard:
    """The middleware. It is the outermost one, so that whatever fails within becomes a problem."""

    def __init__(self, app: ASGIApp, service: Service, log: ServiceLog) -> None:
        self._app = app
        self._service = service
        self._log = log
        self._slots = Slots(service.bounds.requests)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or answer it."""
        if scope["type"] != "http":  # that the app begins and ends; there is no other kind of connection
            await self._app(scope, receive, send)
            return
        request_id = token_hex(_REQUEST_ID_BYTES)
        scope.setdefault("state", {})["request_id"] = request_id
        answer = _Answer(send, request_id)
        begun = monotonic()
        try:
            with ExitStack() as held:
                if scope["path"] not in _ANSWERED_TO_ALL:
                    held.enter_context(self._slots.taken())
                require_known(scope, self._service)
                await self._app(scope, _Body(receive, self._limit(scope), self._service.bounds.body_seconds), answer)
        except Problem as problem:
            await self._instead(problem, scope, receive, answer)
        except asyncio.CancelledError:
            self._log.warned("cut_off", request_id=request_id)
            raise
        except Exception as bug:  # noqa: BLE001 -- whatever was not foreseen ends here: logged whole, told as little as possible
            if isinstance(bug.__cause__, Fault):  # met after the answer had begun, so that no handler could answer
                self._log.fault(bug.__cause__, request_id)
            else:
                self._log.bug(bug, request_id)
            await self._instead(_bug(), scope, receive, answer)
        finally:
            self._tell(scope, answer.status, monotonic() - begun, request_id)

    async def _instead(self, problem: Problem, scope: Scope, receive: Receive, answer: "_Answer") -> None:
        """Answer with a problem; where an answer has begun, leave it unfinished, by which whoever reads it knows."""
        if answer.status is None:
            request_id = scope["state"]["request_id"]
            await problem.response(request_id)(scope, receive, answer)

    def _limit(self, scope: Scope) -> int:
        bounds = self._service.bounds
        return bounds.bundle_bytes if scope["path"] == f"{PREFIX}/bundle" else bounds.json_bytes

    def _tell(self, scope: Scope, status: int | None, seconds: float, request_id: str) -> None:
        self._log.request(
            method=scope["method"][:16],
            path=scope["path"][:PATH_CHARACTERS_MAX],
            status=status,
            ms=round(seconds * 1000, 1),
            who=scope["state"].get("who"),
            client=scope["client"][0] if scope.get("client") else None,
            request_id=request_id,
        )


class _Answer:
    """Sends what is answered, with the id of the request on it."""

    def __init__(self, send: Send, request_id: str) -> None:
        self._send = send
        self._headers: Final = (
            (REQUEST_ID_HEADER.lower().encode("ascii"), request_id.encode("ascii")),
            (b"x-content-type-options", b"nosniff"),
        )
        self.status: int | None = None
        """Of the answer that has begun."""

    async def __call__(self, message: Message) -> None:
        """Send a part of the answer."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            message = {**message, "headers": [*message.get("headers", ()), *self._headers]}
        await self._send(message)


class _Body:
    """Receives a body, and gives it up when it is too large or does not come."""

    def __init__(self, receive: Receive, limit: int, seconds: float) -> None:
        self._receive = receive
        self._limit = limit
        self._seconds = seconds
        self._taken = 0
        self._complete = False

    async def __call__(self) -> Message:
        """Give the next part of a request. Raises Problem."""
        if self._complete:  # only to be told that whoever asked has left
            return await self._receive()
        try:
            async with asyncio.timeout(self._seconds):
                message = await self._receive()
        except TimeoutError:
            detail = f"nothing came of the body for {self._seconds:g} seconds"
            raise Problem(408, ProblemCode.REQUEST_INCOMPLETE, detail, headers=_CLOSE) from None
        self._complete = not message.get("more_body", False)
        self._taken += len(message.get("body", b""))
        if self._taken > self._limit:
            raise too_large(self._limit)
        return message


_CLOSE: Final = {"Connection": "close"}


def too_large(limit: int) -> Problem:
    """Refuse a body."""
    return Problem(413, ProblemCode.REQUEST_TOO_LARGE, f"the body has more than {limit} bytes", headers=_CLOSE)


def require_known(scope: Scope, service: Service) -> None:
    """Require that a request names this service, comes from no foreign page, and announces no more than is taken. Raises Problem."""
    size = len(scope.get("raw_path", b"")) + len(scope.get("query_string", b""))
    size += sum(len(name) + len(value) for name, value in scope["headers"])
    if size > service.bounds.header_bytes:
        detail = f"address and headers have {size} bytes, and at most {service.bounds.header_bytes} are taken"
        raise Problem(431, ProblemCode.HEADERS_TOO_LARGE, detail, headers=_CLOSE)
    _require_host(_values(scope, b"host"), scope, service)
    _require_origin(scope, service)
    _require_said_once(scope)
    limit = service.bounds.bundle_bytes if scope["path"] == f"{PREFIX}/bundle" else service.bounds.json_bytes
    announced = [int(each) for each in _values(scope, b"content-length") if each.isdigit()]
    if any(each > limit for each in announced):
        raise too_large(limit)


def _require_said_once(scope: Scope) -> None:
    """Require that no parameter is there twice, of which one would count and the other be dropped without a word."""
    names = Counter(name for name, _ in parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True))
    twice = next((name for name, count in names.items() if count > 1 and name not in _LISTS), None)
    if twice is not None:
        raise malformed_request([{"loc": ("query", twice), "msg": "it is there more than once"}])


def _values(scope: Scope, name: bytes) -> list[bytes]:
    return [value for each, value in scope["headers"] if each == name]


def _require_host(named: list[bytes], scope: Scope, service: Service) -> None:
    """Require that a name by which the service is known was asked: a name that somebody else lets point here is none."""
    host = _host_of(named[0].decode("latin-1")) if len(named) == 1 else ""
    if host in service.names.hosts or _is_address_of(host, scope):
        return
    detail = "the request does not name one host" if not host else f"the service does not answer to `{_printable(host)}`"
    raise Problem(403, ProblemCode.HOST_NOT_ALLOWED, detail, help="the operator allows a name with `stateward serve --allow-host NAME`")


def _host_of(header: str) -> str:
    """Give the name or address of a `Host` header, without its port; empty for one that is none (RFC 9110, section 7.2)."""
    found = _HOST.fullmatch(header)
    return "" if found is None else (found["address"] or found["name"]).rstrip(".").lower()


def _is_address_of(host: str, scope: Scope) -> bool:
    """Tell whether this is the address that the connection came to. A page can have a name lead there, but no address but its own."""
    try:
        return scope.get("server") is not None and ip_address(host) == ip_address(scope["server"][0])
    except ValueError:
        return False


def _require_origin(scope: Scope, service: Service) -> None:
    origins = _values(scope, b"origin")
    if origins:
        origin = origins[0].decode("latin-1")
        if len(origins) == 1 and origin in service.names.origins:
            return
        detail = f"pages of `{_printable(origin)}` may not ask this service"
        allow = "the operator allows an origin with `stateward serve --allow-origin ORIGIN`"
        raise Problem(403, ProblemCode.ORIGIN_NOT_ALLOWED, detail, help=allow)
    if _FOREIGN_SITES.intersection(_values(scope, b"sec-fetch-site")):
        raise Problem(403, ProblemCode.ORIGIN_NOT_ALLOWED, "pages of other sites may not ask this service")


def _printable(text: str) -> str:
    return "".join(each if each.isprintable() and each != "`" else "?" for each in text[:256])


def _bug() -> Problem:
    detail = "the service met something that it did not foresee"
    return Problem(500, ProblemCode.BUG, detail, help="report it, with what stands under the id of the request in the log of the service")
