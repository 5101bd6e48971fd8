"""Deleting the log of a Worker: the one way in which written rows ever go.

Invariant: in one transaction a tombstone says which head the log ended at, and everything of the Worker goes; the rules of the database
let nothing go without that tombstone, and nothing come again after it.
"""

from datetime import datetime
from typing import Final

from sqlalchemy import bindparam, delete, insert, select

from stateward.runtime.ports import Deleted, Moved
from stateward.runtime.session.entries import GENESIS, Head
from stateward.store.absence import Neighbours
from stateward.store.beside import forget_payloads
from stateward.store.codecs import head_of, require_as_written, with_digest
from stateward.store.connection import Connection
from stateward.store.ends import damaged_log, find_ends
from stateward.store.prepared import Prepared
from stateward.store.tables import ENTRIES, HEADS, LEASES, TOMBSTONES, TRANSCRIPTS, WORKERS

_HEAD: Final = Prepared(
    select(HEADS.c.seq, HEADS.c.digest, WORKERS.c.workspace)
    .join(WORKERS, WORKERS.c.id == HEADS.c.worker)
    .where(HEADS.c.worker == bindparam("worker"))
    .with_for_update(of=HEADS),
)
_TOMBSTONE: Final = Prepared(select(TOMBSTONES).where(TOMBSTONES.c.worker == bindparam("worker")))
_NEIGHBOURS: Final = Neighbours(TOMBSTONES, require_as_written)
_BURY: Final = Prepared(insert(TOMBSTONES))
_CLEAR: Final = (
    Prepared(delete(LEASES).where(LEASES.c.worker == bindparam("worker"))),
    Prepared(delete(TRANSCRIPTS).where(TRANSCRIPTS.c.worker == bindparam("worker"))),
    Prepared(delete(HEADS).where(HEADS.c.worker == bindparam("worker"))),
    Prepared(delete(ENTRIES).where(ENTRIES.c.worker == bindparam("worker"))),
    Prepared(delete(WORKERS).where(WORKERS.c.id == bindparam("worker"))),
)


def tombstone(connection: Connection, worker: str) -> Head | None:
    """Give the head at which a Worker was deleted; None when it never was."""
    row = _TOMBSTONE.first(connection, {"worker": worker})
    if row is None:
        _NEIGHBOURS.require_sound(connection, (worker,))
        return None
    require_as_written(TOMBSTONES, row)
    return head_of(row)


def delete_log(connection: Connection, worker: str, expected: Head, time: datetime) -> Deleted | Moved:
    """Delete a Worker's log whose head is still `expected`."""
    row = _HEAD.first(connection, {"worker": worker})
    if row is None:
        if find_ends(connection, worker) is not None:
            raise damaged_log(worker, "its head is missing")
        buried = tombstone(connection, worker)
        return Deleted(expected) if buried == expected else Moved(buried or GENESIS)
    if head_of(row) != expected:
        return Moved(head_of(row))
    place = {"worker": worker, "workspace": row["workspace"]}
    _BURY.write_one(connection, with_digest(TOMBSTONES, {**place, "seq": expected.seq, "digest": expected.digest, "deleted": time}))
    for statement in _CLEAR:
        statement.run(connection, {"worker": worker})
    forget_payloads(connection)
    return Deleted(expected)
