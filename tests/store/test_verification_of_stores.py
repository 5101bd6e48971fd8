# ruff: noqa: S608 -- every statement is made of constants of this file
"""Whole logs verified as they lie: what was done to a store by hand is told apart, with and without a witness."""

import json
import shutil
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from stateward.runtime.ports import Committed
from stateward.runtime.session.chain import digest_of, link
from stateward.runtime.session.entries import Head
from stateward.runtime.session.verification import Anchor, Answer, Code, Verification, verify
from stateward.store.codecs import entry_parameters
from stateward.store.database import open_store
from stateward.store.keys import Purpose
from stateward.store.triggers import TRIGGERS
from tests.contracts.sessions import OTHER, WORKER, WORKSPACE, entry
from tests.store.sealing import NOON, Said, key_folder, sealer

ENTRIES = 10
YES, NO, UNKNOWN = Answer.YES, Answer.NO, Answer.UNKNOWN
HERE = f"worker = '{WORKER}'"
FIFTH = f"{HERE} AND seq = 5"


@dataclass(frozen=True)
class Sealed:
    """A sealed store of two Workers with ten entries each, its keys and its witnesses."""

    folder: Path

    @property
    def store(self) -> Path:
        return self.folder / "store.db"

    @property
    def keys(self) -> Path:
        return self.folder / "keys"

    def change(self, *statements: str) -> None:
        connection = sqlite3.connect(self.store, isolation_level=None)
        for name in TRIGGERS:
            connection.execute(f"DROP TRIGGER {name}")
        for statement in statements:
            connection.execute(statement)
        for sql in TRIGGERS.values():
            connection.execute(sql)
        connection.close()

    def append(self, count: int, text: str = "more") -> Head:
        witness = Said().witness(self.keys / "witness")
        with open_store(self.store, write=True, sealer=sealer(self.keys), witness=witness) as store:
            head = store.sessions.head(WORKER)
            assert head is not None
            for number in range(count):
                answer = store.sessions.append(WORKER, head, (entry(f"{text} {number}".encode()),))
                assert isinstance(answer, Committed)
                head = answer.head
        return head

    def verified(self, *, witness: bool = True, expected: Sequence[Head] = (), keys: Path | None = None) -> Verification:
        kept = Said().witness(self.keys / "witness").last(WORKER) if witness else None
        anchors = [Anchor(each, "expected head") for each in expected] + ([] if kept is None else [Anchor(kept, "witness")])
        check = sealer(keys or self.keys).check
        with open_store(self.store, write=False) as store:
            ends = store.stored.ends(WORKER)
            assert ends is not None
            return verify(WORKER, ends, store.stored.stored(WORKER, ends.last), check, anchors=anchors, origins=[OTHER])


@pytest.fixture
def sealed(tmp_path: Path) -> Sealed:
    made = Sealed(tmp_path)
    witness = Said().witness(made.keys / "witness")
    with open_store(made.store, write=True, create=True, sealer=sealer(made.keys), witness=witness) as store:
        for worker in (WORKER, OTHER):
            entries = [entry(f"payload {number} of {worker}".encode(), f"k-{number}") for number in range(1, ENTRIES + 1)]
            store.sessions.create(worker, WORKSPACE, entries, {})
    return made


def answers(verified: Verification) -> tuple[Answer, Answer, Answer]:
    return verified.intact, verified.complete, verified.anchored


def found(verified: Verification) -> list[tuple[Code, int]]:
    return [(each.code, each.seq) for each in verified.findings]


def cut_with_head(last: int) -> list[str]:
    """Take out everything behind an entry and put the head back to it."""
    digest = f"(SELECT digest FROM entries WHERE {HERE} AND seq = {last})"
    return [f"UPDATE heads SET seq = {last}, digest = {digest} WHERE {HERE}", f"DELETE FROM entries WHERE {HERE} AND seq > {last}"]


def swapped(one: int, other: int) -> list[str]:
    return [
        f"UPDATE entries SET seq = 900 WHERE {HERE} AND seq = {one}",
        f"UPDATE entries SET seq = {one} WHERE {HERE} AND seq = {other}",
        f"UPDATE entries SET seq = {other} WHERE {HERE} AND seq = 900",
    ]


def test_a_log_that_nobody_touched_is_intact_complete_and_anchored(sealed: Sealed) -> None:
    verified = sealed.verified()
    assert (YES, YES, YES) == answers(verified)
    assert (ENTRIES, ENTRIES, 0, (), False, True) == (
        verified.entries,
        verified.sealed,
        verified.unsealed,
        verified.findings,
        verified.rolled_back,
        verified.is_well,
    )


def test_without_a_witness_it_is_unknown_whether_it_is_anchored_and_nothing_is_wrong(sealed: Sealed) -> None:
    verified = sealed.verified(witness=False)
    assert ((YES, YES, UNKNOWN), True) == (answers(verified), verified.is_well)


@pytest.mark.parametrize(
    "change",
    [
        "payload = x'70617967'",
        f"payload = CAST(replace(CAST(payload AS TEXT), 'payload 5 of {WORKER}', 'payload 6 of {WORKER}') AS BLOB)",
        "kind = 'user_input'",
        "actor_class = 'person'",
        "time = '2026-03-01T12:00:00.123457Z'",
        "key = NULL",
    ],
)
def test_an_altered_byte_is_one_finding_at_its_entry(sealed: Sealed, change: str) -> None:
    sealed.change(f"UPDATE entries SET {change} WHERE {FIFTH}")
    verified = sealed.verified()
    assert ((NO, YES, YES), [(Code.ALTERED, 5)]) == (answers(verified), found(verified))


@pytest.mark.parametrize(("one", "other"), [(5, 6), (2, 9), (1, 2)])
def test_a_swapped_pair_is_told_from_altered_entries(sealed: Sealed, one: int, other: int) -> None:
    sealed.change(*swapped(one, other))
    verified = sealed.verified()
    assert ((NO, YES, YES), [(Code.MOVED, one), (Code.MOVED, other)]) == (answers(verified), found(verified))
    assert f"it is entry E{other:08d}, put in another place" == verified.findings[0].message


@pytest.mark.parametrize("cut", [1, 9, 10])
def test_a_cut_tail_is_incomplete_and_not_altered(sealed: Sealed, cut: int) -> None:
    sealed.change(f"DELETE FROM entries WHERE {HERE} AND seq > {ENTRIES - cut}")
    verified = sealed.verified(witness=False)
    assert ((YES, NO, UNKNOWN), [(Code.TAIL_MISSING, ENTRIES - cut + 1)]) == (answers(verified), found(verified))


@pytest.mark.parametrize("cut", [1, 9])
def test_a_cut_tail_whose_head_was_put_back_too_is_seen_by_the_witness_alone(sealed: Sealed, cut: int) -> None:
    sealed.change(*cut_with_head(ENTRIES - cut))
    assert (YES, YES, UNKNOWN) == answers(sealed.verified(witness=False))
    verified = sealed.verified()
    assert ((YES, YES, NO), True) == (answers(verified), verified.rolled_back)
    assert [(Code.ROLLED_BACK, ENTRIES)] == found(verified)
    assert f"the witness knows E00000010, and the log ends at E{ENTRIES - cut:08d}" == verified.findings[0].message


@pytest.mark.parametrize(("first", "last"), [(1, 1), (5, 5), (4, 6)])
def test_a_missing_beginning_or_middle_is_not_intact(sealed: Sealed, first: int, last: int) -> None:
    sealed.change(f"DELETE FROM entries WHERE {HERE} AND seq BETWEEN {first} AND {last}")
    verified = sealed.verified()
    assert ((NO, YES, YES), [(Code.MISSING, first)]) == (answers(verified), found(verified))


def test_an_older_copy_put_back_is_rolled_back_to_a_witness_and_well_without_one(sealed: Sealed) -> None:
    copy = sealed.folder / "copy.db"
    shutil.copy(sealed.store, copy)
    head = sealed.append(3)
    sealed.store.with_name("store.db-wal").unlink(missing_ok=True)
    shutil.copy(copy, sealed.store)
    assert (YES, YES, UNKNOWN) == answers(sealed.verified(witness=False))
    assert (YES, YES, NO) == answers(sealed.verified())
    assert (YES, YES, NO) == answers(sealed.verified(witness=False, expected=[head]))


def test_an_older_copy_that_grew_past_the_witness_is_still_seen_to_be_another_log(sealed: Sealed) -> None:
    copy = sealed.folder / "copy.db"
    shutil.copy(sealed.store, copy)
    sealed.append(3)
    shutil.copy(copy, sealed.store)
    sealed.append(5, "otherwise")
    verified = sealed.verified()
    assert ((YES, YES, NO), True) == (answers(verified), verified.rolled_back)
    assert "the witness knows E00000013 with another digest" == verified.findings[0].message


def test_a_head_that_was_written_down_anchors_a_log_that_grew_since(sealed: Sealed) -> None:
    written_down = Head(ENTRIES, sealed.append(0).digest)
    sealed.append(2)
    assert (YES, YES, YES) == answers(sealed.verified(witness=False, expected=[written_down]))
    other = sealed.verified(witness=False, expected=[Head(ENTRIES, digest_of(b"another"))])
    assert (YES, YES, NO) == answers(other)


def test_a_key_that_was_put_in_anothers_place_is_one_finding_and_not_ten(sealed: Sealed) -> None:
    key = key_folder(sealed.keys).current(Purpose.SEAL)
    other = key_folder(sealed.folder / "other").current(Purpose.SEAL)
    members = json.loads((sealed.folder / "other" / f"{other.id}.key").read_text("ascii"))
    (sealed.keys / f"{key.id}.key").write_text(json.dumps({**members, "id": key.id}), "ascii")
    verified = sealed.verified()
    assert ((NO, YES, YES), [(Code.WRONG_KEY, 1)]) == (answers(verified), found(verified))
    assert verified.findings[0].message.startswith(f"none of the 10 seals under key `{key.id}` checks")


def test_a_key_that_is_not_here_leaves_open_whether_the_log_is_intact(sealed: Sealed) -> None:
    key = key_folder(sealed.keys).current(Purpose.SEAL)
    verified = sealed.verified(keys=sealed.folder / "nothing here")
    assert ((UNKNOWN, YES, YES), (key.id,), 0, True) == (answers(verified), verified.unknown_keys, verified.sealed, verified.is_well)


def test_an_alteration_is_found_without_the_key_too(sealed: Sealed) -> None:
    sealed.change(f"UPDATE entries SET payload = x'00' WHERE {FIFTH}")
    verified = sealed.verified(keys=sealed.folder / "nothing here")
    assert (NO, [(Code.ALTERED, 5)]) == (verified.intact, found(verified))


def test_an_entry_of_another_worker_put_over_one_is_named_with_where_it_is_from(sealed: Sealed) -> None:
    columns = ("payload", "payload_digest", "previous", "digest", "seal", "key")
    others = f"(SELECT {{}} FROM entries AS e WHERE e.worker = '{OTHER}' AND e.seq = entries.seq)"
    sealed.change(f"UPDATE entries SET {', '.join(f'{name} = {others.format(name)}' for name in columns)} WHERE {FIFTH}")
    verified = sealed.verified()
    assert ((NO, YES, YES), [(Code.FOREIGN, 5)]) == (answers(verified), found(verified))
    assert f"it is entry E00000005 of Worker {OTHER}" == verified.findings[0].message


@pytest.mark.parametrize("at", [11, 12])
def test_an_entry_of_another_worker_appended_with_the_head_moved_on_is_named(sealed: Sealed, at: int) -> None:
    with open_store(sealed.store, write=True, sealer=sealer(sealed.keys)) as store:
        head = store.sessions.head(OTHER)
        assert head is not None
        store.sessions.append(OTHER, head, (entry(b"theirs"), entry(b"theirs too")))
    columns = (
        "version, time, actor_class, channel, principal, assurance, host_session, kind, key, payload_digest, previous, digest, payload"
    )
    taken = f"SELECT '{WORKER}', 11, {columns}, key_id, seal FROM entries WHERE worker = '{OTHER}' AND seq = {at}"
    sealed.change(
        f"INSERT INTO entries (worker, seq, {columns}, key_id, seal) {taken}",
        f"UPDATE heads SET seq = 11, digest = (SELECT digest FROM entries WHERE {HERE} AND seq = 11) WHERE {HERE}",
    )
    verified = sealed.verified()
    assert ((NO, YES, YES), [(Code.FOREIGN, 11)]) == (answers(verified), found(verified))
    assert f"it is entry E{at:08d} of Worker {OTHER}" == verified.findings[0].message


def test_an_entry_of_another_worker_made_to_fit_the_chain_lacks_a_seal_of_it(sealed: Sealed) -> None:
    with open_store(sealed.store, write=False) as store:
        head = store.sessions.head(WORKER)
        theirs = list(store.sessions.entries(OTHER))[3]
    assert head is not None
    forged = link(WORKER, head, entry(theirs.payload))
    connection = sqlite3.connect(sealed.store, isolation_level=None)
    values = entry_parameters(forged)
    connection.execute(f"INSERT INTO entries VALUES ({', '.join('?' * len(values))})", (*values[:-2], theirs.key_id, theirs.seal))
    connection.execute(f"UPDATE heads SET seq = 11, digest = ? WHERE {HERE}", (forged.digest,))
    connection.close()
    verified = sealed.verified()
    assert ((NO, YES, YES), [(Code.SEAL_MISMATCH, 11)]) == (answers(verified), found(verified))


def test_an_entry_appended_without_a_seal_is_found(sealed: Sealed) -> None:
    with open_store(sealed.store, write=True) as store:
        head = store.sessions.head(WORKER)
        assert head is not None
        store.sessions.append(WORKER, head, (entry(b"by somebody without the key"),))
    verified = sealed.verified()
    assert ((NO, YES, YES), [(Code.SEAL_MISSING, 11)], 1) == (answers(verified), found(verified), verified.unsealed)


def test_an_unsealed_log_says_so_and_is_not_called_wrong(tmp_path: Path) -> None:
    plain = Sealed(tmp_path)
    with open_store(plain.store, write=True, create=True) as store:
        store.sessions.create(WORKER, WORKSPACE, [entry(str(number).encode()) for number in range(ENTRIES)], {})
    verified = plain.verified()
    assert ((YES, YES, UNKNOWN), 0, ENTRIES) == (answers(verified), verified.sealed, verified.unsealed)


def test_an_entry_beyond_the_head_and_a_missing_head_are_incomplete(sealed: Sealed) -> None:
    digest = f"(SELECT digest FROM entries WHERE {HERE} AND seq = 9)"
    sealed.change(f"UPDATE heads SET seq = 9, digest = {digest} WHERE {HERE}")
    verified = sealed.verified()
    assert ((YES, NO, YES), [(Code.BEYOND_HEAD, 10)]) == (answers(verified), found(verified))
    sealed.change(f"DELETE FROM heads WHERE {HERE}")
    assert [(Code.HEAD_MISSING, 10)] == found(sealed.verified())


def test_a_head_with_another_digest_is_incomplete(sealed: Sealed) -> None:
    sealed.change(f"UPDATE heads SET digest = '{digest_of(b'another')}' WHERE {HERE}")
    verified = sealed.verified()
    assert ((YES, NO, YES), [(Code.HEAD_DIFFERS, 10)]) == (answers(verified), found(verified))


def test_what_was_never_an_entry_is_named_and_the_others_are_looked_at(sealed: Sealed) -> None:
    sealed.change(f"UPDATE entries SET time = 'noonZ' WHERE {FIFTH}", f"UPDATE entries SET payload = x'00' WHERE {HERE} AND seq = 8")
    verified = sealed.verified()
    assert (NO, [(Code.UNREADABLE, 5), (Code.ALTERED, 8)], ENTRIES) == (verified.intact, found(verified), verified.entries)


def test_a_deleted_worker_is_told_from_one_that_was_taken_out(sealed: Sealed) -> None:
    with open_store(sealed.store, write=True, sealer=sealer(sealed.keys)) as store:
        head = store.sessions.head(WORKER)
        assert head is not None
        assert (None, None) == (store.stored.deleted(WORKER), store.stored.deleted("nobody"))
        store.sessions.delete(WORKER, head, NOON)
        assert (head, None) == (store.stored.deleted(WORKER), store.stored.ends(WORKER))


def test_one_bad_seal_among_good_ones_is_named_by_itself(sealed: Sealed) -> None:
    sealed.change(f"UPDATE entries SET seal = zeroblob(32) WHERE {HERE} AND seq IN (1, 2)")
    assert [(Code.SEAL_MISMATCH, 1), (Code.SEAL_MISMATCH, 2)] == found(sealed.verified())
