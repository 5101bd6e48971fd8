"""Where a service is: the URL below which its resources lie.

Invariants: an address holds no user, password, query or fragment, so it can be shown whole; without TLS it names this machine, unless it
was allowed to name another.
"""

from dataclasses import dataclass
from ipaddress import ip_address
from typing import Final
from urllib.parse import SplitResult, urlsplit

from stateward.runtime.core.texts import shown
from stateward.runtime.ports import Fault

ADDRESS_CHARACTERS_MAX: Final = 2048
_SCHEMES: Final = ("http", "https")
_EXAMPLE: Final = "write it like `https://flows.example.org`"
_RESOURCES: Final = "/v1"


class RemoteUnusable(Fault):
    """What names a service, or opens it, cannot be used. Nothing was asked."""


@dataclass(frozen=True, slots=True)
class Address:
    """A service, by the URL below which its resources lie; no slash at its end."""

    base: str

    def __str__(self) -> str:
        return self.base

    @property
    def is_secure(self) -> bool:
        """Whether it is asked over TLS."""
        return self.base.startswith("https:")


def read_address(text: str, *, plain: bool = False) -> Address:
    """Read an address as a person names it; `plain` allows one of another machine without TLS. Raises RemoteUnusable.

    No message tells a user, a password or a query that stands in it.
    """
    parts = _split(text)
    if parts.scheme not in _SCHEMES or not parts.netloc:
        raise RemoteUnusable("the address of the service is no URL of http or https", _EXAMPLE)
    if "@" in parts.netloc:
        raise RemoteUnusable("the address of the service holds a user or a password", "leave it out, and name a token")
    if parts.query or parts.fragment or "?" in text or "#" in text:
        raise RemoteUnusable("the address of the service holds more than host, port and path", "end it before `?` and `#`")
    path = _path(parts.path)
    host, port = _authority(parts)
    if parts.scheme == "http" and not (plain or _is_loopback(host)):
        message = f"{shown(host)} is another machine, and `http` shows the token to everybody on the way"
        raise RemoteUnusable(message, "name it with `https`")
    named = f"[{host}]" if ":" in host else host
    return Address(f"{parts.scheme}://{named}{'' if port is None else f':{port}'}{path}")


def _split(text: str) -> SplitResult:
    if len(text) > ADDRESS_CHARACTERS_MAX:
        raise RemoteUnusable(f"the address of the service has more than {ADDRESS_CHARACTERS_MAX} characters", _EXAMPLE)
    if not (text.isascii() and text.isprintable()) or " " in text or "\\" in text:
        raise RemoteUnusable("the address of the service holds what no URL does", _EXAMPLE)
    try:
        return urlsplit(text)
    except ValueError:
        raise RemoteUnusable("the address of the service is no URL", _EXAMPLE) from None


def _path(path: str) -> str:
    path = path.rstrip("/")
    if path.endswith(_RESOURCES):
        raise RemoteUnusable(f"the address of the service ends in `{_RESOURCES}`", f"end it before `{_RESOURCES}`")
    if any(each in ("", ".", "..") for each in path.split("/")[1:]):
        raise RemoteUnusable("the path of the service's address leads elsewhere than it says", "write it without `.`, `..` and `//`")
    return path


def _authority(parts: SplitResult) -> tuple[str, int | None]:
    try:
        host, port = parts.hostname, parts.port
    except ValueError:
        raise RemoteUnusable("the port of the service's address is none", "name one from 1 to 65535") from None
    if not host or port == 0:
        raise RemoteUnusable("the address of the service names no host, or no port that can be reached", _EXAMPLE)
    return host, port


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
