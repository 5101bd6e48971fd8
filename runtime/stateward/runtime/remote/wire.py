"""HTTP: the one place that knows the library for it.

Invariants: the server's certificate is verified; no variable of the environment says through what is asked, or whom to trust; no redirect
is followed, so that a token is told to nobody but the service that was named; a reply is taken in pieces, as it was sent, and given up
once it is larger, or takes longer, than allowed. No message holds a header of a request.
"""

import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from socket import gaierror
from typing import Final

import httpx2

from stateward.runtime.core.texts import path_shown, reason
from stateward.runtime.remote.address import RemoteUnusable
from stateward.runtime.remote.credentials import CA_FILE_VARIABLE, Access
from stateward.runtime.remote.exchange import AnswerLost, Asked, Reply, Unreachable, Waits

CONNECTIONS_MAX: Final = 8
CAUSES_MAX: Final = 16
_UNSENT: Final = (
    httpx2.ConnectError,
    httpx2.ConnectTimeout,
    httpx2.PoolTimeout,
    httpx2.ProxyError,
    httpx2.LocalProtocolError,
    httpx2.UnsupportedProtocol,
)
"""With these, no byte of a request was sent."""
_SEE_SERVICE: Final = "see whether the service runs, and look at its log"


class HttpWire:
    """Makes requests of one service. Safe to share between threads."""

    def __init__(self, access: Access, waits: Waits, elapsed: Callable[[], float]) -> None:
        self._address = access.address
        self._waits = waits
        self._elapsed = elapsed
        headers = {"Accept": "application/json", "Accept-Encoding": "identity", "User-Agent": "stateward"}
        if access.token is not None:
            headers["Authorization"] = access.token.authorization
        try:
            self._client = httpx2.Client(
                headers=headers,
                verify=_trusted(access),
                trust_env=False,
                follow_redirects=False,
                proxy=None if access.proxy is None else str(access.proxy),
                limits=httpx2.Limits(max_connections=CONNECTIONS_MAX),
            )
            httpx2.URL(str(access.address))
        except httpx2.InvalidURL:
            raise RemoteUnusable(f"{access.address} is no address that can be asked", "see how its host is written") from None

    def close(self) -> None:
        """Let go of the connections."""
        self._client.close()

    def once(self, asked: Asked) -> Reply:
        """Make a request, and give all of the reply. Raises Unreachable or AnswerLost."""
        url = f"{self._address}{asked.path}"
        try:
            with self._client.stream(
                asked.method, url, headers=dict(asked.headers), content=asked.content, timeout=self._timeout(asked)
            ) as response:
                return self._reply(response, asked.reply_bytes)
        except _UNSENT as problem:
            raise self._unreachable(problem) from None
        except httpx2.HTTPError as problem:
            raise self._lost(problem, self._silence(asked)) from None

    @contextmanager
    def stream(self, asked: Asked, media_type: str) -> Iterator[Reply | Iterator[bytes]]:
        """Make a request whose reply has no end. Raises Unreachable or AnswerLost, also while its pieces are taken."""
        url = f"{self._address}{asked.path}"
        try:
            with self._client.stream(asked.method, url, headers=dict(asked.headers), timeout=self._timeout(asked)) as response:
                is_it = response.status_code == httpx2.codes.OK and _media_type(response) == media_type
                yield response.iter_raw() if is_it else self._reply(response, asked.reply_bytes)
        except _UNSENT as problem:
            raise self._unreachable(problem) from None
        except httpx2.HTTPError as problem:
            lost = self._lost(problem, self._silence(asked))
            lost.passing = lost.passing or isinstance(problem, httpx2.TimeoutException)  # one that comes now is worth another connection
            raise lost from None

    def _silence(self, asked: Asked) -> float:
        return self._waits.bundle if asked.is_about_bundle else self._waits.silence

    def _timeout(self, asked: Asked) -> httpx2.Timeout:
        return httpx2.Timeout(self._silence(asked), connect=self._waits.connect)

    def _reply(self, response: httpx2.Response, bytes_max: int) -> Reply:
        begun = self._elapsed()
        body = bytearray()
        for piece in response.iter_raw():
            body += piece
            if len(body) > bytes_max:
                raise AnswerLost(f"{self._address} answered with more than {bytes_max} bytes", "see whether that is the service")
            if self._elapsed() - begun > self._waits.whole:
                raise AnswerLost(f"{self._address} was not done with its answer after {self._waits.whole:g} seconds", _SEE_SERVICE)
        return Reply(response.status_code, _media_type(response), bytes(body))

    def _unreachable(self, problem: httpx2.HTTPError) -> Unreachable:
        for cause in _causes(problem):
            if isinstance(cause, ssl.SSLCertVerificationError):
                why = cause.verify_message or "it is not verified"
                remedy = f"name the file of its authority with {CA_FILE_VARIABLE}, or mend the certificate"
                return Unreachable(f"the certificate of {self._address} is not trusted: {why}", remedy, passing=False)
            if isinstance(cause, ssl.SSLError):
                why = (cause.reason or "the handshake failed").lower().replace("_", " ")
                return Unreachable(f"no TLS with {self._address}: {why}", "see whether the service speaks `https` there", passing=False)
            if isinstance(cause, gaierror):
                return Unreachable(f"the host of {self._address} is not known here: {reason(cause)}", "see how it is written", passing=True)
        if isinstance(problem, httpx2.TimeoutException):
            return Unreachable(f"{self._address} was not reached in {self._waits.connect:g} seconds", _SEE_SERVICE, passing=True)
        if isinstance(problem, httpx2.ProxyError):
            return Unreachable(f"the proxy does not lead to {self._address}", "see what it allows", passing=False)
        system = next((cause for cause in _causes(problem) if isinstance(cause, OSError) and cause.errno is not None), None)
        why = "the connection could not be made" if system is None else reason(system)
        return Unreachable(
            f"{self._address} cannot be reached: {why}", "start it with `stateward serve`, or name another one", passing=True
        )

    def _lost(self, problem: httpx2.HTTPError, silence: float) -> AnswerLost:
        if isinstance(problem, httpx2.TimeoutException):
            return AnswerLost(f"{self._address} said nothing for {silence:g} seconds", _SEE_SERVICE)
        if isinstance(problem, httpx2.RemoteProtocolError) and "disconnected" not in str(problem) and "closed" not in str(problem):
            return AnswerLost(f"what answers at {self._address} does not speak HTTP", "see which program has that port")
        return AnswerLost(f"{self._address} broke off before its answer was whole", _SEE_SERVICE, passing=True)


def _media_type(response: httpx2.Response) -> str:
    return str(response.headers.get("content-type", "")).partition(";")[0].strip().lower()


def _trusted(access: Access) -> ssl.SSLContext:
    """Give by which certificates the service is known. Those of the system take long to read, and are not where no TLS is asked for."""
    if access.ca_file is None:
        return _system_trust() if access.address.is_secure or access.proxy is not None else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    named = f"the file of certificates {path_shown(access.ca_file)}"
    try:
        return ssl.create_default_context(cafile=str(access.ca_file))
    except ssl.SSLError:
        raise RemoteUnusable(f"{named} holds none", "name one in PEM") from None
    except OSError as problem:
        raise RemoteUnusable(f"{named} cannot be read: {reason(problem)}", f"name one that can with {CA_FILE_VARIABLE}") from None


@cache
def _system_trust() -> ssl.SSLContext:
    return httpx2.create_ssl_context(trust_env=False)


def _causes(problem: BaseException) -> tuple[BaseException, ...]:
    """Give a problem and what led to it, the outermost first."""
    found: list[BaseException] = []
    cause: BaseException | None = problem
    while cause is not None and len(found) < CAUSES_MAX:
        found.append(cause)
        cause = cause.__cause__ or cause.__context__
    return tuple(found)
