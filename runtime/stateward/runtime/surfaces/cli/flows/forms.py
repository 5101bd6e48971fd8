"""What programs are told of flows: the JSON forms of docs/reference/flow-commands.md.

Invariants: each object has `version`, which changes only when a field changes its meaning or goes away; fields are only added. Texts are
given as they are stored: JSON escapes what a terminal would obey. Times are in UTC and end in `Z`, as in bundles.
"""

from typing import Any, Final

from stateward.runtime.core.refusal import Refusal
from stateward.runtime.ports import Brought, Conflict, Difference, Diverged, FlowAct, FlowRow, RevisionFacts, Snapshot
from stateward.runtime.session.chain import time_text

VERSION: Final = 1


def line_data(**members: Any) -> dict[str, Any]:
    """Give one object as programs get it."""
    return {"version": VERSION, **members}


def facts_data(facts: RevisionFacts) -> dict[str, Any]:
    """Give a revision without its source."""
    return {
        "selector": f"workspace:{facts.slug}",
        "slug": facts.slug,
        "workspace": facts.workspace,
        "flow_id": facts.flow_id,
        "revision": facts.revision,
        "content_digest": facts.content_digest,
        "definition_digest": facts.definition_digest,
        "closure_digest": facts.closure_digest,
        "compiler": facts.compiler,
        "author": facts.author,
        "note": facts.note,
        "created": time_text(facts.created),
    }


def act_data(act: FlowAct) -> dict[str, Any]:
    """Give an act on a flow."""
    return {
        "number": act.number,
        "kind": str(act.kind),
        "revision": act.revision,
        "first": act.first,
        "author": act.author,
        "note": act.note,
        "created": time_text(act.created),
        "bundle": act.bundle,
        "origin": act.origin,
    }


def row_data(row: FlowRow) -> dict[str, Any]:
    """Give a flow as it is listed."""
    return {**facts_data(row.last), "removed": None if row.removed is None else act_data(row.removed)}


def difference_data(difference: Difference) -> dict[str, Any]:
    """Give two texts compared."""
    return {"old": difference.old, "new": difference.new, "text": difference.text, "cut": difference.cut}


def conflict_data(conflict: Conflict) -> dict[str, Any]:
    """Give what is in the way of a save, a restoring or a removal."""
    return {
        "named": conflict.named,
        "base": None if conflict.base is None else facts_data(conflict.base),
        "current": None if conflict.current is None else facts_data(conflict.current),
        "removed": None if conflict.removed is None else act_data(conflict.removed),
        "difference": None if conflict.difference is None else difference_data(conflict.difference),
    }


def refusal_data(refusal: Refusal) -> dict[str, Any]:
    """Give why something is not allowed."""
    return {"code": str(refusal.code), "message": refusal.message, "allowed": list(refusal.allowed)}


def snapshot_data(snapshot: Snapshot) -> dict[str, Any]:
    """Give what a selector resolved to, without the definition."""
    return {
        "selector": snapshot.selector,
        "workspace": snapshot.workspace or None,
        "flow_id": snapshot.flow_id,
        "revision": snapshot.flow_revision,
        "content_digest": snapshot.content_digest,
        "definition_digest": snapshot.definition_digest,
    }


def brought_data(brought: Brought) -> dict[str, Any]:
    """Give what became of one flow that was imported."""
    return {
        "slug": brought.slug,
        "first": brought.first,
        "last": brought.last,
        "new": brought.last - brought.first + 1,
        "removed": brought.removed,
        "was_removed": brought.was_removed,
    }


def diverged_data(diverged: Diverged) -> dict[str, Any]:
    """Give where the history of a flow here and the one that was to be imported part."""
    there = diverged.there
    return {
        "slug": diverged.slug,
        "revision": diverged.revision,
        "here": facts_data(diverged.here),
        "there": {
            "content_digest": there.content_digest,
            "definition_digest": there.definition_digest,
            "compiler": there.compiler,
            "author": there.author,
            "note": there.note,
            "created": time_text(there.created),
        },
    }
