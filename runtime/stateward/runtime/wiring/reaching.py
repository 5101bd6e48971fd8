"""The service that holds a Workspace, where one is named: by `--server`, or by `STATEWARD_SERVER`.

Invariant: what opens it is read, and the library for it loaded, when it is first asked: most commands never ask.
"""

import os
from typing import TYPE_CHECKING

from stateward.runtime.ports import Snapshot, Unresolved
from stateward.runtime.remote.credentials import access_of, address_of

if TYPE_CHECKING:
    from stateward.runtime.remote.client import WorkspaceClient


def server_named(chosen: str | None = None) -> str | None:
    """Give the address of a service: the one that was chosen, else that of the environment; None when none is named.

    Raises RemoteUnusable for what is no address of a service.
    """
    address = address_of(chosen, os.environ)
    return None if address is None else str(address)


def client_of(server: str, workspace: str | None) -> "WorkspaceClient":
    """Give what asks a service for that Workspace, or for the one it holds; a context that closes it. Raises RemoteUnusable."""
    from stateward.runtime.remote.reach import reach  # noqa: PLC0415 -- most commands ask no service

    access = access_of(server, os.environ)
    assert access is not None, "a server is named"
    return reach(access, workspace)


class ServiceSnapshots:
    """The port `Snapshots` over a service, which is reached when it is first asked."""

    def __init__(self, server: str, workspace: str) -> None:
        self._server = server
        self._workspace = workspace
        self._client: WorkspaceClient | None = None

    def resolve(self, selector: str) -> Snapshot | Unresolved:
        """Resolve a selector. Raises RemoteUnusable, and what the client of a service raises."""
        if self._client is None:
            self._client = client_of(self._server, self._workspace)
        return self._client.resolve(selector)

    def close(self) -> None:
        """Let go of the connections, if there are any."""
        if self._client is not None:
            self._client.close()
