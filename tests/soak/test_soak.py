"""A short soak; `python -m tests.soak` is a long one."""

from tests.cases.stored import StoredPlace
from tests.soak.story import many_workers, one_worker

WORKERS, PROCESSES, TRANSITIONS, APPENDS = 8, 4, 6, 12


def test_many_workers_in_many_processes_on_one_store_lose_nothing(here: StoredPlace) -> None:
    figures = many_workers(here, WORKERS, PROCESSES, TRANSITIONS)
    assert WORKERS * TRANSITIONS == len(figures.latencies)


def test_many_processes_that_append_to_one_worker_make_one_unbroken_chain(here: StoredPlace) -> None:
    figures = one_worker(here, PROCESSES, APPENDS)
    assert PROCESSES * APPENDS == len(figures.latencies)
