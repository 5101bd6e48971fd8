"""Copies of entries as bytes: cut into parts, read back entry for entry, found by number without reading what comes before."""

from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stateward.runtime.session.chain import link_all
from stateward.runtime.session.entries import GENESIS, Actor, ActorClass, Entry, NewEntry
from stateward.runtime.session.inherited import PART_BYTES, Part, Whole, copied, masked_part, parts_of, read_part, read_whole, write_whole
from stateward.runtime.session.strict import Malformed, Newer

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
HOST = Actor(ActorClass.HOST, "hook", "harness")


def log_of(*sizes: int) -> tuple[Entry, ...]:
    return link_all(
        "w", GENESIS, [NewEntry("tool_result", HOST, NOON, bytes([65 + place % 26]) * size) for place, size in enumerate(sizes)]
    )


def reader_of(payloads: list[bytes]) -> Callable[[int], Part]:
    return lambda number: read_part(payloads[number - 1])


@settings(max_examples=40)
@given(
    st.lists(st.sampled_from([0, 10, PART_BYTES // 3, PART_BYTES - 700, PART_BYTES, 2 * PART_BYTES + 5]), min_size=1, max_size=8), st.data()
)
def test_any_range_is_read_back_entry_for_entry(sizes: list[int], data: st.DataObject) -> None:
    log = log_of(*sizes)
    payloads = list(parts_of(log))
    after = data.draw(st.integers(0, len(log)))
    upto = data.draw(st.integers(after, len(log)))
    assert log[after:upto] == tuple(copied(reader_of(payloads), len(payloads), after, upto))


def test_a_part_is_as_large_as_its_limit_and_no_larger() -> None:
    payloads = list(parts_of(log_of(*[1000] * 1000)))
    assert len(payloads) > 5
    assert all(len(read_part(each).lines) <= PART_BYTES for each in payloads)
    assert all(len(read_part(each).lines) > PART_BYTES - 2000 for each in payloads[:-1])


def test_an_entry_is_found_by_reading_few_parts() -> None:
    payloads = list(parts_of(log_of(*[PART_BYTES // 2] * 200)))
    read: list[int] = []

    def part(number: int) -> Part:
        read.append(number)
        return read_part(payloads[number - 1])

    (entry,) = copied(part, len(payloads), 149, 150)
    assert 150 == entry.seq
    assert len(set(read)) <= 10


def test_the_same_entries_make_the_same_parts() -> None:
    log = log_of(10, PART_BYTES, 10)
    assert list(parts_of(log)) == list(parts_of(log))


@pytest.mark.parametrize("lost", [2, 3])
def test_a_line_whose_pieces_are_not_all_there_in_order_is_told(lost: int) -> None:
    payloads = list(parts_of(log_of(10, 3 * PART_BYTES)))
    payloads[lost - 1] = payloads[lost]
    with pytest.raises(Malformed):
        list(copied(reader_of(payloads), len(payloads), 0, 2))


@pytest.mark.parametrize(
    ("payload", "problem"),
    [
        (b"", Malformed),
        (b"nonsense\n", Malformed),
        (b'{"v":2,"first":1,"piece":1,"pieces":1}\n', Newer),
        (b'{"v":1,"first":1,"piece":1}\n', Malformed),
    ],
)
def test_what_is_no_part_is_told(payload: bytes, problem: type[ValueError]) -> None:
    with pytest.raises(problem):
        read_part(payload)


def test_a_line_that_is_no_entry_is_told() -> None:
    with pytest.raises(Malformed, match="is no entry"):
        list(copied(lambda _: Part(1, 1, 1, b'{"worker": 1}\n'), 1, 0, 1))


def test_the_end_of_a_copy_comes_back() -> None:
    whole = Whole(3, 41, "w")
    assert whole == read_whole(write_whole(whole))


def test_masking_a_part_changes_the_entries_that_hold_it_alone_and_marks_them() -> None:
    log = log_of(10, 20, 30)
    (payload,) = parts_of(log)
    left = masked_part(payload, lambda data: data.replace(b"B", b"*"))
    first, second, third = copied(lambda _: read_part(left), 1, 0, 3)
    assert (log[0], log[2]) == (first, third)
    assert (b"*" * 20, True, log[1].digest, log[1].payload_digest) == (
        second.payload,
        second.redacted,
        second.digest,
        second.payload_digest,
    )
    assert payload == masked_part(payload, lambda data: data)
