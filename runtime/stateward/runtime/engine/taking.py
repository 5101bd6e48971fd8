"""What stands between a bundle that is sound in itself and a store: whether it says the truth, and what taking it in would come to.

Invariants: a definition that this compiler made is the one that it makes again; what another compiler made is taken on somebody's word
and never by itself; nothing here writes.
"""

from collections.abc import Iterator

from stateward.runtime.core.refusal import Refusal, RefusalCode
from stateward.runtime.core.texts import shown
from stateward.runtime.engine.bundles import Bundle
from stateward.runtime.engine.compiling import compiled
from stateward.runtime.ports import PAGE_MAX, Brought, Diverged, FlowHistory, FlowStore, NewRevision, RevisionFacts


def untrue(bundle: Bundle, compiler: str, *, accept: bool) -> Refusal | None:
    """Compile every source and refuse what is not what it compiles to; `compiler` names the program that compiles here.

    What another compiler made is let through with `accept`, and not compiled then: its source may cost as much as a source can.
    """
    made: dict[tuple[str, str], str | None] = {}
    for flow in bundle.flows:
        for number, new in enumerate(flow.revisions, start=1):
            if accept and new.compiler != compiler:
                continue
            source = (new.slug, new.content_digest)
            if source not in made:
                made[source] = compiled(new.content, f"flows/{new.slug}.dcdl", new.slug).definition_digest
            if made[source] != new.definition_digest:
                return _refused(new, number, compiler)
    return None


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
    for facts in _latest_first(store, workspace, history.slug, min(last, len(history.revisions))):
        there = history.revisions[facts.revision - 1]
        if _identity(facts) != _identity(there):
            parted = Diverged(history.slug, facts.revision, facts, there)
    return parted or Brought(history.slug, last + 1, max(last, len(history.revisions)))


def _latest_first(store: FlowStore, workspace: str, slug: str, last: int) -> Iterator[RevisionFacts]:
    before = last + 1
    while before > 1:
        page = store.history(workspace, slug, PAGE_MAX, before)
        yield from page
        before = page[-1].revision if page else 1


def _identity(of: RevisionFacts | NewRevision) -> tuple[object, ...]:
    return of.content_digest, of.definition_digest, of.compiler, of.author, of.note, of.created
