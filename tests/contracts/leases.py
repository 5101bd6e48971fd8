"""What every LeaseStore does.

A test module for an adapter imports everything here and offers a fixture `leases` that gives an empty store.
"""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta, timezone

import pytest

from stateward.runtime.ports import LEASE_SECONDS_MAX, Held, Lease, LeaseStore

NOON = datetime(2026, 3, 1, 12, 0, 0, 123456, tzinfo=UTC)
WORKER = "0198c0de-0000-7000-8000-000000000001"
OTHER = "0198c0de-0000-7000-8000-000000000002"
ATTEMPT = "0198c0de-0000-7000-8002-000000000001"
LATER_ATTEMPT = "0198c0de-0000-7000-8002-000000000002"
SECONDS = 15.0


def at(seconds: float) -> datetime:
    return NOON + timedelta(seconds=seconds)


def taken(leases: LeaseStore, now: datetime = NOON, holder: str = "d", attempt: str = ATTEMPT, worker: str = WORKER) -> Lease:
    answer = leases.take(worker, attempt, holder, now, SECONDS)
    assert isinstance(answer, Lease), answer
    return answer


def test_an_attempt_that_nobody_holds_is_taken_until_its_expiry(leases: LeaseStore) -> None:
    assert None is leases.holder(WORKER, ATTEMPT, NOON)
    assert at(SECONDS) == taken(leases).expires
    assert Held("d", at(SECONDS)) == leases.holder(WORKER, ATTEMPT, at(14.999))
    assert None is leases.holder(WORKER, ATTEMPT, at(SECONDS))


@pytest.mark.parametrize("name", ["d", "e"])
def test_an_attempt_that_is_held_is_not_taken_not_even_by_its_holder(leases: LeaseStore, name: str) -> None:
    taken(leases)
    assert Held("d", at(SECONDS)) == leases.take(WORKER, ATTEMPT, name, at(14), SECONDS)
    assert Held("d", at(SECONDS)) == leases.holder(WORKER, ATTEMPT, at(14))


def test_a_lease_that_expired_can_be_taken(leases: LeaseStore) -> None:
    first = taken(leases)
    second = taken(leases, at(SECONDS), "e")
    assert second.token > first.token
    assert Held("e", at(2 * SECONDS)) == leases.holder(WORKER, ATTEMPT, at(SECONDS))


def test_a_renewed_lease_lasts_from_the_renewal_and_keeps_its_token(leases: LeaseStore) -> None:
    lease = taken(leases)
    assert Lease(lease.token, at(10 + SECONDS)) == leases.renew(WORKER, ATTEMPT, lease.token, at(10), SECONDS)
    assert Held("d", at(10 + SECONDS)) == leases.holder(WORKER, ATTEMPT, at(20))
    assert Held("d", at(10 + SECONDS)) == leases.take(WORKER, ATTEMPT, "e", at(20), SECONDS)


def test_a_lease_that_expired_is_not_renewed_even_if_nobody_took_it(leases: LeaseStore) -> None:
    lease = taken(leases)
    assert None is leases.renew(WORKER, ATTEMPT, lease.token, at(SECONDS), SECONDS)
    assert None is leases.holder(WORKER, ATTEMPT, at(SECONDS))


def test_a_released_lease_can_be_taken_at_once_and_is_not_renewed(leases: LeaseStore) -> None:
    first = taken(leases)
    assert leases.release(WORKER, ATTEMPT, first.token)
    assert None is leases.holder(WORKER, ATTEMPT, NOON)
    assert None is leases.renew(WORKER, ATTEMPT, first.token, at(1), SECONDS)
    assert not leases.release(WORKER, ATTEMPT, first.token)
    assert taken(leases).token > first.token


def test_a_holder_that_slept_past_its_expiry_is_refused_by_its_token_under_the_same_name(leases: LeaseStore) -> None:
    first = taken(leases, NOON, "d")
    second = taken(leases, at(20), "d")
    assert None is leases.renew(WORKER, ATTEMPT, first.token, at(21), SECONDS)
    assert not leases.release(WORKER, ATTEMPT, first.token)
    assert Held("d", at(20 + SECONDS)) == leases.take(WORKER, ATTEMPT, "d", at(21), SECONDS)
    assert Held("d", at(20 + SECONDS)) == leases.holder(WORKER, ATTEMPT, at(21))
    assert Lease(second.token, at(22 + SECONDS)) == leases.renew(WORKER, ATTEMPT, second.token, at(22), SECONDS)


def test_a_lease_that_nobody_took_is_neither_renewed_nor_released(leases: LeaseStore) -> None:
    lease = taken(leases)
    for worker, attempt, token in ((WORKER, LATER_ATTEMPT, lease.token), (OTHER, ATTEMPT, lease.token), (WORKER, ATTEMPT, lease.token + 1)):
        assert None is leases.renew(worker, attempt, token, NOON, SECONDS)
        assert not leases.release(worker, attempt, token)
    assert Held("d", at(SECONDS)) == leases.holder(WORKER, ATTEMPT, NOON)


def test_tokens_of_a_worker_grow_over_all_its_attempts_whatever_becomes_of_the_leases(leases: LeaseStore) -> None:
    tokens: list[int] = []
    for number in range(12):
        attempt = f"{ATTEMPT}-{number % 5}"
        lease = taken(leases, at(20 * number), attempt=attempt)
        tokens.append(lease.token)
        if number % 3 == 0:
            leases.release(WORKER, attempt, lease.token)
    assert sorted(set(tokens)) == tokens


def test_tokens_grow_while_the_clock_stands_still_or_goes_back(leases: LeaseStore) -> None:
    tokens: list[int] = []
    for number, now in enumerate((NOON, NOON, at(-3600), at(-1), NOON)):
        lease = taken(leases, now, attempt=f"{ATTEMPT}-{number}")
        leases.release(WORKER, f"{ATTEMPT}-{number}", lease.token)
        tokens.append(lease.token)
    assert sorted(set(tokens)) == tokens


def test_attempts_and_workers_are_held_apart(leases: LeaseStore) -> None:
    first = taken(leases)
    taken(leases, at(1), "e", LATER_ATTEMPT)
    taken(leases, at(2), "f", ATTEMPT, OTHER)
    assert Held("d", at(SECONDS)) == leases.holder(WORKER, ATTEMPT, at(3))
    assert Held("e", at(1 + SECONDS)) == leases.holder(WORKER, LATER_ATTEMPT, at(3))
    assert Held("f", at(2 + SECONDS)) == leases.holder(OTHER, ATTEMPT, at(3))
    assert leases.release(WORKER, ATTEMPT, first.token)
    assert Held("f", at(2 + SECONDS)) == leases.holder(OTHER, ATTEMPT, at(3))


def test_a_time_with_another_offset_is_the_same_moment(leases: LeaseStore) -> None:
    elsewhere = timezone(timedelta(hours=-3))
    lease = taken(leases, NOON.astimezone(elsewhere))
    assert at(SECONDS) == lease.expires
    assert None is leases.holder(WORKER, ATTEMPT, at(SECONDS).astimezone(elsewhere))
    assert Held("d", at(SECONDS)) == leases.holder(WORKER, ATTEMPT, at(14).astimezone(elsewhere))


@pytest.mark.parametrize(
    ("now", "seconds"),
    [(NOON, 0.0), (NOON, -1.0), (NOON, float("nan")), (NOON, LEASE_SECONDS_MAX + 0.001), (NOON.replace(tzinfo=None), SECONDS)],
)
def test_what_can_never_be_a_lease_is_refused(leases: LeaseStore, now: datetime, seconds: float) -> None:
    lease = taken(leases)
    with pytest.raises(ValueError):
        leases.take(WORKER, LATER_ATTEMPT, "d", now, seconds)
    with pytest.raises(ValueError):
        leases.renew(WORKER, ATTEMPT, lease.token, now, seconds)


def test_a_clock_that_is_set_back_holds_an_attempt_no_longer_than_a_lease_can_last(leases: LeaseStore) -> None:
    first = leases.take(WORKER, ATTEMPT, "d", at(86400), LEASE_SECONDS_MAX)
    assert isinstance(first, Lease)
    assert first.expires == at(86400 + LEASE_SECONDS_MAX)
    assert isinstance(leases.holder(WORKER, ATTEMPT, at(86400)), Held)
    assert None is leases.holder(WORKER, ATTEMPT, NOON)
    second = taken(leases, NOON, "e")
    assert second.token > first.token
    assert None is leases.renew(WORKER, ATTEMPT, first.token, at(1), SECONDS)
    assert Held("e", at(SECONDS)) == leases.holder(WORKER, ATTEMPT, at(1))


def test_whoever_holds_an_attempt_when_the_clock_is_set_back_goes_on_holding_it_from_the_next_renewal(leases: LeaseStore) -> None:
    lease = taken(leases, at(86400))
    assert Lease(lease.token, at(SECONDS)) == leases.renew(WORKER, ATTEMPT, lease.token, NOON, SECONDS)
    assert Held("d", at(SECONDS)) == leases.take(WORKER, ATTEMPT, "e", at(1), SECONDS)


def test_of_threads_that_take_an_attempt_at_once_one_gets_it(leases: LeaseStore) -> None:
    with ThreadPoolExecutor(8) as threads:
        for round_ in range(5):
            now = at(20 * round_)
            answers = list(threads.map(lambda name, now=now: leases.take(WORKER, ATTEMPT, name, now, SECONDS), "abcdefgh"))
            assert 1 == sum(isinstance(answer, Lease) for answer in answers)
            assert 1 == len({answer.holder for answer in answers if isinstance(answer, Held)})
