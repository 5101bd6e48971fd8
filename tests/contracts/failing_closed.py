"""What a verifier of whichever kind comes to at an engine: it moves a state by what bears it, and by nothing else.

A test module imports everything here and offers a fixture `post`: a `Post` of one kind.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import pytest

from stateward.runtime.core.events import FailureCause, Verdict
from stateward.runtime.ports import Answered, Verifier, VerifierFailed
from tests.contracts.verifiers import WAYS
from tests.runtime.engines import Desk

Result = dict[str, Any]
REASON = "done"


class Post(Protocol):
    """A Worker at a desk that is judged by one kind of verifier, with a piece of evidence in its log."""

    @property
    def desk(self) -> Desk:
        """Where its requests are made."""

    @property
    def cannot_say(self) -> frozenset[str]:
        """Of what makes no sense, that which there is no way to say for a judge of this kind."""

    @property
    def cites(self) -> bool:
        """Whether what its judge says has to be borne by what it cites."""

    def judge(self, results: Sequence[Result]) -> Verifier:
        """Give a verifier that remembers nothing but what is stored, and whose judge says this."""


def result(way: str, verdict: Verdict = Verdict.NOT_MET, **changed: Any) -> Result:
    missing = ["a test"] if verdict is Verdict.NOT_MET else []
    return {"transition_id": way, "verdict": verdict.value, "rationale": "I looked.", "missing": missing, "citations": [], **changed}


def saying(given: Mapping[str, Verdict], cited: str = "") -> list[Result]:
    """Give a result for each transition; a `met` cites the entry."""
    citations = [{"entry": cited}] if cited else []
    return [
        result(way, verdict, citations=citations if verdict is Verdict.MET else [])
        for way in WAYS
        for verdict in (given.get(way, Verdict.NOT_MET),)
    ]


def evidence(post: Post) -> str:
    """Give the reference of the evidence in the log."""
    return next(each.reference for each in post.desk.log() if each.kind == "tool_result" and each.actor.actor_class.value == "host")


def requested(post: Post, results: Sequence[Result]) -> Answered:
    return post.desk.request(REASON, post.judge(results))


def test_what_is_met_and_borne_moves_the_state(post: Post) -> None:
    answer = requested(post, saying({"x": Verdict.MET}, evidence(post))).answer
    assert ("entered", "x", "b") == (answer.outcome.value, answer.transition, post.desk.flow.state)


def test_what_is_not_met_moves_nothing_and_tells_what_is_missing(post: Post) -> None:
    answer = requested(post, saying({})).answer
    assert ("no_condition_met", "a", ("a test",)) == (answer.code, post.desk.flow.state, answer.results[0].missing)


def test_two_that_are_met_move_nothing(post: Post) -> None:
    answer = requested(post, saying({"x": Verdict.MET, "y": Verdict.MET}, evidence(post))).answer
    assert ("multiple_conditions_met", "a") == (answer.code, post.desk.flow.state)


MISCHIEF: dict[str, list[Result]] = {
    "nothing": [],
    "one left out": saying({"x": Verdict.MET})[:-1],
    "one twice": [*saying({"x": Verdict.MET}), result("x", Verdict.MET)],
    "one twice and another left out": [*saying({"x": Verdict.MET})[:-1], result("x", Verdict.MET)],
    "one that is none": [*saying({"x": Verdict.MET}), result("w")],
    "one by another name": [*saying({"x": Verdict.MET})[:-1], result("$CANCEL")],
    "a blank rationale": [result("x", Verdict.MET, rationale=" \n"), *saying({})[1:]],
    "met and something missing": [result("x", Verdict.MET, missing=["a test"]), *saying({})[1:]],
    "not met and nothing missing": [result("x", Verdict.MET), result("y", missing=[]), *saying({})[2:]],
    "a blank thing missing": [result("x", Verdict.MET), result("y", missing=[" "]), *saying({})[2:]],
    "a rationale without end": [result("x", Verdict.MET, rationale="x" * 20_000), *saying({})[1:]],
}
INCOMPLETE = frozenset({"nothing", "one left out", "one twice", "one twice and another left out"})
FOREIGN = frozenset({"one that is none", "one by another name"})


@pytest.mark.parametrize("name", MISCHIEF)
def test_results_that_make_no_sense_move_nothing(post: Post, name: str) -> None:
    if name in post.cannot_say:
        return
    answer = requested(post, MISCHIEF[name]).answer
    assert ("a", True) == (post.desk.flow.state, answer.code in {"invalid_verifier_output", "verifier_failed", "indeterminate"})
    assert answer.transition is None


def test_killed_before_it_reports_the_next_request_goes_on_with_the_same_attempt_and_moves_once(post: Post) -> None:
    results = saying({"x": Verdict.MET}, evidence(post))
    begun = post.desk.begin(REASON)
    post.judge(results).verify(begun.request)  # and then it is gone, with what it found
    answer = requested(post, results).answer
    assert (begun.request.attempt, "b", 2) == (answer.attempt, post.desk.flow.state, post.desk.flow.visit)


def test_a_result_that_comes_late_changes_nothing(post: Post) -> None:
    begun = post.desk.begin(REASON)
    late = post.judge(saying({"y": Verdict.MET}, evidence(post))).verify(begun.request)
    first = post.desk.engine.report(post.desk.worker, begun.request.attempt, VerifierFailed(FailureCause.TIMEOUT, "it took too long"))
    assert isinstance(first, Answered)
    told = post.desk.engine.report(post.desk.worker, begun.request.attempt, late)
    assert isinstance(told, Answered)
    assert (True, first.answer, "a") == (told.late, told.answer, post.desk.flow.state)


def test_evidence_that_came_after_the_request_is_not_judged(post: Post) -> None:
    if not post.cites:
        return  # what a person says is evidence itself
    begun = post.desk.begin(REASON)
    post.desk.record_evidence(b"all tests pass")
    after = post.desk.log()[-1].reference
    outcome = post.judge(saying({"x": Verdict.MET}, after)).verify(begun.request)
    told = post.desk.engine.report(post.desk.worker, begun.request.attempt, outcome)
    assert isinstance(told, Answered)
    assert (None, "a") == (told.answer.transition, post.desk.flow.state)
