"""The server over HTTP, for agents that reach it by an address: the token of a request is the Worker.

Invariants: hosts, origins, sizes and connections are held as by every service of ours, by the same guard, before anything of a request is
read; a token is taken from the `Authorization` header and nowhere else, and must be for one Worker; it says who acts; where files of this
machine lie is told to nobody.
"""

import sys
from contextlib import closing
from functools import partial
from pathlib import Path
from socket import socket
from typing import Any, Final

import click
from mcp.server.transport_security import TransportSecuritySettings
from starlette.types import ASGIApp, Receive, Scope, Send

from stateward.runtime.core.texts import reason
from stateward.runtime.ports import Fault, ServiceUnavailable, WorkerChannel
from stateward.runtime.profile.places import ProfileUnreadable
from stateward.runtime.remote.forms import ProblemCode
from stateward.runtime.session.entries import Actor, ActorClass
from stateward.runtime.surfaces.http.bearer import access_shown
from stateward.runtime.surfaces.http.guard import Guard
from stateward.runtime.surfaces.http.logs import Aside, ServiceLog
from stateward.runtime.surfaces.http.problems import Problem, of_fault
from stateward.runtime.surfaces.http.service import Names, Service, service_over
from stateward.runtime.surfaces.http.serving import address_of, listen, place, serve
from stateward.runtime.surfaces.mcp.server import Context, Served, make_server
from stateward.runtime.surfaces.mcp.worker import CHANNEL
from stateward.runtime.wiring import NoWorker, Place, agent_channel, locate
from stateward.runtime.wiring.places import user_secrets
from stateward.runtime.wiring.profiles import ProfileUnusable, not_usable
from stateward.runtime.wiring.serving import served
from stateward.runtime.wiring.workers import OpenWorkers

PATH: Final = "/mcp"
WORK: Final = "work:"
_HOST: Final = "127.0.0.1"
_NAMES: Final = frozenset({"localhost", "127.0.0.1", "::1"})


def serve_http(workdir: Path, store: Place | None, port: int, wait_seconds: float) -> None:
    """Serve the Workers of a Workspace on this machine, until told to stop. Raises what opening a store raises."""
    listening = _listening(port)
    opened = OpenWorkers(lambda worker, actor: agent_channel(workdir, store, worker, actor))
    with listening, served(locate(workdir, store)) as workspace, closing(opened), closing(Aside(sys.stderr)) as stream:
        log = ServiceLog(stream, mask=user_secrets().mask, as_text=sys.stderr.isatty())
        service = service_over(workspace, Names(_NAMES))
        address = f"{address_of(listening, secure=False)}{PATH}"
        app = make_app(service, opened, wait_seconds, log)
        told = f"serving agents of Workspace {workspace.workspace} at {address}"
        serve(Guard(app, service, log), service, listening, log, started=lambda: click.echo(told), lifespan="on", grace_seconds=1)


def _listening(port: int) -> socket:
    """Listen on a port of this machine. Raises ServiceUnavailable."""
    try:
        return listen(place(_HOST, port))
    except OSError as problem:
        remedy = "name another port with `--http`, or 0 for any that is free"
        raise ServiceUnavailable(f"nothing can listen on port {port} of this machine: {reason(problem)}", remedy) from problem


def make_app(service: Service, opened: OpenWorkers, wait_seconds: float, log: ServiceLog) -> ASGIApp:
    """Make the app: what a request is for is told by its token."""
    version = service.program.rpartition(" ")[2]
    told = partial(_told_elsewhere, log=log)
    server = make_server(Served(lambda context: _channel(context, opened), version, wait_seconds, told=told))
    inner = server.streamable_http_app(
        streamable_http_path=PATH,
        stateless_http=True,
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),  # the guard around it does that
    )
    return _Tokens(inner, service)


class _Tokens:
    """Lets requests through whose token is for one Worker."""

    def __init__(self, app: ASGIApp, service: Service) -> None:
        self._app, self._service = app, service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through. Raises Problem."""
        if scope["type"] == "http":
            shown = [value.decode("latin-1") for name, value in scope["headers"] if name == b"authorization"]
            access = access_shown(shown, self._service)
            workers = [each.removeprefix(WORK) for each in access.scopes if each.startswith(WORK)]
            if len(workers) != 1:
                detail = f"the token is for {len(workers)} Workers, and one is needed: `{WORK}<worker>`"
                raise Problem(403, ProblemCode.SCOPE_MISSING, detail, scope=f"{WORK}<worker>")
            scope["state"] |= {"who": access.name, "token": access.token, "worker": workers[0]}
        await self._app(scope, receive, send)


def _channel(context: Context, opened: OpenWorkers) -> WorkerChannel:
    request: Any = context.request
    state = request.scope["state"]
    return opened.channel(state["worker"], Actor(ActorClass.AGENT, CHANNEL, state["who"]), state["token"])


def _told_elsewhere(fault: Fault, log: ServiceLog) -> tuple[str, str]:
    """Give what an agent is told of a fault, and what to do; where files of this machine lie is for the log alone."""
    match fault:
        case NoWorker():
            return fault.message, fault.remedy
        case ProfileUnusable() | ProfileUnreadable():
            log.fault(fault, None)
            refusal = not_usable(fault)
            return refusal.message, "tell the operator of the service"
        case _:
            log.fault(fault, None)
            problem = of_fault(fault)
            return problem.detail, problem.members["help"]
