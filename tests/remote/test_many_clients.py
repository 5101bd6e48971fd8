"""Many clients on one flow of a service: revisions have no gap, and whoever is refused is told who was quicker."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from stateward.runtime.ports import PAGE_MAX, Conflict, Revision, Saved
from tests.contracts.authority import kept, source
from tests.contracts.snapshots import HERE
from tests.remote.services import Running, running

CLIENTS = 6
SAVES = 4


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Running]:
    with running(tmp_path / "store.db", HERE.id) as started:
        yield started


def test_clients_that_save_one_flow_at_once_number_its_revisions_without_a_gap(service: Running) -> None:
    clients = [service.client(f"client-{number}") for number in range(CLIENTS)]
    kept(clients[0])

    def save_some(number: int) -> list[Revision]:
        made: list[Revision] = []
        base = 1
        with clients[number] as client:
            while len(made) < SAVES:
                answer = client.save("paper", source(f"{number}.{len(made)}."), base=base)
                if isinstance(answer, Saved):
                    assert answer.created
                    made.append(answer.revision)
                    base = answer.revision.revision
                else:
                    assert isinstance(answer, Conflict), answer
                    assert answer.current is not None
                    assert answer.current.revision > base
                    base = answer.current.revision
        return made

    with ThreadPoolExecutor(CLIENTS) as threads:
        made = sorted((each for some in threads.map(save_some, range(CLIENTS)) for each in some), key=lambda each: each.revision)
    assert list(range(2, CLIENTS * SAVES + 2)) == [each.revision for each in made]
    with service.client("reader", "read") as reader:
        assert [each.facts for each in reversed(made)] == list(reader.history("paper", PAGE_MAX))[:-1]


def test_threads_share_one_client(service: Running) -> None:
    with service.client("ada") as client, ThreadPoolExecutor(CLIENTS) as threads:
        slugs = [f"paper-{number}" for number in range(12)]
        made = list(threads.map(lambda slug: kept(client, slug=slug), slugs))
        assert made == list(threads.map(client.source, slugs))
