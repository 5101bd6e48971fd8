"""What processes beside the test's own do to a Worker, each with a store that it opened itself."""

from itertools import count
from typing import Any, Final

from stateward.runtime.core.events import Verdict
from stateward.runtime.ports import RecordedEntry, RecordKey, VerificationRequest, VerifierOutcome
from stateward.runtime.session.entries import Kind
from stateward.runtime.session.segments import TextSegment
from tests.cases.opened import opened
from tests.cases.stored import StoredPlace
from tests.runtime.engines import AGENT, HOST, PERSON, WORKSPACE, Judge, input_for, saying, verdicts

TO_AND_FRO: Final = saying({"go": Verdict.MET, "back": Verdict.MET})


def ask_to_leave(here: StoredPlace, worker: str, number: int, way: str, start: Any, told: Any) -> None:
    """Ask once, with words of our own and a judge that lets one way through; tell what was answered, and how often the judge was asked."""
    judge = Judge(saying({way: Verdict.MET}))
    with opened(here, holder=f"process {number}") as desk:
        start.wait()
        answer = desk.engine.request_transition(worker, f"done by process {number}", AGENT, judge)
    told.send((answer, len(judge.asked)))


def submit_once(here: StoredPlace, submission: str | None, text: str, start: Any, told: Any) -> None:
    """Submit a flow with a text; tell the answer."""
    with opened(here) as desk:
        start.wait()
        answer = desk.engine.start_worker(WORKSPACE, (*input_for("fork"), TextSegment(text)), PERSON, submission)
    told.send(answer)


def go_to_and_fro(here: StoredPlace, worker: str, transitions: int) -> None:
    """Make so many transitions of a Worker whose flow goes round."""
    judge = Judge(TO_AND_FRO)
    with opened(here) as desk:
        for number in range(transitions):
            desk.engine.request_transition(worker, f"step {number}", AGENT, judge)


def verify_while_told(here: StoredPlace, worker: str, judging: Any, go_on: Any, told: Any) -> None:
    """Ask, and judge for as long as somebody else needs; tell how often the judge was asked."""

    def slow(request: VerificationRequest) -> VerifierOutcome:
        judging.send(request.attempt)
        go_on.recv()
        return verdicts(request, {"x": Verdict.MET})

    judge = Judge(slow)
    with opened(here, holder="driver") as desk:
        desk.engine.request_transition(worker, "done", AGENT, judge)
    told.send(len(judge.asked))


def record_for_ever(here: StoredPlace, worker: str, name: str, told: Any) -> None:
    """Record results of tools of a Worker until killed; tell of each when it is acknowledged."""
    with opened(here) as desk:
        for number in count():
            recorded = desk.engine.record(worker, Kind.TOOL_RESULT, output_of(name, number), HOST, RecordKey("host", name, str(number)))
            assert isinstance(recorded, RecordedEntry), recorded
            told.send(number)


def output_of(name: str, number: int) -> bytes:
    return f"{name}: output {number}".encode()
