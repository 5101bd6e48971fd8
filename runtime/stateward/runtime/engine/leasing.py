"""The right to verify: who works on an open attempt, and until when.

Invariants: of several who claim an attempt one gets it; a holder that stalled past the expiry is refused by its token, whatever it
calls itself; a lease is no fact of the log, so losing one loses nothing but time, and the attempt stays.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol

from stateward.runtime.core.instance import Attempt
from stateward.runtime.core.refusal import Refusal, RefusalCode
from stateward.runtime.core.texts import shown
from stateward.runtime.engine.commit import not_found
from stateward.runtime.engine.means import Means
from stateward.runtime.ports import Held, InProgress, Lease
from stateward.runtime.session.entries import reference


class Heartbeat(Protocol):
    """Does something again and again, in the background, while something else goes on."""

    def during(self, seconds: float, beat: Callable[[], None]) -> AbstractContextManager[None]:
        """Give a context in which `beat` is called every so many seconds."""


class NoHeartbeat:
    """Never beats: for verifiers that answer at once."""

    @contextmanager
    def during(self, seconds: float, beat: Callable[[], None]) -> Iterator[None]:
        """Give a context in which nothing happens."""
        yield


def in_progress(worker: str, attempt: Attempt, held: Held) -> InProgress:
    """Say that somebody verifies an attempt."""
    return InProgress(worker, attempt.id, attempt.reason, reference(attempt.shown), held.holder, held.expires)


def claim(means: Means, worker: str, attempt: str, holder: str) -> Lease | InProgress | Refusal:
    """Take the right to verify the open attempt."""
    opened = _open(means, worker)
    if isinstance(opened, Refusal):
        return opened
    if opened is None or opened.id != attempt:
        return Refusal(RefusalCode.ATTEMPT_UNKNOWN, f"attempt {shown(attempt)} is not open", ("request a transition",))
    taken = means.leases.take(worker, attempt, holder, means.clock.now(), means.profile.lease_seconds)
    return taken if isinstance(taken, Lease) else in_progress(worker, opened, taken)


def renew(means: Means, worker: str, attempt: str, token: int) -> Lease | Refusal:
    """Make a lease last from now on."""
    return means.leases.renew(worker, attempt, token, means.clock.now(), means.profile.lease_seconds) or lost(attempt)


def release(means: Means, worker: str, attempt: str, token: int) -> bool:
    """Give a lease back; false when it is no longer the caller's."""
    return means.leases.release(worker, attempt, token)


def unattended(means: Means, worker: str) -> Attempt | Refusal | None:
    """Give the open attempt whose lease has run out, or None when there is none."""
    opened = _open(means, worker)
    if not isinstance(opened, Attempt):
        return opened
    return None if means.leases.holder(worker, opened.id, means.clock.now()) is not None else opened


def lease_problem(means: Means, worker: str, attempt: str, token: int | None) -> Refusal | None:
    """Refuse a report whose lease is another's by now; without a token, one on an attempt that somebody holds."""
    now = means.clock.now()
    if token is None:
        return None if means.leases.holder(worker, attempt, now) is None else lost(attempt)
    return None if means.leases.renew(worker, attempt, token, now, means.profile.lease_seconds) is not None else lost(attempt)


def lost(attempt: str) -> Refusal:
    """Refuse what needs a lease that is not the caller's."""
    message = f"the lease of attempt {shown(attempt)} expired, was given back, or is another's"
    return Refusal(RefusalCode.LEASE_LOST, message, ("request the transition again",))


def _open(means: Means, worker: str) -> Attempt | Refusal | None:
    loaded = means.folds.load(worker)
    if loaded is None:
        return not_found(worker)
    return None if loaded.flow.instance is None else loaded.flow.instance.attempt
