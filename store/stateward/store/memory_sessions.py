"""Session logs in memory: for tests, and for runs that keep nothing.

A real adapter under the same contract as the one on a database. Invariants: a log only grows, by whole appends, and only where its head
is the one expected; a key is used once in a log; a definition, once there, is never replaced. Safe to share between threads.
"""

from collections.abc import Iterator, Mapping, Sequence
from threading import Lock
from types import MappingProxyType

from stateward.runtime.ports import Appended, Committed, Duplicate, Moved, WorkerRow
from stateward.runtime.session.chain import link_all
from stateward.runtime.session.entries import GENESIS, Entry, Head, NewEntry
from stateward.store.revisions import require_definition

NO_DEFINITIONS: Mapping[str, bytes] = MappingProxyType({})


class MemorySessionStore:
    """The port `SessionStore` in memory."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._logs: dict[str, list[Entry]] = {}
        self._keys: dict[tuple[str, str], int] = {}
        self._latest: dict[tuple[str, str], Entry] = {}
        self._workspaces: dict[str, str] = {}
        self._definitions: dict[str, bytes] = {}

    def create(
        self, worker: str, workspace: str, entries: Sequence[NewEntry], definitions: Mapping[str, bytes], base: Head = GENESIS
    ) -> Appended:
        """Start a log with its first entries, linked after `base`. `Moved` when the Worker exists."""
        linked = _linked(worker, base, entries, definitions)
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
        linked = _linked(worker, expected, entries, definitions)
        with self._lock:
            refused = self._duplicate(worker, linked) or self._moved(worker, expected)
            return refused or self._write(worker, linked, definitions)

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

    def _duplicate(self, worker: str, linked: Sequence[Entry]) -> Duplicate | None:
        keys = [entry.key for entry in linked if entry.key is not None]
        taken = next((key for key in keys if (worker, key) in self._keys), None)
        return None if taken is None else Duplicate(taken, self._keys[worker, taken])

    def _moved(self, worker: str, expected: Head | None) -> Moved | None:
        head = _head_of(self._logs[worker]) if worker in self._logs else None
        return None if head == expected else Moved(head or GENESIS)

    def _write(self, worker: str, linked: Sequence[Entry], definitions: Mapping[str, bytes]) -> Committed:
        self._logs.setdefault(worker, []).extend(linked)
        self._latest.update({(worker, entry.kind): entry for entry in linked})
        self._keys.update({(worker, entry.key): entry.seq for entry in linked if entry.key is not None})
        for digest, canonical in definitions.items():
            self._definitions.setdefault(digest, canonical)
        return Committed(_head_of(linked))


def _linked(worker: str, head: Head, entries: Sequence[NewEntry], definitions: Mapping[str, bytes]) -> tuple[Entry, ...]:
    keys = [each.key for each in entries if each.key is not None]
    if not entries or len(keys) != len(set(keys)):
        raise ValueError("an append takes at least one entry, and each key once")
    for digest, canonical in definitions.items():
        require_definition(digest, canonical)
    return link_all(worker, head, entries)


def _head_of(log: Sequence[Entry]) -> Head:
    return Head(log[-1].seq, log[-1].digest)
