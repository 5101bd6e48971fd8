"""The flows of a Workspace, wherever it is kept: in a store of this machine, or by a service that holds it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from stateward.runtime.engine.flows import WorkspaceFlows
from stateward.runtime.marker import find_workspace
from stateward.runtime.ports import FlowAuthority
from stateward.runtime.wiring.beginning import locate, locate_or_begin
from stateward.runtime.wiring.opening import reading, writing
from stateward.runtime.wiring.places import Location, Place
from stateward.runtime.wiring.reaching import client_of, server_named
from stateward.runtime.wiring.system import account_name, program_version


@dataclass(frozen=True, slots=True)
class Authority:
    """The flows of a Workspace, opened."""

    flows: FlowAuthority
    begun: bool = False
    """Whether the Workspace was begun just now."""


@contextmanager
def authority(folder: Path, chosen: Place | None = None, server: str | None = None, *, write: bool = False) -> Iterator[Authority]:
    """Open the flows of the Workspace of a folder: at the service that `server` or the environment names, else in its store.

    A service is asked for the Workspace of the folder's marker, or for the one it holds where there is no marker, and nothing is begun
    here. With `write` a Workspace is begun in a store where there is none. Raises what finding a Workspace, opening a store and naming a
    service raise.
    """
    named = server_named(server)
    if named is not None:
        with client_of(named, find_workspace(folder)) as client:
            yield Authority(client)
        return
    location = locate_or_begin(folder, chosen) if write else locate(folder, chosen)
    with _flows_of(location, write=write) as flows:
        yield Authority(flows, location.begun)


@contextmanager
def _flows_of(location: Location, *, write: bool) -> Iterator[FlowAuthority]:
    with writing(location) if write else reading(location) as runtime:
        yield WorkspaceFlows(runtime.flows, location.workspace, account_name(), program_version(), runtime.clock)
