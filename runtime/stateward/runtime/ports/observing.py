"""The port on whoever measures what goes on: how long verifying takes, what it costs, and what comes of it.

Invariant: an observer decides nothing and is told no text of authors, workers or judges.
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol

from stateward.runtime.ports.verification import VerificationRequest, VerifierOutcome
from stateward.runtime.session.answers import Answer


class Observed(Protocol):
    """One verification that is observed."""

    def verified(self, outcome: VerifierOutcome) -> None:
        """Take what the verifier came to."""

    def answered(self, answer: Answer) -> None:
        """Take what the runtime made of it."""


class Observer(Protocol):
    """Measures. Safe to share between threads; never raises."""

    def attempt(self, request: VerificationRequest, kind: str) -> AbstractContextManager[Observed]:
        """Give a context in which one attempt is verified by a judge of that kind, and reported."""


class NoObserver:
    """Measures nothing."""

    @contextmanager
    def attempt(self, request: VerificationRequest, kind: str) -> Iterator[Observed]:
        """Give a context in which nothing is measured."""
        yield self

    def verified(self, outcome: VerifierOutcome) -> None:
        """Forget it."""

    def answered(self, answer: Answer) -> None:
        """Forget it."""
