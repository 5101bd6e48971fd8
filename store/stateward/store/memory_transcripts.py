"""Transcripts in memory: for tests, and for runs that keep nothing. A real adapter under the same contract as the one on a database."""

from collections.abc import Sequence
from threading import Lock


class MemoryTranscripts:
    """The port `Transcripts` in memory."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._records: dict[tuple[str, str], list[bytes]] = {}

    def append(self, worker: str, attempt: str, number: int, content: bytes) -> bool:
        """Keep a record; false when another lies under that number."""
        with self._lock:
            records = self._records.setdefault((worker, attempt), [])
            if 1 <= number <= len(records):
                return records[number - 1] == content
            require_next(number, len(records))
            records.append(content)
            return True

    def records(self, worker: str, attempt: str) -> Sequence[bytes]:
        """Give the records of an attempt, in order."""
        with self._lock:
            return tuple(self._records.get((worker, attempt), ()))


def require_next(number: int, last: int) -> None:
    """Refuse a record that would leave a gap. Raises ValueError."""
    if number != last + 1:
        raise ValueError(f"record {number} does not follow record {last}")
