"""The Worker that a server is for: found when it is first needed, and kept open from then on.

Invariants: a server that knows no Worker yet serves all the same, and says at each call what is wrong; what could not be opened is tried
again at the next call; which Worker it is does not change while the server lives.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from threading import Lock
from typing import Final

from stateward.runtime.ports import WorkerChannel
from stateward.runtime.session.entries import Actor, ActorClass
from stateward.runtime.wiring import NoWorker, Place, account_name, active_workers, agent_channel

CHANNEL: Final = "mcp"


class OpenWorker:
    """One Worker, opened when it is first asked for. May be shared between threads."""

    def __init__(self, opened: Callable[[], AbstractContextManager[WorkerChannel]]) -> None:
        """Take what finds and opens the Worker; it raises Fault where it cannot."""
        self._opened = opened
        self._lock = Lock()
        self._held = ExitStack()
        self._channel: WorkerChannel | None = None

    def channel(self) -> WorkerChannel:
        """Give the channel. Raises Fault."""
        with self._lock:
            if self._channel is None:
                self._channel = self._held.enter_context(self._opened())
            return self._channel

    def close(self) -> None:
        """Let go of the Worker; what is verified is stopped, and stays open."""
        with self._lock:
            self._channel = None
            self._held.close()


@contextmanager
def local_worker(named: str | None, workdir: Path, store: Place | None) -> Iterator[WorkerChannel]:
    """Open a Worker of this machine: the one that is named, or the only active one of the Workspace. Raises Fault."""
    actor = Actor(ActorClass.AGENT, CHANNEL, account_name())
    with agent_channel(workdir, store, named or _only_active(workdir, store), actor) as channel:
        yield channel


def _only_active(workdir: Path, store: Place | None) -> str:
    active = active_workers(workdir, store)
    if len(active) == 1:
        return active[0]
    if not active:
        raise NoWorker("no Worker of this Workspace is active", "start one: `stateward start builtin:coder-review`")
    listed = "\n".join(f"  {each}" for each in active)
    raise NoWorker(f"{len(active)} Workers of this Workspace are active:\n{listed}", "name one with `--worker`, or in STATEWARD_WORKER")
