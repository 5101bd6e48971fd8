"""What is known of a Workdir from git, as values, and how they are written.

Invariants: `clean` is true only when every committed file is there byte for byte (but for the conversions that are committed with it) and
nothing else is, and false only when something differs; whatever could make either wrong is a caveat, and then it is None. `upstream` is
what somebody wrote into a local ref: it shows nothing about the other side.
"""

import hashlib
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, TypeAlias

from stateward.runtime.session.strict import COUNT, FLAG, TEXT, Form, choice, optional, parse, record, render, sequence, versioned

FACTS_VERSION: Final = 1


class Caveat(StrEnum):
    """What limits the facts."""

    INDEX_FLAGS = "index_flags"
    """Files are marked in the index so that git does not look at them."""
    INDEX_UNREAD = "index_unread"
    """The index is missing or cannot be read: what is staged is not known."""
    EXCLUDES = "excludes"
    """Files are hidden by patterns that are not committed; `hidden` names them."""
    ATTRIBUTES = "attributes"
    """Attributes that are not committed exist; they were not applied."""
    FILTERS = "filters"
    """Changed files have a filter, which was not run: they may differ by it alone."""
    CONVERSIONS = "conversions"
    """Line ends are converted as the local configuration says."""
    FILE_MODES = "file_modes"
    """The local configuration says not to compare modes."""
    REPLACE_REFS = "replace_refs"
    """Objects are replaced for git's other commands; here they were not."""
    SUBMODULES = "submodules"
    """What is in submodules was not looked at."""
    NESTED_REPOSITORIES = "nested_repositories"
    """What is in repositories that lie in this one and are not committed was not looked at."""
    PARTIAL_DIGEST = "partial_digest"
    """Some changed files enter the digest by size and times only, or could not be read."""


MAY_HIDE: Final = frozenset({
    Caveat.INDEX_FLAGS, Caveat.INDEX_UNREAD, Caveat.EXCLUDES, Caveat.CONVERSIONS, Caveat.FILE_MODES, Caveat.REPLACE_REFS, Caveat.SUBMODULES
})  # fmt: skip
"""With one of these, no change seen is not the same as none."""
MAY_INVENT: Final = frozenset({Caveat.INDEX_FLAGS, Caveat.ATTRIBUTES, Caveat.FILTERS})
"""With one of these, a change seen may be none."""


class ChangeKind(StrEnum):
    """How a path differs from the commit."""

    MODIFIED = "modified"
    DELETED = "deleted"
    ADDED = "added"
    """Not in the commit, and staged."""
    UNTRACKED = "untracked"
    """Not in the commit, and not staged."""
    STAGED = "staged"
    """As in the commit, but staged otherwise."""


@dataclass(frozen=True, slots=True)
class Change:
    """A path that differs."""

    path: str
    kind: ChangeKind


@dataclass(frozen=True, slots=True)
class Upstream:
    """The upstream of the branch, as local refs have it: evidence of class `diagnostic`."""

    ref: str
    commit: str | None
    """None when there is no such ref."""
    ahead: int | None
    """Commits that the branch has and the upstream has not; None when they cannot be counted."""
    behind: int | None


@dataclass(frozen=True, slots=True)
class WorkdirFacts:
    """What is known of a Workdir that is the top of a git work tree."""

    head: str | None
    """The commit; None when there is none yet."""
    branch: str | None
    """Without `refs/heads/`; None when no branch is checked out."""
    clean: bool | None
    """Whether the work tree and the index are those of the commit; None when it cannot be told."""
    changed: tuple[Change, ...]
    """In order of their paths; the first ones."""
    changed_count: int
    dirty_digest: str
    """Of everything in which work tree and index differ from the commit, contents included."""
    hidden: tuple[str, ...]
    """The first paths that uncommitted patterns hide; a folder ends in a slash."""
    upstream: Upstream | None
    caveats: tuple[Caveat, ...]

    @property
    def digest(self) -> str:
        """The digest of all facts as they are written."""
        return _digest(encode_facts(self))

    @property
    def tree_digest(self) -> str:
        """The same for the same commit with the same changes, whatever the branch and its upstream are called or point to."""
        return _digest(f"{self.head} {self.dirty_digest}".encode())


@dataclass(frozen=True, slots=True)
class NoWorkTree:
    """The Workdir is not the top of a git work tree."""

    reason: str


@dataclass(frozen=True, slots=True)
class FactsUnknown:
    """There may be a work tree, but its facts could not be taken."""

    reason: str


TakenFacts: TypeAlias = WorkdirFacts | NoWorkTree | FactsUnknown


def clean_of(changed_count: int, caveats: frozenset[Caveat]) -> bool | None:
    """Tell whether a work tree is clean, as far as it can be told."""
    if changed_count:
        return None if caveats & MAY_INVENT else False
    return None if caveats & MAY_HIDE else True


def _digest(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


_CHANGE: Final = record(Change, path=TEXT, kind=choice(ChangeKind))
_UPSTREAM: Final = record(Upstream, ref=TEXT, commit=optional(TEXT), ahead=optional(COUNT), behind=optional(COUNT))
FACTS: Final[Form[WorkdirFacts]] = versioned(
    FACTS_VERSION,
    record(
        WorkdirFacts,
        head=optional(TEXT),
        branch=optional(TEXT),
        clean=optional(FLAG),
        changed=sequence(_CHANGE),
        changed_count=COUNT,
        dirty_digest=TEXT,
        hidden=sequence(TEXT),
        upstream=optional(_UPSTREAM),
        caveats=sequence(choice(Caveat)),
    ),
)
"""How facts are written inside other values."""


def encode_facts(facts: WorkdirFacts) -> bytes:
    """Write facts as JSON."""
    return render(FACTS.write(facts))


def decode_facts(data: bytes) -> WorkdirFacts:
    """Read facts. Raises Malformed, and Newer for those of a newer program."""
    return FACTS.read(parse(data))


def line_of(facts: WorkdirFacts) -> str:
    """Say in one line what facts come to."""
    at = "before the first commit" if facts.head is None else f"at {facts.head[:12]}"
    where = f"{at} on {facts.branch}" if facts.branch else at
    if facts.clean is None:
        return f"work tree {where}, not known to be clean: {', '.join(facts.caveats)}"
    return f"work tree {where}, clean" if facts.clean else f"work tree {where}, {facts.changed_count} changed"
