"""The heartbeat that renews a lease while a verifier works."""

from threading import Event

import pytest

from stateward.runtime.ports import StoreUnavailable
from stateward.runtime.wiring import ThreadHeartbeat


def test_it_beats_while_the_work_goes_on_and_not_after() -> None:
    beats: list[int] = []
    twice = Event()

    def beat() -> None:
        beats.append(1)
        if len(beats) == 2:
            twice.set()

    with ThreadHeartbeat().during(0.001, beat):
        assert twice.wait(60)
    after = len(beats)
    assert after >= 2
    assert after == len(beats)


def test_a_store_that_fails_ends_the_beating_and_not_the_work() -> None:
    beaten = Event()

    def beat() -> None:
        beaten.set()
        raise StoreUnavailable("gone")

    with ThreadHeartbeat().during(0.001, beat):
        assert beaten.wait(60)


def test_what_interrupts_the_work_passes_through() -> None:
    with pytest.raises(KeyboardInterrupt), ThreadHeartbeat().during(60, lambda: None):
        raise KeyboardInterrupt
