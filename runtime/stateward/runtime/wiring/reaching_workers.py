"""One Worker of a service, for its agent and for the harness of that."""

import os
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from time import monotonic, sleep
from typing import Final

from stateward.runtime.core.refusal import Refusal
from stateward.runtime.ports import HostChannel
from stateward.runtime.remote.address import RemoteUnusable
from stateward.runtime.remote.channels import HttpHostChannel, HttpWorkerChannel, WorkerRequests
from stateward.runtime.remote.credentials import Access, access_of
from stateward.runtime.remote.exchange import Exchange
from stateward.runtime.remote.reach import WAITS
from stateward.runtime.remote.workers import ServiceWorkers
from stateward.runtime.wiring.reaching import client_of
from stateward.runtime.wiring.system import TimeOrderedIds

RECORD: Final = "record:"


@contextmanager
def remote_agent_channel(server: str, worker: str) -> Iterator[HttpWorkerChannel]:
    """Reach a Worker as its agent, with the token that the environment names. Raises RemoteUnusable."""
    with closing(HttpWorkerChannel(_requests(server, worker), TimeOrderedIds())) as channel:
        yield channel


@contextmanager
def remote_host_channel(server: str, worker: str, session: str | None) -> Iterator[HostChannel]:
    """Reach a Worker as the harness of its agent, for a session of the host. Raises RemoteUnusable."""
    with closing(HttpHostChannel(_requests(server, worker), TimeOrderedIds(), session)) as channel:
        yield channel


@contextmanager
def remote_workers(server: str) -> Iterator[ServiceWorkers]:
    """Reach the Workers of a service as their operator, with the token that the environment names. Raises RemoteUnusable."""
    access, exchange = _reached(server)
    with closing(ServiceWorkers(access, exchange, TimeOrderedIds())) as workers:
        yield workers


def remote_active_workers(server: str) -> Sequence[str]:
    """Give the Workers whose harness the token of the environment is for, and whose flow is active. Raises Fault."""
    with client_of(server, None) as client:
        named = [each.removeprefix(RECORD) for each in client.scopes if each.startswith(RECORD)]
    return [each for each in named if _is_active(server, each)]


def _is_active(server: str, worker: str) -> bool:
    with remote_host_channel(server, worker, None) as channel:
        standing = channel.standing()
    return not isinstance(standing, Refusal) and standing.is_active


def _requests(server: str, worker: str) -> WorkerRequests:
    return WorkerRequests(*_reached(server), worker)


def _reached(server: str) -> tuple[Access, Exchange]:
    access = access_of(server, os.environ)
    assert access is not None, "a server is named"
    try:
        from stateward.runtime.remote.wire import HttpWire  # noqa: PLC0415 -- comes with an extra
    except ModuleNotFoundError as missing:
        if missing.name is None or missing.name.startswith("stateward"):
            raise
        message = f"asking a service needs the package that brings `{missing.name}`"
        raise RemoteUnusable(message, "install `stateward[client]`") from missing
    return access, Exchange(HttpWire(access, WAITS, monotonic), WAITS, sleep)
