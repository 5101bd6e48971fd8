"""Workspaces and their flows on a database.

Invariants: a save reads the current revision and writes the next one in one transaction, so revisions of a slug are numbered without a
gap and each but the first was based on the one before; a revision is never written again. What is read has the digest it was stored
under.
"""

from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import Select, bindparam, insert, select, update

from stateward.runtime.ports import Damaged, NewRevision, Revision, Saved, StaleBase, Workspace
from stateward.runtime.session.chain import digest_of
from stateward.store.codecs import revision_of, revision_values, workspace_of
from stateward.store.connection import Connection, Database
from stateward.store.definitions import keep_definition, read_definition
from stateward.store.faults import RESTORE
from stateward.store.prepared import Prepared, Row, insert_unless_there
from stateward.store.revisions import answer_without_writing, require_storable, revision_after
from stateward.store.tables import FLOW_REVISIONS, FLOW_SOURCES, WORKSPACES

_GET_WORKSPACE: Final = Prepared(select(WORKSPACES).where(WORKSPACES.c.id == bindparam("id")))
_INSERT_WORKSPACE: Final = insert_unless_there(WORKSPACES)
# Saves into one Workspace go one after the other, also where a database lets several write at a time.
_TAKE_TURNS: Final = Prepared(
    select(WORKSPACES.c.id).where(WORKSPACES.c.id == bindparam("workspace")).with_for_update(key_share=True),
)

_SAME_FLOW: Final = (FLOW_REVISIONS.c.workspace == FLOW_SOURCES.c.workspace) & (FLOW_REVISIONS.c.flow_id == FLOW_SOURCES.c.flow_id)
_IN_WORKSPACE: Final = FLOW_SOURCES.c.workspace == bindparam("workspace")
_OF_SLUG: Final = FLOW_SOURCES.c.slug == bindparam("slug")
_PRESENT: Final = FLOW_SOURCES.c.removed_at.is_(None)
_IS_CURRENT: Final = FLOW_REVISIONS.c.revision == FLOW_SOURCES.c.revision


def _revisions() -> Select[Any]:
    return select(FLOW_REVISIONS, FLOW_SOURCES.c.slug).join(FLOW_SOURCES, _SAME_FLOW)


_LATEST: Final = Prepared(_revisions().where(_IN_WORKSPACE, _OF_SLUG, _IS_CURRENT))
_CURRENT: Final = Prepared(_revisions().where(_IN_WORKSPACE, _OF_SLUG, _IS_CURRENT, _PRESENT))
_REVISION: Final = Prepared(_revisions().where(_IN_WORKSPACE, _OF_SLUG, FLOW_REVISIONS.c.revision == bindparam("revision")))
_SOURCES: Final = Prepared(
    _revisions()
    .where(_IN_WORKSPACE, FLOW_SOURCES.c.slug > bindparam("after"), _IS_CURRENT, _PRESENT)
    .order_by(FLOW_SOURCES.c.slug)
    .limit(bindparam("limit")),
)
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
    update(FLOW_SOURCES).where(_IN_WORKSPACE, _OF_SLUG).values(revision=bindparam("current"), updated=bindparam("saved")),
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
            _INSERT_WORKSPACE.run(connection, {"id": workspace.id, "name": workspace.name, "created": workspace.created})
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
            current = _first(connection, _LATEST, {"workspace": workspace, "slug": new.slug})
            answer = answer_without_writing(current, new, base)
            if answer is not None:
                return answer
            revision = revision_after(current, workspace, new)
            keep_definition(connection, new.definition_digest, new.definition)
            (_INSERT_SOURCE if current is None else _MOVE_SOURCE).run(connection, _source_values(revision))
            _INSERT_REVISION.run(connection, revision_values(revision))
            return Saved(revision, created=True)

        return self._database.write(store)

    def current(self, workspace: str, slug: str) -> Revision | None:
        """Give the current revision; None when there is none or it was removed."""
        return self._read(_CURRENT, {"workspace": workspace, "slug": slug})

    def revision(self, workspace: str, slug: str, revision: int) -> Revision | None:
        """Give one revision."""
        return self._read(_REVISION, {"workspace": workspace, "slug": slug, "revision": revision})

    def sources(self, workspace: str, limit: int, after: str = "") -> Sequence[Revision]:
        """List current revisions by slug, `limit` at a time, those after `after`."""
        values = {"workspace": workspace, "after": after, "limit": limit}
        return self._database.read(lambda connection: [_checked(row) for row in _SOURCES.all(connection, values)])

    def definition(self, digest: str) -> bytes | None:
        """Give a stored definition's canonical bytes. Raises Damaged when they do not have that digest."""
        return read_definition(self._database, digest)

    def _read(self, statement: Prepared, values: Row) -> Revision | None:
        return self._database.read(lambda connection: _first(connection, statement, values))


def _workspace(connection: Connection, workspace: str) -> Workspace | None:
    row = _GET_WORKSPACE.first(connection, {"id": workspace})
    return None if row is None else workspace_of(row)


def _first(connection: Connection, statement: Prepared, values: Row) -> Revision | None:
    row = statement.first(connection, values)
    return None if row is None else _checked(row)


def _checked(row: Row) -> Revision:
    revision = revision_of(row)
    if revision.content_digest != digest_of(revision.content):
        raise Damaged(f"revision {revision.revision} of the flow `{revision.slug}` is not what was written", RESTORE)
    return revision


def _source_values(revision: Revision) -> Row:
    return {
        "workspace": revision.workspace,
        "flow_id": revision.flow_id,
        "slug": revision.slug,
        "current": revision.revision,
        "saved": revision.created,
    }
