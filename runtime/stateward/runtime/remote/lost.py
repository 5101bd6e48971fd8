"""What became of a write whose answer was lost.

Invariants: nothing is written again; "it was" is said only of what is found to be there, and "it was not" only where it cannot come any
more, because what it was based on is no longer the last revision; all else is unknown, for a service may still be at it.
"""

from collections.abc import Callable, Sequence
from typing import Final, Protocol, TypeVar

from stateward.runtime.ports import (
    PAGE_MAX,
    ActKind,
    Brought,
    Fault,
    FlowAuthority,
    OutcomeUnknown,
    RemoveAnswer,
    Removed,
    Revision,
    SaveAnswer,
    Saved,
    TakeInAnswer,
    TakenIn,
)
from stateward.runtime.remote.exchange import AnswerLost
from stateward.runtime.session.chain import digest_of

T = TypeVar("T")
_LOOK: Final = "see `stateward flow history` before doing it again"


class Asking(FlowAuthority, Protocol):
    """An authority that knows as whom it is asked."""

    @property
    def author(self) -> str:
        """The name that acts."""


def outcome(fault: AnswerLost | OutcomeUnknown, look: Callable[[], T | None], what: str) -> T:
    """Give what became of a write, as it is looked up. Raises OutcomeUnknown where that cannot be told."""
    try:
        found = look()
    except Fault as problem:
        raise OutcomeUnknown(f"{fault.message}; what became of {what} is not known: {problem.message}", _LOOK) from problem
    if found is None:
        raise OutcomeUnknown(f"{fault.message}; {what} was not there a moment later, and may still come", _LOOK) from fault
    return found


def save(
    flows: Asking, slug: str, content: bytes, *, base: int | None, note: str, override: bool, modules: Sequence[tuple[str, bytes]] = ()
) -> SaveAnswer | None:
    """Look up a save; None where it may still come."""
    digest = digest_of(content)
    found = _kept(flows, slug, digest, None if override else _next(base), note)
    if found is not None and set(found.revision.modules) <= set(modules):
        return found
    if override or flows.source(slug, _next(base)) is None:
        return None
    return flows.save(slug, content, base=base, modules=modules, note=note, dry_run=True)


def restore(flows: Asking, slug: str, revision: int, *, base: int, note: str, override: bool) -> SaveAnswer | None:
    """Look up a restoring; None where it may still come."""
    old = flows.source(slug, revision)
    found = None if old is None else _kept(flows, slug, old.content_digest, None if override else _next(base), note)
    if found is not None:
        return found
    if old is not None and (override or flows.source(slug, _next(base)) is None):
        return None
    return flows.restore(slug, revision, base=base, note=note, dry_run=True)


def remove(flows: Asking, slug: str, *, base: int, note: str) -> RemoveAnswer | None:
    """Look up a removal; None where it may still come."""
    row = flows.find(slug)
    if row is None or row.last.revision != base:
        return flows.remove(slug, base=base, note=note, dry_run=True)
    if row.removed is None:
        return None
    return Removed(row.removed, created=(row.removed.author, row.removed.note) == (flows.author, note))


def take_in(flows: Asking, bundle: bytes, *, note: str, expected: str | None, accept: bool) -> TakeInAnswer | None:
    """Look up the taking in of a bundle; None where it may still come."""
    answer = flows.take_in(bundle, note=note, expected=expected, accept=accept, dry_run=True)
    if not isinstance(answer, TakenIn):
        return answer
    if any(each.first <= each.last for each in answer.flows):
        return None
    return TakenIn(answer.bundle, answer.origin, tuple(_brought(flows, each, answer.bundle) for each in answer.flows))


def _next(base: int | None) -> int:
    return 1 if base is None else base + 1


def _kept(flows: Asking, slug: str, digest: str, number: int | None, note: str) -> Saved | None:
    """Find content under a number, or as the current revision, as of whoever asks; or as what was current already."""
    kept = flows.source(slug, number)
    if kept is not None and kept.content_digest == digest and _is_own(kept, flows.author, note):
        return Saved(kept, created=True)
    current = kept if number is None else flows.source(slug)
    if current is not None and current.content_digest == digest:
        return Saved(current, created=False)
    return None


def _is_own(kept: Revision, author: str, note: str) -> bool:
    """Tell whether a revision is by that author with that note, to which saving may have added why it was kept."""
    return kept.author == author and kept.note.startswith(note)


def _brought(flows: Asking, unchanged: Brought, bundle: str) -> Brought:
    """Give what a bundle brought of a flow, as the last act says it; what it found there already brought nothing."""
    acts = flows.acts(unchanged.slug, PAGE_MAX)
    act = next((each for each in acts if each.kind is ActKind.IMPORTED and each.bundle == bundle), None)
    if act is None:
        return unchanged
    removals = {each.revision for each in acts if each.kind is ActKind.REMOVED}
    return Brought(unchanged.slug, act.first, act.revision, removed=act.revision in removals, was_removed=act.first - 1 in removals)
