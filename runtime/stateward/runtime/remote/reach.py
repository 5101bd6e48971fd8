"""Reaching a service: makes the client of one. Importing this loads no library for HTTP; making a client does."""

from collections.abc import Callable
from time import monotonic, sleep
from typing import Final

from stateward.runtime.remote.address import RemoteUnusable
from stateward.runtime.remote.client import WorkspaceClient
from stateward.runtime.remote.credentials import Access
from stateward.runtime.remote.exchange import Exchange, Waits

WAITS: Final = Waits()


def reach(
    access: Access,
    expected: str | None = None,
    *,
    waits: Waits = WAITS,
    pause: Callable[[float], None] = sleep,
    elapsed: Callable[[], float] = monotonic,
) -> WorkspaceClient:
    """Make a client of a service that holds the Workspace `expected`, or whichever it holds; a context that closes it.

    Nothing is asked yet. Raises RemoteUnusable where the library for it is not there, or what names the service cannot be used.
    """
    try:
        from stateward.runtime.remote.wire import HttpWire  # noqa: PLC0415 -- comes with an extra, and costs a while to load
    except ModuleNotFoundError as missing:
        if missing.name is None or missing.name.startswith("stateward"):
            raise
        message = f"asking a service needs the package that brings `{missing.name}`"
        raise RemoteUnusable(message, "install `stateward[client]`") from missing
    return WorkspaceClient(access, Exchange(HttpWire(access, waits, elapsed), waits, pause), expected)
