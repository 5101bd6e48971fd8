"""A log read through the logs it was forked off: the entries before a fork are those of its parent, under the same numbers.

Invariants: numbers are gapless from 1 through all of them; each link is held against where the fork says it begins; the depth is bounded.
A fork that was made whole holds those entries itself, and its parent is asked no more.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

from stateward.runtime.engine.folding import INSPECT, damaged, payload_of
from stateward.runtime.engine.keys import INHERITED_WHOLE, inherited_key
from stateward.runtime.engine.limits import FORKS_DEPTH_MAX
from stateward.runtime.ports import Damaged, SessionStore
from stateward.runtime.session.acts import ForkOrigin
from stateward.runtime.session.captured import Reader
from stateward.runtime.session.chain import check
from stateward.runtime.session.entries import Entry, Head
from stateward.runtime.session.inherited import Part, Whole, copied, read_part, read_whole
from stateward.runtime.session.payloads import SessionStarted
from stateward.runtime.session.strict import Malformed, Newer

_Read: TypeAlias = Callable[[int, int | None], Iterator[Entry]]


def reader(sessions: SessionStore, worker: str) -> Reader:
    """Give what reads the entries of a Worker."""
    return partial(entries_through, sessions, worker)


def entries_through(sessions: SessionStore, worker: str, after: int = 0, upto: int | None = None) -> Iterator[Entry]:
    """Read entries with `after < seq <= upto` in order, those before a fork from its parent or its copy. Raises Damaged."""
    for read, start, end in _parts(sessions, worker, after, upto):
        yield from read(start, end)


def _parts(sessions: SessionStore, worker: str, after: int, upto: int | None) -> list[tuple[_Read, int, int | None]]:
    """Give which entries are to be read from where, the oldest first."""
    parts: list[tuple[_Read, int, int | None]] = []
    child, end = worker, upto
    for _ in range(FORKS_DEPTH_MAX):
        own = partial(sessions.entries, child)
        origin = None if after == end else origin_of(sessions, child)
        if origin is None or after >= origin.seq:
            return [(own, after, end), *parts]
        parts.insert(0, (own, origin.seq, end))
        end = origin.seq if end is None else min(end, origin.seq)
        whole = whole_of(sessions, child)
        if whole is not None:
            return [(_Copy(sessions, child, origin, whole).read, after, end), *parts]
        _check_parent(sessions, child, origin)
        child = origin.worker
    raise Damaged(f"Worker {worker} is a fork of more than {FORKS_DEPTH_MAX} forks", "read the parent by itself")


def origin_of(sessions: SessionStore, worker: str) -> ForkOrigin | None:
    """Say where a log was forked off; None when it began by itself, or there is none."""
    if next(sessions.entries(worker, 0, 1), None) is not None:
        return None
    first = next(sessions.entries(worker, 0), None)
    if first is None:
        return None
    session = payload_of(first)
    if not isinstance(session, SessionStarted) or session.forked_from is None:
        raise damaged(worker, first.seq, "it does not say where it was forked off")
    return session.forked_from


def _check_parent(sessions: SessionStore, worker: str, origin: ForkOrigin) -> None:
    """Raise Damaged when the parent of a fork is gone, or another by now."""
    last = next(sessions.entries(origin.worker, origin.seq - 1, origin.seq), None)
    if last is None:
        raise damaged(worker, origin.seq + 1, f"Worker {origin.worker}, which it was forked off, is not there")
    if last.digest != origin.digest:
        raise damaged(worker, origin.seq + 1, f"Worker {origin.worker} holds another entry where it was forked off")


def whole_of(sessions: SessionStore, worker: str) -> Whole | None:
    """Say what a log holds of the ones before it; None where it holds nothing, or only a part."""
    entry = sessions.find(worker, INHERITED_WHOLE)
    if entry is None:
        return None
    try:
        return read_whole(entry.payload)
    except (Malformed, Newer) as problem:
        raise damaged(worker, entry.seq, str(problem)) from problem


@dataclass(frozen=True, slots=True)
class _Copy:
    """What a fork holds of the logs before it."""

    sessions: SessionStore
    worker: str
    origin: ForkOrigin
    whole: Whole

    def read(self, after: int, upto: int | None) -> Iterator[Entry]:
        """Read entries. Raises Damaged."""
        last = self.origin.seq if upto is None else upto
        try:
            yield from checked(copied(self._part, self.whole.parts, after, last), after, self.origin)
        except (Malformed, Newer) as problem:
            raise Damaged(f"what Worker {self.worker} holds of Worker {self.origin.worker} is damaged: {problem}", INSPECT) from problem

    def _part(self, number: int) -> Part:
        entry = self.sessions.find(self.worker, inherited_key(number))
        if entry is None:
            raise Malformed(f"part {number} of {self.whole.parts} is missing")
        return read_part(entry.payload)


def checked(entries: Iterator[Entry], after: int, origin: ForkOrigin) -> Iterator[Entry]:
    """Pass on the entries that lead to where a fork begins. Raises Malformed where they do not."""
    previous: Head | None = None
    for entry in entries:
        problem = check(entry, previous or Head(after, entry.previous))
        if problem is None and entry.seq == origin.seq and entry.digest != origin.digest:
            problem = "it is not the one that the fork goes on from"
        if problem is not None:
            raise Malformed(f"entry {entry.reference}: {problem}")
        previous = Head(entry.seq, entry.digest)
        yield entry
