"""Leases on a database.

Invariants: an attempt has one row at most; the row with a Worker's greatest token stays until a lease with a greater one is taken, so
tokens grow though rows go. Nothing here waits for the disk: a lease that is lost with the power is as good as one that expired, and the
next token is greater all the same (`leasing.py`).
"""

from datetime import UTC, datetime
from typing import Final

from stateward.runtime.ports import Held, Lease
from stateward.store.codecs import number_of
from stateward.store.connection import Connection, Database
from stateward.store.leasing import expiry, latest_expiry, token_after
from stateward.store.texts import statement

_RELEASED: Final = datetime(1970, 1, 1, tzinfo=UTC)

_HELD: Final = statement("session_statements.LEASE_HELD")
_GREATEST: Final = statement("session_statements.LEASE_GREATEST")
_CLEAR: Final = statement("session_statements.LEASE_CLEAR")
_INSERT: Final = statement("session_statements.LEASE_INSERT")
_RENEW: Final = statement("session_statements.LEASE_RENEW")
_RELEASE: Final = statement("session_statements.LEASE_RELEASE")


class SqlLeaseStore:
    """The port `LeaseStore` on a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def take(self, worker: str, attempt: str, holder: str, now: datetime, seconds: float) -> Lease | Held:
        """Take an attempt that nobody holds."""
        expires = expiry(now, seconds)
        values = {
            "worker": worker,
            "attempt": attempt,
            "holder": holder,
            "now": now,
            "latest": latest_expiry(now),
            "expires": expires,
        }

        def take(connection: Connection) -> Lease | Held:
            self._database.one_at_a_time(connection, worker)
            held = _HELD.first(connection, values)
            if held is not None:
                return Held(held["holder"], held["expires"])
            greatest = _GREATEST.first(connection, values)
            token = token_after(None if greatest is None or greatest["token"] is None else number_of(greatest, "token"), now)
            _CLEAR.run(connection, values)
            _INSERT.write_one(connection, {**values, "token": token})
            return Lease(token, expires)

        return self._database.write(take, durable=False)

    def renew(self, worker: str, attempt: str, token: int, now: datetime, seconds: float) -> Lease | None:
        """Hold it for so long from now on; None when it is no longer the caller's."""
        lease = Lease(token, expiry(now, seconds))
        values = {"worker": worker, "attempt": attempt, "given": token, "now": now, "until": lease.expires}
        renewed = self._database.write(lambda connection: _RENEW.run(connection, values).rowcount, durable=False)
        return lease if renewed == 1 else None

    def release(self, worker: str, attempt: str, token: int) -> bool:
        """Give it back; false when it is no longer the caller's to give."""
        values = {"worker": worker, "attempt": attempt, "given": token, "released": _RELEASED}
        return self._database.write(lambda connection: _RELEASE.run(connection, values).rowcount, durable=False) == 1

    def holder(self, worker: str, attempt: str, now: datetime) -> Held | None:
        """Say who works on an attempt."""
        values = {"worker": worker, "attempt": attempt, "now": now, "latest": latest_expiry(now)}
        row = self._database.read(lambda connection: _HELD.first(connection, values))
        return None if row is None else Held(row["holder"], row["expires"])
