"""What stands between a bundle that is sound in itself and a store: whether it says the truth, and what taking it in would come to.

Invariants: a definition that this compiler made is the one that it makes again; what another compiler made is taken on somebody's word
and never by itself; nothing here writes.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from stateward.runtime.core.refusal import Refusal, RefusalCode
from stateward.runtime.core.texts import shown
from stateward.runtime.engine.bundles import Bundle
from stateward.runtime.engine.compiling import compiled
from stateward.runtime.engine.limits import WORK_PER_BYTE
from stateward.runtime.ports import PAGE_MAX, ActKind, Brought, Diverged, FlowAct, FlowHistory, FlowStore, NewRevision, RevisionFacts


def untrue(bundle: Bundle, compiler: str, *, accept: bool, work_max: int | None = None) -> Refusal | None:
    """Compile every source and refuse what is not what it compiles to; `compiler` names the program that compiles here.

    Where `work_max` is given, no more is spent on it than that: steps of evaluating, and WORK_PER_BYTE for each byte of a source. Work is
    counted, not timed, so that a bundle is refused everywhere alike. What another compiler made is let through with `accept`, and not
    compiled then: its source may cost as much as a source can.
    """
    made: dict[tuple[str, str, str | None], tuple[str | None, str | None]] = {}
    work = 0
    for flow in bundle.flows:
        for number, new in enumerate(flow.revisions, start=1):
            if accept and new.compiler != compiler:
                continue
            source = (new.slug, new.content_digest, new.closure_digest)
            if source not in made:
                work += WORK_PER_BYTE * (len(new.content) + sum(len(content) for _, content in new.modules))
                if work_max is not None and work > work_max:
                    return _too_costly(new, number)
                compilation = compiled(new.content, f"flows/{new.slug}.dcdl", new.slug, new.modules)
                made[source] = (compilation.definition_digest, compilation.closure_digest)
                work += compilation.steps
            if made[source] != (new.definition_digest, new.closure_digest):
                return _refused(new, number, compiler)
    return None


def _too_costly(new: NewRevision, number: int) -> Refusal:
    message = f"the sources of the bundle cost more to compile than a service spends; it came to revision {number} of flow `{new.slug}`"
    return Refusal(RefusalCode.BUNDLE_TOO_COSTLY, message, ("take it in where the store is", "export fewer flows at a time"))


def _refused(new: NewRevision, number: int, compiler: str) -> Refusal:
    which = f"revision {number} of flow `{new.slug}`"
    if new.compiler == compiler:
        return Refusal(RefusalCode.DEFINITION_UNTRUE, f"{which} has another definition than its source compiles to", ("export it anew",))
    message = f"{which} was compiled by {shown(new.compiler)}, and `{compiler}` makes another definition of its source, or none"
    return Refusal(RefusalCode.COMPILER_DIFFERS, message, ("accept what another compiler made", "export it without that flow"))


def foreseen_bringing(store: FlowStore, workspace: str, histories: tuple[FlowHistory, ...]) -> list[Brought | Diverged]:
    """Say what bringing would come to: where histories part, of each flow that does, or else what each would gain."""
    answers = [_foreseen(store, workspace, each) for each in histories]
    return [each for each in answers if isinstance(each, Diverged)] or answers


def _foreseen(store: FlowStore, workspace: str, history: FlowHistory) -> Brought | Diverged:
    row = store.find(workspace, history.slug)
    last = 0 if row is None else row.last.revision
    parted: Diverged | None = None
    for facts in latest_first(store, workspace, history.slug, min(last, len(history.revisions))):
        there = history.revisions[facts.revision - 1]
        if _identity(facts) != _identity(there):
            parted = Diverged(history.slug, facts.revision, facts, there)
    return parted or Brought(history.slug, last + 1, max(last, len(history.revisions)))


def told(store: FlowStore, workspace: str, histories: Sequence[FlowHistory], answers: Sequence[Brought]) -> tuple[Brought, ...]:
    """Say of each flow that was brought, or would be, whether it is removed afterwards and whether it was before.

    Acts are kept for ever, so that it does not matter what others did meanwhile.
    """
    return tuple(_told(store, workspace, *each) for each in zip(histories, answers, strict=True))


def _told(store: FlowStore, workspace: str, history: FlowHistory, brought: Brought) -> Brought:
    if brought.first > brought.last:
        row = store.find(workspace, history.slug)
        removed = row is not None and row.removed is not None
        return replace(brought, removed=removed, was_removed=removed)
    was_removed = _removed_at(store, workspace, history.slug, brought.first - 1)
    return replace(brought, removed=history.removed is not None, was_removed=was_removed)


def _removed_at(store: FlowStore, workspace: str, slug: str, revision: int) -> bool:
    """Tell whether a flow was removed when that revision was its last one."""
    for act in _acts(store, workspace, slug) if revision else ():
        if act.revision < revision:
            return False
        if act.revision == revision and act.kind is ActKind.REMOVED:
            return True
    return False


def _acts(store: FlowStore, workspace: str, slug: str) -> Iterator[FlowAct]:
    before: int | None = None
    while page := store.acts(workspace, slug, PAGE_MAX, before):
        yield from page
        before = page[-1].number


def latest_first(store: FlowStore, workspace: str, slug: str, last: int) -> Iterator[RevisionFacts]:
    """Give the revisions of a flow from one down to the first."""
    before = last + 1
    while before > 1:
        page = store.history(workspace, slug, PAGE_MAX, before)
        yield from page
        before = page[-1].revision if page else 1


def _identity(of: RevisionFacts | NewRevision) -> tuple[object, ...]:
    return of.content_digest, of.closure_digest, of.definition_digest, of.compiler, of.author, of.note, of.created
