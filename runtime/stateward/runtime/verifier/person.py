"""The person as judge: asked about one condition after the other.

A person's recorded answer is evidence itself and needs no citation. Invariants: each condition is asked in order of declaration, the
synthetic one last and by the same standard; an answer that contradicts itself is asked for again, a bounded number of times; where
nobody can be asked, nothing is answered and the attempt stays open.
"""

from dataclasses import dataclass
from typing import Final, Protocol

from stateward.runtime.core.events import Judgement, Verdict
from stateward.runtime.core.judging import result_fault
from stateward.runtime.ports import Fault, Question, VerificationRequest, VerifierAnswered, VerifierOutcome
from stateward.runtime.profile import VerifierKind
from stateward.runtime.verifier.contract import judged

ASKS_MAX: Final = 5
"""How often one condition is asked about, the first time included."""


class NobodyThere(Fault):
    """There is nobody to ask; the attempt stays open, waiting for a person."""


@dataclass(frozen=True, slots=True)
class PersonAnswer:
    """What a person says to one condition."""

    verdict: Verdict
    """`indeterminate` when they cannot tell."""
    rationale: str
    missing: tuple[str, ...] = ()
    """What would turn `not_met` into `met`."""


class Prompter(Protocol):
    """Puts questions to a person."""

    def ask(self, request: VerificationRequest, question: Question, problem: str | None) -> PersonAnswer:
        """Ask about one condition; `problem` says what was wrong with the last answer to it.

        Raises NobodyThere when nobody can be asked. KeyboardInterrupt passes through.
        """


class PersonVerifier:
    """The port `Verifier` over a prompter."""

    def __init__(self, prompter: Prompter) -> None:
        self._prompter = prompter

    @property
    def kind(self) -> str:
        """`person`."""
        return VerifierKind.PERSON

    def verify(self, request: VerificationRequest) -> VerifierOutcome:
        """Ask about each condition. Raises NobodyThere when nobody can be asked."""
        return VerifierAnswered(tuple(self._ask(request, each) for each in request.questions))

    def _ask(self, request: VerificationRequest, question: Question) -> Judgement:
        problem: str | None = None
        result = None
        for _ in range(ASKS_MAX):
            answer = self._prompter.ask(request, question, problem)
            result = judged(question.transition, answer.verdict, answer.rationale, answer.missing)
            problem = result_fault(result)
            if problem is None:
                break
        assert result is not None  # it was asked at least once
        return result
