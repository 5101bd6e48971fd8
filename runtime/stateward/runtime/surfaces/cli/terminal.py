"""A person at a terminal, as worker and as judge: what is typed, one line at a time.

Invariants: the end of input is never an answer; what was typed before an interruption and not submitted is lost, nothing else.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from rich.console import Console
from rich.text import Text

from stateward.runtime.core.events import Verdict
from stateward.runtime.ports import Question, VerificationRequest
from stateward.runtime.surfaces.cli.present import indented, plain, show
from stateward.runtime.verifier.person import NobodyThere, PersonAnswer

ANSWERS: Final = {
    "y": Verdict.MET,
    "yes": Verdict.MET,
    "met": Verdict.MET,
    "n": Verdict.NOT_MET,
    "no": Verdict.NOT_MET,
    "not met": Verdict.NOT_MET,
    "?": Verdict.INDETERMINATE,
    "cannot tell": Verdict.INDETERMINATE,
}
MISSING_MAX: Final = 16
"""Missing things that one answer may name here."""


class EndOfInput(Exception):
    """Nobody types any more."""


@dataclass
class Terminal:
    """Where lines are read from and prompts go to."""

    console: Console
    read: Callable[[str], str] = input
    _asked: set[str] = field(default_factory=set)

    def line(self, prompt: str) -> str:
        """Read one line that says something. Raises EndOfInput."""
        while True:
            try:
                text = self.read(prompt).strip()
            except EOFError as end:
                raise EndOfInput from end
            if text:
                return text

    def optional_line(self, prompt: str) -> str:
        """Read one line, which may be empty. Raises EndOfInput."""
        try:
            return self.read(prompt).strip()
        except EOFError as end:
            raise EndOfInput from end

    # --- the port Prompter ----------------------------------------------------------------------------------------------------------

    def ask(self, request: VerificationRequest, question: Question, problem: str | None) -> PersonAnswer:
        """Ask about one condition. Raises NobodyThere at the end of input."""
        if request.attempt not in self._asked:
            self._asked.add(request.attempt)
            self._introduce(request)
        if problem is not None:
            show(self.console, plain(f"the result {problem}; once more", "yellow"))
        try:
            return self._asked_about(question)
        except EndOfInput as end:
            raise NobodyThere("nobody answers for the verifier; the request stays open", "go on with `--resume`") from end

    def _introduce(self, request: VerificationRequest) -> None:
        show(self.console, Text("\nnow as the verifier: answer for each condition by what can be seen, not by what is claimed", "bold"))
        show(self.console, indented(Text.assemble(("claimed: ", "dim"), plain(request.reason))))

    def _asked_about(self, question: Question) -> PersonAnswer:
        show(self.console, Text.assemble("\n", (question.transition, "bold"), (f" → {question.target}", "dim")))
        show(self.console, indented(plain(question.condition)))
        verdict = self._verdict()
        rationale = self.line("  why? ")
        missing = self._missing() if verdict is Verdict.NOT_MET else ()
        return PersonAnswer(verdict, rationale, missing)

    def _verdict(self) -> Verdict:
        while True:
            typed = self.line("  met? [y]es, [n]o, [?] cannot tell: ").lower()
            if typed in ANSWERS:
                return ANSWERS[typed]

    def _missing(self) -> tuple[str, ...]:
        found = [self.line("  what is missing? ")]
        while len(found) < MISSING_MAX and (more := self.optional_line("  what else? (empty: nothing) ")):
            found.append(more)
        return tuple(found)
