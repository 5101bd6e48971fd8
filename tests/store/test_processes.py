"""Many processes on one store, wherever it lies: nobody hears of a lock, nothing is lost, no chain breaks."""

from pathlib import Path

import pytest

from stateward.runtime.ports import Held, Lease
from stateward.runtime.session.chain import check
from stateward.runtime.session.entries import GENESIS, Head
from stateward.store.database import open_store
from tests.contracts.flows import HERE
from tests.contracts.leases import ATTEMPT
from tests.contracts.sessions import NOON, WORKER, WORKSPACE, entry
from tests.store.children import (
    LONG,
    append_for_ever,
    append_to_own,
    append_to_shared,
    barrier,
    child,
    create_store,
    exit_statuses,
    pipe,
    read_until_told,
    save_over_each_other,
    take_lease,
)

PAGES_BYTES_MAX = 8 * 1024 * 1024
"""Of the file `-wal` while many write: every 1,000 pages of 4 KiB it is copied into the store and begun again, readers permitting."""
OWN_PROCESSES, OWN_APPENDS = 12, 200 if LONG else 40
SHARED_PROCESSES, SHARED_APPENDS = 8, 100 if LONG else 20
SAVERS, SAVES = 16, 50 if LONG else 12
TAKERS = 8
KILLS = 200 if LONG else 7
CREATORS, CREATIONS = 8, 200 if LONG else 3


def test_processes_with_a_log_each_and_a_reader_lose_nothing(place: Path | str) -> None:
    workers = [f"0198c0de-0000-7000-8000-{number:012}" for number in range(OWN_PROCESSES)]
    open_store(place, write=True, create=True).close()
    start = barrier(OWN_PROCESSES + 1)
    stop, stopping = pipe()
    reader = child(read_until_told, place, workers, start, stop)
    writers = [child(append_to_own, place, worker, OWN_APPENDS, start) for worker in workers]
    assert [0] * OWN_PROCESSES == exit_statuses(writers)
    pages = place.with_name("store.db-wal") if isinstance(place, Path) else None
    assert pages is None or PAGES_BYTES_MAX > pages.stat().st_size
    stopping.send(None)
    assert [0] == exit_statuses([reader])
    open_store(place, write=True).close()
    assert pages is None or not pages.exists()
    with open_store(place, write=False) as store:
        for worker in workers:
            assert [str(number) for number in range(OWN_APPENDS)] == [each.key for each in store.sessions.entries(worker)]
        assert [OWN_APPENDS] * OWN_PROCESSES == [row.head.seq for row in store.sessions.workers(WORKSPACE, 100)]


def test_processes_that_append_to_one_log_make_one_unbroken_chain(place: Path | str) -> None:
    with open_store(place, write=True, create=True) as store:
        store.sessions.create(WORKER, WORKSPACE, (entry(b"0", "0"),), {})
    start = barrier(SHARED_PROCESSES)
    names = [f"process-{number}" for number in range(SHARED_PROCESSES)]
    appenders = [child(append_to_shared, place, WORKER, name, SHARED_APPENDS, start) for name in names]
    assert [0] * SHARED_PROCESSES == exit_statuses(appenders)
    with open_store(place, write=False) as store:
        entries = list(store.sessions.entries(WORKER))
        assert Head(1 + SHARED_PROCESSES * SHARED_APPENDS, entries[-1].digest) == store.sessions.head(WORKER)
    previous = GENESIS
    for each in entries:
        assert None is check(each, previous)
        previous = Head(each.seq, each.digest)
    for name in names:
        ours = [each.key for each in entries if each.key and each.key.startswith(f"{name}:")]
        assert [f"{name}:{number}" for number in range(SHARED_APPENDS)] == ours


def test_processes_that_save_one_slug_number_its_revisions_without_a_gap_and_are_told_who_was_first(place: Path | str) -> None:
    with open_store(place, write=True, create=True) as store:
        store.workspaces.ensure(HERE)
    start = barrier(SAVERS)
    pipes = [pipe() for _ in range(SAVERS)]
    savers = [child(save_over_each_other, place, f"saver-{number}", SAVES, start, pipes[number][1]) for number in range(SAVERS)]
    for _, telling in pipes:
        telling.close()  # so that a process that ended without a word is heard of
    told = [hearing.recv() for hearing, _ in pipes]
    assert [0] * SAVERS == exit_statuses(savers)
    accepted = dict(each for ours, _ in told for each in ours)
    with open_store(place, write=False) as store:
        revisions = [store.flows.revision(HERE.id, "paper", number) for number in range(1, SAVERS * SAVES + 1)]
        assert None is store.flows.revision(HERE.id, "paper", SAVERS * SAVES + 1)
        current = store.flows.current(HERE.id, "paper")
    stored = {each.revision: each for each in revisions if each is not None}
    assert {number: each.content for number, each in stored.items()} == accepted
    assert {f"saver-{saver}:{number}".encode() for saver in range(SAVERS) for number in range(SAVES)} == set(accepted.values())
    assert stored[SAVERS * SAVES] == current
    refused = [each for _, theirs in told for each in theirs]
    assert len(refused) >= SAVERS - 1  # of those who all saved it first
    for base, winner, digest in refused:
        assert (base or 0) < winner
        assert stored[winner].content_digest == digest


def test_of_processes_that_take_an_attempt_at_once_one_gets_it(place: Path | str) -> None:
    open_store(place, write=True, create=True).close()
    start = barrier(TAKERS)
    receiving, sending = pipe()
    takers = [child(take_lease, place, WORKER, ATTEMPT, f"taker-{number}", start, sending) for number in range(TAKERS)]
    assert [0] * TAKERS == exit_statuses(takers)
    answers = [receiving.recv() for _ in range(TAKERS)]
    assert 1 == sum(isinstance(answer, Lease) for answer in answers)
    (holder,) = {answer.holder for answer in answers if isinstance(answer, Held)}
    with open_store(place, write=False) as store:
        held = store.leases.holder(WORKER, ATTEMPT, NOON)
        assert held is not None
        assert holder == held.holder


@pytest.mark.parametrize("creation", range(CREATIONS))
def test_processes_that_create_one_store_at_once_all_succeed(place: Path | str, creation: int) -> None:
    start = barrier(CREATORS)
    assert [0] * CREATORS == exit_statuses([child(create_store, place, start) for _ in range(CREATORS)])


def test_a_process_killed_at_any_moment_loses_nothing_that_it_acknowledged(place: Path | str) -> None:
    with open_store(place, write=True, create=True) as store:
        store.sessions.create(WORKER, WORKSPACE, (entry(b"0", "0"),), {})
    for kill in range(KILLS):
        receiving, sending = pipe()
        process = child(append_for_ever, place, WORKER, sending)
        acknowledged: Head = receiving.recv()
        for _ in range(kill * 7 % 23):
            acknowledged = receiving.recv()
        process.kill()
        process.join()
        while receiving.poll():
            acknowledged = receiving.recv()
        with open_store(place, write=False) as store:
            entries = list(store.sessions.entries(WORKER))
        assert list(range(1, len(entries) + 1)) == [each.seq for each in entries]
        assert acknowledged.digest == entries[acknowledged.seq - 1].digest
        assert len(entries) in {acknowledged.seq, acknowledged.seq + 2}
