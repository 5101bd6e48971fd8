"""Workspaces and their flows on a database.

Invariants: a save reads the current revision and writes the next one in one transaction, so revisions of a slug are numbered without a
gap and each but the first was based on the one before; a revision is never written again. What is read has the digest it was stored
under; a flow that is missing has no revisions, and the current revision is the last one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import ColumnElement, Select, bindparam, exists, func, insert, literal, select, update

from stateward.runtime.ports import Damaged, NewRevision, Revision, Saved, StaleBase, Workspace
from stateward.store.absence import Neighbours
from stateward.store.codecs import (
    number_of,
    require_as_written,
    revision_of,
    revision_values,
    text_of,
    workspace_of,
    workspace_values,
)
from stateward.store.connection import Connection, Database, Refused
from stateward.store.definitions import keep_definition, read_definition
from stateward.store.faults import RESTORE
from stateward.store.prepared import Inconsistent, Prepared, Row, insert_unless_there
from stateward.store.revisions import answer_without_writing, flow_id_of, require_storable, revision_after
from stateward.store.tables import FLOW_REVISIONS, FLOW_SOURCES, TIME_CHARACTERS, WORKSPACES

_GET_WORKSPACE: Final = Prepared(select(WORKSPACES).where(WORKSPACES.c.id == bindparam("id")))
_INSERT_WORKSPACE: Final = insert_unless_there(WORKSPACES)
# Saves into one Workspace go one after the other, also where a database lets several write at a time.
_TAKE_TURNS: Final = Prepared(
    select(WORKSPACES.c.id).where(WORKSPACES.c.id == bindparam("workspace")).with_for_update(key_share=True),
)

_IN_WORKSPACE: Final = FLOW_SOURCES.c.workspace == bindparam("workspace")
_OF_FLOW: Final = FLOW_SOURCES.c.flow_id == bindparam("flow_id")
_PRESENT: Final = FLOW_SOURCES.c.removed_at.is_(None)
_ITS_REVISIONS: Final = (FLOW_REVISIONS.c.workspace == FLOW_SOURCES.c.workspace) & (FLOW_REVISIONS.c.flow_id == FLOW_SOURCES.c.flow_id)
_CURRENT: Final = FLOW_REVISIONS.c.revision == FLOW_SOURCES.c.revision
_LAST: Final = select(func.max(FLOW_REVISIONS.c.revision)).where(_ITS_REVISIONS).correlate(FLOW_SOURCES).scalar_subquery()


def _flows(revision: ColumnElement[bool]) -> Select[Any]:
    """Every flow beside one of its revisions; the flow alone where that revision is not there."""
    return select(
        FLOW_SOURCES.c.slug,
        FLOW_SOURCES.c.flow_id.label("source_flow_id"),
        FLOW_SOURCES.c.revision.label("current"),
        FLOW_SOURCES.c.removed_at,
        _LAST.label("last"),
        *FLOW_REVISIONS.c,
    ).select_from(FLOW_SOURCES.outerjoin(FLOW_REVISIONS, _ITS_REVISIONS & revision))


# A flow is looked up by the id that follows from its slug: one tree of the database less that has to be right.
_FLOW: Final = Prepared(_flows(_CURRENT).where(_IN_WORKSPACE, _OF_FLOW))
_REVISION: Final = Prepared(_flows(FLOW_REVISIONS.c.revision == bindparam("number")).where(_IN_WORKSPACE, _OF_FLOW))
# Sorted by an expression, so that the rows themselves are looked at: an index says nothing of what it lost.
_BY_SLUG: Final = FLOW_SOURCES.c.slug + literal("")
_SOURCES: Final = Prepared(
    _flows(_CURRENT).where(_IN_WORKSPACE, bindparam("after") < _BY_SLUG, _PRESENT).order_by(_BY_SLUG).limit(bindparam("limit")),
)
# A row of another table, on a page that was written over one of these, holds no time there.
_ITS_FLOW: Final = select(FLOW_SOURCES.c.flow_id).where(_ITS_REVISIONS, func.length(FLOW_SOURCES.c.updated) == TIME_CHARACTERS)
_A_REVISION: Final = (
    select(FLOW_REVISIONS.c.flow_id).where(FLOW_REVISIONS.c.workspace == bindparam("workspace"), ~exists(_ITS_FLOW)).limit(1)
)
_WITHOUT_FLOW: Final = Prepared(_A_REVISION)
_OF_A_MISSING_FLOW: Final = Prepared(_A_REVISION.where(FLOW_REVISIONS.c.flow_id == bindparam("flow_id")))
_A_FLOW: Final = Prepared(
    select(FLOW_SOURCES.c.flow_id)
    .where(_IN_WORKSPACE, ~exists(select(WORKSPACES.c.id).where(WORKSPACES.c.id == FLOW_SOURCES.c.workspace)))
    .limit(1),
)
_NEIGHBOURS: Final = Neighbours(WORKSPACES, require_as_written)
_INSERT_REVISION: Final = Prepared(insert(FLOW_REVISIONS))
_INSERT_SOURCE: Final = Prepared(
    insert(FLOW_SOURCES).values(
        {
            "workspace": bindparam("workspace"),
            "flow_id": bindparam("flow_id"),
            "slug": bindparam("slug"),
            "revision": bindparam("current"),
            "created": bindparam("saved"),
            "updated": bindparam("saved"),
        }
    ),
)
_MOVE_SOURCE: Final = Prepared(
    update(FLOW_SOURCES).where(_IN_WORKSPACE, _OF_FLOW).values(revision=bindparam("current"), updated=bindparam("saved")),
)


class SqlWorkspaces:
    """The port `Workspaces` on a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def ensure(self, workspace: Workspace) -> Workspace:
        """Keep a Workspace unless one with its id is there; give the one that is there."""

        def keep(connection: Connection) -> Workspace:
            stored = _workspace(connection, workspace.id)
            if stored is not None:
                return stored
            _INSERT_WORKSPACE.run(connection, workspace_values(workspace))
            return _workspace(connection, workspace.id) or workspace

        return self.get(workspace.id) or self._database.write(keep)

    def get(self, workspace: str) -> Workspace | None:
        """Give a Workspace by its id."""
        return self._database.read(lambda connection: _workspace(connection, workspace))


class SqlFlowStore:
    """The port `FlowStore` on a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def save(self, workspace: str, new: NewRevision, base: int | None) -> Saved | StaleBase:
        """Store a revision. Raises ValueError for one that no store takes."""
        require_storable(new)

        def store(connection: Connection) -> Saved | StaleBase:
            _TAKE_TURNS.first(connection, {"workspace": workspace})
            current = _found(connection, _FLOW, workspace, new.slug)
            latest = None if current is None else current.revision
            answer = answer_without_writing(latest, new, base)
            if answer is not None:
                return answer
            revision = revision_after(latest, workspace, new)
            keep_definition(connection, new.definition_digest, new.definition)
            (_INSERT_SOURCE if current is None else _MOVE_SOURCE).run(connection, _source_values(revision))
            _INSERT_REVISION.run(connection, revision_values(revision))
            return Saved(revision, created=True)

        try:
            return self._database.write(store)
        except Refused as refused:
            there = self._database.read(lambda connection: _workspace(connection, workspace))
            if there is None:
                raise  # it is for the caller to save into a Workspace that is there
            raise Damaged(f"the flow `{new.slug}` cannot be saved: {refused}", RESTORE) from refused

    def current(self, workspace: str, slug: str) -> Revision | None:
        """Give the current revision; None when there is none or it was removed."""
        found = self._database.read(lambda connection: _found(connection, _FLOW, workspace, slug))
        return None if found is None or found.removed else found.revision

    def revision(self, workspace: str, slug: str, revision: int) -> Revision | None:
        """Give one revision."""
        found = self._database.read(lambda connection: _found(connection, _REVISION, workspace, slug, revision))
        return None if found is None else found.revision

    def sources(self, workspace: str, limit: int, after: str = "") -> Sequence[Revision]:
        """List current revisions by slug, `limit` at a time, those after `after`."""
        values = {"workspace": workspace, "after": after, "limit": limit}

        def look(connection: Connection) -> list[Revision]:
            if _WITHOUT_FLOW.first(connection, values) is not None:
                raise Inconsistent("a revision is there without its flow")
            rows = _SOURCES.all(connection, values)
            found = [_flow(row, workspace, text_of(row, "slug"), None) for row in rows]
            return [each.revision for each in found if each.revision is not None]

        return self._database.read(look)

    def definition(self, digest: str) -> bytes | None:
        """Give a stored definition's canonical bytes. Raises Damaged when they do not have that digest."""
        return read_definition(self._database, digest)


def _workspace(connection: Connection, workspace: str) -> Workspace | None:
    row = _GET_WORKSPACE.first(connection, {"id": workspace})
    if row is not None:
        return workspace_of(row)
    _NEIGHBOURS.require_sound(connection, workspace)
    if _A_FLOW.first(connection, {"workspace": workspace}) is not None:
        raise Inconsistent(f"the Workspace {workspace} has flows and is missing itself")
    return None


@dataclass(frozen=True, slots=True)
class _Flow:
    """A flow, and the revision of it that was asked for, if there is one with that number."""

    revision: Revision | None
    removed: bool


def _found(connection: Connection, statement: Prepared, workspace: str, slug: str, number: int | None = None) -> _Flow | None:
    """Find a flow with its current revision, or with the one of a number. Raises NotWritten for one that is not as it was."""
    values = {"workspace": workspace, "flow_id": flow_id_of(workspace, slug), "number": number}
    row = statement.first(connection, values)
    if row is not None:
        return _flow(row, workspace, slug, number)
    if _OF_A_MISSING_FLOW.first(connection, values) is not None:
        raise Inconsistent(f"the flow `{slug}` has revisions and is missing itself")
    return None


def _flow(row: Row, workspace: str, slug: str, number: int | None) -> _Flow:
    current = number_of(row, "current")
    if (row["slug"], row["source_flow_id"]) != (slug, flow_id_of(workspace, slug)):
        raise Inconsistent(f"the flow `{slug}` has another name than it was given")
    if current != row["last"]:
        raise Inconsistent(f"the current revision of the flow `{slug}` is {current}, its last one {row['last'] or 0}")
    if row["flow_id"] is not None:
        return _Flow(revision_of(row, slug), row["removed_at"] is not None)
    if number is None or 1 <= number <= current:
        raise Inconsistent(f"revision {number or current} of the flow `{slug}` is missing")
    return _Flow(None, row["removed_at"] is not None)


def _source_values(revision: Revision) -> Row:
    return {
        "workspace": revision.workspace,
        "flow_id": revision.flow_id,
        "slug": revision.slug,
        "current": revision.revision,
        "saved": revision.created,
    }
