"""The Worker that a call is for: found when it is first needed, and kept open from then on.

Which it is: the one that is named; else the one that the session of the host is bound to, by its hooks; else the one that was found before;
else the only active one of the Workspace. Invariants: a server that knows no Worker yet serves all the same, and says at each call what is
wrong; what could not be opened is tried again at the next call; only a binding makes it another Worker while the server lives.
"""

import os
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Final, Protocol

from stateward.runtime.marker import find_workspace
from stateward.runtime.ports import WorkerChannel
from stateward.runtime.session.chain import HEADER_TEXT_BYTES_MAX
from stateward.runtime.session.entries import Actor, ActorClass
from stateward.runtime.surfaces.mcp.hosts import Caller, caller_of
from stateward.runtime.wiring import NoWorker, Place, account_name, active_workers, agent_channel
from stateward.runtime.wiring.bindings import bindings_of
from stateward.runtime.wiring.workers import OpenWorkers

CHANNEL: Final = "mcp"
FOLLOWED_MAX: Final = 64
"""Sessions that are followed, each of which goes on from the one before."""


class Finding(Protocol):
    """Finds and opens Workers. All of it may raise Fault."""

    def bound(self, caller: Caller) -> str | None:
        """Give the Worker that a session is bound to; None where it is bound to none."""

    def only(self) -> str:
        """Give the Worker where nobody names one. Raises NoWorker where there is no telling."""

    def open(self, worker: str, actor: Actor) -> AbstractContextManager[WorkerChannel]:
        """Open a Worker for whoever acts."""


class Served:
    """The Workers of the calls of one server. May be shared between threads."""

    def __init__(self, named: str | None, finding: Finding, environment: Mapping[str, str] = os.environ) -> None:
        """Take the Worker that is named, if one is, and what finds and opens one."""
        self._named, self._finding, self._environment = named, finding, environment
        self._open = OpenWorkers(finding.open)
        self._lock = Lock()
        self._found: str | None = None

    def channel(self, meta: Mapping[str, object] | None) -> WorkerChannel:
        """Give the channel for a call beside which that stands. Raises Fault."""
        caller = caller_of(meta, self._environment)
        by = caller.sub_agent[:HEADER_TEXT_BYTES_MAX] if caller.sub_agent.isascii() else "a sub-agent"
        return self._open.channel(
            self._worker(caller), Actor(ActorClass.AGENT, CHANNEL, by or account_name(), host_session=caller.session or None)
        )

    def _worker(self, caller: Caller) -> str:
        if self._named is not None:
            return self._named
        bound = self._finding.bound(caller) if caller.session else None
        if bound is not None:
            return bound
        with self._lock:
            if self._found is None:
                self._found = self._finding.only()
            return self._found

    def close(self) -> None:
        """Let go of the Workers; what is verified is stopped, and stays open."""
        self._open.close()


@dataclass(frozen=True, slots=True)
class LocalFinding:
    """The port `Finding` over a store of this machine."""

    workdir: Path
    store: Place | None

    def bound(self, caller: Caller) -> str | None:
        """Give the Worker of the session, or of the one that goes on from it."""
        return bound_in(self.workdir, caller)

    def only(self) -> str:
        """Give the only active Worker of the Workspace."""
        active = active_workers(self.workdir, self.store)
        if len(active) == 1:
            return active[0]
        if not active:
            raise NoWorker("no Worker of this Workspace is active", "start one: `stateward start builtin:coder-review`")
        listed = "\n".join(f"  {each}" for each in active)
        raise NoWorker(f"{len(active)} Workers of this Workspace are active:\n{listed}", "name one with `--worker`, or in STATEWARD_WORKER")

    def open(self, worker: str, actor: Actor) -> AbstractContextManager[WorkerChannel]:
        """Open a Worker."""
        return agent_channel(self.workdir, self.store, worker, actor)


@dataclass(frozen=True, slots=True)
class ServiceFinding:
    """The port `Finding` over a service, whose token says who acts there."""

    server: str
    workdir: Path
    reach: Callable[[str, str], AbstractContextManager[WorkerChannel]]

    def bound(self, caller: Caller) -> str | None:
        """Give the Worker of the session, or of the one that goes on from it."""
        return bound_in(self.workdir, caller)

    def only(self) -> str:
        """Say that the Worker has to be named: a service shows nobody which others there are."""
        raise NoWorker("a service is named and no Worker", "name the one that the token is for with `--worker`, or in STATEWARD_WORKER")

    def open(self, worker: str, _: Actor) -> AbstractContextManager[WorkerChannel]:
        """Reach a Worker."""
        return self.reach(self.server, worker)


def bound_in(folder: Path, caller: Caller) -> str | None:
    """Give the Worker that a session is bound to in the Workspace of a folder, or the last of those that go on from it. Raises Fault."""
    workspace = find_workspace(folder)
    if workspace is None:
        return None
    bindings = bindings_of(workspace)
    found = bindings.find(caller.host, caller.session)
    for _ in range(FOLLOWED_MAX):
        following = bindings.find(caller.host, found.following) if found is not None and found.following else None
        if following is None:
            break
        found = following
    return None if found is None else found.worker
