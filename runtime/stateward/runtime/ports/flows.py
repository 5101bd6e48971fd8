"""The ports on what a Workspace keeps: its flows with every revision, what was done to them, and the tokens of its service.

Invariant: a `Revision` is never changed, replaced or deleted; what is done to a flow besides saving it is an act, and is kept too.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Final, Protocol

PAGE_MAX: Final = 500
"""Rows that a listing gives at a time; more are not asked for."""


@dataclass(frozen=True, slots=True)
class NewRevision:
    """A compiled source to be stored."""

    slug: str
    content: bytes
    content_digest: str
    definition_digest: str
    definition: bytes
    """Canonical bytes."""
    compiler: str
    author: str
    note: str
    created: datetime
    modules: tuple[tuple[str, bytes], ...] = ()
    """What it imports: paths, seen from the folder of the flow, and contents; by path."""
    closure_digest: str | None = None
    """Covers the modules; None where there are none."""


@dataclass(frozen=True, slots=True)
class RevisionFacts:
    """A stored revision without its source."""

    workspace: str
    flow_id: str
    slug: str
    revision: int
    content_digest: str
    definition_digest: str
    compiler: str
    author: str
    note: str
    created: datetime
    closure_digest: str | None = field(default=None, kw_only=True)
    """Covers what it imports; None where that is nothing."""


@dataclass(frozen=True, slots=True)
class Revision(RevisionFacts):
    """A stored revision; never changed."""

    content: bytes
    modules: tuple[tuple[str, bytes], ...] = ()
    """What it imports: paths, seen from the folder of the flow, and contents; by path."""

    @property
    def facts(self) -> RevisionFacts:
        """Give it without its source."""
        return RevisionFacts(
            self.workspace,
            self.flow_id,
            self.slug,
            self.revision,
            self.content_digest,
            self.definition_digest,
            self.compiler,
            self.author,
            self.note,
            self.created,
            closure_digest=self.closure_digest,
        )


class ActKind(StrEnum):
    """What is done to a flow besides saving it."""

    REMOVED = "removed"
    IMPORTED = "imported"


@dataclass(frozen=True, slots=True)
class FlowAct:
    """An act on a flow; kept for ever, like its revisions."""

    workspace: str
    flow_id: str
    number: int
    """1 for the first act on this flow."""
    kind: ActKind
    revision: int
    """The last revision of the flow after the act: the one that was hidden, or the last that was brought."""
    first: int
    """The first revision that was brought; for a removal the same as `revision`."""
    author: str
    note: str
    created: datetime
    bundle: str = ""
    """Of an import: the digest of what was brought."""
    origin: str = ""
    """Of an import: the Workspace it came from."""


@dataclass(frozen=True, slots=True)
class FlowRow:
    """A flow as it is listed: its last revision, and the act by which it was removed, if it is."""

    last: RevisionFacts
    removed: FlowAct | None = None


@dataclass(frozen=True, slots=True)
class Saved:
    """The current revision after a save; `created` is false when the same bytes, modules and definition were current already."""

    revision: Revision
    created: bool


@dataclass(frozen=True, slots=True)
class StaleBase:
    """Nothing was written: it was based on another revision than the last one."""

    current: Revision | None
    """The last revision, also of a flow that was removed; None when a base was named and no flow has that slug."""
    removed: FlowAct | None = None
    """How it was removed, if it is: it is brought back by saving or restoring on the base of its last revision."""


@dataclass(frozen=True, slots=True)
class Removed:
    """The flow is hidden; `created` is false when it was already."""

    act: FlowAct
    created: bool


@dataclass(frozen=True, slots=True)
class FlowHistory:
    """A flow as it is brought from elsewhere: every revision it ever had, from 1 on, in order."""

    slug: str
    revisions: tuple[NewRevision, ...]
    removed: FlowAct | None = None
    """The act by which it was removed there, if it is; of it only author, note and time carry over."""


@dataclass(frozen=True, slots=True)
class Bringing:
    """By whom, when and from where flows are brought."""

    author: str
    note: str
    created: datetime
    bundle: str
    origin: str


@dataclass(frozen=True, slots=True)
class Brought:
    """What became of one flow that was brought: `first` to `last` are new here; `first` is `last + 1` when nothing was."""

    slug: str
    first: int
    last: int
    removed: bool = False
    """Whether the flow is removed afterwards: a removal travels with the revisions. A store leaves this and the next to the authority."""
    was_removed: bool = False
    """Whether it was removed here before."""


@dataclass(frozen=True, slots=True)
class Diverged:
    """Nothing was written: the history of a flow here and that of the one that was brought part at a revision."""

    slug: str
    revision: int
    """The first number under which the two differ."""
    here: RevisionFacts
    there: NewRevision


class FlowStore(Protocol):
    """The Workspace's flows: current source, every revision it ever had, and the acts on it.

    A removed flow is hidden from `current` and, unless asked for, from `sources`; its revisions stay. Saving it again, always a new
    revision, brings it back.
    """

    def save(self, workspace: str, new: NewRevision, base: int | None) -> Saved | StaleBase:
        """Store a revision. `base` is the last revision, from which it was made, None for a new slug.

        The same bytes, modules and definition as those of the current revision, of a flow that is not removed, write nothing whatever the
        base.
        Raises ValueError for what no store takes.
        """

    def remove(self, workspace: str, slug: str, base: int, *, author: str, note: str, time: datetime) -> Removed | StaleBase:
        """Hide a flow whose last revision is `base`."""

    def bring(self, workspace: str, histories: Sequence[FlowHistory], bringing: Bringing) -> Sequence[Brought] | Sequence[Diverged]:
        """Store what is not here yet of each history, all of it in one transaction, or nothing where one of them diverged.

        The same number is the same revision when content, digests, compiler, author, note and time are. Numbers, authors, notes and
        times stay as they were; ids follow from the Workspace. A flow of which something was brought has an act that says so, and is
        removed when it is there and nothing newer is here. A history that is a part of the one here writes nothing.
        """

    def current(self, workspace: str, slug: str) -> Revision | None:
        """Give the current revision; None when there is none or it was removed."""

    def find(self, workspace: str, slug: str) -> FlowRow | None:
        """Give a flow as it is listed, also a removed one; None when no flow ever had that slug."""

    def revision(self, workspace: str, slug: str, revision: int) -> Revision | None:
        """Give one revision, also of a removed flow."""

    def holding(self, workspace: str, slug: str, content_digest: str) -> RevisionFacts | None:
        """Give the last revision of a flow that has this content; None when none has."""

    def sources(self, workspace: str, limit: int, after: str = "", *, removed: bool = False) -> Sequence[FlowRow]:
        """List flows by slug, `limit` at a time, those after `after`; with `removed` also the removed ones."""

    def history(self, workspace: str, slug: str, limit: int, before: int | None = None) -> Sequence[RevisionFacts]:
        """List the revisions of a flow, the latest first, `limit` at a time, those with a number below `before`."""

    def acts(self, workspace: str, slug: str, limit: int, before: int | None = None) -> Sequence[FlowAct]:
        """List the acts on a flow, the latest first, `limit` at a time, those with a number below `before`."""

    def definition(self, digest: str) -> bytes | None:
        """Give a stored definition's canonical bytes. Raises Damaged when they do not have that digest."""


@dataclass(frozen=True, slots=True)
class StoredToken:
    """A token as it lies in the store: of its secret only the digest."""

    id: str
    """A UUIDv7; names it, and opens nothing."""
    workspace: str
    digest: str
    """`sha256:` and hex, of the whole token."""
    name: str
    """Whoever shows the token acts under this name."""
    scopes: tuple[str, ...]
    """Sorted."""
    issuer: str
    """The account that issued it."""
    created: datetime
    expires: datetime | None
    revoked: datetime | None = None


class TokenStore(Protocol):
    """The tokens of Workspaces. One is never changed but by being revoked, once, and never deleted."""

    def keep(self, token: StoredToken) -> None:
        """Keep a new token of a Workspace that is there. Raises ValueError when its id or digest is there already."""

    def by_digest(self, digest: str) -> StoredToken | None:
        """Look one up, revoked or not."""

    def listed(self, workspace: str, limit: int, after: str = "") -> Sequence[StoredToken]:
        """List them by id, oldest first, `limit` at a time, those after `after`."""

    def revoke(self, workspace: str, token: str, time: datetime) -> StoredToken | None:
        """Revoke a token by its id and give it; one that was revoked before stays as it was. None when there is none."""
