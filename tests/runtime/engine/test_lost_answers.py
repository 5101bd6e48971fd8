"""A process that dies around a write, and a write whose answer is lost: nobody is told what is not so, and nothing happens twice."""

from collections.abc import Callable
from typing import TypeAlias

import pytest

from stateward.runtime.core.events import LateResultIgnored, StateEntered, TransitionRequested
from stateward.runtime.engine.answers import Begun
from stateward.runtime.engine.limits import LOST_ANSWERS_MAX
from stateward.runtime.ports import Answered, StoreUnavailable, Submitted
from stateward.runtime.session.segments import TextSegment
from tests.runtime.engines import PERSON, WORKSPACE, Desk, input_for, verdicts
from tests.runtime.judgements import MET
from tests.simulation.faults import Crash, FaultyStore, Point

Act: TypeAlias = Callable[[Desk], object]


class FaultyDesk(Desk):
    """A desk whose store fails at the next write, once."""

    def __init__(self) -> None:
        super().__init__()
        self.faulty = FaultyStore(self.sessions)
        self.sessions = self.faulty  # type: ignore[assignment]  # the same port
        self.restart()

    def failing(self, point: Point) -> "FaultyDesk":
        points = [point]
        self.faulty.draw = lambda: points.pop() if points else Point.NOTHING
        return self


def begin(desk: Desk) -> object:
    return desk.engine.begin(desk.worker, "done", desk.actor)


def report(desk: Desk) -> object:
    begun = desk.engine.begin(desk.worker, "done", desk.actor)
    assert isinstance(begun, Begun)
    return desk.engine.report(desk.worker, begun.request.attempt, verdicts(begun.request, {"x": MET}))


def submit(desk: Desk) -> object:
    return desk.engine.submit(desk.worker, (TextSegment("note"),), PERSON, "s")


def start(desk: Desk) -> object:
    return desk.engine.start_worker(WORKSPACE, input_for("fork"), PERSON, "t")


@pytest.mark.parametrize("point", [Point.LOST_WRITTEN, Point.LOST_UNWRITTEN])
@pytest.mark.parametrize("act", [begin, submit, start])
def test_a_lost_answer_is_looked_up_before_anybody_is_told(act: Act, point: Point) -> None:
    lost, sound = FaultyDesk().failing(point), FaultyDesk()
    answers = act(lost), act(sound)
    assert isinstance(answers[0], type(answers[1]))
    assert not getattr(answers[0], "repeated", False)
    assert not getattr(answers[0], "continued", False)
    assert sound.view.head.seq == lost.view.head.seq


@pytest.mark.parametrize("point", [Point.LOST_WRITTEN, Point.LOST_UNWRITTEN])
def test_a_report_whose_answer_was_lost_is_no_late_one(point: Point) -> None:
    desk = FaultyDesk()
    begin(desk)
    answered = report(desk.failing(point))
    assert isinstance(answered, Answered)
    assert (False, "b", 4) == (answered.late, answered.answer.state, desk.view.head.seq)
    assert [] == [each for each in desk.engine.events(desk.worker) if isinstance(each.event, LateResultIgnored)]


@pytest.mark.parametrize("point", [Point.LOST_WRITTEN, Point.LOST_UNWRITTEN])
def test_superseding_whose_answer_was_lost_is_done_once(point: Point) -> None:
    desk = FaultyDesk()
    begin(desk)
    desk.record_evidence()
    begun = begin(desk.failing(point))
    assert isinstance(begun, Begun)
    assert (False, 6, 2) == (begun.continued, desk.view.head.seq, desk.flow.attempts)


@pytest.mark.parametrize(("point", "written"), [(Point.CRASH_BEFORE, False), (Point.CRASH_AFTER, True)])
def test_a_crash_around_a_request_leaves_an_attempt_or_none_and_the_next_request_goes_on(point: Point, written: bool) -> None:
    desk = FaultyDesk().failing(point)
    with pytest.raises(Crash):
        begin(desk)
    desk.restart()
    assert written is (desk.flow.attempt is not None)
    begun = begin(desk)
    assert isinstance(begun, Begun)
    assert (written, 1) == (begun.continued, desk.flow.attempts)


@pytest.mark.parametrize(("point", "written"), [(Point.CRASH_BEFORE, False), (Point.CRASH_AFTER, True)])
def test_a_crash_around_a_report_moves_once_and_the_same_request_is_told(point: Point, written: bool) -> None:
    desk = FaultyDesk()
    begin(desk)
    with pytest.raises(Crash):
        report(desk.failing(point))
    desk.restart()
    assert ("b" if written else "a") == desk.flow.state
    again = begin(desk)
    assert isinstance(again, Answered if written else Begun)
    if not written:
        report(desk)
    entered = [each.event.state for each in desk.engine.events(desk.worker) if isinstance(each.event, StateEntered)]
    requested = [each for each in desk.engine.events(desk.worker) if isinstance(each.event, TransitionRequested)]
    assert (["a", "b"], 1) == (entered, len(requested))


@pytest.mark.parametrize("point", [Point.CRASH_BEFORE, Point.CRASH_AFTER])
@pytest.mark.parametrize("act", [submit, start])
def test_a_crash_around_a_submission_and_then_the_same_submission_is_one_submission(act: Act, point: Point) -> None:
    desk = FaultyDesk().failing(point)
    with pytest.raises(Crash):
        act(desk)
    desk.restart()
    answer = act(desk)
    assert isinstance(answer, Submitted)
    assert (point is Point.CRASH_AFTER) is answer.repeated
    assert answer.head.seq == (3 if act is submit else 2)


def test_a_store_that_never_answers_is_given_up_after_a_bounded_number_of_tries() -> None:
    desk = FaultyDesk()
    tries: list[int] = []

    def never() -> Point:
        tries.append(1)
        return Point.LOST_UNWRITTEN

    desk.faulty.draw = never
    for act in (begin, start):
        tries.clear()
        with pytest.raises(StoreUnavailable, match="the store does not answer"):
            act(desk)
        assert LOST_ANSWERS_MAX + 1 == len(tries)
