"""The Workers of one store as a service attends to them: each call names a Worker and who acts.

Invariants: looking needs no profile and opens nothing; a page of a log is bounded in bytes as well as in entries. Safe to share between
threads.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from stateward.runtime.core.refusal import Refusal
from stateward.runtime.engine.commit import not_found
from stateward.runtime.engine.hosted import HostEngine
from stateward.runtime.engine.hosting import EngineHostChannel
from stateward.runtime.engine.overview import OverviewRow
from stateward.runtime.engine.showing import attempt_of, entry_for_agent, entry_of, visible_in
from stateward.runtime.engine.worker import Engine
from stateward.runtime.ports import (
    LOG_PAGE_MAX,
    AttemptShown,
    EntryShown,
    HostChannel,
    LogPage,
    Standing,
    Submitted,
    WorkerChannel,
)
from stateward.runtime.session.entries import Actor, Head
from stateward.runtime.session.segments import Segment

PAGE_CHARACTERS_MAX: Final = 4 * 1024 * 1024
"""Of the payloads of a page, unless its first entry alone has more."""


@dataclass(frozen=True, slots=True)
class ToStart:
    """A Worker that is to be started."""

    segments: Sequence[Segment]
    profile: str | None
    """Its name; None for the usual one."""
    workdir: str | None
    submission: str | None


@dataclass(frozen=True, slots=True)
class Pinned:
    """The flow that a Worker runs, as it is pinned."""

    source: str | None
    definition: bytes | None
    definition_digest: str | None


@dataclass(frozen=True, slots=True)
class Attended:
    """The Workers of a Workspace."""

    workspace: str
    reader: Engine
    """Over a store that is open for reading."""
    hosts: HostEngine
    """Over one that is open for writing."""
    agents: Callable[[str, Actor, str], WorkerChannel | Refusal]
    """Gives the channel of a Worker that is there for its agent, by the id of the token that it showed: to the same one the same channel as
    long as something goes on, and to no other. Raises Fault."""
    starter: Callable[[ToStart, Actor], Submitted | Refusal]
    """Starts a Worker. Raises Fault."""
    source_of: Callable[[Standing], str | None]
    """Gives the source of the revision that is pinned."""

    def agent(self, worker: str, actor: Actor, token: str) -> WorkerChannel | Refusal:
        """Give a Worker to its agent, who showed the token of that id."""
        return not_found(worker) if self.head(worker) is None else self.agents(worker, actor, token)

    def host(self, worker: str, actor: Actor) -> HostChannel:
        """Give a Worker to the harness of its agent."""
        return EngineHostChannel(self.hosts, worker, actor)

    def start(self, wanted: ToStart, actor: Actor) -> Submitted | Refusal:
        """Start a Worker."""
        return self.starter(wanted, actor)

    def rows(self, limit: int, after: str) -> Sequence[OverviewRow]:
        """Give a page of Workers."""
        return self.reader.workers(self.workspace, limit, after)

    def head(self, worker: str) -> Head | None:
        """Give the last entry of a log; None where there is no such Worker."""
        return self.reader.head(worker)

    def standing(self, worker: str) -> Standing | Refusal:
        """Say where a Worker stands."""
        return self.reader.standing(worker)

    def attempt(self, worker: str, attempt: str) -> AttemptShown | Refusal | None:
        """Give an attempt of a Worker; None when it has none of that id."""
        if self.head(worker) is None:
            return not_found(worker)
        explained = self.reader.explain(worker, attempt)
        return None if explained is None else attempt_of(explained)

    def log(self, worker: str, after: int, limit: int, *, is_whole: bool) -> LogPage | Refusal:
        """Read entries with numbers behind `after`; where they are not to be whole, as an agent sees them."""
        head = self.head(worker)
        if head is None:
            return not_found(worker)
        standing = None if is_whole else self.standing(worker)
        if isinstance(standing, Refusal):
            return standing
        visible = None if standing is None else visible_in(standing)
        upto = min(after + min(limit, LOG_PAGE_MAX), head.seq)
        return LogPage(self._entries(worker, after, upto, visible) if upto > after else (), head)

    def _entries(self, worker: str, after: int, upto: int, visible: frozenset[str] | None) -> tuple[EntryShown, ...]:
        shown: list[EntryShown] = []
        size = 0
        for each in self.reader.log(worker, after, upto):
            entry = entry_of(each) if visible is None else entry_for_agent(each, visible)
            size += len(entry.payload)
            if shown and size > PAGE_CHARACTERS_MAX:
                break
            shown.append(entry)
        return tuple(shown)

    def pinned(self, worker: str) -> Pinned | Refusal:
        """Give the flow that a Worker runs; nothing of it where none was started."""
        standing = self.standing(worker)
        if isinstance(standing, Refusal):
            return standing
        if standing.flow is None:
            return Pinned(None, None, None)
        digest = standing.flow.definition_digest
        return Pinned(self.source_of(standing), self.reader.definition(digest), digest)
