"""A captured log is the log up to a head, read when it is looked at."""

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from stateward.runtime.session.captured import CapturedLog
from stateward.runtime.session.chain import link_all
from stateward.runtime.session.entries import GENESIS, Actor, ActorClass, Entry, Head, NewEntry

LOG = link_all(
    "w", GENESIS, [NewEntry("note", Actor(ActorClass.AGENT, "mcp"), datetime(2026, 1, 1, tzinfo=UTC), bytes([each])) for each in range(5)]
)


class Reader:
    """Reads a log and says what was asked of it."""

    def __init__(self) -> None:
        self.asked: list[tuple[int, int]] = []

    def __call__(self, after: int, upto: int) -> Iterator[Entry]:
        self.asked.append((after, upto))
        return iter(LOG[after:upto])


def captured(reader: Reader) -> CapturedLog:
    return CapturedLog(Head(3, LOG[2].digest), reader)


def test_what_was_committed_after_the_capture_is_not_in_it() -> None:
    assert LOG[:3] == tuple(captured(Reader()))


def test_nothing_is_read_until_it_is_looked_at() -> None:
    reader = Reader()
    log = captured(reader)
    assert (3, []) == (len(log), reader.asked)
    assert (LOG[1], LOG[2]) == (log[1], log[-1])
    assert reader.asked == [(1, 2), (2, 3)]


def test_a_part_of_it_is_the_part_of_the_log() -> None:
    assert LOG[1:3] == captured(Reader())[1:]
    assert () == captured(Reader())[3:]


@pytest.mark.parametrize("index", [3, -4])
def test_an_entry_outside_it_is_none(index: int) -> None:
    with pytest.raises(IndexError):
        captured(Reader())[index]
