"""What is read of flows: their rows beside their revisions and the acts on them, held against each other.

Invariants: what is read has the digest it was stored under; a flow that is missing has no revisions; the current revision is the last
one, no revision up to it and no act up to the last is missing, and a flow is hidden exactly when its last act hid that revision. Each
statement sees one moment by itself; what several of them say still fits together, since revisions and acts only become more.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from stateward.runtime.ports import PAGE_MAX, FlowAct, FlowRow, Revision, RevisionFacts
from stateward.store.absence import Neighbours
from stateward.store.acts import removal
from stateward.store.codecs import number_of, require_as_written, text_of
from stateward.store.connection import Connection
from stateward.store.flow_codecs import act_of, facts_of, revision_of
from stateward.store.limits import ACT
from stateward.store.prepared import Inconsistent, NotWritten, Prepared, Row
from stateward.store.revisions import flow_id_of
from stateward.store.texts import COLUMNS, statement

NUMBER_MAX: Final = 2**31 - 1
"""Of a revision or an act: what every database takes."""
FIRST_PAGE: Final = 16
"""Revisions that are read at first where one of them is looked for."""
STRAYS_MAX: Final = 1000
"""Rows of flows of which nothing was ever saved, that a page of a listing passes over."""
_ACTS: Final = statement("flow_statements.ACTS")
_ALL: Final = statement("flow_statements.ALL")
_COUNTED: Final = statement("flow_statements.COUNTED")
_FIND: Final = statement("flow_statements.FIND")
_MODULES: Final = statement("flow_statements.MODULES")
_NAMED: Final = statement("flow_statements.NAMED")
_NOT_BEGUN: Final = statement("flow_statements.NOT_BEGUN")
_OF_A_MISSING_FLOW: Final = statement("flow_statements.OF_A_MISSING_FLOW")
_PRESENT: Final = statement("flow_statements.PRESENT")
_REVISIONS: Final = statement("flow_statements.REVISIONS")
_WITH_LAST: Final = statement("flow_statements.WITH_LAST")
_WITH_ONE: Final = statement("flow_statements.WITH_ONE")
_WITHOUT_ROW: Final = statement("flow_statements.WITHOUT_ROW")
_OF_ACTS: Final = tuple((name, f"{ACT}{name}") for name in COLUMNS["flow_acts"])
"""The columns of an act, and what they are called beside those of its flow."""
_NEIGHBOURS: Final = Neighbours("flow_acts", require_as_written)


@dataclass(frozen=True, slots=True)
class Found:
    """A flow, its last act, and the revision of it that was asked for, if there is one with that number."""

    last: int
    """The number of its last revision."""
    last_act: FlowAct | None
    revision: Revision | None

    @property
    def acts(self) -> int:
        """How many acts there were on it."""
        return 0 if self.last_act is None else self.last_act.number

    @property
    def removed(self) -> FlowAct | None:
        """How it was removed, if it is."""
        return removal(self.last_act, self.last)


def with_last(connection: Connection, workspace: str, slug: str) -> Found | None:
    """Find a flow with its last revision. Raises NotWritten for one that is not as it was."""
    return _found(connection, _WITH_LAST, workspace, slug, None)


def with_one(connection: Connection, workspace: str, slug: str, number: int) -> Found | None:
    """Find a flow with the revision of a number. Raises NotWritten for one that is not as it was."""
    return _found(connection, _WITH_ONE, workspace, slug, number if 1 <= number <= NUMBER_MAX else 0)


def find_row(connection: Connection, workspace: str, slug: str) -> tuple[FlowRow, int] | None:
    """Find a flow as it is listed, and give the number of its last act, 0 before the first."""
    found = _row(connection, _FIND, workspace, slug, None)
    if found is None:
        return None
    listed = _listed(*found, slug)
    return listed, 0 if found[1] is None else found[1].number


def list_flows(connection: Connection, workspace: str, limit: int, after: str, *, removed: bool) -> list[FlowRow]:
    """List flows by slug. Raises NotWritten when one is lost or not as it was."""
    values = {"workspace": workspace, "after": after, "limit": limit}
    if not after and _WITHOUT_ROW.first(connection, values) is not None:
        raise Inconsistent("a revision is there without its flow")
    rows = (_ALL if removed else _PRESENT).all(connection, values)
    found = [_listed(row, _fitting(row, workspace, _slug_of(row), None), _slug_of(row)) for row in rows]
    within = {**values, "upto": found[-1].last.slug if found and len(found) == limit else ""}
    _require_strays_only(_NOT_BEGUN.all(connection, {**within, "limit": STRAYS_MAX}), workspace)
    counted = _COUNTED.first(connection, within)
    if counted is None or counted["known"] != counted["there"]:
        raise Inconsistent("a flow is known by its name and missing itself")
    return found


def _require_strays_only(rows: Sequence[Row], workspace: str) -> None:
    """Raise Inconsistent where a flow lost all its revisions. A row whose id is none that a save gives never had one: no flow is lost."""
    for row in rows:
        slug = _slug_of(row)
        if row["flow_id"] == flow_id_of(workspace, slug):
            raise Inconsistent(f"the flow `{slug}` has no revision")
    if len(rows) == STRAYS_MAX:
        raise Inconsistent(f"there are {STRAYS_MAX} flows without a revision")


def list_revisions(connection: Connection, workspace: str, slug: str, limit: int, before: int | None) -> list[RevisionFacts]:
    """List revisions, the latest first. Raises NotWritten when one is missing or not as it was."""
    found = find_row(connection, workspace, slug)
    if found is None:
        return []
    upto = _upto(found[0].last.revision, before)
    rows = _REVISIONS.all(connection, _page_values(workspace, slug, upto, limit))
    _require_unbroken(f"the flow `{slug}`", "revision", rows, upto, limit)
    return [facts_of(row, slug) for row in rows]


def all_revisions(connection: Connection, workspace: str, slug: str) -> Iterator[RevisionFacts]:
    """Give the revisions of a flow, the latest first, in pages that grow: what is looked for is mostly among the last ones."""
    before, limit = None, FIRST_PAGE
    while before != 1:
        page = list_revisions(connection, workspace, slug, limit, before)
        if not page:
            return
        yield from page
        before, limit = page[-1].revision, min(2 * limit, PAGE_MAX)


def list_acts(connection: Connection, workspace: str, slug: str, limit: int, before: int | None) -> list[FlowAct]:
    """List acts, the latest first. Raises NotWritten when one is missing or not as it was."""
    found = find_row(connection, workspace, slug)
    if found is None:
        return []
    last = found[1]
    _NEIGHBOURS.require_sound(connection, (workspace, flow_id_of(workspace, slug), last + 1))
    upto = _upto(last, before)
    rows = _ACTS.all(connection, _page_values(workspace, slug, upto, limit))
    _require_unbroken(f"the flow `{slug}`", "number", rows, upto, limit)
    return [act_of(row) for row in rows]


def _found(connection: Connection, statement: Prepared, workspace: str, slug: str, number: int | None) -> Found | None:
    found = _row(connection, statement, workspace, slug, number)
    if found is None:
        return None
    row, last_act = found
    if row["flow_id"] is None:
        return Found(number_of(row, "current"), last_act, None)
    return Found(number_of(row, "current"), last_act, revision_of(row, slug, lambda: _MODULES.all(connection, row)))


def _listed(row: Row, last_act: FlowAct | None, slug: str) -> FlowRow:
    last = facts_of(row, slug)
    return FlowRow(last, removal(last_act, last.revision))


def _row(connection: Connection, statement: Prepared, workspace: str, slug: str, number: int | None) -> tuple[Row, FlowAct | None] | None:
    """Find a flow's row, beside its last revision, or the one of a number, and its last act."""
    values = {"workspace": workspace, "flow_id": flow_id_of(workspace, slug), "number": number}
    problem = ""
    for _ in range(2):  # what is found beside it may have been committed between two statements: then it is there itself by now
        row = statement.first(connection, values)
        if row is not None:
            return row, _fitting(row, workspace, slug, number)
        if _OF_A_MISSING_FLOW.first(connection, values) is not None:
            problem = f"the flow `{slug}` has revisions and is missing itself"
        elif _NAMED.first(connection, {**values, "slug": slug}) is not None:
            problem = f"the flow `{slug}` has another id than it was given"
        else:
            return None
    raise Inconsistent(problem)


def _fitting(row: Row, workspace: str, slug: str, number: int | None) -> FlowAct | None:
    """Give the last act on a flow whose row fits what is beside it. Raises Inconsistent for any other."""
    current = number_of(row, "current")
    if (row["slug"], row["source_flow_id"]) != (slug, flow_id_of(workspace, slug)):
        raise Inconsistent(f"the flow `{slug}` has another name than it was given")
    if current != row["last"]:
        raise Inconsistent(f"the current revision of the flow `{slug}` is {current}, its last one {row['last'] or 0}")
    if row["flow_id"] is None and (number is None or 1 <= number <= current):
        raise Inconsistent(f"revision {number or current} of the flow `{slug}` is missing")
    last_act = _last_act(row)
    hidden = removal(last_act, current)
    at: datetime | None = row["removed_at"]
    if at != (None if hidden is None else hidden.created):
        raise Inconsistent(f"the flow `{slug}` is {'not ' if at is None else ''}hidden, and its last act says otherwise")
    return last_act


def _slug_of(row: Row) -> str:
    slug = text_of(row, "slug")
    try:
        slug.encode()
    except UnicodeEncodeError as problem:
        raise NotWritten(f"its `slug` is no text: {problem.reason}") from problem
    return slug


def _last_act(row: Row) -> FlowAct | None:
    if row[f"{ACT}number"] is None:
        return None
    return act_of({name: row[label] for name, label in _OF_ACTS})


def _upto(last: int, before: int | None) -> int:
    return last if before is None else max(min(before - 1, last), 0)


def _page_values(workspace: str, slug: str, upto: int, limit: int) -> Row:
    return {"workspace": workspace, "flow_id": flow_id_of(workspace, slug), "upto": upto, "limit": limit}


def _require_unbroken(what: str, counter: str, rows: Sequence[Row], upto: int, limit: int) -> None:
    """Raise NotWritten unless a page holds the rows of all numbers from `upto` down."""
    expected = list(range(upto, max(upto - limit, 0), -1))
    there = [row[counter] for row in rows]
    if there != expected:
        missing = next((number for number in expected if number not in there), upto)
        raise Inconsistent(f"{what} lacks its {'act' if counter == 'number' else 'revision'} {missing}")
