"""`stateward serve`: one Workspace as a service, for a team and for programs on other machines.

Invariants: without being told otherwise it answers this machine alone; what leaves the machine unencrypted does so only when that was said
in so many words; it says where it listens once it does.
"""

import errno
import os
import re
import sys
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from socket import socket
from typing import TYPE_CHECKING, Any, Final

import click

from stateward.runtime.core.texts import path_shown, reason, shown
from stateward.runtime.engine.tokens import is_expired
from stateward.runtime.ports import PAGE_MAX
from stateward.runtime.surfaces.cli.errors import STATUS_ENVIRONMENT, STATUS_FOUND, STATUS_USAGE, Stop, faults_shown
from stateward.runtime.surfaces.cli.options import STORE, WORKDIR
from stateward.runtime.surfaces.cli.output import emit
from stateward.runtime.wiring import Place, locate_or_begin
from stateward.runtime.wiring.places import user_secrets
from stateward.runtime.wiring.serving import Served, served
from stateward.runtime.wiring.serving_workers import served_workers

if TYPE_CHECKING:
    from stateward.runtime.engine.attended import Attended
    from stateward.runtime.surfaces.http.serving import Certificate

PORT: Final = 8420
LIBRARIES: Final = frozenset({"anyio", "fastapi", "h11", "starlette", "structlog", "uvicorn"})
"""What comes with the extra `server`."""
_HOST: Final = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?|[0-9A-Fa-f:]{2,45}")
_ORIGIN: Final = re.compile(r"https?://([a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?|\[[0-9a-f:]{2,45}\])(:[0-9]{1,5})?")
_LOCAL_NAMES: Final = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True, slots=True)
class _Asked:
    """Where and how it is to be served."""

    host: str
    port: int
    hosts: Sequence[str]
    origins: Sequence[str]
    certificate: Path | None
    key: Path | None
    insecure: bool
    workdirs: Sequence[Path]


def _hosts(_context: click.Context, _parameter: click.Parameter, given: tuple[str, ...]) -> tuple[str, ...]:
    for each in given:
        if _HOST.fullmatch(each) is None:
            raise click.BadParameter(f"{shown(each)} is no name of a host without scheme and port")
    return tuple(each.lower().rstrip(".") for each in given)


def _origins(_context: click.Context, _parameter: click.Parameter, given: tuple[str, ...]) -> tuple[str, ...]:
    for each in given:
        if _ORIGIN.fullmatch(each) is None:
            raise click.BadParameter(f"{shown(each)} is no origin, such as `https://desk.example.org`, in lower case")
    return given


@click.command("serve")
@click.option("--host", default="127.0.0.1", show_default=True, metavar="HOST", help="The address to listen on.")
@click.option("--port", type=click.IntRange(0, 65535), default=PORT, show_default=True, help="The port; 0 for any that is free.")
@click.option("--allow-host", "hosts", multiple=True, callback=_hosts, metavar="NAME", help="A name that it answers to, too.")
@click.option("--allow-origin", "origins", multiple=True, callback=_origins, metavar="ORIGIN", help="Pages that may ask it.")
@click.option("--tls-cert", "certificate", type=Path, metavar="FILE", help="Its certificate, with the chain, in PEM.")
@click.option("--tls-key", "key", type=Path, metavar="FILE", help="The key of the certificate, where it lies in another file.")
@click.option(
    "--allow-workdir",
    "workdirs",
    type=Path,
    multiple=True,
    metavar="DIR",
    help="A folder beneath which Workers may work that are started through it.",
)
@click.option("--insecure", is_flag=True, help="Let what is asked and answered go over the network as plain text.")
@WORKDIR
@STORE
def serve_command(*, workdir: Path, store: Place | None, **asked: Any) -> None:
    """Serve the Workspace over HTTP, until told to stop."""
    wanted = _Asked(**asked)
    if wanted.key is not None and wanted.certificate is None:
        raise Stop(STATUS_USAGE, "a key was named and no certificate", "name it with `--tls-cert`")
    _require_libraries()
    certificate = _certificate(wanted)
    with _listening(wanted) as listening, faults_shown():  # first, so that what cannot be served begins no Workspace
        location = locate_or_begin(workdir, store)
        if location.begun:
            emit(f"began Workspace {location.workspace}\n")
        with served(location) as opened, served_workers(location, workdir, wanted.workdirs) as workers:
            if not _serve(wanted, listening, certificate, opened, workers):
                emit("stopped with requests unfinished\n")
                os._exit(STATUS_FOUND)  # their threads would keep the process, and hold the store
    emit("stopped\n")


def _require_libraries() -> None:
    try:
        import stateward.runtime.surfaces.http.app  # noqa: F401, PLC0415 -- comes with an extra
    except ModuleNotFoundError as missing:
        if missing.name not in LIBRARIES:
            raise
        raise Stop(STATUS_ENVIRONMENT, f"serving needs the package {missing.name}", "install `stateward[server]`") from missing


def _certificate(asked: _Asked) -> "Certificate | None":
    from stateward.runtime.surfaces.http.serving import Certificate, require_usable  # noqa: PLC0415 -- comes with an extra

    if asked.certificate is None:
        return None
    certificate = Certificate(asked.certificate, asked.key)
    try:
        require_usable(certificate)
    except OSError as problem:
        named = " and ".join(path_shown(each) for each in (certificate.chain, certificate.key) if each is not None)
        raise Stop(STATUS_USAGE, f"no certificate can be served with from {named}: {reason(problem)}", "name both in PEM") from problem
    return certificate


def _listening(asked: _Asked) -> socket:
    """Listen, where nothing is told to a network that was not meant to be."""
    from stateward.runtime.surfaces.http.serving import listen, place  # noqa: PLC0415 -- as above

    try:
        at = place(asked.host, asked.port)
    except OSError as problem:
        raise Stop(STATUS_USAGE, f"the host {shown(asked.host)} is not known here: {reason(problem)}", "name an address") from problem
    if not at.is_loopback and asked.certificate is None:
        if not asked.insecure:
            message = f"tokens and flows would go over the network as plain text from {shown(asked.host)}"
            raise Stop(STATUS_USAGE, message, "name a certificate with `--tls-cert`, or say `--insecure` behind a proxy that encrypts")
        click.echo("warning: tokens and flows go over the network as plain text", err=True)
    try:
        return listen(at)
    except OSError as problem:
        raise _not_listening(asked, problem) from problem


def _serve(asked: _Asked, listening: socket, certificate: "Certificate | None", opened: Served, workers: "Attended") -> bool:
    """Serve until told to stop, and say whether everything was finished."""
    from stateward.runtime.surfaces.http.app import make_app  # noqa: PLC0415 -- as above
    from stateward.runtime.surfaces.http.logs import Aside, ServiceLog  # noqa: PLC0415
    from stateward.runtime.surfaces.http.service import Names, service_over  # noqa: PLC0415
    from stateward.runtime.surfaces.http.serving import address_of, is_loopback, serve  # noqa: PLC0415

    hosts = {*asked.hosts, asked.host.lower(), *(_LOCAL_NAMES if is_loopback(listening) else ())}
    service = service_over(opened, Names(frozenset(hosts), frozenset(asked.origins)), workers)
    address = address_of(listening, secure=certificate is not None)
    with closing(Aside(sys.stderr)) as stream:
        log = ServiceLog(stream, mask=user_secrets().mask, as_text=sys.stderr.isatty())
        return serve(make_app(service, log), service, listening, log, certificate=certificate, started=lambda: _told(opened, address))


def _not_listening(asked: _Asked, problem: OSError) -> Stop:
    match problem.errno:
        case errno.EADDRINUSE:
            message, remedy = f"port {asked.port} of {shown(asked.host)} is in use", "name another with `--port`, or 0 for any that is free"
        case errno.EACCES | errno.EPERM:
            message, remedy = f"this account may not listen on port {asked.port}", "name a port above 1023 with `--port`"
        case errno.EADDRNOTAVAIL:
            message, remedy = f"{shown(asked.host)} is no address of this machine", "name one with `--host`"
        case _:
            message, remedy = f"nothing can listen on port {asked.port} of {shown(asked.host)}: {reason(problem)}", "name another place"
    return Stop(STATUS_ENVIRONMENT, message, remedy)


def _told(opened: Served, address: str) -> None:
    """Say where it listens, and what is missing before anybody can ask."""
    emit(f"serving Workspace {opened.workspace} at {address}\n")
    now = opened.clock.now()
    tokens = opened.tokens.listed(opened.workspace, PAGE_MAX)
    if not any(each.revoked is None and not is_expired(each, now) for each in tokens):
        emit("nobody has a token yet; `stateward token issue --name NAME --scope read` issues one\n")
