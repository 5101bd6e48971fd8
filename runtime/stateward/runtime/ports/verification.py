"""The port on a verifier: what it is given, and what it comes to."""

from collections.abc import Sequence, Set
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from stateward.runtime.core.events import Account, Assigned, Citation, FailureCause, Judgement, Part, Variable
from stateward.runtime.core.instance import Aside
from stateward.runtime.session.entries import Entry


@dataclass(frozen=True, slots=True)
class Question:
    """One outgoing transition to be judged; the synthetic one by the same standard."""

    transition: str
    target: str
    condition: str
    synthetic: bool


@dataclass(frozen=True, slots=True)
class VerificationRequest:
    """What a verifier is given: everything it may know."""

    worker: str
    attempt: str
    attempt_number: int
    """1 for the instance's first attempt."""
    flow: str
    state: str
    visit: int
    instructions: str
    reason: str
    """The worker's words: a claim."""
    questions: tuple[Question, ...]
    captured: Sequence[Entry]
    """The committed log up to and including the request, oldest first."""
    aside: tuple[Aside, ...] = ()
    """The parts of it that an operator set aside: to be read, and no evidence."""
    inputs: tuple[Assigned, ...] = ()
    """What the flow was given when it started."""
    variables: tuple[Variable, ...] = ()
    """What the variables held at the request, each with who wrote it where."""
    parts: tuple[Part, ...] = ()
    """What the runtime found of guards and checks by itself."""
    checks: tuple[str, ...] = ()
    """The checks that the host has to run before anybody is asked; then there are no questions yet."""


@dataclass(frozen=True, slots=True)
class VerifierAnswered:
    """The verifier finished."""

    judgements: tuple[Judgement, ...]
    """The verdicts as they were given; `checked` equals `verdict`: the runtime does the checking."""
    shown: Set[Citation] | None = None
    """The citations that name what the verifier was shown in full, word for word. None for a judge that keeps no ledger: then entries
    resolve by their number, and no file does."""
    account: Account | None = None


@dataclass(frozen=True, slots=True)
class VerifierFailed:
    """The verifier came to no verdicts."""

    cause: FailureCause
    message: str
    account: Account | None = None


@dataclass(frozen=True, slots=True)
class VerifierCancelled:
    """Verification was given up on purpose."""

    account: Account | None = None


VerifierOutcome: TypeAlias = VerifierAnswered | VerifierFailed | VerifierCancelled


class Verifier(Protocol):
    """A read-only judge."""

    @property
    def kind(self) -> str:
        """`scripted`, `person`, `model` or `command`: pinned in the session and shown everywhere."""

    def verify(self, request: VerificationRequest) -> VerifierOutcome:
        """Judge each question. Never raises for what a judge can do wrong: that is an outcome. KeyboardInterrupt passes through."""


class StoppableVerifier(Verifier, Protocol):
    """A judge that can be told to give up."""

    def cancel(self) -> None:
        """Give up what is being verified; nothing where nothing is. May be called from any thread, and again."""
