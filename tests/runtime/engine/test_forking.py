"""Forks go on from an entry of another log, until they are made whole; a Worker is deleted with its session."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from stateward.runtime.core.instance import Attempt
from stateward.runtime.core.refusal import Refusal, RefusalCode
from stateward.runtime.engine.forking import Forked
from stateward.runtime.engine.lineage import entries_through
from stateward.runtime.engine.operating import Operated
from stateward.runtime.engine.view import WorkerView
from stateward.runtime.ports import Appended, Damaged, Deleted, RecordKey, StoreUnavailable
from stateward.runtime.session.acts import ForkOrigin
from stateward.runtime.session.browse_text import text_of
from stateward.runtime.session.entries import Head, Kind, NewEntry
from stateward.runtime.session.payloads import OperatorAct
from stateward.store.memory_sessions import NO_DEFINITIONS, MemorySessionStore
from tests.runtime.engines import AGENT, HOST, PERSON, Desk, Judge, saying
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


# --- making a fork whole ------------------------------------------------------------------------------------------------------------


def whole(desk: Desk, worker: str, operation: str | None = None) -> Operated:
    done = desk.engine.make_whole(worker, "the parent has to go", PERSON, operation)
    assert isinstance(done, Operated), done
    return done


def eventful() -> Desk:
    """Give a log with every sort of bytes in it, one payload longer than a part of a copy."""
    desk = Desk(actor=AGENT)
    desk.record_evidence(b"\xff\x00 no text")
    desk.record_evidence("über ".encode() * 100_000)
    for number in range(20):
        desk.record_evidence(f"look {number}: ".encode() + b"x" * 30_000)
    desk.request("go", {"x": MET})
    return desk


def test_a_fork_that_was_made_whole_reads_what_it_read_before_though_its_parent_is_gone() -> None:
    desk = eventful()
    fork = forked(desk).worker
    before, view = list(desk.engine.log(fork)), view_of(desk, fork)
    whole(desk, fork)
    assert isinstance(desk.engine.delete(desk.worker, PERSON), Deleted)
    desk.restart()
    assert before == list(desk.engine.log(fork, 0, view.head.seq))
    assert view.flow == view_of(desk, fork).flow
    judge = Judge(saying({"end": MET}))
    desk.engine.request_transition(fork, "the end", AGENT, judge)
    (request,) = judge.asked
    assert [each.entry for each in before] == list(request.captured)[: len(before)]


def test_what_a_fork_holds_of_its_parent_is_shown_to_a_verifier_under_its_own_references_alone() -> None:
    desk = Desk(actor=AGENT)
    desk.engine.record(desk.worker, Kind.ASSISTANT_MESSAGE, b'{"role":"system","content":"be kind"}', HOST, RecordKey("h", "s", "1"))
    fork = forked(desk).worker
    whole(desk, fork)
    copies = [text_of(each) for each in desk.sessions.entries(fork) if each.kind == Kind.INHERITED]
    assert [("", True)] * 2 == [(each.text, "copies of earlier entries" in each.withheld) for each in copies]


def test_each_entry_of_a_copy_is_found_by_its_number() -> None:
    desk = eventful()
    fork = forked(desk).worker
    whole(desk, fork)
    log = desk.log()[:-1]  # in the last entry the parent says that it was forked
    assert log == [next(entries_through(desk.sessions, fork, each.seq - 1, each.seq)) for each in log]
    for after, upto in ((0, 1), (2, 3), (3, 9), (len(log) - 1, len(log)), (5, 5)):
        assert log[after:upto] == list(entries_through(desk.sessions, fork, after, upto))


def test_a_chain_of_forks_is_whole_from_any_of_them_on() -> None:
    desk = Desk(actor=AGENT)
    one = forked(desk).worker
    desk.engine.request_transition(one, "go", AGENT, Judge(saying({"x": MET})))
    two = forked(desk, worker=one).worker
    three = forked(desk, worker=two).worker
    before = list(desk.engine.log(three))
    whole(desk, two)
    assert isinstance(desk.engine.delete(one, PERSON), Deleted)
    assert isinstance(desk.engine.delete(desk.worker, PERSON), Deleted)
    assert before == list(desk.engine.log(three))
    assert [desk.worker] * 2 + [one] * 4 == [each.entry.worker for each in before][:6]
    assert RefusalCode.FORKS_DEPEND is code(desk.engine.delete(two, PERSON))
    whole(desk, three)
    assert isinstance(desk.engine.delete(two, PERSON), Deleted)
    assert before == list(desk.engine.log(three, 0, len(before)))


def test_making_whole_is_one_act_that_is_seen_in_the_log() -> None:
    desk = Desk()
    fork = forked(desk).worker
    first = whole(desk, fork, "op-1")
    assert replace(first, repeated=True) == whole(desk, fork, "op-1")
    assert RefusalCode.ALREADY_WHOLE is code(desk.engine.make_whole(fork, "again", PERSON))
    assert RefusalCode.NOT_A_FORK is code(desk.engine.make_whole(desk.worker, "why not", PERSON))
    assert RefusalCode.REASON_BLANK is code(desk.engine.make_whole(fork, " ", PERSON))
    assert RefusalCode.OPERATOR_ONLY is code(desk.engine.make_whole(fork, "me", AGENT))
    act = next(each for each in desk.engine.log(fork) if each.entry.reference == first.entry)
    assert isinstance(act.payload, OperatorAct)
    assert ("make-whole", "the parent has to go", desk.worker) == (act.payload.verb, act.payload.reason, act.payload.about)


class Stopping(MemorySessionStore):
    """Stops after so many appends that hold a part of a copy."""

    left = 2

    def append(
        self, worker: str, expected: Head, entries: Sequence[NewEntry], definitions: Mapping[str, bytes] = NO_DEFINITIONS
    ) -> Appended:
        if entries[-1].kind == Kind.INHERITED:
            if self.left == 0:
                raise StoreUnavailable("the disk is full")
            self.left -= 1
        return super().append(worker, expected, entries, definitions)


def test_a_copy_that_was_interrupted_is_gone_on_with_and_the_parent_stays_until_it_is_complete() -> None:
    desk = Desk(actor=AGENT, sessions=(store := Stopping()))
    for number in range(20):
        desk.record_evidence(f"look {number}: ".encode() + b"x" * 50_000)
    fork = forked(desk).worker
    before = list(desk.engine.log(fork))
    with pytest.raises(StoreUnavailable):
        whole(desk, fork)
    assert RefusalCode.FORKS_DEPEND is code(desk.engine.delete(desk.worker, PERSON))
    desk.engine.request_transition(fork, "go", AGENT, Judge(saying({"x": MET})))
    store.left = 100
    whole(desk, fork)
    parts = [each.key for each in store.entries(fork) if each.kind == Kind.INHERITED]
    assert len(parts) == len(set(parts)) == 100 - store.left + 2 + 1
    assert isinstance(desk.engine.delete(desk.worker, PERSON), Deleted)
    assert before == list(desk.engine.log(fork, 0, len(before)))


def test_a_parent_that_is_not_what_it_was_is_not_copied() -> None:
    desk = Desk()
    desk.record_evidence()
    fork = forked(desk).worker
    log = desk.sessions._logs[desk.worker]
    log[1] = replace(log[1], payload=b"another")
    with pytest.raises(Damaged, match="E00000002: its payload is not what was written"):
        desk.engine.make_whole(fork, "why not", PERSON)
    assert None is desk.sessions.find(fork, "inherited:1")


def test_forking_needs_a_reason() -> None:
    desk = Desk()
    assert RefusalCode.REASON_BLANK is code(desk.engine.fork(desk.worker, " ", PERSON))
