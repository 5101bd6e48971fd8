"""Workers in rows, and why one stands where it stands."""

from collections.abc import Callable

import pytest

from stateward.runtime.core.events import FailureCause
from stateward.runtime.core.operating import Verb
from stateward.runtime.core.refusal import Refusal
from stateward.runtime.engine.overview import UNATTENDED, FlowRow, Why
from stateward.runtime.ports import InProgress, Lease
from stateward.runtime.session.entries import Kind, NewEntry
from tests.runtime.engines import AGENT, PERSON, WORKSPACE, Desk, Judge, engine_on, failing, input_for, submitted
from tests.runtime.judgements import MET


def row(desk: Desk) -> FlowRow:
    (listed,) = desk.engine.workers(WORKSPACE, 10)
    assert listed.flow is not None
    return listed.flow


def why(desk: Desk) -> Why:
    answer = desk.engine.why(desk.worker)
    assert isinstance(answer, Why), answer
    return answer


def test_a_row_says_where_a_flow_stands_and_since_when() -> None:
    desk = Desk(actor=AGENT)
    desk.request("go", {"x": MET})
    attempt = desk.begin("the end").request.attempt
    flow = row(desk)
    entered, asked = desk.log()[3].time, desk.log()[4].time
    assert ("workspace:fork", "b", 2, entered, 2, attempt, asked) == (
        flow.selector,
        flow.state,
        flow.visit,
        flow.since,
        flow.attempts,
        flow.attempt,
        flow.asked,
    )
    assert UNATTENDED == flow.stuck == why(desk).stuck


def test_a_request_that_is_verified_is_not_stuck() -> None:
    desk = Desk()
    attempt = desk.begin("go").request.attempt
    assert isinstance(desk.engine.claim(desk.worker, attempt, "judge"), Lease)
    assert ("judge", "") == (row(desk).verified_by, row(desk).stuck)
    assert isinstance(why(desk).verified, InProgress)


def paused(desk: Desk) -> None:
    desk.engine.operate(desk.worker, Verb.PAUSE, "lunch", PERSON)


def held(desk: Desk) -> None:
    for number in range(3):
        desk.request(f"done {number}", {})


def unchecked(desk: Desk) -> None:
    desk.request("done", Judge(failing(FailureCause.TIMEOUT)))


@pytest.mark.parametrize(
    ("act", "stuck"),
    [
        (paused, "paused by person ada (assurance none): lunch"),
        (held, "held: 3 judgements saw the same evidence and moved nothing"),
        (unchecked, "could not check: timeout"),
        (lambda desk: None, ""),
    ],
)
def test_a_flow_that_does_not_go_on_by_itself_says_why(act: Callable[[Desk], None], stuck: str) -> None:
    desk = Desk(actor=AGENT)
    act(desk)
    assert (stuck, stuck) == (row(desk).stuck, why(desk).stuck)


def test_what_was_told_last_is_told_as_the_reason() -> None:
    desk = Desk()
    answer = desk.request("done", {}).answer
    assert answer == why(desk).answer
    assert isinstance(desk.engine.why("nobody"), Refusal)


def test_workers_are_listed_page_by_page_and_one_that_cannot_be_read_hides_no_other() -> None:
    desk = Desk()
    others = [submitted(desk.engine.start_worker(WORKSPACE, input_for("fork"), PERSON)).worker for _ in range(3)]
    head = desk.sessions.head(others[0])
    assert head is not None
    desk.sessions.append(others[0], head, (NewEntry(Kind.EXTENSION, AGENT, desk.clock.now(), b"{"),))
    engine = engine_on(desk.sessions, catalog=desk.catalog)
    first = engine.workers(WORKSPACE, 2)
    rest = engine.workers(WORKSPACE, 10, first[-1].worker)
    assert [desk.worker, *others] == [each.worker for each in (*first, *rest)]
    assert "no JSON" in first[1].problem
    assert [True, False, True, True] == [each.flow is not None for each in (*first, *rest)]
