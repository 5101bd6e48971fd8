"""Session logs in memory: for tests, and for runs that keep nothing.

A real adapter under the same contract as the one on a database. Invariants: a log only grows, by whole appends, and only where its head
is the one expected; a key is used once in a log; a definition, once there, is never replaced. Safe to share between threads.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from threading import Lock
from types import MappingProxyType

from stateward.runtime.ports import Appended, Committed, Deleted, Duplicate, Moved, Witness, WorkerRow
from stateward.runtime.session.chain import link_all
from stateward.runtime.session.entries import GENESIS, Entry, Head, NewEntry
from stateward.runtime.session.verification import Ends
from stateward.store.revisions import require_definition
from stateward.store.seal import NO_SEALS, Seals
from stateward.store.witness import advance

NO_DEFINITIONS: Mapping[str, bytes] = MappingProxyType({})


class MemorySessionStore:
    """The ports `SessionStore` and `StoredLogs` in memory."""

    def __init__(self, seals: Seals = NO_SEALS, witness: Witness | None = None) -> None:
        self._seals = seals
        self._witness = witness
        self._lock = Lock()
        self._logs: dict[str, list[Entry]] = {}
        self._keys: dict[tuple[str, str], int] = {}
        self._latest: dict[tuple[str, str], Entry] = {}
        self._tombstones: dict[str, Head] = {}
        self._workspaces: dict[str, str] = {}
        self._definitions: dict[str, bytes] = {}

    def create(
        self, worker: str, workspace: str, entries: Sequence[NewEntry], definitions: Mapping[str, bytes], base: Head = GENESIS
    ) -> Appended:
        """Start a log with its first entries, linked after `base`. `Moved` when the Worker exists."""
        linked = self._seals.sealed(_linked(worker, base, entries, definitions))
        with self._lock:
            refused = self._duplicate(worker, linked) or self._moved(worker, None)
            if refused is not None:
                return refused
            self._workspaces[worker] = workspace
            return self._write(worker, linked, definitions)

    def append(
        self, worker: str, expected: Head, entries: Sequence[NewEntry], definitions: Mapping[str, bytes] = NO_DEFINITIONS
    ) -> Appended:
        """Append where the head is still `expected`. A key that is there already is answered before a head that moved."""
        linked = self._seals.sealed(_linked(worker, expected, entries, definitions))
        with self._lock:
            refused = self._duplicate(worker, linked) or self._moved(worker, expected)
            return refused or self._write(worker, linked, definitions)

    def redact(self, worker: str, expected: Head, new: NewEntry, seq: int, payload: bytes) -> Appended:
        """Append `new`, and put `payload` in the place of that of entry `seq`."""
        linked = self._seals.sealed(_linked(worker, expected, (new,), NO_DEFINITIONS))
        with self._lock:
            refused = self._duplicate(worker, linked) or self._moved(worker, expected)
            if refused is not None:
                return refused
            log = self._logs[worker]
            place = seq - log[0].seq
            log[place] = replace(log[place], payload=payload, redacted=True)
            if self._latest[worker, log[place].kind].seq == seq:
                self._latest[worker, log[place].kind] = log[place]
            return self._write(worker, linked, NO_DEFINITIONS)

    def delete(self, worker: str, expected: Head, time: datetime) -> Deleted | Moved:
        """Delete a log whose head is still `expected`."""
        with self._lock:
            head = _head_of(self._logs[worker]) if worker in self._logs else self._tombstones.get(worker)
            if head != expected:
                return Moved(head or GENESIS)
            if self._logs.pop(worker, None) is not None:
                self._tombstones[worker] = expected
                del self._workspaces[worker]
                self._keys = {place: seq for place, seq in self._keys.items() if place[0] != worker}
                self._latest = {place: entry for place, entry in self._latest.items() if place[0] != worker}
            return Deleted(expected)

    def head(self, worker: str) -> Head | None:
        """Give the head, or None when there is no such Worker."""
        with self._lock:
            return _head_of(self._logs[worker]) if worker in self._logs else None

    def entries(self, worker: str, after: int = 0, upto: int | None = None) -> Iterator[Entry]:
        """Read entries with `after < seq <= upto` in order, as they were when the reading began."""
        with self._lock:
            log = self._logs.get(worker, [])
            before = log[0].seq - 1 if log else 0
            return iter(log[max(after - before, 0) : None if upto is None else max(upto - before, 0)])

    def find(self, worker: str, key: str) -> Entry | None:
        """Look an entry up by its key."""
        with self._lock:
            seq = self._keys.get((worker, key))
            return None if seq is None else self._logs[worker][seq - self._logs[worker][0].seq]

    def latest(self, worker: str, kind: str) -> Entry | None:
        """Give the last entry of a kind."""
        with self._lock:
            return self._latest.get((worker, kind))

    def workers(self, workspace: str, limit: int, after: str = "") -> Sequence[WorkerRow]:
        """List Workers by id, `limit` at a time, those after `after`."""
        with self._lock:
            here = sorted(worker for worker, place in self._workspaces.items() if place == workspace and worker > after)
            return [WorkerRow(each, workspace, self._logs[each][0].time, _head_of(self._logs[each])) for each in here[:limit]]

    def definition(self, digest: str) -> bytes | None:
        """Give a stored definition's canonical bytes."""
        with self._lock:
            return self._definitions.get(digest)

    def ends(self, worker: str) -> Ends | None:
        """Give the ends of a log; None when there is no such Worker."""
        with self._lock:
            log = self._logs.get(worker)
            return None if log is None else Ends(Head(log[0].seq - 1, log[0].previous), _head_of(log), log[-1].seq)

    def deleted(self, worker: str) -> Head | None:
        """Give the head at which a Worker was deleted; None when it never was."""
        with self._lock:
            return self._tombstones.get(worker)

    def stored(self, worker: str, upto: int) -> Iterator[Entry]:
        """Read what lies under the numbers up to `upto`, in order."""
        return self.entries(worker, 0, upto)

    def _duplicate(self, worker: str, linked: Sequence[Entry]) -> Duplicate | None:
        keys = [entry.key for entry in linked if entry.key is not None]
        taken = next((key for key in keys if (worker, key) in self._keys), None)
        return None if taken is None else Duplicate(taken, self._keys[worker, taken])

    def _moved(self, worker: str, expected: Head | None) -> Moved | None:
        buried = self._tombstones.get(worker) if expected is None else None
        head = _head_of(self._logs[worker]) if worker in self._logs else buried
        return None if head == expected else Moved(head or GENESIS)

    def _write(self, worker: str, linked: Sequence[Entry], definitions: Mapping[str, bytes]) -> Committed:
        log, head = self._logs.setdefault(worker, []), _head_of(linked)
        log.extend(linked)
        self._latest.update({(worker, entry.kind): entry for entry in linked})
        self._keys.update({(worker, entry.key): entry.seq for entry in linked if entry.key is not None})
        for digest, canonical in definitions.items():
            self._definitions.setdefault(digest, canonical)
        if self._witness is not None:
            advance(self._witness, worker, Head(linked[0].seq - 1, linked[0].previous), head, lambda seq: _digest_at(log, seq))
        return Committed(head)


def _linked(worker: str, head: Head, entries: Sequence[NewEntry], definitions: Mapping[str, bytes]) -> tuple[Entry, ...]:
    keys = [each.key for each in entries if each.key is not None]
    if not entries or len(keys) != len(set(keys)):
        raise ValueError("an append takes at least one entry, and each key once")
    for digest, canonical in definitions.items():
        require_definition(digest, canonical)
    return link_all(worker, head, entries)


def _digest_at(log: Sequence[Entry], seq: int) -> str | None:
    place = seq - log[0].seq
    return log[place].digest if 0 <= place < len(log) else None


def _head_of(log: Sequence[Entry]) -> Head:
    return Head(log[-1].seq, log[-1].digest)
