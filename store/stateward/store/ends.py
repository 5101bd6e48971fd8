"""Where a log begins and ends, as several tables say it: read together and held against each other.

Invariant: that there is no such Worker is said only when neither an identity nor a head nor an entry of it is there.
"""

from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import BindParameter, ColumnElement, Select, bindparam, exists, func, literal, select

from stateward.runtime.ports import Damaged, WorkerRow
from stateward.runtime.session.entries import GENESIS, Head, reference
from stateward.store.codecs import DIGEST_CHARACTERS, head_of, worker_of
from stateward.store.connection import Connection
from stateward.store.prepared import Prepared, Row
from stateward.store.tables import ENTRIES, HEADS, WORKERS

REMEDY: Final = "restore the store from a backup; entries before the damage can still be read"

_WORKER: Final[BindParameter[Any]] = bindparam("worker")
_WORKSPACE: Final[BindParameter[Any]] = bindparam("workspace")
_OTHERS: Final = WORKERS.alias("others")
_LAST: Final = select(ENTRIES.c.seq).where(ENTRIES.c.worker == WORKERS.c.id).order_by(ENTRIES.c.seq.desc()).limit(1).scalar_subquery()
_LAST_DIGEST: Final = (
    select(ENTRIES.c.digest).where(ENTRIES.c.worker == WORKERS.c.id).order_by(ENTRIES.c.seq.desc()).limit(1).scalar_subquery()
)


def _logs(*identity: ColumnElement[Any]) -> Select[Any]:
    return select(*identity, HEADS.c.seq, HEADS.c.digest, _LAST.label("last_seq"), _LAST_DIGEST.label("last_digest")).select_from(
        WORKERS.outerjoin(HEADS, HEADS.c.worker == WORKERS.c.id)
    )


_ENDS: Final = Prepared(_logs(WORKERS.c.base_seq, WORKERS.c.base_digest).where(WORKERS.c.id == _WORKER))
# A row of another table, on a page that was written over one of these, holds no such digest.
_WITHOUT_IDENTITY: Final = ~exists(
    select(WORKERS.c.id).where(WORKERS.c.id == HEADS.c.worker, func.length(WORKERS.c.row_digest) == DIGEST_CHARACTERS)
)
_NO_IDENTITY: Final = ~exists(select(WORKERS.c.id).where(WORKERS.c.id == _WORKER))
_TRACES: Final = (
    Prepared(select(HEADS.c.seq).where(HEADS.c.worker == _WORKER, _NO_IDENTITY)),
    Prepared(select(ENTRIES.c.seq).where(ENTRIES.c.worker == _WORKER, _NO_IDENTITY).limit(1)),
)
# Compared in an expression, the Workspace is looked at in the rows themselves; besides it is in the index, which has a copy. What either of
# the two says is read.
_BY_INDEX: Final = select(_OTHERS.c.id).where(_OTHERS.c.workspace == _WORKSPACE)
_LIST: Final = Prepared(
    _logs(*WORKERS.c)
    .where((WORKERS.c.workspace + literal("") == _WORKSPACE) | WORKERS.c.id.in_(_BY_INDEX), WORKERS.c.id > bindparam("after"))
    .order_by(WORKERS.c.id)
    .limit(bindparam("limit")),
    _logs(*WORKERS.c)
    .where(WORKERS.c.workspace == _WORKSPACE, WORKERS.c.id > bindparam("after"))
    .order_by(WORKERS.c.id)
    .limit(bindparam("limit")),
)
_LOST: Final = Prepared(
    select(HEADS.c.worker)
    .where(HEADS.c.worker > bindparam("after"), HEADS.c.worker <= bindparam("upto"), _WITHOUT_IDENTITY)
    .order_by(HEADS.c.worker)
    .limit(1),
)
_LAST_TEXT: Final = chr(0x10FFFF)
"""After every id."""


@dataclass(frozen=True, slots=True)
class Found:
    """The ends of a log as they are stored."""

    base: Head
    head: Head | None
    last: Head
    """The last entry, or where the log goes on from when there is none."""


def find_ends(connection: Connection, worker: str) -> Found | None:
    """Give the ends of a log; None when there is no such Worker. Raises Damaged, and NotWritten."""
    row = _ENDS.first(connection, {"worker": worker})
    if row is not None:
        return _found(row)
    if any(trace.first(connection, {"worker": worker}) is not None for trace in _TRACES):
        raise damaged_log(worker, "its identity is missing")
    return None


def require_head(worker: str, found: Found) -> Head:
    """Give the head of a log. Raises Damaged when it is missing, is not the last entry, or what is before the log cannot be."""
    if found.head is None:
        raise damaged_log(worker, "its head is missing")
    if found.base.seq >= found.head.seq or len(found.base.digest) != DIGEST_CHARACTERS:
        raise damaged_log(worker, "its identity is not what was written")
    if found.head != found.last:
        last = 0 if found.last == found.base else found.last.seq
        raise damaged_log(worker, f"its head is {reference(found.head.seq)}, its last entry {reference(last)}")
    return found.head


def list_workers(connection: Connection, workspace: str, limit: int, after: str) -> list[WorkerRow]:
    """List Workers by id; one whose log is damaged is in its row, and hides no other. Raises Damaged, and NotWritten."""
    rows = _LIST.all(connection, {"workspace": workspace, "limit": limit, "after": after})
    upto = rows[-1]["id"] if len(rows) == limit else _LAST_TEXT
    lost = _LOST.first(connection, {"after": after, "upto": upto})
    if lost is not None:
        raise damaged_log(lost["worker"], "its identity is missing")
    return [_listed(row) for row in rows]


def _listed(row: Row) -> WorkerRow:
    found = _found(row)
    try:
        return worker_of(row, require_head(row["id"], found))
    except Damaged as damaged:
        return worker_of(row, found.head or GENESIS, damaged.message)


def _found(row: Row) -> Found:
    base = head_of(row, "base_")
    head = None if row["seq"] is None and row["digest"] is None else head_of(row)
    return Found(base, head, base if row["last_seq"] is None else head_of(row, "last_"))


def damaged_log(worker: str, problem: str) -> Damaged:
    """Say that a log is damaged."""
    return Damaged(f"the log of Worker {worker} is damaged: {problem}", REMEDY)
