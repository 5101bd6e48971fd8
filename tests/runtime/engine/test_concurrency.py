"""Many at once on one Worker: one state entry for one request, the others are told, nothing is lost or doubled."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from stateward.runtime.core.events import FailureCause, LateResultIgnored, StateEntered, TransitionRequested, Verdict
from stateward.runtime.core.refusal import Refusal, RefusalCode
from stateward.runtime.engine.answers import Begun
from stateward.runtime.engine.limits import COMMITS_MAX
from stateward.runtime.ports import Answered, Appended, InProgress, Moved, VerificationRequest, VerifierOutcome
from stateward.runtime.profile import DEMONSTRATION
from stateward.runtime.session.entries import Head, NewEntry
from stateward.runtime.session.payloads import Payload, UserInput
from stateward.runtime.session.segments import TextSegment
from stateward.store.memory_sessions import NO_DEFINITIONS, MemorySessionStore
from tests.runtime.engines import PERSON, WORKSPACE, Catalog, Desk, Judge, engine_on, failing, input_for, saying, submitted, verdicts
from tests.runtime.judgements import MET

THREADS = 50


def at_once(count: int, act: Callable[[int], object]) -> list[object]:
    """Do something in so many threads, none of which begins before all are there."""
    barrier = Barrier(count)

    def one(number: int) -> object:
        barrier.wait()
        return act(number)

    with ThreadPoolExecutor(count) as threads:
        return list(threads.map(one, range(count)))


def entries_of(desk: Desk) -> list[str]:
    return [each.event.state for each in desk.engine.events(desk.worker) if isinstance(each.event, StateEntered)]


def text_of(payload: Payload) -> str:
    assert isinstance(payload, UserInput)
    return payload.text


def requests_of(desk: Desk) -> int:
    return sum(isinstance(each.event, TransitionRequested) for each in desk.engine.events(desk.worker))


def test_two_requests_at_once_make_one_state_entry() -> None:
    desk = Desk()
    ways = iter(["x", "y"])
    judge = Judge(lambda request: verdicts(request, {next(ways): MET}))
    answers = at_once(2, lambda _: desk.engine.request_transition(desk.worker, "done", PERSON, judge))
    assert len(entries_of(desk)) == 2
    assert {desk.flow.state} == {each.answer.state for each in answers if isinstance(each, Answered)}
    assert {desk.flow.state} <= {"b", "c"}


def test_fifty_requests_at_once_make_one_state_entry_and_all_are_told_the_same() -> None:
    desk = Desk()
    met = {"x": MET, "end": MET}
    answers = at_once(THREADS, lambda _: desk.engine.request_transition(desk.worker, "done", PERSON, Judge(saying(met))))
    assert (["a", "b"], 1, 2) == (entries_of(desk), requests_of(desk), desk.flow.visit)
    told = [each.answer for each in answers if isinstance(each, Answered)]
    assert (THREADS, {"b"}) == (len(told), {each.state for each in told})
    assert len({each.attempt for each in told}) == 1


def test_fifty_engines_with_fifty_reasons_never_enter_two_states_for_one_request() -> None:
    desk = Desk("review")
    engines = [engine_on(desk.sessions, catalog=desk.catalog) for _ in range(THREADS)]
    met = {"ready": MET, "bad": MET, "fixed": MET}

    def request(number: int) -> object:
        return engines[number].request_transition(desk.worker, f"reason {number}", PERSON, Judge(saying(met)))

    answers = at_once(THREADS, request)
    moves = [each.event for each in desk.engine.events(desk.worker) if isinstance(each.event, StateEntered) and each.event.attempt]
    assert len({each.attempt for each in moves}) == len(moves) == requests_of(desk)
    told = {(each.answer.attempt, each.answer.state) for each in answers if isinstance(each, Answered)}
    assert told == {(each.attempt, each.state) for each in moves}
    assert {RefusalCode.STATE_CHANGED} >= {each.code for each in answers if isinstance(each, Refusal)}


class OvertakenStore(MemorySessionStore):
    """A store in which somebody else always appends first, as long as `overtake` says so."""

    def __init__(self) -> None:
        super().__init__()
        self.overtake: Callable[[], bool] = lambda: False

    def append(
        self, worker: str, expected: Head, entries: Sequence[NewEntry], definitions: Mapping[str, bytes] = NO_DEFINITIONS
    ) -> Appended:
        overtake, self.overtake = self.overtake, lambda: False
        happened = overtake()
        self.overtake = overtake if happened is None else self.overtake
        return super().append(worker, expected, entries, definitions)


def overtaken() -> tuple[Desk, OvertakenStore]:
    desk = Desk()
    store = OvertakenStore()
    desk.sessions = store
    desk.restart()
    desk.worker = submitted(desk.engine.start_worker(WORKSPACE, input_for("fork"), PERSON)).worker
    return desk, store


def test_a_request_overtaken_by_a_move_is_refused_and_not_judged_in_the_next_state() -> None:
    desk, store = overtaken()
    other = engine_on(store, catalog=desk.catalog)
    store.overtake = lambda: bool(other.request_transition(desk.worker, "first", PERSON, Judge(saying({"x": MET}))))
    refused = desk.engine.begin(desk.worker, "second", PERSON)
    assert isinstance(refused, Refusal)
    assert (RefusalCode.STATE_CHANGED, "the state changed and is now `b`") == (refused.code, refused.message)
    assert (None, 1) == (desk.flow.attempt, requests_of(desk))


def test_a_request_overtaken_by_the_same_request_is_told_its_answer() -> None:
    desk, store = overtaken()
    other = engine_on(store, catalog=desk.catalog)
    store.overtake = lambda: bool(other.request_transition(desk.worker, "done", PERSON, Judge(saying({"x": MET}))))
    answered = desk.engine.begin(desk.worker, "done", PERSON)
    assert isinstance(answered, Answered)
    assert (True, "b") == (answered.repeated, answered.answer.state)


def test_a_request_overtaken_by_a_note_is_begun_after_it() -> None:
    desk, store = overtaken()
    other = engine_on(store, catalog=desk.catalog)
    store.overtake = lambda: bool(other.submit(desk.worker, (TextSegment("by the way"),), PERSON))
    begun = desk.engine.begin(desk.worker, "done", PERSON)
    assert isinstance(begun, Begun)
    assert b"by the way" in begun.request.captured[-2].payload


class RestlessStore(MemorySessionStore):
    """A store whose head has always moved."""

    appends = 0

    def append(
        self, worker: str, expected: Head, entries: Sequence[NewEntry], definitions: Mapping[str, bytes] = NO_DEFINITIONS
    ) -> Appended:
        self.appends += 1
        return Moved(expected)


def test_deciding_again_is_bounded() -> None:
    store = RestlessStore()
    engine = engine_on(store)
    worker = submitted(engine.start_worker(WORKSPACE, input_for("fork"), PERSON)).worker
    refused = engine.begin(worker, "done", PERSON)
    assert isinstance(refused, Refusal)
    assert (RefusalCode.WORKER_CONTENDED, COMMITS_MAX) == (refused.code, store.appends)


def test_reports_at_once_resolve_an_attempt_once() -> None:
    desk = Desk()
    request = desk.begin("done").request
    ways = ["x", "y", "z"]
    answers = at_once(THREADS, lambda number: desk.engine.report(desk.worker, request.attempt, verdicts(request, {ways[number % 3]: MET})))
    told = [each for each in answers if isinstance(each, Answered)]
    assert (THREADS, 1, 1) == (len(told), len({each.answer for each in told}), sum(not each.late for each in told))
    late = [each for each in desk.engine.events(desk.worker) if isinstance(each.event, LateResultIgnored)]
    assert (1, 2) == (len(late), len(entries_of(desk)))


def test_no_input_is_lost_among_many_at_once() -> None:
    desk = Desk()
    answers = at_once(THREADS, lambda number: desk.engine.submit(desk.worker, (TextSegment(f"note {number}"),), PERSON))
    assert {submitted(each).head.seq for each in answers} == set(range(3, 3 + THREADS))
    assert {f"note {number}" for number in range(THREADS)} == {text_of(each.payload) for each in desk.engine.log(desk.worker, after=2)}


def test_many_workers_at_once_do_not_disturb_each_other() -> None:
    sessions, catalog = MemorySessionStore(), Catalog()
    engine = engine_on(sessions, DEMONSTRATION, catalog)

    def walk(number: int) -> object:
        worker = submitted(engine.start_worker(WORKSPACE, input_for("fork"), PERSON)).worker
        judge = Judge(saying({"z": MET}))
        for step in range(5):
            engine.request_transition(worker, f"step {step}", PERSON, judge)
        view = engine.view(worker)
        assert not isinstance(view, Refusal)
        return view.flow and (view.flow.state, view.flow.visit)

    assert [("a", 6)] * 8 == at_once(8, walk)


@pytest.mark.parametrize("verdict", [Verdict.MET, Verdict.NOT_MET])
def test_a_verifier_that_requests_itself_gets_no_second_judgement(verdict: Verdict) -> None:
    desk = Desk()

    def meddling(request: VerificationRequest) -> VerifierOutcome:
        inner = desk.engine.begin(desk.worker, "another", PERSON)
        assert isinstance(inner, InProgress)
        assert (request.attempt, "done") == (inner.attempt, inner.reason)
        return verdicts(request, {"x": verdict})

    desk.request("done", Judge(meddling))
    assert requests_of(desk) == 1


@pytest.mark.parametrize("between", [{}, {"z": MET}, FailureCause.UNAVAILABLE], ids=["rejected", "moved", "failed"])
def test_a_request_made_for_where_an_instance_was_seen_is_not_begun_when_others_asked_since(
    between: Mapping[str, Verdict] | FailureCause,
) -> None:
    desk = Desk()
    seen = desk.flow.seen
    desk.request("somebody else's", Judge(failing(between)) if isinstance(between, FailureCause) else between)
    before = desk.log()
    answer = desk.engine.begin(desk.worker, "stale", PERSON, seen)
    assert isinstance(answer, Refusal)
    assert (RefusalCode.STATE_CHANGED, before) == (answer.code, desk.log())
    assert isinstance(desk.engine.begin(desk.worker, "fresh", PERSON, desk.flow.seen), Begun)


def test_an_open_request_that_was_seen_is_gone_on_with_and_its_reason_begins_no_other_once_it_is_resolved() -> None:
    desk = Desk()
    request = desk.begin("done").request
    seen = desk.flow.seen
    continued = desk.engine.begin(desk.worker, "done", PERSON, seen)
    assert isinstance(continued, Begun)
    assert continued.continued
    desk.engine.report(desk.worker, request.attempt, failing(FailureCause.UNAVAILABLE)(request))
    answer = desk.engine.begin(desk.worker, "done", PERSON, seen)
    assert isinstance(answer, Refusal)
    assert RefusalCode.STATE_CHANGED is answer.code


def test_of_two_who_saw_the_same_and_ask_at_once_one_begins() -> None:
    desk = Desk()
    seen = desk.flow.seen
    answers = at_once(2, lambda number: desk.engine.begin(desk.worker, f"reason {number}", PERSON, seen))
    assert [1, 1] == [sum(isinstance(each, kind) for each in answers) for kind in (Begun, Refusal)]
    assert 1 == requests_of(desk)
