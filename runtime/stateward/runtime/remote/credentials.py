"""What is needed to reach a service, as options and the environment name it: where it is, the token, the authority it is certified by.

Which wins: `--server` over `STATEWARD_SERVER`; the file that `STATEWARD_TOKEN_FILE` names over `STATEWARD_TOKEN`. Invariants: a token is
never shown, by no message and no representation; a file with one is read only where nobody else can read it.
"""

import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from stateward.runtime.core.texts import path_shown, reason, shown
from stateward.runtime.remote.address import Address, RemoteUnusable, read_address

SERVER_VARIABLE: Final = "STATEWARD_SERVER"
TOKEN_FILE_VARIABLE: Final = "STATEWARD_TOKEN_FILE"  # noqa: S105 -- the name of a variable
TOKEN_VARIABLE: Final = "STATEWARD_TOKEN"  # noqa: S105 -- the same
CA_FILE_VARIABLE: Final = "STATEWARD_CA_FILE"
PLAIN_VARIABLE: Final = "STATEWARD_ALLOW_HTTP"
PROXY_VARIABLE: Final = "STATEWARD_PROXY"
TOKEN_BYTES_MAX: Final = 4096
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO
_ALLOWED: Final = "1"
_ISSUE: Final = "write there what `stateward token issue` gave"


class Token:
    """What opens a service. Told to nobody but the service."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return "Token(…)"

    @property
    def authorization(self) -> str:
        """Give it as a request carries it."""
        return f"Bearer {self._text}"

    def kept_out_of(self, text: str) -> str:
        """Give a text without the token, should it hold it: a service may tell back what it was told."""
        return text.replace(self._text, repr(self))


@dataclass(frozen=True, slots=True)
class Access:
    """A service and what opens it."""

    address: Address
    token: Token | None = None
    ca_file: Path | None = None
    """In PEM: the certificates by which the service is known, where those of the system do not do."""
    proxy: Address | None = None
    """Through which it is asked; proxies that other variables name count for nothing."""


def access_of(chosen: str | None, environment: Mapping[str, str]) -> Access | None:
    """Give the service that was chosen, else the one that the environment names, with what opens it; None when none is named.

    Raises RemoteUnusable for a token or an address that cannot be used.
    """
    address = address_of(chosen, environment)
    if address is None:
        return None
    ca_file, proxy = environment.get(CA_FILE_VARIABLE), environment.get(PROXY_VARIABLE)
    return Access(
        address,
        token_of(environment),
        Path(ca_file) if ca_file else None,
        read_address(proxy, plain=True) if proxy else None,
    )


def address_of(chosen: str | None, environment: Mapping[str, str]) -> Address | None:
    """Give the address of the service that was chosen, else of the one that the environment names. Raises RemoteUnusable."""
    named = chosen if chosen is not None else environment.get(SERVER_VARIABLE) or None
    return None if named is None else read_address(named, plain=_plain(environment))


def _plain(environment: Mapping[str, str]) -> bool:
    said = environment.get(PLAIN_VARIABLE, "")
    if said not in ("", _ALLOWED):
        raise RemoteUnusable(f"{PLAIN_VARIABLE} is {shown(said)}", f"set it to `{_ALLOWED}`, or to nothing")
    return said == _ALLOWED


def token_of(environment: Mapping[str, str]) -> Token | None:
    """Give the token that the environment names; None when it names none. Raises RemoteUnusable."""
    if path := environment.get(TOKEN_FILE_VARIABLE):
        return token_in(Path(path))
    if text := environment.get(TOKEN_VARIABLE):
        return Token(_word(text.encode("utf-8", "surrogateescape"), f"the variable {TOKEN_VARIABLE}"))
    return None


def token_in(path: Path) -> Token:
    """Read a token from a file that nobody else can read. Raises RemoteUnusable."""
    named = f"the token file {path_shown(path)}"
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError as problem:
        raise RemoteUnusable(f"{named} cannot be read: {reason(problem)}", f"name one that can with {TOKEN_FILE_VARIABLE}") from None
    try:
        about = os.fstat(handle)
        if not stat.S_ISREG(about.st_mode):
            raise RemoteUnusable(f"{named} is no file", f"name one with {TOKEN_FILE_VARIABLE}")
        if about.st_mode & _OTHERS:
            raise RemoteUnusable(f"others can read or write {named}", f"run `chmod 600 {path}`, and issue another token")
        return Token(_word(os.read(handle, TOKEN_BYTES_MAX + 1), named))
    finally:
        os.close(handle)


def _word(data: bytes, source: str) -> str:
    if len(data) > TOKEN_BYTES_MAX:
        raise RemoteUnusable(f"{source} gives more than {TOKEN_BYTES_MAX} bytes", _ISSUE)
    word = data.decode("ascii", "replace").strip()
    if not word:
        raise RemoteUnusable(f"{source} gives nothing", _ISSUE)
    if not (word.isascii() and word.isprintable()) or " " in word:
        raise RemoteUnusable(f"{source} gives something else than one word in ASCII", _ISSUE)
    return word
