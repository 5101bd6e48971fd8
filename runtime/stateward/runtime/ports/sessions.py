"""The ports on session logs: the logs themselves, what lies beside them, and the logs as they lie for whoever verifies them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Protocol, TypeAlias

from stateward.runtime.session.entries import Entry, Head, NewEntry, Unreadable

if TYPE_CHECKING:
    from stateward.runtime.session.verification import Ends


@dataclass(frozen=True, slots=True)
class Committed:
    """The entries are durable; `head` is the last of them."""

    head: Head


@dataclass(frozen=True, slots=True)
class Moved:
    """Nothing was written: somebody appended first. Reload and decide again."""

    head: Head


@dataclass(frozen=True, slots=True)
class Duplicate:
    """Nothing was written: an entry with that key is there already."""

    key: str
    seq: int


Appended: TypeAlias = Committed | Moved | Duplicate


@dataclass(frozen=True, slots=True)
class Deleted:
    """The log is gone for good; `head` was its last entry."""

    head: Head


@dataclass(frozen=True, slots=True)
class WorkerRow:
    """A Worker as listed: read off its first entry and its head."""

    worker: str
    workspace: str
    created: datetime
    head: Head
    problem: str = ""
    """Why its log cannot be read or gone on with, where its ends tell that by themselves: then `head` is only what is stored there."""


class SessionStore(Protocol):
    """Append-only logs, one per Worker, and the definitions they pin.

    An append is one transaction: all entries, all definitions, the head, or nothing. After it returned `Committed` the entries
    survive kill -9 and power loss.
    """

    def create(
        self, worker: str, workspace: str, entries: Sequence[NewEntry], definitions: Mapping[str, bytes], base: Head = ...
    ) -> Appended:
        """Start a log with its first entries. `Moved` when the Worker exists.

        `base` is where the log goes on from: `GENESIS`, the default, or in a fork the entry of another log, after whose number and
        digest the first entry is linked. What lies before the base is not in this log.
        """

    def append(self, worker: str, expected: Head, entries: Sequence[NewEntry], definitions: Mapping[str, bytes] = ...) -> Appended:
        """Append where the head is still `expected`; `definitions` maps digests to canonical bytes, stored once."""

    def redact(self, worker: str, expected: Head, new: NewEntry, seq: int, payload: bytes) -> Appended:
        """Append `new`, which says so, and put `payload` in the place of that of entry `seq`, in one transaction.

        `new` is of kind `redacted` under `redaction_key(seq, payload)`, and `seq` one of this log. Its digests stay; whoever reads the
        entry is told that it was redacted.
        """

    def delete(self, worker: str, expected: Head, time: datetime) -> Deleted | Moved:
        """Delete a log whose head is still `expected`, and what nothing else refers to; definitions stay.

        What is left is that it was deleted, when, and at which head: its id is never used again (`create` answers `Moved` with that
        head). Deleting what was deleted at that head gives the same answer.
        """

    def head(self, worker: str) -> Head | None:
        """Give the head, or None when there is no such Worker."""

    def entries(self, worker: str, after: int = 0, upto: int | None = None) -> Iterator[Entry]:
        """Read entries with `after < seq <= upto` in order. Raises Damaged at an entry that is not what was written."""

    def find(self, worker: str, key: str) -> Entry | None:
        """Look an entry up by its key."""

    def latest(self, worker: str, kind: str) -> Entry | None:
        """Give the last entry of a kind, at a cost that does not grow with the log. Raises Damaged when it is not what was written."""

    def workers(self, workspace: str, limit: int, after: str = "") -> Sequence[WorkerRow]:
        """List Workers by id (UUIDv7: oldest first), `limit` at a time, those after `after`."""

    def definition(self, digest: str) -> bytes | None:
        """Give a stored definition's canonical bytes. Raises Damaged when they do not have that digest."""


class Transcripts(Protocol):
    """What went between a verifier and its model, record by record, as it happened; no part of any log, which holds its digest.

    Append-only, one transcript per attempt, its records numbered from 1. A record survives a killed process once `append` returned.
    """

    def append(self, worker: str, attempt: str, number: int, content: bytes) -> bool:
        """Keep a record; false when another lies under that number, or the Worker was deleted. Keeping what is there is true.

        Raises ValueError for a number that does not follow the last one.
        """

    def records(self, worker: str, attempt: str) -> Sequence[bytes]:
        """Give the records of an attempt, in order. Raises Damaged when they are not what was written."""


class StoredLogs(Protocol):
    """Logs as they lie, for whoever verifies them: nothing is checked, and damage ends no reading."""

    def ends(self, worker: str) -> "Ends | None":
        """Give the ends of a log, both as of one moment; None when there is no such Worker."""

    def deleted(self, worker: str) -> Head | None:
        """Give the head at which a Worker was deleted; None when it never was."""

    def stored(self, worker: str, upto: int) -> Iterator[Entry | Unreadable]:
        """Read what lies under the numbers up to `upto`, in order."""
