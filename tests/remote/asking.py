"""Clients of services for tests, which wait for nothing: pauses are kept, and time passes as the test says."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from stateward.runtime.remote.address import read_address
from stateward.runtime.remote.client import WorkspaceClient
from stateward.runtime.remote.credentials import Access, Token
from stateward.runtime.remote.exchange import Waits
from stateward.runtime.remote.reach import reach
from tests.remote.odd_server import WORKSPACE

TOKEN = "sw_" + "hush" * 10 + "hus"
SILENCE = 0.2
"""Seconds in which a server that says nothing is given up; one that answers takes as long as it takes."""
WAITS = Waits(again=(1.0, 4.0))


@dataclass
class Pauses:
    """The pauses between tries."""

    seconds: list[float] = field(default_factory=list)

    def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)


def access(address: str, ca_file: Path | None = None, proxy: str | None = None, token: str | None = TOKEN) -> Access:
    return Access(
        read_address(address),
        None if token is None else Token(token),
        ca_file,
        None if proxy is None else read_address(proxy),
    )


def client_of(
    address: str | Access,
    expected: str | None = WORKSPACE,
    *,
    waits: Waits = WAITS,
    pauses: Pauses | None = None,
    elapsed: Callable[[], float] = lambda: 0.0,
) -> WorkspaceClient:
    """Give a client of the service at an address."""
    given = address if isinstance(address, Access) else access(address)
    return reach(given, expected, waits=waits, pause=pauses or Pauses(), elapsed=elapsed)
