"""The statements on flows, Workspaces and tokens; `texts.json` keeps what they come to on SQLite.

Invariant: each by which a flow is read sees one moment, so that what it gives belongs together: its row and what that is held against
(`flow_rows.py`). The cost of none grows with the revisions of a flow, and that of a page of a listing grows with the flows only by looking
at their rows.
"""

from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    FromClause,
    ScalarSelect,
    Select,
    bindparam,
    exists,
    func,
    insert,
    literal,
    or_,
    select,
    update,
)

from stateward.runtime.ports import ActKind
from stateward.store.compiling import insert_unless_there, prepared
from stateward.store.limits import ACT, CLOSURE_DIGEST, MODULES_MAX, TIME_CHARACTERS
from stateward.store.prepared import Prepared
from stateward.store.tables import FLOW_ACTS, FLOW_MODULES, FLOW_REVISIONS, FLOW_SOURCES, TOKENS, WORKSPACES

CLOSURE: Final = (
    select(func.min(FLOW_MODULES.c.closure_digest))
    .where(
        FLOW_MODULES.c.workspace == FLOW_REVISIONS.c.workspace,
        FLOW_MODULES.c.flow_id == FLOW_REVISIONS.c.flow_id,
        FLOW_MODULES.c.revision == FLOW_REVISIONS.c.revision,
    )
    .correlate(FLOW_REVISIONS)
    .scalar_subquery()
    .label(CLOSURE_DIGEST)
)
"""The digest that the modules of a revision say."""
_FACTS: Final = (*(column for column in FLOW_REVISIONS.c if column.key != "content"), CLOSURE)
_WORKSPACE: Final[BindParameter[str]] = bindparam("workspace")
_FLOW_ID: Final[BindParameter[str]] = bindparam("flow_id")
# What is compared with an expression is looked up in the rows themselves: an index says nothing of what it lost.
_BY_SLUG: Final = FLOW_SOURCES.c.slug + literal("")


def _its(table: FromClause, flow: FromClause) -> ColumnElement[bool]:
    return (table.c.workspace == flow.c.workspace) & (table.c.flow_id == flow.c.flow_id)


def _last(table: FromClause, counter: str, flow: FromClause) -> ScalarSelect[Any]:
    """Give the greatest number among what a flow has in a table."""
    others = table.alias(f"all_{table.description}")
    return select(func.max(others.c[counter])).where(_its(others, flow)).correlate(flow).scalar_subquery()


def _beside(flow: FromClause, revision: ColumnElement[bool], *columns: ColumnElement[Any]) -> Select[Any]:
    """Give every flow beside one of its revisions and its last act; the flow alone where these are not there."""
    last_act = _its(FLOW_ACTS, flow) & (FLOW_ACTS.c.number == _last(FLOW_ACTS, "number", flow))
    return select(
        flow.c.slug,
        flow.c.flow_id.label("source_flow_id"),
        flow.c.revision.label("current"),
        flow.c.removed_at,
        _last(FLOW_REVISIONS, "revision", flow).label("last"),
        *_FACTS,
        *columns,
        *(column.label(f"{ACT}{column.key}") for column in FLOW_ACTS.c),
    ).select_from(flow.outerjoin(FLOW_REVISIONS, _its(FLOW_REVISIONS, flow) & revision).outerjoin(FLOW_ACTS, last_act))


def _one(revision: ColumnElement[bool], *columns: ColumnElement[Any]) -> Prepared:
    """Find a flow by the id that follows from its slug: one tree of the database less that has to be right."""
    return prepared(
        _beside(FLOW_SOURCES, revision, *columns).where(FLOW_SOURCES.c.workspace == _WORKSPACE, FLOW_SOURCES.c.flow_id == _FLOW_ID)
    )


FIND: Final = _one(FLOW_REVISIONS.c.revision == FLOW_SOURCES.c.revision)
WITH_LAST: Final = _one(FLOW_REVISIONS.c.revision == FLOW_SOURCES.c.revision, FLOW_REVISIONS.c.content)
WITH_ONE: Final = _one(FLOW_REVISIONS.c.revision == bindparam("number"), FLOW_REVISIONS.c.content)


def _begun() -> ColumnElement[bool]:
    """Say that there is anything of a flow besides its row."""
    return or_(*(exists(select(table.c.flow_id).where(_its(table, FLOW_SOURCES))) for table in (FLOW_REVISIONS, FLOW_ACTS)))


def _listed(*conditions: ColumnElement[bool]) -> Prepared:
    """Give a page of flows by slug. Which they are is found first, so that only what is on the page is looked up."""
    page = (
        select(FLOW_SOURCES)
        .where(FLOW_SOURCES.c.workspace == _WORKSPACE, bindparam("after") < _BY_SLUG, _begun(), *conditions)
        .order_by(_BY_SLUG)
        .limit(bindparam("limit"))
        .subquery("page")
    )
    return prepared(_beside(page, FLOW_REVISIONS.c.revision == page.c.revision).order_by(page.c.slug))


def _not_hidden_for_certain() -> ColumnElement[bool]:
    """Say that a flow is not removed beyond doubt; of the others it is asked why they say that they are."""
    hiding = select(FLOW_ACTS.c.number).where(
        _its(FLOW_ACTS, FLOW_SOURCES),
        FLOW_ACTS.c.number == _last(FLOW_ACTS, "number", FLOW_SOURCES),
        FLOW_ACTS.c.kind == ActKind.REMOVED.value,
        FLOW_ACTS.c.revision == FLOW_SOURCES.c.revision,
        FLOW_ACTS.c.created == FLOW_SOURCES.c.removed_at,
    )
    return or_(FLOW_SOURCES.c.removed_at.is_(None), ~exists(hiding))


ALL: Final = _listed()
PRESENT: Final = _listed(_not_hidden_for_certain())


_UPTO: Final = or_(bindparam("upto") == "", bindparam("upto") >= _BY_SLUG)
NOT_BEGUN: Final = prepared(
    select(FLOW_SOURCES.c.flow_id, FLOW_SOURCES.c.slug)
    .where(FLOW_SOURCES.c.workspace == _WORKSPACE, bindparam("after") < _BY_SLUG, _UPTO, ~_begun())
    .limit(bindparam("limit"))
)
"""The rows of flows, from one slug to another, of which there is nothing else."""
NAMED: Final = prepared(
    select(FLOW_SOURCES.c.flow_id).where(FLOW_SOURCES.c.workspace == _WORKSPACE, FLOW_SOURCES.c.slug == bindparam("slug")).limit(1)
)


def _counted(slug: ColumnElement[str], *conditions: ColumnElement[bool]) -> ScalarSelect[Any]:
    within = (bindparam("after") < slug, or_(bindparam("upto") == "", slug <= bindparam("upto")))
    return (
        select(func.count()).select_from(FLOW_SOURCES).where(FLOW_SOURCES.c.workspace == _WORKSPACE, *within, *conditions).scalar_subquery()
    )


# A row of another table, on a page that was written over one of these, holds no time there.
_HOLDS_A_TIME: Final = func.length(FLOW_SOURCES.c.updated) == TIME_CHARACTERS
COUNTED: Final = prepared(select(_counted(FLOW_SOURCES.c.slug).label("known"), _counted(_BY_SLUG, _HOLDS_A_TIME).label("there")))
"""How many flows there are from one slug to another, by the index of slugs and by their rows."""
OF_A_MISSING_FLOW: Final = prepared(
    select(FLOW_REVISIONS.c.flow_id)
    .where(
        FLOW_REVISIONS.c.workspace == _WORKSPACE,
        FLOW_REVISIONS.c.flow_id == _FLOW_ID,
        ~exists(select(FLOW_SOURCES.c.flow_id).where(_its(FLOW_REVISIONS, FLOW_SOURCES), _HOLDS_A_TIME)),
    )
    .limit(1)
)


def _without_row() -> Select[Any]:
    """Find the id of a flow that has revisions and no row. Goes from flow to flow: a flow may have very many revisions."""
    in_workspace = FLOW_REVISIONS.c.workspace == _WORKSPACE
    first = select(func.min(FLOW_REVISIONS.c.flow_id).label("flow_id")).where(in_workspace).cte("flows", recursive=True)
    after = select(func.min(FLOW_REVISIONS.c.flow_id)).where(in_workspace, FLOW_REVISIONS.c.flow_id > first.c.flow_id).scalar_subquery()
    # UNION, so that a tree whose order the disk broke does not lead in circles.
    all_flows = first.union(select(after).where(first.c.flow_id.is_not(None)))
    row = select(FLOW_SOURCES.c.flow_id).where(
        FLOW_SOURCES.c.workspace == _WORKSPACE, FLOW_SOURCES.c.flow_id == all_flows.c.flow_id, _HOLDS_A_TIME
    )
    return select(all_flows.c.flow_id).where(all_flows.c.flow_id.is_not(None), ~exists(row)).limit(1)


WITHOUT_ROW: Final = prepared(_without_row())


def _page_of(table: FromClause, columns: Sequence[ColumnElement[Any]], counter: str) -> Prepared:
    """Give what a flow has in a table, from a number down."""
    mine = (table.c.workspace == _WORKSPACE, table.c.flow_id == _FLOW_ID, table.c[counter] <= bindparam("upto"))
    return prepared(select(*columns).where(*mine).order_by(table.c[counter].desc()).limit(bindparam("limit")))


REVISIONS: Final = _page_of(FLOW_REVISIONS, _FACTS, "revision")
MODULES: Final = prepared(
    select(FLOW_MODULES.c.path, FLOW_MODULES.c.content, FLOW_MODULES.c.closure_digest)
    .where(FLOW_MODULES.c.workspace == _WORKSPACE, FLOW_MODULES.c.flow_id == _FLOW_ID, FLOW_MODULES.c.revision == bindparam("revision"))
    .order_by(FLOW_MODULES.c.number)
    .limit(MODULES_MAX + 1)
)
ACTS: Final = _page_of(FLOW_ACTS, tuple(FLOW_ACTS.c), "number")

# --- writing --------------------------------------------------------------------------------------------------------------------------

# What is written into one Workspace goes one after the other, also where a database lets several write at a time.
TAKE_TURNS: Final = prepared(select(WORKSPACES.c.id).where(WORKSPACES.c.id == _WORKSPACE).with_for_update(key_share=True))
INSERT_REVISION: Final = prepared(insert(FLOW_REVISIONS))
INSERT_MODULE: Final = prepared(insert(FLOW_MODULES))
INSERT_ACT: Final = prepared(insert(FLOW_ACTS))
INSERT_SOURCE: Final = prepared(
    insert(FLOW_SOURCES).values(
        {
            "workspace": bindparam("workspace"),
            "flow_id": bindparam("flow_id"),
            "slug": bindparam("slug"),
            "revision": 1,
            "created": bindparam("began"),
            "updated": bindparam("began"),
        }
    ),
)
MOVE_SOURCE: Final = prepared(
    update(FLOW_SOURCES)
    .where(FLOW_SOURCES.c.workspace == _WORKSPACE, FLOW_SOURCES.c.flow_id == _FLOW_ID)
    .values(revision=bindparam("current"), updated=bindparam("changed"), removed_at=bindparam("hidden")),
)

# --- Workspaces -----------------------------------------------------------------------------------------------------------------------

WORKSPACE: Final = prepared(select(WORKSPACES).where(WORKSPACES.c.id == bindparam("id")))
INSERT_WORKSPACE: Final = insert_unless_there(WORKSPACES)
OF_A_MISSING_WORKSPACE: Final = prepared(
    select(FLOW_SOURCES.c.flow_id)
    .where(FLOW_SOURCES.c.workspace == _WORKSPACE, ~exists(select(WORKSPACES.c.id).where(WORKSPACES.c.id == FLOW_SOURCES.c.workspace)))
    .limit(1),
)

# --- tokens ---------------------------------------------------------------------------------------------------------------------------

_TOKEN: Final = (TOKENS.c.workspace == _WORKSPACE) & (TOKENS.c.id == bindparam("id"))
TOKEN: Final = prepared(select(TOKENS).where(_TOKEN))
TOKEN_BY_DIGEST: Final = prepared(select(TOKENS).where(TOKENS.c.digest == bindparam("digest")))
TOKEN_TAKEN: Final = prepared(select(TOKENS.c.id).where(or_(_TOKEN, TOKENS.c.digest == bindparam("digest"))).limit(1))
TOKENS_LISTED: Final = prepared(
    select(TOKENS).where(TOKENS.c.workspace == _WORKSPACE, TOKENS.c.id > bindparam("after")).order_by(TOKENS.c.id).limit(bindparam("limit"))
)
INSERT_TOKEN: Final = prepared(insert(TOKENS))
REVOKE_TOKEN: Final = prepared(update(TOKENS).where(_TOKEN, TOKENS.c.revoked_at.is_(None)).values(revoked_at=bindparam("time")))
