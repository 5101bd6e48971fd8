"""Histories with operators' acts: what was decided folds to the same state, also by way of its bytes; what cannot be is refused."""

from collections.abc import Callable

import pytest

from stateward.runtime.core.events import (
    Event,
    InstanceCancelled,
    InstancePaused,
    InstanceRewound,
    ProgressHoldCleared,
    StateEntered,
    Status,
)
from stateward.runtime.core.evolve import HistoryBroken, set_aside
from stateward.runtime.core.instance import Aside, is_aside
from stateward.runtime.core.operating import Act, Verb
from stateward.runtime.core.replay import replay
from stateward.runtime.session.folded import FLOW_STATE
from stateward.runtime.session.strict import parse, render
from tests.runtime.flows import FORK
from tests.runtime.histories import History, digest_of, recorded, walked

DEFINITIONS = {digest_of(FORK): FORK}


def acted(history: History, verb: Verb, state: str | None = None) -> History:
    history.do(Act(verb, "person ada", "because", state))
    return history


def opened(*transitions: str) -> History:
    history = walked(FORK, *transitions)
    history.request("open")
    return history


def held() -> History:
    history = walked(FORK)
    for number in range(3):
        history.request(f"look {number}")
        history.answer({})
    assert history.instance.held is not None
    return history


LIVES: dict[str, Callable[[], History]] = {
    "paused with an open request": lambda: acted(opened(), Verb.PAUSE),
    "resumed": lambda: acted(acted(opened(), Verb.PAUSE), Verb.RESUME),
    "withdrawn": lambda: acted(opened(), Verb.WITHDRAW),
    "cancelled": lambda: acted(opened("x"), Verb.CANCEL),
    "rewound": lambda: acted(opened("x"), Verb.REWIND, "a"),
    "rewound twice": lambda: acted(acted(opened("z"), Verb.REWIND, "a"), Verb.REWIND, "a"),
    "held": held,
    "cleared": lambda: acted(held(), Verb.CLEAR),
}


@pytest.mark.parametrize("life", LIVES.values(), ids=LIVES.keys())
def test_what_was_decided_folds_to_the_state_it_gave_also_by_way_of_its_bytes(life: Callable[[], History]) -> None:
    history = life()
    assert history.state == replay(history.log, DEFINITIONS)
    assert history.state == FLOW_STATE.read(parse(render(FLOW_STATE.write(history.state))))


def broken(history: History, *events: Event) -> str:
    log = [*history.log, *recorded(history.log[-1].id.seq + 1, events)]
    with pytest.raises(HistoryBroken) as refused:
        replay(log, DEFINITIONS)
    return refused.value.why


def of(history: History) -> dict[str, object]:
    return {"instance": history.instance.id, "visit": history.instance.visit, "by": "person ada", "reason": "because"}


def entered(history: History, state: str, status: Status = Status.ACTIVE) -> StateEntered:
    return StateEntered(instance=history.instance.id, visit=history.instance.visit + 1, state=state, status=status)


def test_an_act_after_the_end_cannot_be() -> None:
    history = walked(FORK, "x", "end")
    assert "the instance ended as `completed`" == broken(history, InstancePaused(**of(history)))  # type: ignore[arg-type]
    assert "the instance ended as `completed`" == broken(history, ProgressHoldCleared(**of(history)))  # type: ignore[arg-type]


def test_a_state_is_not_left_by_an_act_while_an_attempt_is_open() -> None:
    history = opened()
    attempt = history.instance.attempt
    assert attempt is not None
    cancelled = InstanceCancelled(**of(history))  # type: ignore[arg-type]
    assert f"attempt `{attempt.id}` is open" == broken(history, cancelled, entered(history, "$cancelled", Status.CANCELLED))


def test_a_rewind_leads_to_the_state_it_names_and_only_to_one_that_was_entered() -> None:
    history = walked(FORK, "x")
    never = InstanceRewound(**of(history), state="c", after=1)  # type: ignore[arg-type]
    assert "state `c` was not entered in entry 1" == broken(history, never, entered(history, "c"))
    back = InstanceRewound(**of(history), state="a", after=1)  # type: ignore[arg-type]
    assert "state `c` is entered by another attempt or transition than the check that passed" == broken(
        history, back, entered(history, "c")
    )
    assert "its record ends before a state is entered" == broken(history, back)


def test_a_rewind_takes_in_what_earlier_ones_set_aside_after_it() -> None:
    parts = set_aside(set_aside((), Aside(2, 5)), Aside(7, 9))
    assert (Aside(2, 5), Aside(7, 9)) == parts
    assert (Aside(2, 5), Aside(5, 12)) == set_aside(parts, Aside(5, 12))
    assert [3, 4, 8] == [seq for seq in range(12) if is_aside(parts, seq)]
