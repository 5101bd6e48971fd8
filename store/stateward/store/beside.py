"""Payloads that are too large to lie in their entries: each lies beside them, once, under its digest.

Invariants: a payload of up to INLINE_BYTES_MAX lies in its entry, a larger one in `payloads`; one that an entry refers to is there.
Beyond what an entry may hold (`session.entries`) nothing is stored: whoever records such a thing decides what of it is kept.
"""

from typing import Final

from stateward.runtime.session.entries import Entry
from stateward.store.connection import Connection
from stateward.store.prepared import Inconsistent
from stateward.store.texts import statement

INLINE_BYTES_MAX: Final = 256 * 1024

_HOLD: Final = statement("session_statements.HOLD_PAYLOAD")
_INSERT: Final = statement("session_statements.INSERT_PAYLOAD")
_SWEEP: Final = statement("session_statements.SWEEP_PAYLOADS")


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
