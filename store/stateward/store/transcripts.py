"""Transcripts on a database: what went between a verifier and its model, record by record.

Invariants: the records of an attempt are numbered from 1 without a gap and written once; of several who write the same number one does,
and the others are told; what is read has the digest under which it was stored. Deleting a Worker takes its transcripts along.
"""

from collections.abc import Sequence
from typing import Any, Final

from stateward.runtime.ports import Damaged
from stateward.runtime.session.chain import digest_of
from stateward.store.codecs import number_of
from stateward.store.connection import Connection, Database
from stateward.store.deletion import tombstone
from stateward.store.faults import RESTORE
from stateward.store.memory_transcripts import require_next
from stateward.store.texts import statement

_FIND: Final = statement("session_statements.TRANSCRIPT_FIND")
_LAST: Final = statement("session_statements.TRANSCRIPT_LAST")
_INSERT: Final = statement("session_statements.TRANSCRIPT_INSERT")
_RECORDS: Final = statement("session_statements.TRANSCRIPT_RECORDS")


class SqlTranscripts:
    """The port `Transcripts` on a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def append(self, worker: str, attempt: str, number: int, content: bytes) -> bool:
        """Keep a record; false when another lies under that number, or the Worker was deleted."""
        values = {"worker": worker, "attempt": attempt, "number": number, "digest": digest_of(content), "content": content}

        def keep(connection: Connection) -> bool:
            self._database.one_at_a_time(connection, worker)
            there = _FIND.first(connection, values)
            if there is not None:
                return bool(there["digest"] == values["digest"])
            last = _LAST.first(connection, values)
            require_next(number, 0 if last is None or last["number"] is None else number_of(last, "number"))
            if tombstone(connection, worker) is not None:
                return False
            _INSERT.write_one(connection, values)
            return True

        return self._database.write(keep)

    def records(self, worker: str, attempt: str) -> Sequence[bytes]:
        """Give the records of an attempt, in order. Raises Damaged when they are not what was written."""
        values = {"worker": worker, "attempt": attempt}
        rows = self._database.read(lambda connection: _RECORDS.all(connection, values))
        return tuple(_checked(row, number, attempt) for number, row in enumerate(rows, start=1))


def _checked(row: Any, number: int, attempt: str) -> bytes:
    content: object = row["content"]
    if row["number"] != number or not isinstance(content, bytes) or digest_of(content) != row["digest"]:
        raise Damaged(f"record {number} of the transcript of attempt {attempt} is not what was written", RESTORE)
    return content
