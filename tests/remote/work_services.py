"""Workers of a service for tests: an engine in memory behind the app, on a real socket of loopback, and what reaches it."""

import io
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from socket import AF_INET
from threading import Event, Thread
from typing import Any

import uvicorn

from stateward.runtime.core.refusal import Refusal
from stateward.runtime.engine.attended import Attended, ToStart
from stateward.runtime.engine.channels import EngineWorkerChannel, Judges
from stateward.runtime.engine.flows import WorkspaceFlows
from stateward.runtime.engine.tokens import Issued, issue
from stateward.runtime.ports import Submitted, Workspace
from stateward.runtime.remote.address import Address
from stateward.runtime.remote.channels import HttpHostChannel, HttpWorkerChannel, WorkerRequests
from stateward.runtime.remote.credentials import Access, Token
from stateward.runtime.remote.exchange import Exchange, Waits
from stateward.runtime.remote.wire import HttpWire
from stateward.runtime.session.entries import Actor
from stateward.runtime.surfaces.http.app import make_app
from stateward.runtime.surfaces.http.logs import ServiceLog
from stateward.runtime.surfaces.http.service import Bounds, Names, Service
from stateward.runtime.surfaces.http.serving import Place, listen
from stateward.runtime.wiring import DaemonThreads
from stateward.runtime.wiring.system import TimeOrderedIds
from stateward.runtime.wiring.workers import OpenWorkers
from stateward.store.memory import MemoryFlowStore
from stateward.store.memory_tokens import MemoryTokens
from tests.contracts.work import GatedJudge
from tests.runtime.engines import NOON, WORKSPACE, Desk

WAITS = Waits(again=(0.0, 0.0))
NO_WAIT = Bounds()


@dataclass
class Served:
    """A Worker that a service attends to."""

    desk: Desk
    judge: GatedJudge
    address: str
    tokens: MemoryTokens
    log: io.StringIO
    service: Service

    def access(self, *scopes: str, name: str = "ada") -> Access:
        """Give what opens the service for these scopes."""
        number = len(self.tokens.listed(WORKSPACE, 500)) + 1
        secret = number.to_bytes(32, "big")
        named = f"0198c0de-0000-7000-8000-{number:012x}"
        issued = issue(self.tokens, WORKSPACE, token=named, secret=secret, name=name, scopes=scopes, issuer="root", now=NOON)
        assert isinstance(issued, Issued), issued
        return Access(Address(self.address), Token(issued.secret))

    def requests(self, *scopes: str, worker: str = "") -> WorkerRequests:
        access = self.access(*scopes)
        return WorkerRequests(access, exchange(access), worker or self.desk.worker)

    def agent(self) -> HttpWorkerChannel:
        return HttpWorkerChannel(self.requests(f"work:{self.desk.worker}"), TimeOrderedIds())

    def host(self, session: str | None = "s-1") -> HttpHostChannel:
        return HttpHostChannel(self.requests(f"record:{self.desk.worker}"), TimeOrderedIds(), session)


def exchange(access: Access) -> Exchange:
    return Exchange(HttpWire(access, WAITS, lambda: 0.0), WAITS, lambda _: None)


@contextmanager
def work_service(desk: Desk, bounds: Bounds = NO_WAIT) -> Iterator[Served]:
    """Serve the Worker of a desk until the context is left."""
    judge = GatedJudge()

    @contextmanager
    def opened(worker: str, actor: Actor) -> Iterator[EngineWorkerChannel]:
        judges = Judges(lambda _: judge, "the service", 15.0)
        channel = EngineWorkerChannel(
            desk.engine, worker, actor, judges=judges, threads=DaemonThreads(), clock=desk.clock, ids=desk.ids, source_of=lambda _: None
        )
        yield channel
        channel.close()

    def start(wanted: ToStart, actor: Actor) -> Submitted | Refusal:
        return desk.engine.start_worker(WORKSPACE, wanted.segments, actor, wanted.submission, workdir=wanted.workdir or "")

    agents = OpenWorkers(opened)
    flows, tokens = MemoryFlowStore(), MemoryTokens()
    flows.ensure(Workspace(WORKSPACE, "", NOON))
    service = Service(
        workspace=WORKSPACE,
        program="stateward 0.1.0",
        reads=lambda author: WorkspaceFlows(flows, WORKSPACE, author, "stateward 0.1.0", desk.clock),
        writes=lambda author: WorkspaceFlows(flows, WORKSPACE, author, "stateward 0.1.0", desk.clock),
        tokens=tokens,
        clock=desk.clock,
        ready=lambda: None,
        names=Names(frozenset({"127.0.0.1"})),
        bounds=bounds,
        workers=Attended(WORKSPACE, desk.engine, desk.engine, agents.channel, start, lambda _: None),
    )
    log = io.StringIO()
    app = make_app(service, ServiceLog(log, mask=str, as_text=False))
    with ExitStack() as held:
        held.callback(agents.close)
        address = held.enter_context(served_app(app, service.stopping.set))
        yield Served(desk, judge, address, tokens, log, service)


@contextmanager
def served_app(app: Any, stopping: Callable[[], None] = lambda: None) -> Iterator[str]:
    """Serve an app on loopback, and give its address."""
    ready = Event()

    class Server(uvicorn.Server):
        async def startup(self, sockets: Any = None) -> None:
            await super().startup(sockets)
            ready.set()

    with listen(Place(AF_INET, "127.0.0.1", 0)) as listening:
        server = Server(uvicorn.Config(app, http="h11", ws="none", lifespan="off", log_config=None, access_log=False))
        thread = Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        ready.wait()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            stopping()
            server.should_exit = True
            thread.join()
