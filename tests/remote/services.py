"""Services that run: a store served over a real socket on loopback, in a thread, for as long as a test needs it."""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from socket import AF_INET
from threading import Event, Thread

import uvicorn

from stateward.runtime.engine.tokens import Issued, issue
from stateward.runtime.ports import Workspace
from stateward.runtime.remote.address import Address
from stateward.runtime.remote.client import WorkspaceClient
from stateward.runtime.remote.credentials import Access, Token
from stateward.runtime.surfaces.http.app import make_app
from stateward.runtime.surfaces.http.logs import ServiceLog
from stateward.runtime.surfaces.http.service import HEADER_BYTES_MAX, Names, Service
from stateward.runtime.surfaces.http.serving import Place, listen
from stateward.runtime.wiring.places import Location
from stateward.runtime.wiring.serving import served
from stateward.runtime.wiring.system import SystemClock, TimeOrderedIds
from stateward.store.database import open_store
from tests.remote.asking import client_of

ALL = ("read", "resolve", "write")
_SECRETS = count(1)


@dataclass(frozen=True)
class Running:
    """A service that runs."""

    address: str
    workspace: str
    store: Path | str
    log: io.StringIO

    def access(self, name: str = "ada", *scopes: str) -> Access:
        """Issue a token, and give what reaches the service with it."""
        return Access(Address(self.address), Token(token_of(self.store, self.workspace, name, *scopes)))

    def client(self, name: str = "ada", *scopes: str) -> WorkspaceClient:
        """Give a client that acts under a name."""
        return client_of(self.access(name, *scopes), self.workspace)


def token_of(store: Path | str, workspace: str, name: str, *scopes: str) -> str:
    """Issue a token, for everything where nothing is named, and give its text."""
    clock = SystemClock()
    with open_store(store, write=True, create=True) as opened:
        opened.workspaces.ensure(Workspace(workspace, "", clock.now()))
        issued = issue(
            opened.tokens,
            workspace,
            token=TimeOrderedIds().new(),
            secret=next(_SECRETS).to_bytes(32, "big"),
            name=name,
            scopes=scopes or ALL,
            issuer="test",
            now=clock.now(),
        )
    assert isinstance(issued, Issued), issued
    return issued.secret


class _Server(uvicorn.Server):
    """A server that says when it takes connections."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = Event()

    async def startup(self, sockets: list[object] | None = None) -> None:
        await super().startup(sockets)  # type: ignore[arg-type]
        self.ready.set()


@contextmanager
def running(store: Path | str, workspace: str, port: int = 0) -> Iterator[Running]:
    """Serve a Workspace of a store until the context is left."""
    with served(Location(workspace, store)) as opened, listen(Place(AF_INET, "127.0.0.1", port)) as listening:
        names = Names(frozenset({"127.0.0.1", "localhost"}))
        service = Service(opened.workspace, opened.program, opened.reads, opened.writes, opened.tokens, opened.clock, opened.ready, names)
        log = io.StringIO()
        app = make_app(service, ServiceLog(log, mask=str, as_text=False))
        size = HEADER_BYTES_MAX + 32 * 1024
        config = uvicorn.Config(
            app, http="h11", ws="none", lifespan="off", log_config=None, access_log=False, h11_max_incomplete_event_size=size
        )
        server = _Server(config)
        thread = Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        server.ready.wait()
        try:
            yield Running(f"http://127.0.0.1:{listening.getsockname()[1]}", workspace, store, log)
        finally:
            server.should_exit = True
            thread.join()
