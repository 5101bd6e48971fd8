"""Workspaces and their flows in memory: for tests, and for runs that keep nothing.

A real adapter under the same contract as the one on a database. Invariants: a revision, once there, is never replaced; revisions of a
slug are numbered 1, 2, … in the order in which they were saved. Safe to share between threads.
"""

from collections.abc import Sequence
from threading import Lock

from stateward.runtime.ports import NewRevision, Revision, Saved, StaleBase, Workspace
from stateward.store.revisions import answer_without_writing, require_storable, revision_after


class MemoryFlowStore:
    """The ports `FlowStore` and `Workspaces` in memory."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._workspaces: dict[str, Workspace] = {}
        self._revisions: dict[tuple[str, str], list[Revision]] = {}
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
            assert workspace in self._workspaces, "a flow is saved in a Workspace that is there"
            current = self.current(workspace, new.slug)
            answer = answer_without_writing(current, new, base)
            if answer is not None:
                return answer
            revision = revision_after(current, workspace, new)
            self._definitions.setdefault(new.definition_digest, new.definition)
            self._revisions.setdefault((workspace, new.slug), []).append(revision)
            return Saved(revision, created=True)

    def current(self, workspace: str, slug: str) -> Revision | None:
        """Give the current revision; None when there is none."""
        revisions = self._revisions.get((workspace, slug))
        return revisions[-1] if revisions else None

    def revision(self, workspace: str, slug: str, revision: int) -> Revision | None:
        """Give one revision."""
        revisions = self._revisions.get((workspace, slug), [])
        return revisions[revision - 1] if 1 <= revision <= len(revisions) else None

    def sources(self, workspace: str, limit: int, after: str = "") -> Sequence[Revision]:
        """List current revisions by slug, `limit` at a time, those after `after`."""
        with self._lock:
            slugs = sorted(slug for place, slug in self._revisions if place == workspace and slug > after)
            return [self._revisions[workspace, slug][-1] for slug in slugs[:limit]]

    def definition(self, digest: str) -> bytes | None:
        """Give a stored definition's canonical bytes."""
        return self._definitions.get(digest)
