"""What every store of session logs tells of them as they lie (the port `StoredLogs`).

A test module for an adapter imports everything here and offers a fixture `logs` that gives an empty store.
"""

from typing import Protocol

import pytest

from stateward.runtime.ports import Deleted, SessionStore, StoredLogs
from stateward.runtime.session.chain import link_all
from stateward.runtime.session.entries import GENESIS, Head
from stateward.runtime.session.verification import Answer, Ends, verify
from tests.contracts.sessions import FORK, NOON, OTHER, THIRD, WORKER, WORKSPACE, begun, entry, head_of

LARGE = b"p" * 300_000


class Logs(SessionStore, StoredLogs, Protocol):
    """Both ports on one store."""


def test_a_worker_that_never_was_has_no_ends_and_was_not_deleted(logs: Logs) -> None:
    begun(logs, worker=OTHER)
    assert (None, None, []) == (logs.ends(WORKER), logs.deleted(WORKER), list(logs.stored(WORKER, 10)))


def test_the_ends_of_a_log_are_where_it_goes_on_from_and_its_last_entry(logs: Logs) -> None:
    head = begun(logs, entry(b"one"), entry(b"two"))
    assert Ends(GENESIS, head, 2) == logs.ends(WORKER)
    grown = head_of(logs.append(WORKER, head, (entry(b"three"),)))
    assert Ends(GENESIS, grown, 3) == logs.ends(WORKER)


def test_the_ends_of_a_fork_begin_at_the_entry_of_the_other_log(logs: Logs) -> None:
    head = head_of(logs.create(WORKER, WORKSPACE, (entry(b"one"),), {}, FORK))
    assert Ends(FORK, head, 42) == logs.ends(WORKER)
    assert list(link_all(WORKER, FORK, (entry(b"one"),))) == list(logs.stored(WORKER, 42))


@pytest.mark.parametrize("upto", [0, 1, 3, 5, 99])
def test_what_lies_in_a_log_is_what_was_written_up_to_a_number(logs: Logs, upto: int) -> None:
    written = (entry(b"one", "k-1"), entry(LARGE, "k-2"), entry(b"", kind="a_kind_of_tomorrow"), entry(LARGE), entry(b"five", "k-5"))
    begun(logs, *written)
    begun(logs, entry(b"theirs"), worker=OTHER)
    assert list(link_all(WORKER, GENESIS, written))[:upto] == list(logs.stored(WORKER, upto))


def test_a_log_of_many_pages_lies_there_whole(logs: Logs) -> None:
    written = [entry(str(number).encode()) for number in range(700)]
    begun(logs, *written)
    assert [each.payload for each in written] == [each.payload for each in logs.entries(WORKER)]
    assert list(logs.entries(WORKER)) == list(logs.stored(WORKER, 700))


def test_a_deleted_log_has_no_ends_and_leaves_the_head_at_which_it_was_deleted(logs: Logs) -> None:
    head = begun(logs, entry(b"one"), entry(LARGE))
    kept = begun(logs, entry(LARGE), worker=OTHER)
    assert Deleted(head) == logs.delete(WORKER, head, NOON)
    assert (None, head, []) == (logs.ends(WORKER), logs.deleted(WORKER), list(logs.stored(WORKER, 10)))
    assert (None, Ends(GENESIS, kept, 1), 1) == (logs.deleted(OTHER), logs.ends(OTHER), len(list(logs.stored(OTHER, 10))))


def test_a_deleted_fork_leaves_the_head_at_which_it_was_deleted(logs: Logs) -> None:
    head = head_of(logs.create(THIRD, WORKSPACE, (entry(b"one"),), {}, FORK))
    logs.delete(THIRD, head, NOON)
    assert head == logs.deleted(THIRD) == Head(42, head.digest)


def no_key(_key_id: str, _digest: str, _seal: bytes) -> None:
    """Know no key."""


@pytest.mark.parametrize("base", [GENESIS, FORK])
def test_a_log_that_nobody_touched_is_well(logs: Logs, base: Head) -> None:
    head = head_of(logs.create(WORKER, WORKSPACE, (entry(b"one", "k"), entry(LARGE)), {}, base))
    head_of(logs.append(WORKER, head, (entry(b"three"),)))
    ends = logs.ends(WORKER)
    assert ends is not None
    verified = verify(WORKER, ends, logs.stored(WORKER, ends.last), no_key, anchors=[], origins=[])
    assert (Answer.YES, Answer.YES, 3, ()) == (verified.intact, verified.complete, verified.entries, verified.findings)
