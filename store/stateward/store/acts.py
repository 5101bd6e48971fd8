"""The rules of removing flows and of bringing them from elsewhere, the same for every store: what is refused, and what is kept of it.

Invariants: a flow is removed as long as its last act is a removal and no revision follows the one that it hid. What is brought goes on
where the history here ends, under the numbers that it has elsewhere; where the two part, nothing is brought at all.
"""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Final

from stateward.runtime.ports import (
    ActKind,
    Bringing,
    Diverged,
    FlowAct,
    FlowHistory,
    NewRevision,
    Removed,
    Revision,
    RevisionFacts,
    StaleBase,
)
from stateward.store.revisions import flow_id_of, require_moment, require_storable, require_texts

FLOWS_BROUGHT_MAX: Final = 10_000
"""In one transaction."""
REVISIONS_BROUGHT_MAX: Final = 100_000
"""In one transaction, of all its flows together."""


def removal(last_act: FlowAct | None, last: int) -> FlowAct | None:
    """Give the act by which a flow is removed, by its last act and the number of its last revision; None when it is not."""
    if last_act is None or last_act.kind is not ActKind.REMOVED or last_act.revision != last:
        return None
    return last_act


def answer_to_removing(last: Revision | None, removed: FlowAct | None, base: int) -> Removed | StaleBase | None:
    """Answer a removal that writes nothing; None when the flow is to be hidden. One that is hidden stays so, whatever the base."""
    if last is None:
        return StaleBase(None)
    if removed is not None:
        return Removed(removed, created=False)
    return None if last.revision == base else StaleBase(last)


def require_act(author: str, note: str, time: datetime) -> None:
    """Raise ValueError for what no store keeps of an act."""
    require_texts(author, note=note)
    require_moment(time)


def act_of_removing(last: RevisionFacts, number: int, author: str, note: str, time: datetime) -> FlowAct:
    """Say that a flow was removed at its last revision."""
    return FlowAct(
        workspace=last.workspace,
        flow_id=last.flow_id,
        number=number,
        kind=ActKind.REMOVED,
        revision=last.revision,
        first=last.revision,
        author=author,
        note=note,
        created=time.astimezone(UTC),
    )


def require_bringable(histories: Sequence[FlowHistory], bringing: Bringing) -> None:
    """Raise ValueError for what no store takes: too much, a flow twice, one without revisions, or any of them over a limit."""
    require_act(bringing.author, bringing.note, bringing.created)
    require_texts(bringing.bundle, bringing.origin)
    if len(histories) > FLOWS_BROUGHT_MAX:
        raise ValueError(f"{len(histories)} flows are more than the {FLOWS_BROUGHT_MAX} that are brought at a time")
    if sum(len(each.revisions) for each in histories) > REVISIONS_BROUGHT_MAX:
        raise ValueError(f"more than {REVISIONS_BROUGHT_MAX} revisions are not brought at a time")
    if len({each.slug for each in histories}) != len(histories):
        raise ValueError("a flow is brought twice")
    for history in histories:
        _require_history(history)


def _require_history(history: FlowHistory) -> None:
    if not history.revisions:
        raise ValueError(f"the flow `{history.slug}` is brought without a revision")
    for new in history.revisions:
        if new.slug != history.slug:
            raise ValueError(f"a revision of `{new.slug}` is brought as one of `{history.slug}`")
        require_storable(new)
    if history.removed is not None:
        require_act(history.removed.author, history.removed.note, history.removed.created)


def parting(here: Iterable[RevisionFacts], history: FlowHistory) -> Diverged | None:
    """Say where a history parts from the one here, given by its revisions from 1 on; None when one goes on where the other ends."""
    for facts, new in zip(here, history.revisions, strict=False):
        if not _same(facts, new):
            return Diverged(history.slug, facts.revision, facts, new)
    return None


def _same(here: RevisionFacts, there: NewRevision) -> bool:
    return (here.content_digest, here.definition_digest, here.compiler, here.author, here.note, here.created, here.closure_digest) == (
        there.content_digest,
        there.definition_digest,
        there.compiler,
        there.author,
        there.note,
        there.created,
        there.closure_digest,
    )


def acts_of_bringing(workspace: str, history: FlowHistory, first: int, number: int, bringing: Bringing) -> tuple[FlowAct, ...]:
    """Say that a flow was brought from its revision `first` on, as act `number`, and that it is removed when it is so there."""
    brought = FlowAct(
        workspace=workspace,
        flow_id=flow_id_of(workspace, history.slug),
        number=number,
        kind=ActKind.IMPORTED,
        revision=len(history.revisions),
        first=first,
        author=bringing.author,
        note=bringing.note,
        created=bringing.created.astimezone(UTC),
        bundle=bringing.bundle,
        origin=bringing.origin,
    )
    there = history.removed
    if there is None:
        return (brought,)
    hidden = FlowAct(
        workspace=brought.workspace,
        flow_id=brought.flow_id,
        number=number + 1,
        kind=ActKind.REMOVED,
        revision=brought.revision,
        first=brought.revision,
        author=there.author,
        note=there.note,
        created=there.created.astimezone(UTC),
    )
    return brought, hidden
