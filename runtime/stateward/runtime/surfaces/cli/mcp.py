"""`stateward mcp`: one Worker as the tools of its agent, over the Model Context Protocol.

Invariant: at standard input and output, the output is the protocol's from the first byte, before anything is loaded that might print: to
everything else in the process it is standard error, and the input is empty.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final

import click
from click.core import ParameterSource

from stateward.runtime.surfaces.cli.errors import STATUS_ENVIRONMENT, STATUS_USAGE, Stop, faults_shown
from stateward.runtime.surfaces.cli.options import SERVER, STORE, WORKDIR
from stateward.runtime.wiring import Place

if TYPE_CHECKING:
    from stateward.runtime.surfaces.mcp.worker import Served as ServedWorkers

LIBRARIES: Final = frozenset({"anyio", "h11", "httpx2", "mcp", "mcp_types", "sse_starlette", "starlette", "uvicorn"})
"""What comes with the extra `mcp`."""
SERVING: Final = frozenset({"structlog"})
"""What serving over HTTP needs besides, which comes with the extra `server`."""
WORKER_VARIABLE: Final = "STATEWARD_WORKER"
WAIT_SECONDS_MAX: Final = 3600


@click.command("mcp")
@click.option("--worker", metavar="WORKER", envvar=WORKER_VARIABLE, help=f"The Worker's whole id; {WORKER_VARIABLE} names one too.")
@click.option("--wait", type=click.FloatRange(0, WAIT_SECONDS_MAX), default=40.0, show_default=True, help="Seconds to wait for a verdict.")
@click.option(
    "--http", "port", type=click.IntRange(0, 65535), metavar="PORT", help="Serve over HTTP on this port of this machine; 0 for any."
)
@SERVER
@WORKDIR
@STORE
def mcp_command(*, worker: str | None, wait: float, port: int | None, server: str | None, workdir: Path, store: Place | None) -> None:
    """Serve the agent of one Worker over MCP, at standard input and output.

    The Worker is the one that is named, or that the host's session is bound to by its hooks, or the only active one of the Workspace; it is
    found when it is first needed. The server ends with its input. With --server it is a Worker of that service, which has to be named or
    bound. With --http, the token of each request says which Worker it is for: `stateward token issue --scope work:WORKER`.
    """
    if port is not None:
        if _is_said("worker") or _is_said("server"):
            raise Stop(STATUS_USAGE, "over HTTP the token of a request names its Worker", "leave `--worker` and `--server` out")
        _require_libraries("stateward.runtime.surfaces.mcp.over_http")
        from stateward.runtime.surfaces.mcp.over_http import serve_http  # noqa: PLC0415 -- comes with an extra

        with faults_shown():
            serve_http(workdir, store, port, wait)
        return
    with _wired() as (reading, writing), faults_shown():
        _require_libraries("stateward.runtime.surfaces.mcp.server")
        _serve(reading, writing, wait, _opened(worker, server, workdir, store))
    sys.stderr.flush()
    os._exit(0)  # the thread that waits for input would keep the process


def _is_said(option: str) -> bool:
    """Tell whether an option was given, and not by the environment, which is that of all servers of a host."""
    return click.get_current_context().get_parameter_source(option) is ParameterSource.COMMANDLINE


def _require_libraries(module: str) -> None:
    """Load a module of ours. Raises Stop where a package that comes with an extra is missing."""
    try:
        import_module(module)
    except ModuleNotFoundError as missing:
        library = (missing.name or "").partition(".")[0]
        if library in SERVING:
            message = f"serving agents over HTTP needs the package {library}"
            raise Stop(STATUS_ENVIRONMENT, message, "install `stateward[mcp,server]`") from missing
        if library not in LIBRARIES:
            raise
        raise Stop(STATUS_ENVIRONMENT, f"serving an agent needs the package {library}", "install `stateward[mcp]`") from missing


@contextmanager
def _wired() -> Iterator[tuple[BinaryIO, BinaryIO]]:
    """Keep standard input and output for the protocol."""
    reading, writing, null = os.dup(0), os.dup(1), os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(2, 1)
    os.close(null)
    sys.stdout = sys.stderr
    yield os.fdopen(reading, "rb"), os.fdopen(writing, "wb", buffering=0)


def _serve(reading: BinaryIO, writing: BinaryIO, wait: float, workers: "ServedWorkers") -> None:
    import anyio  # noqa: PLC0415 -- comes with an extra

    from stateward.runtime.surfaces.mcp.server import GivenUp, Served, make_server  # noqa: PLC0415
    from stateward.runtime.surfaces.mcp.stdio import STALLED_SECONDS, serve  # noqa: PLC0415
    from stateward.runtime.wiring import program_version  # noqa: PLC0415

    given_up = GivenUp()
    server = make_server(Served(lambda context: workers.channel(context.meta), program_version().rpartition(" ")[2], wait, given_up))
    with closing(workers):
        anyio.run(serve, server, reading, writing, STALLED_SECONDS, given_up)


def _opened(worker: str | None, server: str | None, workdir: Path, store: Place | None) -> "ServedWorkers":
    from stateward.runtime.surfaces.mcp.worker import LocalFinding, ServiceFinding  # noqa: PLC0415 -- opens a store when it is asked
    from stateward.runtime.surfaces.mcp.worker import Served as ServedWorkers  # noqa: PLC0415

    if server is None:
        return ServedWorkers(worker, LocalFinding(workdir, store))
    if store is not None:
        raise Stop(STATUS_USAGE, "a service and a store were named", "leave `--store` out: the service has its own")
    from stateward.runtime.wiring.reaching_workers import remote_agent_channel  # noqa: PLC0415 -- only where a service is named

    return ServedWorkers(worker, ServiceFinding(server, workdir, remote_agent_channel))
