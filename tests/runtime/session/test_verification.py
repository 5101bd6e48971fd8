"""Verifying a log, by itself: bounded in what it keeps, and never calling well what it did not look into."""

import os
import tracemalloc
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from stateward.runtime.session.chain import digest_of, link, link_all
from stateward.runtime.session.entries import GENESIS, Actor, ActorClass, Entry, Head, Kind, NewEntry, Unreadable
from stateward.runtime.session.verification import (
    FINDINGS_MAX,
    Anchor,
    Answer,
    Code,
    Ends,
    Verification,
    gone,
    verify,
)

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
WORKER = "0198c0de-0000-7000-8000-000000000001"
ENGINE = Actor(ActorClass.ENGINE, "in_process")
LONG = 100_000 if os.environ.get("STATEWARD_TESTS_LONG") else 5_000
KEPT_BYTES_MAX = 500_000
"""A twentieth of what 5,000 entries take."""


def new(number: int) -> NewEntry:
    return NewEntry(Kind.EXTENSION, ENGINE, NOON, b"%d" % number)


def sealed(entry: Entry, key_id: str = "k") -> Entry:
    return replace(entry, key_id=key_id, seal=f"{key_id} {entry.digest}".encode())


def check(key_id: str, digest: str, seal: bytes) -> bool | None:
    return None if key_id == "elsewhere" else seal == f"{key_id} {digest}".encode()


def log(count: int) -> list[Entry]:
    return [sealed(each) for each in link_all(WORKER, GENESIS, map(new, range(count)))]


def verified(entries: list[Entry | Unreadable] | list[Entry], head: Head | None = None) -> Verification:
    last = entries[-1]
    whole = Head(last.seq, last.digest) if isinstance(last, Entry) else None
    return verify(WORKER, Ends(GENESIS, head or whole, last.seq), entries, check)


def test_a_long_log_is_verified_in_memory_that_does_not_grow_with_it() -> None:
    def entries() -> Iterator[Entry]:
        head = GENESIS
        for number in range(LONG):
            entry = sealed(link(WORKER, head, new(number)))
            head = Head(entry.seq, entry.digest)
            # Every other seal is no seal: so what is wrong is bounded too.
            yield entry if number % 2 else replace(entry, seal=b"")

    tracemalloc.start()
    try:
        answer = verify(WORKER, Ends(GENESIS, None, LONG), entries(), check)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (LONG, Answer.NO, FINDINGS_MAX) == (answer.entries, answer.intact, len(answer.findings))
    assert LONG // 2 + 1 == len(answer.findings) + answer.further_findings  # the missing head besides
    assert peak < KEPT_BYTES_MAX


def test_the_seals_of_many_made_up_keys_are_bounded_and_none_is_called_good() -> None:
    entries = [replace(each, key_id=f"made-up-{each.seq}", seal=b"") for each in log(1000)]
    answer = verified(entries)
    assert (Answer.NO, 0) == (answer.intact, answer.sealed)
    assert FINDINGS_MAX == len(answer.findings)


def test_a_log_under_one_known_and_one_unknown_key_is_of_unknown_intactness() -> None:
    entries = log(4)
    entries[1] = sealed(entries[1], "elsewhere")
    answer = verified(entries)
    assert (Answer.UNKNOWN, 3, ("elsewhere",)) == (answer.intact, answer.sealed, answer.unknown_keys)


@given(st.data())
def test_no_single_change_of_a_sealed_log_goes_unseen(data: st.DataObject) -> None:
    entries: list[Entry] = log(6)
    at = data.draw(st.integers(0, 5))
    change = data.draw(
        st.sampled_from(
            [
                {"payload": b"other"},
                {"kind": "note"},
                {"time": NOON.replace(year=2027)},
                {"actor": Actor(ActorClass.PERSON, "terminal")},
                {"key": "k"},
                {"version": 2},
                {"previous": digest_of(b"x")},
                {"digest": digest_of(b"x")},
                {"payload_digest": digest_of(b"x")},
                {"seal": b"x"},
                {"seal": None},
                {"key_id": None},
                {"key_id": "another"},
                {"worker": "another"},
            ]
        )
    )
    entries[at] = replace(entries[at], **change)
    # A log whose first entry alone is without seal looks as one that was sealed from the second on: the seal of a first one covers that.
    assert not verified(entries, Head(6, log(6)[-1].digest)).is_well


@given(st.lists(st.integers(0, 5), min_size=1, max_size=8))
def test_any_other_order_or_number_of_the_same_entries_is_seen(order: list[int]) -> None:
    whole = log(6)
    entries = [replace(whole[each], seq=place) for place, each in enumerate(order, start=1)]
    if order != [0, 1, 2, 3, 4, 5]:
        assert not verified(entries, Head(6, whole[-1].digest)).is_well


def test_entries_that_are_no_entries_are_named_and_reading_goes_on() -> None:
    whole = log(5)
    answer = verified([whole[0], Unreadable(2, "its `time`: no time"), *whole[2:]])
    assert [(Code.UNREADABLE, 2)] == [(each.code, each.seq) for each in answer.findings]
    assert "E00000002" == answer.findings[0].reference


def test_a_log_that_goes_on_from_another_is_verified_from_there() -> None:
    whole = log(8)
    base = Head(whole[3].seq, whole[3].digest)
    ends = Ends(base, Head(8, whole[7].digest), 8)
    assert verify(WORKER, ends, whole[4:], check, anchors=[Anchor(base, "witness")]).is_well
    assert Answer.NO is verify(WORKER, Ends(Head(4, digest_of(b"another")), ends.head, 8), whole[4:], check).intact


def test_a_worker_that_only_a_witness_knows_was_rolled_back() -> None:
    answer = gone(WORKER, [Anchor(Head(7, digest_of(b"7")), "witness")])
    assert (True, False, Answer.NO, Answer.NO) == (answer.rolled_back, answer.is_well, answer.anchored, answer.complete)
    assert "the witness knows E00000007, and the store has no such Worker" == answer.findings[0].message
