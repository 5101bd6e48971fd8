"""A person at a terminal, as worker and as judge: what is typed, one line at a time.

Invariants: the end of input is never an answer, nor is what was typed before its question was put; what the terminal cut or could not
take for text is asked for again; what was typed before an interruption and not submitted is lost, nothing else.
"""

import select
import signal
import sys
import termios
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import current_thread, main_thread
from typing import Final

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from stateward.runtime.core.events import Variable, Verdict
from stateward.runtime.ports import Question, VerificationRequest
from stateward.runtime.session.entries import reference
from stateward.runtime.surfaces.cli.output import emit
from stateward.runtime.surfaces.cli.present import indented, part_shown, plain, show, value_line
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
LINE_BYTES_MAX: Final = 4094
"""Of one line, without its end. Of a longer one a terminal hands over one byte more, and drops the rest without a word."""
SIGNALLED: Final = 128
"""To which the number of a signal is added for the exit status of what it ended."""
INTERRUPTION_NOTICED_SECONDS: Final = 0.2
"""Within which an interruption is noticed that came in the moment between a prompt and the waiting for its answer."""


class EndOfInput(Exception):
    """Nobody types any more."""


class NotTaken(ValueError):
    """A line that cannot be taken for what was meant; says why."""


def is_terminal() -> bool:
    """Tell whether somebody can be asked: both standard streams are there, and the one for input is a terminal."""
    # Closed standard streams are None.
    return sys.stdin is not None and sys.stdout is not None and sys.stdin.isatty()


@contextmanager
def ended_in_order() -> Iterator[None]:
    """Let the signal that ends a process unwind it, so that the checks that it runs end with it."""
    if current_thread() is not main_thread():  # which alone is told of signals
        yield
        return

    def end(number: int, _: object) -> None:
        raise SystemExit(SIGNALLED + number)

    former = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, former)


def say_checks(request: VerificationRequest) -> None:
    """Say on standard error, where that is a terminal, that checks are run, which may take long."""
    if request.checks and sys.stderr is not None and sys.stderr.isatty():
        print(f"running checks: {', '.join(request.checks)}", file=sys.stderr, flush=True)


def read_line() -> bytes:
    """Read a line as it was typed; nothing at all at the end of input."""
    # An interruption that arrives just before the reading begins would be seen only once a line is there, so it is waited in short spells.
    while not select.select([sys.stdin.fileno()], [], [], INTERRUPTION_NOTICED_SECONDS)[0]:
        pass
    try:
        return sys.stdin.buffer.readline(LINE_BYTES_MAX + 2)
    except OSError:  # the terminal is gone
        return b""


def drop_typed() -> bool:
    """Drop what was typed and not read yet; tell whether there was anything."""
    waiting, _, _ = select.select([sys.stdin.fileno()], [], [], 0)
    try:
        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
    except termios.error:  # the terminal is gone, which reading from it will tell
        return False
    return bool(waiting)


@dataclass
class Terminal:
    """Where lines are read from and prompts go to."""

    console: Console
    read: Callable[[], bytes] = read_line
    drop: Callable[[], bool] = drop_typed
    _asked: set[str] = field(default_factory=set)

    def line(self, prompt: str) -> str:
        """Read one line that says something. Raises EndOfInput."""
        while True:
            text = self.optional_line(prompt)
            if text:
                return text

    def optional_line(self, prompt: str) -> str:
        """Read one line, which may be empty. Raises EndOfInput."""
        while True:
            if self.drop():
                self._say("what was typed before the question counts for nothing")
            emit(prompt)
            typed = self.read()
            if not typed:
                raise EndOfInput
            try:
                return _text_of(typed.rstrip(b"\n"))
            except NotTaken as problem:
                self._say(f"{problem}; once more")

    def _say(self, text: str) -> None:
        show(self.console, plain(text, "yellow"))

    # --- the port Prompter ----------------------------------------------------------------------------------------------------------

    def ask(self, request: VerificationRequest, question: Question, problem: str | None) -> PersonAnswer:
        """Ask about one condition. Raises NobodyThere at the end of input."""
        if request.attempt not in self._asked:
            self._asked.add(request.attempt)
            self._introduce(request)
        if problem is not None:
            self._say(f"the result {problem}; once more")
        try:
            return self._asked_about(question)
        except EndOfInput as end:
            raise NobodyThere("nobody answers for the verifier; the request stays open", "go on with `--resume`") from end

    def _introduce(self, request: VerificationRequest) -> None:
        show(self.console, Text("\nnow as the verifier: answer for each condition by what can be seen, not by what is claimed", "bold"))
        show(self.console, indented(Text.assemble(("claimed: ", "dim"), plain(request.reason))))
        if request.variables:
            show(self.console, Text("variables hold; what the worker wrote is claimed:", "dim"), *map(_held, request.variables))
        if request.parts:
            show(self.console, Text("found without a judge:", "dim"), *(indented(part_shown(each)) for each in request.parts))

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


def _held(variable: Variable) -> Padding:
    """Show what a variable holds, and who wrote it where."""
    wrote = f"  {variable.source}, in {variable.state} (visit {variable.visit}), {reference(variable.entry)}"
    return indented(Text.assemble(plain(variable.name), " = ", plain(value_line(variable.value)), (wrote, "dim")))


def _text_of(typed: bytes) -> str:
    """Give a line as text, without the blanks around it. Raises NotTaken."""
    if len(typed) > LINE_BYTES_MAX:
        raise NotTaken(f"the terminal cuts lines at {LINE_BYTES_MAX + 1:,} bytes")
    try:
        text = typed.decode("utf-8")
    except UnicodeDecodeError:
        raise NotTaken("the line is no UTF-8") from None
    if any(unicodedata.category(each) == "Cc" and each != "\t" for each in text):
        raise NotTaken("the line holds a key that is no character")
    return text.strip()
