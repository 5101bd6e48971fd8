"""Session logs on a database.

Invariants: an append is one transaction that writes entries after the head that was expected and swaps it; keys of entries are unique
within a log. That both are so is asked of the database's own rules and keys, in the statements that write: an append that nobody
disputes looks nothing up. Entries are linked before the transaction begins, so that the write lock is held for a few statements only.

Whatever is read is verified as it is read: numbers without a gap, both digests, the link to the entry before, and that the head is the
last entry; where the store has a sealer, seals too. A reader holds no lock and no snapshot between pages: a log only grows, and is read
as of its head when the reading began.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from stateward.runtime.ports.faults import Damaged, SealMismatch
from stateward.runtime.ports.sessions import Appended, Committed, Deleted, Duplicate, Moved, WorkerRow
from stateward.runtime.session.chain import check, link_all, redaction_key
from stateward.runtime.session.entries import GENESIS, Entry, Head, Kind, NewEntry, Unreadable, reference
from stateward.store.beside import forget_payloads, keep_payload, lies_beside
from stateward.store.codecs import entry_of, entry_parameters, head_of, number_of, with_digest
from stateward.store.connection import Connection, Database, Refused
from stateward.store.definitions import keep_definition, read_definition
from stateward.store.deletion import delete_log, tombstone
from stateward.store.ends import REMEDY, Found, damaged_log, find_ends, list_workers, require_head
from stateward.store.limits import CHECKPOINT, PAGE_BYTES_MAX
from stateward.store.seal import NO_SEALS, Seals
from stateward.store.texts import COLUMNS, statement
from stateward.store.witness import advance

if TYPE_CHECKING:
    from stateward.runtime.ports import Witness
    from stateward.runtime.session.verification import Ends

APPEND_ENTRIES_MAX: Final = 1024

_REMEDY_SEAL: Final = "inspect the session with `stateward log verify`; it cannot be gone on with"

NO_DEFINITIONS: Final[Mapping[str, bytes]] = MappingProxyType({})

_INSERT_WORKER: Final = statement("session_statements.INSERT_WORKER")
_INSERT_ENTRY: Final = statement("session_statements.INSERT_ENTRY")
_REDACT: Final = statement("session_statements.REDACT")
_INSERT_HEAD: Final = statement("session_statements.INSERT_HEAD")
_SWAP_HEAD: Final = statement("session_statements.SWAP_HEAD")
_HEAD: Final = statement("session_statements.HEAD")
_FIND_KEY: Final = statement("session_statements.FIND_KEY")
_DIGEST: Final = statement("session_statements.DIGEST")
_LATEST_OF_KIND: Final = statement("session_statements.LATEST_OF_KIND")
_LATEST_CHECKPOINT: Final = statement("session_statements.LATEST_CHECKPOINT")
_PAGE: Final = statement("session_statements.PAGE")


class SqlSessionStore:
    """The ports `SessionStore` and `StoredLogs` on a database."""

    def __init__(self, database: Database, seals: Seals = NO_SEALS, witness: "Witness | None" = None) -> None:
        self._database = database
        self._seals = seals
        self._witness = witness

    def create(
        self, worker: str, workspace: str, entries: Sequence[NewEntry], definitions: Mapping[str, bytes], base: Head = GENESIS
    ) -> Appended:
        """Start a log with its first entries, after `base`. `Moved` when the Worker exists, or was deleted."""
        linked, head = self._linked(worker, base, entries, definitions)
        place = {"id": worker, "workspace": workspace, "created": linked[0].time}
        identity = with_digest("workers", {**place, "base_seq": base.seq, "base_digest": base.digest})

        def start(connection: Connection) -> Committed:
            _INSERT_WORKER.write_one(connection, identity)
            _write(connection, linked, definitions)
            _INSERT_HEAD.write_one(connection, {"worker": worker, "seq": head.seq, "digest": head.digest})
            return Committed(head)

        return self._commit(worker, None, linked, start)

    def append(
        self, worker: str, expected: Head, entries: Sequence[NewEntry], definitions: Mapping[str, bytes] = NO_DEFINITIONS
    ) -> Appended:
        """Append where the head is still `expected`. A key that is there already is answered before a head that moved."""
        linked, head = self._linked(worker, expected, entries, definitions)

        def swap(connection: Connection) -> Committed:
            _write(connection, linked, definitions)
            _swap_head(connection, worker, expected, head)
            return Committed(head)

        if not definitions and self._appended_at_once(worker, expected, linked, head):
            return self._witnessed(worker, linked, Committed(head))
        return self._commit(worker, expected, linked, swap)

    def redact(self, worker: str, expected: Head, new: NewEntry, seq: int, payload: bytes) -> Appended:
        """Append `new`, which says so, and put `payload` in the place of that of entry `seq`."""
        linked, head = self._linked(worker, expected, (new,), NO_DEFINITIONS)

        def swap(connection: Connection) -> Committed:
            _write(connection, linked, NO_DEFINITIONS)
            _swap_head(connection, worker, expected, head)
            if _REDACT.run(connection, {"worker": worker, "seq": seq, "left": payload}).rowcount != 1:
                raise _damaged_entry(worker, seq, "it is missing")
            forget_payloads(connection)
            return Committed(head)

        return self._commit(worker, expected, linked, swap)

    def _appended_at_once(self, worker: str, expected: Head, linked: Sequence[Entry], head: Head) -> bool:
        """Append in one statement, on a database where that is cheaper; false when nothing was written, for whatever reason."""
        return False

    def _commit(self, worker: str, expected: Head | None, linked: Sequence[Entry], action: Callable[[Connection], Committed]) -> Appended:
        try:
            committed = self._database.write(action)
        except Refused as refused:
            # The rules of the database compared what is there with what was expected. What they found is there for ever, since a log
            # only grows: it can be looked up now.
            answer = self._database.read(lambda connection: _why_refused(connection, worker, expected, linked))
            if answer is None:
                raise damaged_log(worker, str(refused)) from refused
            return answer
        return self._witnessed(worker, linked, committed)

    def _witnessed(self, worker: str, linked: Sequence[Entry], committed: Committed) -> Committed:
        if self._witness is not None:
            first = linked[0]
            advance(self._witness, worker, Head(first.seq - 1, first.previous), committed.head, lambda seq: self._digest_at(worker, seq))
        return committed

    def _linked(
        self, worker: str, expected: Head, entries: Sequence[NewEntry], definitions: Mapping[str, bytes]
    ) -> tuple[tuple[Entry, ...], Head]:
        linked, head = _linked(worker, expected, entries, definitions)
        return self._seals.sealed(linked), head

    def delete(self, worker: str, expected: Head, time: datetime) -> Deleted | Moved:
        """Delete a log whose head is still `expected`. A tombstone stays."""
        try:
            return self._database.write(lambda connection: delete_log(connection, worker, expected, time))
        except Refused as refused:  # what the rules look at is what was looked at before
            raise damaged_log(worker, str(refused)) from refused

    def head(self, worker: str) -> Head | None:
        """Give the head, or None when there is no such Worker. Raises Damaged when it is not the last entry."""
        found = self._ends(worker)
        return None if found is None else require_head(worker, found)

    def _ends(self, worker: str) -> Found | None:
        return self._database.read(lambda connection: find_ends(connection, worker))

    def entries(self, worker: str, after: int = 0, upto: int | None = None) -> Iterator[Entry]:
        """Read entries with `after < seq <= upto` in order. Raises Damaged at an entry that is not what was written."""
        found = self._ends(worker)
        if found is None:
            return
        base, head = found.base, require_head(worker, found)
        last = head.seq if upto is None else min(upto, head.seq)
        if after >= last:
            return
        previous, sealed = (base, False) if after <= base.seq else self._anchor(worker, after)
        while previous.seq < last:
            page = self._page(worker, previous.seq, last)
            if not page:
                raise _damaged_entry(worker, previous.seq + 1, "it is missing")
            for row in page:
                entry = self._verified(worker, row, previous)
                problem = self._seals.problem(entry, after_sealed=sealed)
                if problem is not None:
                    raise SealMismatch(f"entry {entry.reference} of Worker {worker} is not to be trusted: {problem}", _REMEDY_SEAL)
                previous, sealed = Head(entry.seq, entry.digest), entry.key_id is not None
                yield entry

    def _verified(self, worker: str, row: tuple[Any, ...], previous: Head) -> Entry:
        try:
            entry = entry_of(_PAGE.read(row))
            problem = "it is missing" if entry.seq != previous.seq + 1 else check(entry, previous)
            if problem is not None and check(replace(entry, redacted=True), previous) is None and self._is_redacted(entry):
                return replace(entry, redacted=True)
        except ValueError as impossible:  # a value that is none of ours, or a header that cannot be written
            problem = str(impossible)
        else:
            if problem is None:
                return entry
        raise _damaged_entry(worker, previous.seq + 1, problem)

    def _is_redacted(self, entry: Entry) -> bool:
        """Tell whether a later entry says that the payload of this one is another one since."""
        said = None if entry.kind == Kind.REDACTED else self.find(entry.worker, redaction_key(entry.seq, entry.payload))
        return said is not None and said.kind == Kind.REDACTED

    def find(self, worker: str, key: str) -> Entry | None:
        """Look an entry up by its key. Raises Damaged when it is not what was written."""

        def look(connection: Connection) -> int | None:
            row = _FIND_KEY.first(connection, {"worker": worker, "key": key})
            return None if row is None else number_of(row, "seq")

        seq = self._database.read(look)
        found = None if seq is None else self._entry(worker, seq)
        if found is not None and found.key != key:
            raise damaged_log(worker, f"{found.reference} is listed under another key than it has")
        return found

    def latest(self, worker: str, kind: str) -> Entry | None:
        """Give the last entry of a kind: checkpoints at a cost that does not grow with the log, others by reading it from its end."""
        latest = _LATEST_CHECKPOINT if kind == CHECKPOINT else _LATEST_OF_KIND

        def look(connection: Connection) -> int | None:
            row = latest.first(connection, {"worker": worker, "kind": kind})
            return None if row is None else number_of(row, "seq")

        seq = self._database.read(look)
        found = None if seq is None else self._entry(worker, seq)
        if found is not None and found.kind != kind:
            raise damaged_log(worker, f"{found.reference} is listed under another kind than it has")
        if found is None:
            self.head(worker)  # a log that was lost in part is not told as one that has none
        return found

    def _entry(self, worker: str, seq: int) -> Entry | None:
        """Give an entry that was found there; None when its log was deleted since."""
        found = next(self.entries(worker, seq - 1, seq), None)
        if found is None and self._ends(worker) is not None:
            raise _damaged_entry(worker, seq, "it is missing")
        return found

    def workers(self, workspace: str, limit: int, after: str = "") -> Sequence[WorkerRow]:
        """List Workers by id (UUIDv7: oldest first), `limit` at a time, those after `after`."""
        return self._database.read(lambda connection: list_workers(connection, workspace, limit, after))

    def definition(self, digest: str) -> bytes | None:
        """Give a stored definition's canonical bytes. Raises Damaged when they do not have that digest."""
        return read_definition(self._database, digest)

    # --- the port StoredLogs --------------------------------------------------------------------------------------------------------

    def ends(self, worker: str) -> "Ends | None":
        """Give the ends of a log, both as of one moment; None when there is no such Worker."""
        from stateward.runtime.session.verification import Ends  # noqa: PLC0415 -- only who verifies a log needs it

        found = self._ends(worker)
        return None if found is None else Ends(found.base, found.head, found.last.seq)

    def deleted(self, worker: str) -> Head | None:
        """Give the head at which a Worker was deleted; None when it never was."""
        return self._database.read(lambda connection: tombstone(connection, worker))

    def stored(self, worker: str, upto: int) -> Iterator[Entry | Unreadable]:
        """Read what lies under the numbers up to `upto`, in order and unchecked."""
        after = 0
        while page := self._page(worker, after, upto):
            for row in page:
                seq = row[_SEQ_PLACE]
                if not (isinstance(seq, int) and seq > after):
                    return  # numbers that do not grow: there is no order to go on in, and what is missing is seen
                after = seq
                yield _unchecked(row, after)

    # --- reading --------------------------------------------------------------------------------------------------------------------

    def _digest_at(self, worker: str, seq: int) -> str | None:
        row = self._database.read(lambda connection: _DIGEST.first(connection, {"worker": worker, "seq": seq}))
        return None if row is None else row["digest"]

    def _anchor(self, worker: str, seq: int) -> tuple[Head, bool]:
        """Give the head as it was at an entry, and whether that entry is sealed."""
        row = self._database.read(lambda connection: _DIGEST.first(connection, {"worker": worker, "seq": seq}))
        if row is None:
            raise _damaged_entry(worker, seq, "it is missing")
        return Head(seq, row["digest"]), row["key_id"] is not None

    def _page(self, worker: str, after: int, upto: int) -> list[tuple[Any, ...]]:
        values = {"worker": worker, "after": after, "upto": upto}

        def fetch(connection: Connection) -> list[tuple[Any, ...]]:
            rows: list[tuple[Any, ...]] = []
            size = 0
            for row in _PAGE.run(connection, values):
                rows.append(row)
                size += _payload_size(row)
                if size > PAGE_BYTES_MAX:
                    break
            return rows

        return self._database.read(fetch)


_SEQ_PLACE: Final = COLUMNS["entries"].index("seq")
_PAYLOAD_PLACE: Final = COLUMNS["entries"].index("payload")


def _payload_size(row: tuple[Any, ...]) -> int:
    payload = row[_PAYLOAD_PLACE]
    return len(payload) if isinstance(payload, bytes) else 0


def _linked(worker: str, expected: Head, entries: Sequence[NewEntry], definitions: Mapping[str, bytes]) -> tuple[tuple[Entry, ...], Head]:
    if not 1 <= len(entries) <= APPEND_ENTRIES_MAX:
        raise ValueError(f"an append takes 1 to {APPEND_ENTRIES_MAX} entries, not {len(entries)}")
    if len(entries) > 1:
        keys = [each.key for each in entries if each.key is not None]
        if len(keys) != len(set(keys)):
            raise ValueError("two entries of one append have the same key")
    if definitions:
        from stateward.store.revisions import require_definition  # noqa: PLC0415 -- only what starts a flow brings any
    for digest, canonical in definitions.items():
        require_definition(digest, canonical)
    linked = link_all(worker, expected, entries)
    return linked, Head(linked[-1].seq, linked[-1].digest)


def _why_refused(connection: Connection, worker: str, expected: Head | None, linked: Sequence[Entry]) -> Moved | Duplicate | None:
    for entry in linked:
        if entry.key is not None:
            found = _FIND_KEY.first(connection, {"worker": worker, "key": entry.key})
            if found is not None:
                return Duplicate(entry.key, number_of(found, "seq"))
    row = _HEAD.first(connection, {"worker": worker})
    buried = tombstone(connection, worker) if expected is None else None
    head = buried if row is None else head_of(row)
    return None if head == expected else Moved(head or GENESIS)


def _write(connection: Connection, linked: Sequence[Entry], definitions: Mapping[str, bytes]) -> None:
    for digest, canonical in definitions.items():
        keep_definition(connection, digest, canonical)
    for entry in linked:
        beside = lies_beside(entry)
        if beside:
            keep_payload(connection, entry)
        _INSERT_ENTRY.write_one_in_order(connection, entry_parameters(entry, beside=beside))


def _swap_head(connection: Connection, worker: str, expected: Head, head: Head) -> None:
    swapped = _SWAP_HEAD.run(
        connection,
        {"worker": worker, "seq": expected.seq, "digest": expected.digest, "new_seq": head.seq, "new_digest": head.digest},
    )
    if swapped.rowcount != 1:
        raise damaged_log(worker, f"its head is not its last entry, {reference(expected.seq)}")


def _unchecked(row: tuple[Any, ...], seq: int) -> Entry | Unreadable:
    try:
        return entry_of(_PAGE.read(row))
    except ValueError as problem:
        return Unreadable(seq, str(problem))


def _damaged_entry(worker: str, seq: int, problem: str) -> Damaged:
    return Damaged(f"entry {reference(seq)} of Worker {worker} is damaged: {problem}", REMEDY)
