"""The flows of Workspaces on a database.

Invariants: what is written reads the last revision and writes the next one, or an act, in one transaction, and the transactions on one
Workspace go one after the other; so revisions and acts of a flow are numbered without a gap, each revision that was saved was based on
the one before, and none is ever written again. What is read is held against what is beside it (`flow_rows.py`).
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final, TypeVar

from stateward.runtime.ports import (
    Bringing,
    Brought,
    Damaged,
    Diverged,
    FlowAct,
    FlowHistory,
    FlowRow,
    NewRevision,
    Removed,
    Revision,
    RevisionFacts,
    Saved,
    StaleBase,
)
from stateward.store.acts import (
    act_of_removing,
    acts_of_bringing,
    answer_to_removing,
    parting,
    removal,
    require_act,
    require_bringable,
)
from stateward.store.connection import Connection, Database, Refused
from stateward.store.definitions import keep_definition, read_definition
from stateward.store.faults import RESTORE
from stateward.store.flow_codecs import act_values, module_values, revision_values
from stateward.store.flow_rows import (
    all_revisions,
    find_row,
    list_acts,
    list_flows,
    list_revisions,
    with_last,
    with_one,
)
from stateward.store.prepared import Row
from stateward.store.revisions import answer_without_writing, require_storable, revision_numbered
from stateward.store.texts import statement
from stateward.store.workspace import find_workspace

T = TypeVar("T")

_TAKE_TURNS: Final = statement("flow_statements.TAKE_TURNS")
_INSERT_REVISION: Final = statement("flow_statements.INSERT_REVISION")
_INSERT_MODULE: Final = statement("flow_statements.INSERT_MODULE")
_INSERT_ACT: Final = statement("flow_statements.INSERT_ACT")
_INSERT_SOURCE: Final = statement("flow_statements.INSERT_SOURCE")
_MOVE_SOURCE: Final = statement("flow_statements.MOVE_SOURCE")


class SqlFlowStore:
    """The port `FlowStore` on a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def save(self, workspace: str, new: NewRevision, base: int | None) -> Saved | StaleBase:
        """Store a revision. Raises ValueError for one that no store takes."""
        require_storable(new)

        def store(connection: Connection) -> Saved | StaleBase:
            found = with_last(connection, workspace, new.slug)
            last, removed = (None, None) if found is None else (found.revision, found.removed)
            answer = answer_without_writing(last, new, base, removed)
            if answer is not None:
                return answer
            revision = revision_numbered(1 if last is None else last.revision + 1, workspace, new)
            _write_revision(connection, revision, new.definition)
            if last is not None:
                _MOVE_SOURCE.write_one(
                    connection, {**_place(revision), "current": revision.revision, "changed": revision.created, "hidden": None}
                )
            return Saved(revision, created=True)

        return self._write(workspace, f"the flow `{new.slug}` cannot be saved", store)

    def remove(self, workspace: str, slug: str, base: int, *, author: str, note: str, time: datetime) -> Removed | StaleBase:
        """Hide a flow whose last revision is `base`. One that is hidden already stays as it was hidden, whatever the base."""
        require_act(author, note, time)

        def hide(connection: Connection) -> Removed | StaleBase:
            found = with_last(connection, workspace, slug)
            if found is None or found.revision is None:
                return StaleBase(None)
            answer = answer_to_removing(found.revision, found.removed, base)
            if answer is not None:
                return answer
            act = act_of_removing(found.revision, found.acts + 1, author, note, time)
            _write_acts(connection, (act,))
            return Removed(act, created=True)

        return self._write(workspace, f"the flow `{slug}` cannot be removed", hide)

    def bring(self, workspace: str, histories: Sequence[FlowHistory], bringing: Bringing) -> Sequence[Brought] | Sequence[Diverged]:
        """Store what is not here yet of each history, all of it in one transaction, or nothing where one of them diverged.

        Raises ValueError for what no store takes.
        """
        require_bringable(histories, bringing)

        def store(connection: Connection) -> Sequence[Brought] | Sequence[Diverged]:
            parted = [_parting(connection, workspace, each) for each in histories]
            return [each for each in parted if each is not None] or [_bring(connection, workspace, each, bringing) for each in histories]

        return self._write(workspace, "flows cannot be brought", store)

    def current(self, workspace: str, slug: str) -> Revision | None:
        """Give the current revision; None when there is none or it was removed."""
        found = self._database.read(lambda connection: with_last(connection, workspace, slug))
        return None if found is None or found.removed is not None else found.revision

    def find(self, workspace: str, slug: str) -> FlowRow | None:
        """Give a flow as it is listed, also a removed one; None when no flow ever had that slug."""
        found = self._database.read(lambda connection: find_row(connection, workspace, slug))
        return None if found is None else found[0]

    def revision(self, workspace: str, slug: str, revision: int) -> Revision | None:
        """Give one revision, also of a removed flow."""
        found = self._database.read(lambda connection: with_one(connection, workspace, slug, revision))
        return None if found is None else found.revision

    def holding(self, workspace: str, slug: str, content_digest: str) -> RevisionFacts | None:
        """Give the last revision of a flow that has this content; None when none has. Looks at its revisions from the last one back."""

        def look(connection: Connection) -> RevisionFacts | None:
            return next((each for each in all_revisions(connection, workspace, slug) if each.content_digest == content_digest), None)

        return self._database.read(look)

    def sources(self, workspace: str, limit: int, after: str = "", *, removed: bool = False) -> Sequence[FlowRow]:
        """List flows by slug, `limit` at a time, those after `after`; with `removed` also the removed ones."""
        return self._database.read(lambda connection: list_flows(connection, workspace, limit, after, removed=removed))

    def history(self, workspace: str, slug: str, limit: int, before: int | None = None) -> Sequence[RevisionFacts]:
        """List the revisions of a flow, the latest first, `limit` at a time, those with a number below `before`."""
        return self._database.read(lambda connection: list_revisions(connection, workspace, slug, limit, before))

    def acts(self, workspace: str, slug: str, limit: int, before: int | None = None) -> Sequence[FlowAct]:
        """List the acts on a flow, the latest first, `limit` at a time, those with a number below `before`."""
        return self._database.read(lambda connection: list_acts(connection, workspace, slug, limit, before))

    def definition(self, digest: str) -> bytes | None:
        """Give a stored definition's canonical bytes. Raises Damaged when they do not have that digest."""
        return read_definition(self._database, digest)

    def _write(self, workspace: str, failure: str, action: Callable[[Connection], T]) -> T:
        def in_turn(connection: Connection) -> T:
            _TAKE_TURNS.first(connection, {"workspace": workspace})
            return action(connection)

        try:
            return self._database.write(in_turn)
        except Refused as refused:
            there = self._database.read(lambda connection: find_workspace(connection, workspace))
            if there is None:
                raise  # it is for the caller to save into a Workspace that is there
            raise Damaged(f"{failure}: {refused}", RESTORE) from refused


def _parting(connection: Connection, workspace: str, history: FlowHistory) -> Diverged | None:
    here = list(all_revisions(connection, workspace, history.slug))
    return parting(reversed(here), history)


def _bring(connection: Connection, workspace: str, history: FlowHistory, bringing: Bringing) -> Brought:
    found = find_row(connection, workspace, history.slug)
    last, acts = (0, 0) if found is None else (found[0].last.revision, found[1])
    for number, new in enumerate(history.revisions[last:], start=last + 1):
        _write_revision(connection, revision_numbered(number, workspace, new), new.definition)
    if last < len(history.revisions):
        _write_acts(connection, acts_of_bringing(workspace, history, last + 1, acts + 1, bringing))
    return Brought(history.slug, last + 1, max(last, len(history.revisions)))


def _write_revision(connection: Connection, revision: Revision, definition: bytes) -> None:
    """Write a revision, the first one with its flow, and each with its modules."""
    keep_definition(connection, revision.definition_digest, definition)
    if revision.revision == 1:
        _INSERT_SOURCE.write_one(connection, {**_place(revision), "slug": revision.slug, "began": revision.created})
    _INSERT_REVISION.write_one(connection, revision_values(revision))
    for each in module_values(revision):
        _INSERT_MODULE.write_one(connection, each)


def _write_acts(connection: Connection, acts: Sequence[FlowAct]) -> None:
    """Write acts, and make their flow what the last of them says."""
    for act in acts:
        _INSERT_ACT.write_one(connection, act_values(act))
    last = acts[-1]
    hidden = None if removal(last, last.revision) is None else last.created
    _MOVE_SOURCE.write_one(connection, {**_place(last), "current": last.revision, "changed": last.created, "hidden": hidden})


def _place(of: Revision | FlowAct) -> Row:
    return {"workspace": of.workspace, "flow_id": of.flow_id}
