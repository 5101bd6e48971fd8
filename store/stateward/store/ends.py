"""Where a log begins and ends, as several tables say it: read together and held against each other.

Invariant: that there is no such Worker is said only when neither an identity nor a head nor an entry of it is there.
"""

from typing import Final, NamedTuple

from stateward.runtime.ports import Damaged, WorkerRow
from stateward.runtime.session.entries import GENESIS, Head, reference
from stateward.store.codecs import head_of, worker_of
from stateward.store.connection import Connection
from stateward.store.limits import DIGEST_CHARACTERS
from stateward.store.prepared import Row
from stateward.store.texts import statement

REMEDY: Final = "restore the store from a backup; entries before the damage can still be read"

_ENDS: Final = statement("session_statements.ENDS")
_TRACES: Final = (statement("session_statements.HEAD_ALONE"), statement("session_statements.ENTRIES_ALONE"))
_LIST: Final = statement("session_statements.LIST")
_LOST: Final = statement("session_statements.LOST")
_LAST_TEXT: Final = chr(0x10FFFF)
"""After every id."""


class Found(NamedTuple):
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
