"""Folding stored histories: what was decided folds to the same state, what cannot have been decided is refused by name."""

import re
from dataclasses import replace
from typing import Any

import pytest

from stateward.runtime.core.events import (
    Event,
    RejectionCode,
    Status,
    TransitionCheckRejected,
    TransitionRequested,
)
from stateward.runtime.core.evolve import HistoryBroken
from stateward.runtime.core.instance import NOTHING_YET
from stateward.runtime.core.replay import replay
from tests.runtime.flows import FORK, REVIEW
from tests.runtime.histories import History, begun, digest_of, recorded, walked
from tests.runtime.judgements import INDETERMINATE, MET, judgements

DEFINITIONS = {digest_of(FORK): FORK}
Records = list[tuple[Event, ...]]


def records_of(history: History) -> Records:
    """Give a history's events, entry by entry."""
    seqs = sorted({each.id.seq for each in history.log})
    return [tuple(each.event for each in history.log if each.id.seq == seq) for seq in seqs]


def refusal_of(records: Records) -> str:
    """Replay what cannot be and give the message."""
    flat = [each for seq, events in enumerate(records, start=1) for each in recorded(seq, events)]
    with pytest.raises(HistoryBroken) as refused:
        replay(flat, DEFINITIONS)
    return str(refused.value)


def test_nothing_folds_to_nothing() -> None:
    assert NOTHING_YET == replay([], {})


@pytest.mark.parametrize("way", [(), ("x",), ("z", "z", "y", "end"), ("x", "$cancel")])
def test_what_was_decided_folds_to_the_state_it_gave(way: tuple[str, ...]) -> None:
    history = walked(FORK, *way)
    assert history.state == replay(history.log, DEFINITIONS)


def test_several_instances_fit_in_one_log() -> None:
    history = walked(FORK, "x", "end")
    history.start()
    history.request("again")
    assert history.state == replay(history.log, DEFINITIONS)


WALKED = records_of(walked(FORK, "x"))
"""Three entries: begun, requested, moved."""
BEGUN, REQUESTED, MOVED = WALKED
REJECTED = (
    TransitionCheckRejected(instance="instance-1", visit=1, attempt="attempt-2", code=RejectionCode.NO_CONDITION_MET, message="no"),
)
PASSED, ENTERED = MOVED
ASKED_AGAIN = (TransitionRequested(instance="instance-1", visit=1, attempt="attempt-3", state="a", reason="again"),)


def changed(event: Event, **changes: Any) -> Event:
    return replace(event, **changes)


BROKEN: dict[str, tuple[Records, str]] = {
    "an attempt id used twice": ([BEGUN, REQUESTED, REJECTED, REQUESTED], "event 4.0: id `attempt-2` is used twice"),
    "an attempt with the id of an instance": (
        [BEGUN, (changed(REQUESTED[0], attempt="instance-1"),)],
        "event 2.0: id `instance-1` is used twice",
    ),
    "an instance id used twice": (
        [*records_of(walked(FORK, "x", "end")), BEGUN],
        "event 6.0: id `instance-1` is used twice",
    ),
    "two attempts open": ([BEGUN, REQUESTED, ASKED_AGAIN], "event 3.0: attempt `attempt-3` begins while `attempt-2` is open"),
    "resolved without an attempt": ([BEGUN, REJECTED], "event 2.0: attempt `attempt-2` is resolved and not open"),
    "resolved twice": ([BEGUN, REQUESTED, REJECTED, REJECTED], "event 4.0: attempt `attempt-2` is resolved and not open"),
    "another attempt resolved": (
        [BEGUN, REQUESTED, (changed(REJECTED[0], attempt="attempt-9"),)],
        "event 3.0: attempt `attempt-9` is resolved and not open",
    ),
    "a state entered without a check": ([BEGUN, REQUESTED, (ENTERED,)], "event 3.0: state `b` is entered without a passed check"),
    "a state entered twice for one check": (
        [BEGUN, REQUESTED, (*MOVED, ENTERED)],
        "event 3.2: state `b` is entered without a passed check",
    ),
    "a state entered after a rejection": (
        [BEGUN, REQUESTED, (*REJECTED, ENTERED)],
        "event 3.1: state `b` is entered without a passed check",
    ),
    "a state entered in a later record": (
        [BEGUN, REQUESTED, (PASSED,), (ENTERED,)],
        "event 3.0: its record ends before a state is entered",
    ),
    "a check that passed and entered nothing": ([BEGUN, REQUESTED, (PASSED,)], "event 3.0: its record ends before a state is entered"),
    "an instance that entered nothing": ([BEGUN[:1]], "event 1.0: its record ends before a state is entered"),
    "a check followed by something else": ([BEGUN, REQUESTED, (PASSED, *ASKED_AGAIN)], "event 3.1: a state has to be entered first"),
    "an entry for another transition": (
        [BEGUN, REQUESTED, (PASSED, changed(ENTERED, transition="y", state="c"))],
        "event 3.1: state `c` is entered by another attempt or transition than the check that passed",
    ),
    "an entry for another attempt": (
        [BEGUN, REQUESTED, (PASSED, changed(ENTERED, attempt="attempt-9"))],
        "event 3.1: state `b` is entered by another attempt or transition than the check that passed",
    ),
    "another state than the transition's target": (
        [BEGUN, REQUESTED, (PASSED, changed(ENTERED, state="c"))],
        f"event 3.1: state `c` of flow `workspace:fork` ({digest_of(FORK)}) is entered where `b` is due",
    ),
    "a state the definition does not have": (
        [BEGUN, REQUESTED, (PASSED, changed(ENTERED, state="nowhere"))],
        f"event 3.1: flow `workspace:fork` ({digest_of(FORK)}) has no state `nowhere`",
    ),
    "an initial state that is none": (
        [(BEGUN[0], changed(BEGUN[1], state="b"))],
        f"event 1.1: state `b` of flow `workspace:fork` ({digest_of(FORK)}) is entered where `a` is due",
    ),
    "a status that the state does not have": (
        [BEGUN, REQUESTED, (PASSED, changed(ENTERED, status=Status.COMPLETED))],
        f"event 3.1: state `b` of flow `workspace:fork` ({digest_of(FORK)}) is entered as `completed`",
    ),
    "a definition that is not there": (
        [(changed(BEGUN[0], definition_digest="sha256:other"), BEGUN[1])],
        "event 1.1: definition sha256:other of flow `workspace:fork`, in state `a`, is not there",
    ),
    "a visit skipped": ([BEGUN, REQUESTED, (PASSED, changed(ENTERED, visit=3))], "event 3.1: it is visit 3, expected 2"),
    "an event of another visit": ([BEGUN, (changed(REQUESTED[0], visit=2),)], "event 2.0: it is of visit 2, the instance is at visit 1"),
    "an event of another instance": (
        [BEGUN, (changed(REQUESTED[0], instance="instance-7"),)],
        "event 2.0: there is no instance `instance-7` at path ``",
    ),
    "an event of a child": ([BEGUN, (changed(REQUESTED[0], path="c"),)], "event 2.0: there is no instance `instance-1` at path `c`"),
    "an event before any instance": ([REQUESTED], "event 1.0: there is no instance `instance-1` at path ``"),
    "a request out of another state": (
        [BEGUN, (changed(REQUESTED[0], state="b"),)],
        "event 2.0: attempt `attempt-2` leaves state `b`, the state is `a`",
    ),
    "a request after the end": (
        [*records_of(walked(FORK, "$cancel")), (changed(ASKED_AGAIN[0], visit=2, state="$cancelled"),)],
        "event 4.0: a transition is requested of an instance that ended as `cancelled`",
    ),
    "an instance begun while one is active": (
        [BEGUN, tuple(changed(each, instance="instance-2") for each in BEGUN)],
        "event 2.0: instance `instance-1` has not ended",
    ),
    "an instance begun at a visit": ([(changed(BEGUN[0], visit=1),)], "event 1.0: an instance begins at visit 1 and path ``"),
    "a passed check without its verdicts": (
        [BEGUN, REQUESTED, (changed(PASSED, judgements=()), ENTERED)],
        "event 3.0: its verdicts are not those of the transitions of state `a`",
    ),
    "a passed check with two met": (
        [BEGUN, REQUESTED, (changed(PASSED, judgements=judgements(FORK, "a", {"x": MET, "y": MET})), ENTERED)],
        "event 3.0: transition `x` is not the only one met",
    ),
    "a passed check of a verdict that was weakened": (
        [
            BEGUN,
            REQUESTED,
            (
                changed(PASSED, judgements=tuple(replace(each, checked=INDETERMINATE) for each in judgements(FORK, "a", {"x": MET}))),
                ENTERED,
            ),
        ],
        "event 3.0: transition `x` is not the only one met",
    ),
    "a passed check of a transition that was not met": (
        [BEGUN, REQUESTED, (changed(PASSED, transition="y"), changed(ENTERED, transition="y", state="c"))],
        "event 3.0: transition `y` is not the only one met",
    ),
}


@pytest.mark.parametrize(("records", "expected"), BROKEN.values(), ids=BROKEN.keys())
def test_a_history_that_cannot_be_is_refused_naming_the_event_and_why(records: Records, expected: str) -> None:
    assert expected == refusal_of(records)


def test_events_of_an_entry_that_are_not_numbered_in_order_are_refused() -> None:
    started, entered = recorded(1, BEGUN)
    with pytest.raises(HistoryBroken, match=re.escape("event 1.1: expected event 1.0")):
        replay([entered, started], DEFINITIONS)


def test_a_pinned_definition_that_lacks_the_recorded_state_is_refused_with_flow_digest_and_state() -> None:
    history = begun(FORK)
    with pytest.raises(HistoryBroken) as refused:
        replay(history.log, {digest_of(FORK): REVIEW})
    expected = f"event 1.1: flow `workspace:fork` ({digest_of(FORK)}) has no state `a`"
    assert expected == str(refused.value)


def test_every_broken_history_is_sound_up_to_the_event_that_is_named() -> None:
    for records, expected in BROKEN.values():
        seq = int(expected.removeprefix("event ").split(".")[0])
        flat = [each for number, events in enumerate(records[: seq - 1], start=1) for each in recorded(number, events)]
        replay(flat, DEFINITIONS)
