"""Workspaces and their flows in memory: for tests, and for runs that keep nothing.

A real adapter under the same contract as the one on a database. Invariants: a revision or an act, once there, is never replaced; both are
numbered 1, 2, … within a flow in the order in which they came. Safe to share between threads.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from threading import RLock
from typing import TypeVar

from stateward.runtime.ports import (
    Bringing,
    Brought,
    Diverged,
    FlowAct,
    FlowHistory,
    FlowRow,
    NewRevision,
    Removed,
    Revision,
    RevisionFacts,
    Saved,
    StaleBase,
    Workspace,
)
from stateward.store.acts import (
    act_of_removing,
    acts_of_bringing,
    answer_to_removing,
    parting,
    removal,
    require_act,
    require_bringable,
)
from stateward.store.revisions import answer_without_writing, require_storable, revision_numbered

T = TypeVar("T")


@dataclass(slots=True)
class _Flow:
    """A flow: its revisions and the acts on it, both in order."""

    revisions: list[Revision] = field(default_factory=list)
    acts: list[FlowAct] = field(default_factory=list)

    @property
    def last(self) -> Revision | None:
        return self.revisions[-1] if self.revisions else None

    @property
    def removed(self) -> FlowAct | None:
        return removal(self.acts[-1] if self.acts else None, len(self.revisions))

    @property
    def row(self) -> FlowRow:
        return FlowRow(self.revisions[-1].facts, self.removed)


class MemoryFlowStore:
    """The ports `FlowStore` and `Workspaces` in memory."""

    def __init__(self) -> None:
        self._lock = RLock()
        self._workspaces: dict[str, Workspace] = {}
        self._flows: dict[tuple[str, str], _Flow] = {}
        self._definitions: dict[str, bytes] = {}

    def ensure(self, workspace: Workspace) -> Workspace:
        """Keep a Workspace unless one with its id is there; give the one that is there."""
        with self._lock:
            return self._workspaces.setdefault(workspace.id, workspace)

    def get(self, workspace: str) -> Workspace | None:
        """Give a Workspace by its id."""
        return self._workspaces.get(workspace)

    def save(self, workspace: str, new: NewRevision, base: int | None) -> Saved | StaleBase:
        """Store a revision. Raises ValueError for one that no store takes."""
        require_storable(new)
        with self._lock:
            self._require_workspace(workspace)
            flow = self._flow(workspace, new.slug)
            answer = answer_without_writing(flow.last, new, base, flow.removed)
            return answer or Saved(self._write(workspace, flow, new), created=True)

    def remove(self, workspace: str, slug: str, base: int, *, author: str, note: str, time: datetime) -> Removed | StaleBase:
        """Hide a flow whose last revision is `base`."""
        require_act(author, note, time)
        with self._lock:
            flow = self._flow(workspace, slug)
            answer = answer_to_removing(flow.last, flow.removed, base)
            if answer is not None:
                return answer
            act = act_of_removing(flow.revisions[-1].facts, len(flow.acts) + 1, author, note, time)
            flow.acts.append(act)
            return Removed(act, created=True)

    def bring(self, workspace: str, histories: Sequence[FlowHistory], bringing: Bringing) -> Sequence[Brought] | Sequence[Diverged]:
        """Store what is not here yet of each history, or nothing where one of them diverged."""
        require_bringable(histories, bringing)
        with self._lock:
            self._require_workspace(workspace)
            flows = [(self._flow(workspace, each.slug), each) for each in histories]
            parted = [parting((kept.facts for kept in flow.revisions), history) for flow, history in flows]
            return [each for each in parted if each is not None] or [self._bring(workspace, *each, bringing) for each in flows]

    def current(self, workspace: str, slug: str) -> Revision | None:
        """Give the current revision; None when there is none or it was removed."""
        with self._lock:
            flow = self._flow(workspace, slug)
            return flow.last if flow.removed is None else None

    def find(self, workspace: str, slug: str) -> FlowRow | None:
        """Give a flow as it is listed, also a removed one."""
        with self._lock:
            flow = self._flows.get((workspace, slug))
            return None if flow is None else flow.row

    def revision(self, workspace: str, slug: str, revision: int) -> Revision | None:
        """Give one revision."""
        with self._lock:
            revisions = self._flow(workspace, slug).revisions
            return revisions[revision - 1] if 1 <= revision <= len(revisions) else None

    def holding(self, workspace: str, slug: str, content_digest: str) -> RevisionFacts | None:
        """Give the last revision of a flow that has this content."""
        with self._lock:
            revisions = reversed(self._flow(workspace, slug).revisions)
            return next((each.facts for each in revisions if each.content_digest == content_digest), None)

    def sources(self, workspace: str, limit: int, after: str = "", *, removed: bool = False) -> Sequence[FlowRow]:
        """List flows by slug, `limit` at a time, those after `after`; with `removed` also the removed ones."""
        with self._lock:
            slugs = sorted(slug for place, slug in self._flows if place == workspace and slug > after)
            rows = [self._flows[workspace, slug].row for slug in slugs]
            return [row for row in rows if removed or row.removed is None][:limit]

    def history(self, workspace: str, slug: str, limit: int, before: int | None = None) -> Sequence[RevisionFacts]:
        """List the revisions of a flow, the latest first, `limit` at a time, those with a number below `before`."""
        with self._lock:
            return [each.facts for each in _page(self._flow(workspace, slug).revisions, limit, before)]

    def acts(self, workspace: str, slug: str, limit: int, before: int | None = None) -> Sequence[FlowAct]:
        """List the acts on a flow, the latest first, `limit` at a time, those with a number below `before`."""
        with self._lock:
            return _page(self._flow(workspace, slug).acts, limit, before)

    def definition(self, digest: str) -> bytes | None:
        """Give a stored definition's canonical bytes."""
        return self._definitions.get(digest)

    def _flow(self, workspace: str, slug: str) -> _Flow:
        return self._flows.get((workspace, slug)) or _Flow()

    def _require_workspace(self, workspace: str) -> None:
        assert workspace in self._workspaces, "a flow is saved in a Workspace that is there"

    def _bring(self, workspace: str, flow: _Flow, history: FlowHistory, bringing: Bringing) -> Brought:
        first = len(flow.revisions) + 1
        for new in history.revisions[first - 1 :]:
            self._write(workspace, flow, new)
        if first <= len(flow.revisions):
            flow.acts.extend(acts_of_bringing(workspace, history, first, len(flow.acts) + 1, bringing))
        return Brought(history.slug, first, len(flow.revisions))

    def _write(self, workspace: str, flow: _Flow, new: NewRevision) -> Revision:
        revision = revision_numbered(len(flow.revisions) + 1, workspace, new)
        self._definitions.setdefault(new.definition_digest, new.definition)
        flow.revisions.append(revision)
        self._flows[workspace, new.slug] = flow
        return revision


def _page(rows: Sequence[T], limit: int, before: int | None) -> list[T]:
    """Give the rows below a number, the last first; the first row has the number 1."""
    upto = len(rows) if before is None else max(min(before - 1, len(rows)), 0)
    return list(reversed(rows[max(upto - limit, 0) : upto]))
