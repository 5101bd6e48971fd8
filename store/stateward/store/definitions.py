"""Compiled definitions under their digests, for flows and for session logs alike.

Invariants: the bytes under a digest have that digest; they are stored once and never again.
"""

from typing import Final

from stateward.runtime.ports import Damaged
from stateward.runtime.session.chain import digest_of
from stateward.store.absence import Neighbours
from stateward.store.connection import Connection, Database
from stateward.store.faults import RESTORE
from stateward.store.prepared import Inconsistent, NotWritten, Row
from stateward.store.texts import statement

_FIND: Final = statement("session_statements.FIND_DEFINITION")
_INSERT: Final = statement("session_statements.INSERT_DEFINITION")


def _require_own_digest(table: str, row: Row) -> None:
    canonical: object = row["canonical"]
    if not isinstance(canonical, bytes) or digest_of(canonical) != row["digest"]:
        raise NotWritten(f"a row of `{table}` does not have its digest")


_NEIGHBOURS: Final = Neighbours("definitions", _require_own_digest)


def read_definition(database: Database, digest: str) -> bytes | None:
    """Give a definition's canonical bytes. Raises Damaged when they do not have that digest."""

    def look(connection: Connection) -> bytes | None:
        row = _FIND.first(connection, {"digest": digest})
        if row is None:
            _NEIGHBOURS.require_sound(connection, (digest,))
            return None
        canonical: object = row["canonical"]
        if not isinstance(canonical, bytes) or digest_of(canonical) != digest:
            raise _damaged(digest)
        return canonical

    return database.read(look)


def keep_definition(connection: Connection, digest: str, canonical: bytes) -> None:
    """Store a definition unless it is there. Raises Damaged when something else is."""
    row = _FIND.first(connection, {"digest": digest})
    if row is None:
        if _INSERT.run(connection, {"digest": digest, "canonical": canonical}).rowcount == 1:
            return
        row = _FIND.first(connection, {"digest": digest})  # of whoever wrote it meanwhile
    if row is None:
        raise Inconsistent(f"the definition {digest} was not kept")
    if row["canonical"] != canonical:
        raise _damaged(digest)


def _damaged(digest: str) -> Damaged:
    return Damaged(f"the definition {digest} is not what was written", RESTORE)
