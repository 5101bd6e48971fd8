"""Forks go on from an entry of another log; a Worker is deleted with its session."""

import pytest

from stateward.runtime.core.instance import Attempt
from stateward.runtime.core.refusal import Refusal, RefusalCode
from stateward.runtime.engine.forking import Forked
from stateward.runtime.engine.view import WorkerView
from stateward.runtime.ports import Deleted
from stateward.runtime.session.acts import ForkOrigin
from tests.runtime.engines import AGENT, PERSON, Desk, Judge, saying
from tests.runtime.judgements import MET


def forked(desk: Desk, at: int | None = None, operation: str | None = None, worker: str | None = None) -> Forked:
    done = desk.engine.fork(worker or desk.worker, "try another way", PERSON, operation, at=at)
    assert isinstance(done, Forked), done
    return done


def view_of(desk: Desk, worker: str) -> WorkerView:
    view = desk.engine.view(worker)
    assert isinstance(view, WorkerView)
    return view


def code(answer: object) -> RefusalCode:
    assert isinstance(answer, Refusal), answer
    return answer.code


def test_a_fork_goes_on_where_its_parent_stood_with_a_new_instance_and_no_open_request() -> None:
    desk = Desk(actor=AGENT)
    desk.request("go", {"x": MET})
    desk.begin("the end")
    parent = desk.view
    fork = view_of(desk, forked(desk).worker)
    assert parent.flow is not None
    assert fork.flow is not None
    assert isinstance(parent.flow.attempt, Attempt)
    assert fork.flow.attempt is None
    assert (parent.flow.state, parent.flow.visit, parent.flow.pin) == (fork.flow.state, fork.flow.visit, fork.flow.pin)
    assert parent.flow.instance != fork.flow.instance
    assert fork.forked_from == ForkOrigin(desk.worker, parent.head.seq, parent.head.digest)
    assert (parent.head.seq + 2, parent.flow.state) == (fork.head.seq, desk.flow.state)


def test_numbers_go_on_so_that_references_hold_and_are_read_through_the_parent() -> None:
    desk = Desk(actor=AGENT)
    desk.record_evidence(b"tests passed")
    fork = forked(desk, at=3).worker
    desk.request("go", {"x": MET})
    judge = Judge(saying({"y": MET}))
    desk.engine.request_transition(fork, "go", AGENT, judge)
    read = [(each.entry.seq, each.entry.worker) for each in desk.engine.log(fork)]
    expected = [(seq, desk.worker if seq <= 3 else fork) for seq in range(1, 8)]
    assert expected == read
    (request,) = judge.asked
    assert b"tests passed" == request.captured[2].payload
    flow = view_of(desk, fork).flow
    assert flow is not None
    assert ("c", "b") == (flow.state, desk.flow.state)


def test_a_fork_of_a_fork_is_read_through_both_and_restored_by_itself() -> None:
    desk = Desk(actor=AGENT)
    one = forked(desk).worker
    desk.engine.request_transition(one, "go", AGENT, Judge(saying({"x": MET})))
    two = forked(desk, worker=one).worker
    before = view_of(desk, two)
    desk.restart()
    assert before == view_of(desk, two)
    assert list(range(1, before.head.seq + 1)) == [each.entry.seq for each in desk.engine.log(two)]
    assert list(range(2, 5)) == [each.entry.seq for each in desk.engine.log(two, 1, 4)]


def test_what_was_answered_in_the_parent_is_not_answered_again_in_the_fork() -> None:
    desk = Desk(actor=AGENT)
    desk.request("done", {})
    judge = Judge(saying({}))
    desk.engine.request_transition(forked(desk).worker, "done", AGENT, judge)
    assert 1 == len(judge.asked)


def test_one_operation_makes_one_fork() -> None:
    desk = Desk()
    first = forked(desk, operation="op-1")
    again = forked(desk, operation="op-1")
    assert (first.worker, first.origin, True) == (again.worker, again.origin, again.repeated)
    assert RefusalCode.OPERATION_CONFLICT is code(desk.engine.fork(desk.worker, "another reason", PERSON, "op-1"))


@pytest.mark.parametrize("at", [0, 1, 3])
def test_a_fork_begins_after_an_entry_that_is_there(at: int) -> None:
    desk = Desk()
    assert RefusalCode.ENTRY_NOT_FOUND is code(desk.engine.fork(desk.worker, "why not", PERSON, at=at))


def test_a_parent_is_not_deleted_while_a_fork_of_it_is_there() -> None:
    desk = Desk()
    fork = forked(desk).worker
    refused = desk.engine.delete(desk.worker, PERSON)
    assert isinstance(refused, Refusal)
    assert (RefusalCode.FORKS_DEPEND, f"the entries before their forks are read from it: `{fork}`") == (refused.code, refused.message)
    assert isinstance(desk.engine.delete(fork, PERSON), Deleted)
    assert isinstance(desk.engine.delete(desk.worker, PERSON), Deleted)
    assert RefusalCode.WORKER_NOT_FOUND is code(desk.engine.view(desk.worker))


def test_forking_needs_a_reason() -> None:
    desk = Desk()
    assert RefusalCode.REASON_BLANK is code(desk.engine.fork(desk.worker, " ", PERSON))
