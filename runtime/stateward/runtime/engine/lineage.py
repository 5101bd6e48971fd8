"""A log read through the logs it was forked off: the entries before a fork are those of its parent, under the same numbers.

Invariants: numbers are gapless from 1 through all of them; each link is held against where the fork says it begins; the depth is bounded.
"""

from collections.abc import Iterator
from functools import partial

from stateward.runtime.engine.folding import damaged, payload_of
from stateward.runtime.engine.limits import FORKS_DEPTH_MAX
from stateward.runtime.ports import Damaged, SessionStore
from stateward.runtime.session.acts import ForkOrigin
from stateward.runtime.session.captured import Reader
from stateward.runtime.session.entries import Entry
from stateward.runtime.session.payloads import SessionStarted


def reader(sessions: SessionStore, worker: str) -> Reader:
    """Give what reads the entries of a Worker."""
    return partial(entries_through, sessions, worker)


def entries_through(sessions: SessionStore, worker: str, after: int = 0, upto: int | None = None) -> Iterator[Entry]:
    """Read entries with `after < seq <= upto` in order, those before a fork from its parent. Raises Damaged."""
    for place, start, end in _parts(sessions, worker, after, upto):
        yield from sessions.entries(place, start, end)


def _parts(sessions: SessionStore, worker: str, after: int, upto: int | None) -> list[tuple[str, int, int | None]]:
    """Give which entries of which log are to be read, the oldest first."""
    parts = [(worker, after, upto)]
    for _ in range(FORKS_DEPTH_MAX):
        child, start, end = parts[0]
        origin = None if start == end else origin_of(sessions, child)
        if origin is None or start >= origin.seq:
            return parts
        parts[0] = (child, origin.seq, end)
        parts.insert(0, (origin.worker, start, origin.seq if end is None else min(end, origin.seq)))
    raise Damaged(f"Worker {worker} is a fork of more than {FORKS_DEPTH_MAX} forks", "read the parent by itself")


def origin_of(sessions: SessionStore, worker: str) -> ForkOrigin | None:
    """Say where a log was forked off; None when it began by itself, or there is none. Raises Damaged when its parent is another by now."""
    if next(sessions.entries(worker, 0, 1), None) is not None:
        return None
    first = next(sessions.entries(worker, 0), None)
    if first is None:
        return None
    session = payload_of(first)
    if not isinstance(session, SessionStarted) or session.forked_from is None:
        raise damaged(worker, first.seq, "it does not say where it was forked off")
    origin = session.forked_from
    last = next(sessions.entries(origin.worker, origin.seq - 1, origin.seq), None)
    if last is None:
        raise damaged(worker, first.seq, f"Worker {origin.worker}, which it was forked off, is not there")
    if last.digest != origin.digest:
        raise damaged(worker, first.seq, f"Worker {origin.worker} holds another entry where it was forked off")
    return origin
