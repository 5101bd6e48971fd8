"""The port on leases: who works on an attempt, and until when."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final, Protocol

LEASE_SECONDS_MAX: Final = 60.0
"""No lease lasts longer; one that seems to was taken before the clock was set back."""


@dataclass(frozen=True, slots=True)
class Lease:
    """Who has it works on the attempt until it expires."""

    token: int
    """Greater than that of every lease ever taken before on an attempt of the same Worker."""
    expires: datetime


@dataclass(frozen=True, slots=True)
class Held:
    """Somebody works on the attempt."""

    holder: str
    expires: datetime


class LeaseStore(Protocol):
    """Leases on attempts: small mutable state beside the logs, no part of their history.

    A lease is known by its token alone: a holder that slept past the expiry and comes back under the same name has nothing. Times are
    the caller's; a lease has expired at its expiry, and, where the clock was set back, as long as that lies further ahead than a lease can
    last: its holder may still renew it, anybody may take it. Raises ValueError for seconds that are not more than 0 or more than
    LEASE_SECONDS_MAX, and for a time without an offset.
    """

    def take(self, worker: str, attempt: str, holder: str, now: datetime, seconds: float) -> Lease | Held:
        """Take an attempt that nobody holds; of several who try at once one gets it. Whoever holds it already is told so like others."""

    def renew(self, worker: str, attempt: str, token: int, now: datetime, seconds: float) -> Lease | None:
        """Hold it for so long from now on; None when it expired, was released or was taken by somebody else."""

    def release(self, worker: str, attempt: str, token: int) -> bool:
        """Give it back; false when it is no longer the caller's to give."""

    def holder(self, worker: str, attempt: str, now: datetime) -> Held | None:
        """Say who works on an attempt."""
