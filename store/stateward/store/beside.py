"""Payloads that are too large to lie in their entries: each lies beside them, once, under its digest.

Invariants: a payload of up to INLINE_BYTES_MAX lies in its entry, a larger one in `payloads`; one that an entry refers to is there.
Beyond what an entry may hold (`session.entries`) nothing is stored: whoever records such a thing decides what of it is kept.
"""

from typing import Final

from sqlalchemy import bindparam, delete, exists, func, select

from stateward.runtime.session.entries import Entry
from stateward.store.connection import Connection
from stateward.store.prepared import Inconsistent, Prepared, insert_unless_there
from stateward.store.tables import ENTRIES, PAYLOADS

INLINE_BYTES_MAX: Final = 256 * 1024

_REFERS: Final = (ENTRIES.c.payload_digest == PAYLOADS.c.digest) & ENTRIES.c.payload.is_(None)

# Held until the entry that refers to it is committed, so that nobody who deletes another entry takes it away.
_HOLD: Final = Prepared(
    select(PAYLOADS.c.digest).where(PAYLOADS.c.digest == bindparam("digest")).with_for_update(read=True, key_share=True),
)
_INSERT: Final = insert_unless_there(PAYLOADS)
_SWEEP: Final = Prepared(delete(PAYLOADS).where(~exists().where(_REFERS)))

PAYLOAD: Final = func.coalesce(
    ENTRIES.c.payload,
    select(PAYLOADS.c.content).where(PAYLOADS.c.digest == ENTRIES.c.payload_digest).scalar_subquery(),
).label("payload")
"""An entry's payload, wherever it lies."""

PAYLOAD_BYTES: Final = func.coalesce(
    func.octet_length(ENTRIES.c.payload),
    select(func.octet_length(PAYLOADS.c.content)).where(PAYLOADS.c.digest == ENTRIES.c.payload_digest).scalar_subquery(),
    0,
)
"""The size of an entry's payload, read off without reading the payload."""


def lies_beside(entry: Entry) -> bool:
    """Whether an entry's payload is too large to lie in it."""
    return len(entry.payload) > INLINE_BYTES_MAX


def keep_payload(connection: Connection, entry: Entry) -> None:
    """Store an entry's payload beside it unless it is there."""
    if _HOLD.first(connection, {"digest": entry.payload_digest}) is None:
        values = {"digest": entry.payload_digest, "content": entry.payload}
        if _INSERT.run(connection, values).rowcount != 1 and _HOLD.first(connection, values) is None:
            raise Inconsistent("a payload was not kept")


def forget_payloads(connection: Connection) -> None:
    """Delete the payloads that no entry refers to any more."""
    _SWEEP.run(connection, {})
