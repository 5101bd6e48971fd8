"""A store read through: every Workspace, definition, flow, revision, act, token and Worker held against its digest and its neighbours.

Invariants: nothing is written; what is read at a time is bounded. Each fault is one line that names what it is of. To be called inside a
transaction that sees one moment, on either database. What an older version kept is held against the same digests, table by table. Entries
of logs are not read: a log is verified by itself, with its seals.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import islice
from typing import Any, Final, TypeAlias

from sqlalchemy import ColumnElement, Table, bindparam, select, tuple_

from stateward.runtime.session.chain import digest_of
from stateward.store.acts import removal
from stateward.store.codecs import head_of as base_of
from stateward.store.codecs import number_of, require_as_written, text_of, worker_of, workspace_of
from stateward.store.compiling import prepared
from stateward.store.connection import Connection, SqlValue
from stateward.store.flow_codecs import act_of, revision_of, token_of
from stateward.store.flow_statements import CLOSURE
from stateward.store.limits import CLOSURE_DIGEST
from stateward.store.prepared import Inconsistent, NotWritten, Row
from stateward.store.revisions import flow_id_of
from stateward.store.shape import tables_in
from stateward.store.tables import (
    DEFINITIONS,
    FLOW_ACTS,
    FLOW_MODULES,
    FLOW_REVISIONS,
    FLOW_SOURCES,
    TOKENS,
    TOMBSTONES,
    WORKERS,
    WORKSPACES,
)
from stateward.store.texts import statement

FINDINGS_MAX: Final = 100
"""Of a store; what is beyond is not said."""
PAGE: Final = 16
"""Rows that are read at a time: the largest holds 16 MiB."""

_FlowKey: TypeAlias = tuple[object, object]
_Check: TypeAlias = Callable[[Row], object]


class _Table:
    """The rows of a table in the order of its key."""

    def __init__(self, table: Table, *more: ColumnElement[Any]) -> None:
        """Read a table, with more than its columns where that is said."""
        columns = list(table.primary_key.columns)
        self.table: Final = table
        self.key: Final = tuple(str(column.key) for column in columns)
        place = tuple_(*(bindparam(f"key_{name}") for name in self.key))
        self._count: Final = f"SELECT count(*) FROM {table.name}"  # noqa: S608 -- a name of ours
        self._first: Final = prepared(select(*table.c, *more).order_by(*columns).limit(PAGE))
        self._after: Final = prepared(select(*table.c, *more).where(tuple_(*columns) > place).order_by(*columns).limit(PAGE))

    def rows(self, connection: Connection) -> Iterator[Row | str]:
        """Give the rows, and in place of one that cannot be read what is wrong with it. No more than there are, whatever their order."""
        (count,) = connection.execute(self._count).fetchone()
        last: Mapping[str, SqlValue] = {}
        for _ in range(count // PAGE + 1):
            statement = self._after if last else self._first
            fetched = statement.run(connection, last).fetchall()
            for each in fetched:
                try:
                    yield statement.read(each)
                except NotWritten as problem:
                    yield f"a row of `{self.table.name}` holds what no store writes ({problem})"
            if not fetched:
                return
            names = list(self.table.columns.keys())
            last = {f"key_{name}": fetched[-1][names.index(name)] for name in self.key}


_ORDER: Final = tuple(_Table(each) for each in (WORKSPACES, DEFINITIONS, WORKERS, TOMBSTONES, TOKENS))
_SOURCES: Final = _Table(FLOW_SOURCES)
_REVISIONS: Final = _Table(FLOW_REVISIONS)
_WITH_CLOSURE: Final = _Table(FLOW_REVISIONS, CLOSURE)
_MODULES: Final = statement("flow_statements.MODULES")
_ACTS: Final = _Table(FLOW_ACTS)


def faults(connection: Connection, version: int) -> tuple[str, ...]:
    """Say what is wrong with what a store of a version holds, the first `FINDINGS_MAX` of it."""
    found = islice(_faults(connection, version), FINDINGS_MAX)
    return tuple(each.encode("utf-8", "backslashreplace").decode() for each in found)


def _faults(connection: Connection, version: int) -> Iterator[str]:
    there = tables_in(version)
    for table in _ORDER:
        if table.table.name in there:
            yield from _alone(connection, table)
    yield from _Flows(with_acts=FLOW_ACTS.name in there, with_modules=FLOW_MODULES.name in there).faults(connection)


def _alone(connection: Connection, table: _Table) -> Iterator[str]:
    check = _CHECKS[table.table.name]
    for row in table.rows(connection):
        yield from [row] if isinstance(row, str) else _said(check, row, f"a row of `{table.table.name}`, {row[table.key[-1]]!r}")


def _said(check: _Check, row: Row, what: str) -> Iterator[str]:
    try:
        check(row)
    except (NotWritten, UnicodeEncodeError) as problem:
        yield f"{what}: {problem}"


def _require_revision(connection: Connection, row: Row) -> None:
    # Its name lies elsewhere, and no digest of its row covers it. What was written before there were modules has no digest of any.
    revision_of({CLOSURE_DIGEST: None, **row}, "", lambda: _MODULES.all(connection, row))


def _require_definition(row: Row) -> None:
    canonical: object = row["canonical"]
    if not isinstance(canonical, bytes) or digest_of(canonical) != row["digest"]:
        raise NotWritten("a definition does not have its digest")


_CHECKS: Final[Mapping[str, _Check]] = {
    WORKSPACES.name: workspace_of,
    DEFINITIONS.name: _require_definition,
    WORKERS.name: lambda row: worker_of(row, base_of(row, "base_")),
    TOMBSTONES.name: lambda row: require_as_written(TOMBSTONES.name, row),
    TOKENS.name: token_of,
}


class _Flows:
    """Flows beside their revisions and acts, which come in the order of flows, so that what is kept of them is little."""

    def __init__(self, *, with_acts: bool, with_modules: bool) -> None:
        self._with_acts: Final = with_acts
        self._all_revisions: Final = _WITH_CLOSURE if with_modules else _REVISIONS
        self._revisions: Final[dict[_FlowKey, int]] = {}
        """The last revision of each flow."""
        self._acts: Final[dict[_FlowKey, Row]] = {}
        """The last act on each flow."""

    def faults(self, connection: Connection) -> Iterator[str]:
        """Say what is wrong with them."""
        slugs = {_flow(row): row["slug"] for row in _SOURCES.rows(connection) if not isinstance(row, str)}
        for row in self._all_revisions.rows(connection):
            if isinstance(row, str):
                yield row
                continue
            slug = str(slugs.get(_flow(row), row["flow_id"]))
            yield from _said(partial(_require_revision, connection), row, f"revision {row['revision']} of the flow `{slug}`")
            yield from self._counted(self._revisions, row, "revision", slug)
        if self._with_acts:
            yield from self._of_acts(connection, slugs)
        for row in _SOURCES.rows(connection):
            yield from [row] if isinstance(row, str) else _said(self._require_fitting, row, f"the flow `{row['slug']}`")
        for key in self._revisions.keys() - slugs.keys():
            yield f"the flow {key[1]} has revisions and is missing itself"

    def _of_acts(self, connection: Connection, slugs: Mapping[_FlowKey, object]) -> Iterator[str]:
        numbers: dict[_FlowKey, int] = {}
        for row in _ACTS.rows(connection):
            if isinstance(row, str):
                yield row
                continue
            slug = str(slugs.get(_flow(row), row["flow_id"]))
            yield from _said(act_of, row, f"act {row['number']} on the flow `{slug}`")
            yield from self._counted(numbers, row, "number", slug)
            self._acts[_flow(row)] = row

    def _counted(self, last: dict[_FlowKey, int], row: Row, counter: str, slug: str) -> Iterator[str]:
        """Say which one is missing before a row, and note the row."""
        expected = last.get(_flow(row), 0) + 1
        number: object = row[counter]
        if isinstance(number, int):
            last[_flow(row)] = number
        if number != expected:
            yield f"the flow `{slug}` lacks its {'revision' if counter == 'revision' else 'act'} {expected}"

    def _require_fitting(self, row: Row) -> None:
        slug, current = text_of(row, "slug"), number_of(row, "revision")
        last, act = self._revisions.get(_flow(row), 0), self._acts.get(_flow(row))
        if not last and act is None:
            raise Inconsistent("nothing of it was ever saved, or all of it was lost")
        if row["flow_id"] != flow_id_of(text_of(row, "workspace"), slug):
            raise Inconsistent("its id is not the one that follows from its name")
        if current != last:
            raise Inconsistent(f"its current revision is {current}, its last one {last}")
        hidden = None if act is None else removal(act_of(act), current)
        if row["removed_at"] != (None if hidden is None else hidden.created):
            raise Inconsistent("its last act does not say whether it is hidden")


def _flow(row: Row) -> _FlowKey:
    return row["workspace"], row["flow_id"]
