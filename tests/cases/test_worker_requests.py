"""What a worker asks for, through the whole program and on both databases: what people met elsewhere (WRK) does not happen here."""

import json
from dataclasses import replace

from stateward.runtime.core.bounds import Bounds
from stateward.runtime.core.refusal import Refusal, RefusalCode
from stateward.runtime.ports import Answered, RecordedEntry, RecordKey
from stateward.runtime.profile import DEMONSTRATION
from stateward.runtime.session.entries import Kind
from tests.cases.opened import Opened, begin, opened
from tests.cases.stored import StoredPlace
from tests.runtime.engines import AGENT, HOST, PERSON, WORKSPACE, Judge, input_for, saying, submitted

CLAIM = "all 214 tests pass, verified"


def started(desk: Opened) -> str:
    return submitted(desk.engine.start_worker(WORKSPACE, input_for("fork"), PERSON, worked_by=AGENT.actor_class)).worker


def record(desk: Opened, worker: str, number: int, said: str) -> None:
    recorded = desk.engine.record(worker, Kind.TOOL_RESULT, said.encode(), HOST, RecordKey("host", "session", str(number)))
    assert isinstance(recorded, RecordedEntry)


def test_a_claim_with_nothing_recorded_moves_nothing_and_stays_a_claim(here: StoredPlace) -> None:
    """S-WRK-1: "all tests pass" is believed although nothing was run."""
    begin(here)
    with opened(here, DEMONSTRATION) as desk:
        worker = started(desk)
        answered = desk.engine.request_transition(worker, CLAIM, AGENT, Judge(saying({})))
    assert isinstance(answered, Answered)
    assert ("a", None) == (answered.answer.state, answered.answer.transition)
    assert {"x", "y", "z", "$cancel"} == {each.transition for each in answered.answer.results}
    assert all(each.missing for each in answered.answer.results)
    status, entries = here.status(), here.log()
    assert ("a", 1) == (status["flow"]["state"], status["flow"]["visit"])
    assert {"claim"} == {each["evidence"] for each in entries if CLAIM in each["payload"] and each["actor"]["class"] == "agent"}


def test_a_condition_that_cannot_be_met_is_not_judged_for_ever_and_an_operator_sees_that(here: StoredPlace) -> None:
    """S-WRK-2: an unsatisfiable condition is judged again and again."""
    begin(here)
    judge = Judge(saying({}))
    with opened(here, DEMONSTRATION) as desk:
        worker = started(desk)
        for _ in range(30):
            assert isinstance(desk.engine.request_transition(worker, "done", AGENT, judge), Answered)
        assert 1 == len(judge.asked)
        answers = [desk.engine.request_transition(worker, f"done, {number}", AGENT, judge) for number in range(30)]
        assert DEMONSTRATION.bounds.hold_after == len(judge.asked)
        last = answers[-1]
        assert isinstance(last, Refusal)
        assert (RefusalCode.INSTANCE_HELD, "record new evidence") == (last.code, last.allowed[0])
        (stuck,) = here.done("ps", "--stuck", "--json").splitlines()
        assert (worker, True) == (json.loads(stuck)["worker"], "held" in stuck)
        record(desk, worker, 1, "213 passed, 1 failed")
        assert isinstance(desk.engine.request_transition(worker, "done", AGENT, judge), Answered)
        assert DEMONSTRATION.bounds.hold_after + 1 == len(judge.asked)
    assert "" == here.done("ps", "--stuck", "--json")


def test_a_worker_that_waits_for_a_long_job_is_not_held_and_its_budget_counts(here: StoredPlace) -> None:
    """S-WRK-3: loop detection kills a worker that only waits for a long job."""
    begin(here)
    judge = Judge(saying({}))
    with opened(here, replace(DEMONSTRATION, bounds=Bounds(visit_verifications_max=10))) as desk:
        worker = started(desk)
        for number in range(10):
            record(desk, worker, number, f"still running at {number}")
            assert isinstance(desk.engine.request_transition(worker, "waiting for the job", AGENT, judge), Answered)
        (listed,) = here.done("ps", "--json").splitlines()
        assert (10, "") == (len(judge.asked), json.loads(listed)["flow"]["held"])
        record(desk, worker, 10, "still running at 10")
        refused = desk.engine.request_transition(worker, "waiting for the job", AGENT, judge)
    assert isinstance(refused, Refusal)
    assert (RefusalCode.BUDGET_EXHAUSTED, 10) == (refused.code, len(judge.asked))
