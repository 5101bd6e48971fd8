"""A store that fails as real ones do: the process dies before or after a write, an answer is lost, somebody else writes in between."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from enum import Enum

from stateward.runtime.ports import Appended, Deleted, Moved, OutcomeUnknown, SessionStore, WorkerRow
from stateward.runtime.session.entries import GENESIS, Entry, Head, NewEntry
from stateward.store.memory_sessions import NO_DEFINITIONS


class Crash(BaseException):
    """The process died. Nothing catches it but the world."""


class Point(Enum):
    """What happens around one write."""

    NOTHING = "nothing"
    CRASH_BEFORE = "crash before"
    CRASH_AFTER = "crash after"
    LOST_UNWRITTEN = "answer lost, not written"
    LOST_WRITTEN = "answer lost, written"
    OVERTAKEN = "somebody else writes first"


class FaultyStore:
    """The port `SessionStore` over a sound one; `draw` says what happens around the next write, `overtake` is somebody else acting."""

    def __init__(self, sound: SessionStore) -> None:
        self.sound = sound
        self.draw: Callable[[], Point] = lambda: Point.NOTHING
        self.overtake: Callable[[], None] = lambda: None

    def create(
        self, worker: str, workspace: str, entries: Sequence[NewEntry], definitions: Mapping[str, bytes], base: Head = GENESIS
    ) -> Appended:
        """Create, or fail."""
        return self._around(lambda: self.sound.create(worker, workspace, entries, definitions, base))

    def append(
        self, worker: str, expected: Head, entries: Sequence[NewEntry], definitions: Mapping[str, bytes] = NO_DEFINITIONS
    ) -> Appended:
        """Append, or fail."""
        return self._around(lambda: self.sound.append(worker, expected, entries, definitions))

    def redact(self, worker: str, expected: Head, new: NewEntry, seq: int, payload: bytes) -> Appended:
        """Redact, or fail."""
        return self._around(lambda: self.sound.redact(worker, expected, new, seq, payload))

    def _around(self, write: Callable[[], Appended]) -> Appended:
        point = self.draw()
        if point is Point.CRASH_BEFORE:
            raise Crash
        if point is Point.LOST_UNWRITTEN:
            raise OutcomeUnknown("the answer was lost")
        if point is Point.OVERTAKEN:
            self.overtake()
        appended = write()
        if point is Point.CRASH_AFTER:
            raise Crash
        if point is Point.LOST_WRITTEN:
            raise OutcomeUnknown("the answer was lost")
        return appended

    def head(self, worker: str) -> Head | None:
        """Give the head."""
        return self.sound.head(worker)

    def entries(self, worker: str, after: int = 0, upto: int | None = None) -> Iterator[Entry]:
        """Read entries."""
        return self.sound.entries(worker, after, upto)

    def find(self, worker: str, key: str) -> Entry | None:
        """Look an entry up."""
        return self.sound.find(worker, key)

    def latest(self, worker: str, kind: str) -> Entry | None:
        """Give the last entry of a kind."""
        return self.sound.latest(worker, kind)

    def delete(self, worker: str, expected: Head, time: datetime) -> Deleted | Moved:
        """Delete a log."""
        return self.sound.delete(worker, expected, time)

    def workers(self, workspace: str, limit: int, after: str = "") -> Sequence[WorkerRow]:
        """List Workers."""
        return self.sound.workers(workspace, limit, after)

    def definition(self, digest: str) -> bytes | None:
        """Give a definition."""
        return self.sound.definition(digest)
