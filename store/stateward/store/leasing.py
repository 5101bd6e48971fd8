"""The rules of leases, the same for every store: how long one lasts, and which token the next one gets.

Invariant: tokens of a Worker grow, and they do so even when the row of an earlier lease was lost with the power, since a token is never
less than the moment at which it was given. That is what lets a store write leases without waiting for the disk.
"""

from datetime import UTC, datetime, timedelta
from typing import Final

from stateward.runtime.ports import LEASE_SECONDS_MAX

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)


def expiry(now: datetime, seconds: float) -> datetime:
    """Say when a lease that is taken now expires. Raises ValueError for a length that no lease has and for a naive time."""
    if now.tzinfo is None:
        raise ValueError("a time without an offset names no moment")
    if not 0 < seconds <= LEASE_SECONDS_MAX:
        raise ValueError(f"a lease of {seconds} seconds is none")
    return now.astimezone(UTC) + timedelta(seconds=seconds)


def latest_expiry(now: datetime) -> datetime:
    """Give the latest moment at which a lease can expire that was taken by now. Raises ValueError for a naive time."""
    return expiry(now, LEASE_SECONDS_MAX)


def token_after(greatest: int | None, now: datetime) -> int:
    """Give the token that follows the greatest one of the same Worker, None for the first."""
    moment = (now - _EPOCH) // _MICROSECOND
    return moment if greatest is None else max(greatest + 1, moment)
