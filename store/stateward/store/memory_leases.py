"""Leases in memory: for tests, and for runs that keep nothing. A real adapter under the same contract as the one on a database."""

from dataclasses import dataclass
from datetime import datetime
from threading import Lock

from stateward.runtime.ports import Held, Lease
from stateward.store.leasing import expiry, latest_expiry, token_after


@dataclass(frozen=True, slots=True)
class _Taken:
    holder: str
    lease: Lease


class MemoryLeaseStore:
    """The port `LeaseStore` in memory."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._taken: dict[tuple[str, str], _Taken] = {}
        self._greatest: dict[str, int] = {}

    def take(self, worker: str, attempt: str, holder: str, now: datetime, seconds: float) -> Lease | Held:
        """Take an attempt that nobody holds."""
        expires = expiry(now, seconds)
        with self._lock:
            held = self._held(worker, attempt, now)
            if held is not None:
                return Held(held.holder, held.lease.expires)
            lease = Lease(token_after(self._greatest.get(worker), now), expires)
            self._greatest[worker] = lease.token
            self._taken[worker, attempt] = _Taken(holder, lease)
            return lease

    def renew(self, worker: str, attempt: str, token: int, now: datetime, seconds: float) -> Lease | None:
        """Hold it for so long from now on; None when it is no longer the caller's."""
        lease = Lease(token, expiry(now, seconds))
        with self._lock:
            held = self._taken.get((worker, attempt))
            if held is None or held.lease.token != token or now >= held.lease.expires:
                return None
            self._taken[worker, attempt] = _Taken(held.holder, lease)
            return lease

    def release(self, worker: str, attempt: str, token: int) -> bool:
        """Give it back; false when it is no longer the caller's to give."""
        with self._lock:
            taken = self._taken.get((worker, attempt))
            if taken is None or taken.lease.token != token:
                return False
            del self._taken[worker, attempt]
            return True

    def holder(self, worker: str, attempt: str, now: datetime) -> Held | None:
        """Say who works on an attempt."""
        with self._lock:
            held = self._held(worker, attempt, now)
            return None if held is None else Held(held.holder, held.lease.expires)

    def _held(self, worker: str, attempt: str, now: datetime) -> _Taken | None:
        taken = self._taken.get((worker, attempt))
        return taken if taken is not None and now < taken.lease.expires <= latest_expiry(now) else None
