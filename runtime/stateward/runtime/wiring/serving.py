"""What a service works with: the flows and tokens of one Workspace, over a store that is open for as long as it runs."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from secrets import token_bytes

from stateward.runtime.engine.flows import WorkspaceFlows
from stateward.runtime.engine.limits import BUNDLE_WORK_MAX
from stateward.runtime.engine.tokens import SECRET_BYTES
from stateward.runtime.ports import Clock, FlowAuthority, StoreUnavailable, TokenStore, Workspace
from stateward.runtime.wiring.places import Location
from stateward.runtime.wiring.system import SystemClock, program_version


@dataclass(frozen=True, slots=True)
class Served:
    """An open Workspace. Everything in it may be shared between threads."""

    workspace: str
    program: str
    reads: Callable[[str], FlowAuthority]
    """Gives the flows as somebody of that name reads them: over a store that was opened for reading."""
    writes: Callable[[str], FlowAuthority]
    """Gives the flows as somebody of that name changes them."""
    tokens: TokenStore
    """Over the store that was opened for reading."""
    clock: Clock
    ready: Callable[[], None]
    """Reads from the store, as reading and writing do. Raises the fault that keeps it from answering."""


@contextmanager
def served(location: Location) -> Iterator[Served]:
    """Open a Workspace's store twice: for writing, which makes it where it is missing, and for reading. Raises what opening one raises."""
    from stateward.store.database import open_store  # noqa: PLC0415 -- loads SQLModel, which what opens no store need not pay for

    clock, program, workspace = SystemClock(), program_version(), location.workspace
    with open_store(location.store, write=True, create=True) as writer:
        writer.workspaces.ensure(Workspace(workspace, "", clock.now()))
        with open_store(location.store, write=False) as reader:

            def ready() -> None:
                if any(store.workspaces.get(workspace) is None for store in (reader, writer)):
                    raise StoreUnavailable(f"the Workspace {workspace} is not in its store any more", "see what became of the store")

            yield Served(
                workspace,
                program,
                reads=lambda author: WorkspaceFlows(reader.flows, workspace, author, program, clock),
                writes=lambda author: WorkspaceFlows(writer.flows, workspace, author, program, clock, bundle_work_max=BUNDLE_WORK_MAX),
                tokens=reader.tokens,
                clock=clock,
                ready=ready,
            )


@contextmanager
def keeping_tokens(location: Location, *, write: bool) -> Iterator[tuple[str, TokenStore]]:
    """Open the tokens of a Workspace, and give its id with them; for writing, its store is made if it is missing.

    Raises what opening a store raises.
    """
    from stateward.store.database import open_store  # noqa: PLC0415 -- as above

    with open_store(location.store, write=write, create=write) as store:
        if write:
            store.workspaces.ensure(Workspace(location.workspace, "", SystemClock().now()))
        yield location.workspace, store.tokens


def new_secret() -> bytes:
    """Give what a new token is made of."""
    return token_bytes(SECRET_BYTES)
