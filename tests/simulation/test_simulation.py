"""Seeded histories: whatever happens around any write, the laws of the log hold. A failing seed is the test's name and comes again.

`STATEWARD_HISTORIES` says how many are tried, by default a few hundred.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence

import pytest

from stateward.runtime.ports import Appended, Damaged
from stateward.runtime.session.entries import Head, NewEntry
from stateward.store.memory_sessions import MemorySessionStore
from tests.simulation.world import World

HISTORIES = int(os.environ.get("STATEWARD_HISTORIES", "200"))
ACTS = 30


def lived(world: World) -> World:
    """Live a history, checking after each act."""
    world.begin()
    for _ in range(ACTS):
        world.act()
        world.check()
    world.settle()
    world.check()
    return world


@pytest.mark.parametrize("seed", range(HISTORIES))
def test_any_history_keeps_the_laws(seed: int) -> None:
    lived(World(seed))


def test_a_seed_gives_the_same_history_again() -> None:
    one, other = lived(World(7)), lived(World(7))
    assert one.story == other.story
    assert [each.digest for each in one.store.entries(one.worker)] == [each.digest for each in other.store.entries(other.worker)]


def test_the_histories_reach_what_they_are_for() -> None:
    told = "\n".join(line for seed in range(40) for line in lived(World(seed)).story)
    points = ["crash before", "crash after", "answer lost, not written", "answer lost, written", "somebody else writes first", "dies"]
    assert [] == [each for each in points if each not in told]


# --- planted faults: the simulation finds what it is for ----------------------------------------------------------------------------


class StoreWithoutComparing(MemorySessionStore):
    """Appends wherever the head is by now."""

    def append(self, worker: str, expected: Head, entries: Sequence[NewEntry], definitions: Mapping[str, bytes] | None = None) -> Appended:
        head = self.head(worker)
        assert head is not None
        return super().append(worker, head, entries, definitions or {})


class StoreWithoutKeys(StoreWithoutComparing):
    """Moreover takes a key twice."""

    def append(self, worker: str, expected: Head, entries: Sequence[NewEntry], definitions: Mapping[str, bytes] | None = None) -> Appended:
        plain = [NewEntry(each.kind, each.actor, each.time, each.payload) for each in entries]
        return super().append(worker, expected, plain, definitions)


class ForgetfulIds:
    """Gives ids that were given before."""

    def __init__(self) -> None:
        self._given = self._ids()

    def _ids(self) -> Iterator[str]:
        while True:
            yield from (f"id-{number}" for number in range(9))

    def new(self) -> str:
        """Give an id."""
        return next(self._given)


@pytest.mark.parametrize("store", [StoreWithoutComparing, StoreWithoutKeys])
def test_a_store_that_does_not_compare_and_swap_is_found_out(store: type[MemorySessionStore]) -> None:
    assert found_out(lambda seed: World(seed, store()))


def test_an_attempt_id_that_is_used_again_is_found_out() -> None:
    assert found_out(lambda seed: World(seed, ids=ForgetfulIds()))


def found_out(make: Callable[[int], World]) -> bool:
    """Tell whether any of a few histories breaks a law."""
    for seed in range(60):
        try:
            lived(make(seed))
        except (AssertionError, Damaged):
            return True
    return False
