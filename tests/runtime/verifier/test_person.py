"""The person as verifier, under the contract of every verifier."""

from collections.abc import Callable, Mapping

import pytest

from stateward.runtime.core.events import Verdict
from stateward.runtime.ports import Question, VerificationRequest
from stateward.runtime.profile import DEFAULT
from stateward.runtime.verifier.person import ASKS_MAX, NobodyThere, PersonAnswer, PersonVerifier
from tests.contracts.verifiers import *  # noqa: F403 -- a contract is all its tests
from tests.contracts.verifiers import MakeJudge, answered, request_for
from tests.runtime.engines import Desk
from tests.runtime.flows import FORK, HALF, ODD_TEXT


class Keyboard:
    """A person who answers by a function, and what they were asked."""

    def __init__(self, answer: Callable[[Question, int], PersonAnswer]) -> None:
        self._answer = answer
        self.asked: list[tuple[str, str, str | None]] = []

    def ask(self, request: VerificationRequest, question: Question, problem: str | None) -> PersonAnswer:
        """Answer."""
        self.asked.append((question.transition, question.condition, problem))
        return self._answer(question, len(self.asked))


def consistent(verdict: Verdict) -> PersonAnswer:
    return PersonAnswer(verdict, "I looked.", ("a test",) if verdict is Verdict.NOT_MET else ())


@pytest.fixture
def judge() -> MakeJudge:
    def make(reason: str, verdicts: Mapping[str, Verdict]) -> PersonVerifier:
        return PersonVerifier(Keyboard(lambda question, _: consistent(verdicts.get(question.transition, Verdict.NOT_MET))))

    return make


def test_each_condition_is_put_to_the_person_word_for_word_and_in_order() -> None:
    keyboard = Keyboard(lambda *_: consistent(Verdict.NOT_MET))
    PersonVerifier(keyboard).verify(request_for())
    assert [(each.id, each.condition, None) for each in FORK.state("a").transitions] == keyboard.asked


def test_what_a_person_says_is_kept_word_for_word() -> None:
    said = PersonAnswer(Verdict.NOT_MET, ODD_TEXT + HALF, (ODD_TEXT,))
    result = answered(PersonVerifier(Keyboard(lambda *_: said)), request_for()).judgements[0]
    assert (said.rationale, said.missing, ()) == (result.rationale, result.missing, result.citations)


@pytest.mark.parametrize(
    ("first", "problem"),
    [
        (PersonAnswer(Verdict.MET, ""), "has a blank rationale"),
        (PersonAnswer(Verdict.NOT_MET, "no"), "says `not_met` and names nothing that is missing"),
        (PersonAnswer(Verdict.MET, "yes", ("tests",)), "says `met` and that something is missing"),
        (PersonAnswer(Verdict.MET, "x" * 20_000), "has a rationale over the limit of 16384 bytes"),
    ],
)
def test_an_answer_that_makes_no_sense_is_asked_for_again_with_the_reason(first: PersonAnswer, problem: str) -> None:
    keyboard = Keyboard(lambda _, number: first if number == 1 else consistent(Verdict.NOT_MET))
    results = answered(PersonVerifier(keyboard), request_for()).judgements
    assert [("x", None), ("x", problem), ("y", None)] == [(way, said) for way, _, said in keyboard.asked[:3]]
    assert Verdict.NOT_MET is results[0].verdict


def test_asking_again_is_bounded_and_the_core_refuses_what_stays_nonsense() -> None:
    keyboard = Keyboard(lambda *_: PersonAnswer(Verdict.MET, " "))
    desk = Desk(profile=DEFAULT)
    answer = desk.request("done", PersonVerifier(keyboard)).answer
    assert (4 * ASKS_MAX, "invalid_verifier_output", "a") == (len(keyboard.asked), answer.code, desk.flow.state)


class Away:
    """A terminal at which nobody is."""

    def __init__(self, problem: BaseException) -> None:
        self._problem = problem

    def ask(self, request: VerificationRequest, question: Question, problem: str | None) -> PersonAnswer:
        """Fail."""
        raise self._problem


@pytest.mark.parametrize("problem", [NobodyThere("there is no terminal", "run it at a terminal"), KeyboardInterrupt()])
def test_where_nobody_answers_the_attempt_stays_open_and_a_person_goes_on_with_it(problem: BaseException) -> None:
    desk = Desk(profile=DEFAULT)
    with pytest.raises(type(problem)):
        desk.engine.request_transition(desk.worker, "done", desk.actor, PersonVerifier(Away(problem)))
    opened = desk.flow.attempt
    assert opened is not None
    there = Keyboard(lambda question, _: consistent(Verdict.MET if question.transition == "x" else Verdict.NOT_MET))
    answer = desk.request("done", PersonVerifier(there)).answer
    assert (opened.id, "b", True) == (answer.attempt, answer.state, answer.self_judged)


def test_a_persons_answer_needs_no_citation() -> None:
    desk = Desk(profile=DEFAULT)
    keyboard = Keyboard(lambda question, _: consistent(Verdict.MET if question.transition == "y" else Verdict.NOT_MET))
    answer = desk.request("done", PersonVerifier(keyboard)).answer
    assert ("c", "y") == (answer.state, answer.transition)
