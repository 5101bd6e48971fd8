"""Deleting the log of a Worker: the one way in which written rows ever go.

Invariant: in one transaction a tombstone says which head the log ended at, and everything of the Worker goes; the rules of the database
let nothing go without that tombstone, and nothing come again after it.
"""

from datetime import datetime
from typing import Final

from stateward.runtime.ports import Deleted, Moved
from stateward.runtime.session.entries import GENESIS, Head
from stateward.store.absence import Neighbours
from stateward.store.beside import forget_payloads
from stateward.store.codecs import head_of, require_as_written, with_digest
from stateward.store.connection import Connection
from stateward.store.ends import damaged_log, find_ends
from stateward.store.texts import statement

_HEAD: Final = statement("session_statements.HEAD_TO_DELETE")
_TOMBSTONE: Final = statement("session_statements.TOMBSTONE")
_NEIGHBOURS: Final = Neighbours("tombstones", require_as_written)
_BURY: Final = statement("session_statements.BURY")
_CLEAR: Final = tuple(statement(f"session_statements.CLEAR_{table}") for table in ("LEASES", "TRANSCRIPTS", "HEADS", "ENTRIES", "WORKERS"))


def tombstone(connection: Connection, worker: str) -> Head | None:
    """Give the head at which a Worker was deleted; None when it never was."""
    row = _TOMBSTONE.first(connection, {"worker": worker})
    if row is None:
        _NEIGHBOURS.require_sound(connection, (worker,))
        return None
    require_as_written("tombstones", row)
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
    _BURY.write_one(connection, with_digest("tombstones", {**place, "seq": expected.seq, "digest": expected.digest, "deleted": time}))
    for each in _CLEAR:
        each.run(connection, {"worker": worker})
    forget_payloads(connection)
    return Deleted(expected)
