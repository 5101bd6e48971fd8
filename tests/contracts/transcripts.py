"""What every store of transcripts does.

A test module for an adapter imports everything here and offers a fixture `transcripts` that gives an empty one.
"""

from concurrent.futures import ThreadPoolExecutor

import pytest

from stateward.runtime.ports import Transcripts

WORKER = "0198c0de-0000-7000-8000-000000000001"
OTHER = "0198c0de-0000-7000-8000-000000000002"
ATTEMPT = "0198c0de-0000-7000-8002-000000000001"
LATER_ATTEMPT = "0198c0de-0000-7000-8002-000000000002"
CONTENTS = (b"", b"one", b"\x00\xff\n", b"x" * 400_000)


def test_an_attempt_of_which_nothing_was_kept_has_no_records(transcripts: Transcripts) -> None:
    assert () == tuple(transcripts.records(WORKER, ATTEMPT))


def test_records_come_back_in_order_as_they_were(transcripts: Transcripts) -> None:
    for number, content in enumerate(CONTENTS, start=1):
        assert transcripts.append(WORKER, ATTEMPT, number, content)
    assert CONTENTS == tuple(transcripts.records(WORKER, ATTEMPT))


def test_the_same_record_again_is_kept_once_so_a_lost_answer_can_be_asked_for_again(transcripts: Transcripts) -> None:
    for _ in range(2):
        assert transcripts.append(WORKER, ATTEMPT, 1, b"one")
    assert (b"one",) == tuple(transcripts.records(WORKER, ATTEMPT))


def test_another_record_under_a_number_that_is_taken_is_not_kept(transcripts: Transcripts) -> None:
    transcripts.append(WORKER, ATTEMPT, 1, b"one")
    transcripts.append(WORKER, ATTEMPT, 2, b"two")
    assert not transcripts.append(WORKER, ATTEMPT, 1, b"other")
    assert not transcripts.append(WORKER, ATTEMPT, 2, b"one")
    assert (b"one", b"two") == tuple(transcripts.records(WORKER, ATTEMPT))


@pytest.mark.parametrize("number", [-1, 0, 3, 100])
def test_a_number_that_does_not_follow_is_refused(transcripts: Transcripts, number: int) -> None:
    transcripts.append(WORKER, ATTEMPT, 1, b"one")
    with pytest.raises(ValueError, match=f"record {number} does not follow record 1"):
        transcripts.append(WORKER, ATTEMPT, number, b"more")
    assert (b"one",) == tuple(transcripts.records(WORKER, ATTEMPT))


def test_workers_and_attempts_are_kept_apart(transcripts: Transcripts) -> None:
    places = ((WORKER, ATTEMPT), (WORKER, LATER_ATTEMPT), (OTHER, ATTEMPT))
    for number, (worker, attempt) in enumerate(places):
        assert transcripts.append(worker, attempt, 1, str(number).encode())
    assert [(b"0",), (b"1",), (b"2",)] == [tuple(transcripts.records(*place)) for place in places]


def test_of_several_who_write_a_number_at_once_one_does_and_the_others_are_told(transcripts: Transcripts) -> None:
    with ThreadPoolExecutor(8) as threads:
        for number in range(1, 6):
            kept = list(threads.map(lambda name, number=number: transcripts.append(WORKER, ATTEMPT, number, name.encode()), "abcdefgh"))
            assert 1 == sum(kept)
            assert "abcdefgh"[kept.index(True)].encode() == transcripts.records(WORKER, ATTEMPT)[-1]
