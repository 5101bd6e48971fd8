"""What came of a check that the host ran, as the log holds it: evidence of class `engine`, to be read and cited."""

from enum import StrEnum
from typing import Final

from stateward.runtime.core.values import value
from stateward.runtime.session.strict import COUNT, TEXT, Form, choice, optional, record, sequence


class CheckEnd(StrEnum):
    """How a run of a check ended."""

    EXITED = "exited"
    """By itself, with an exit status."""
    KILLED = "killed"
    """By a signal that it did not get from here."""
    TIMED_OUT = "timed_out"
    """It was killed at its limit."""
    STOPPED = "stopped"
    """It was killed because whoever asked wants to know no more."""
    NOT_RUN = "not_run"
    """It was never begun."""


@value
class CheckRecord:
    """One run of a check, or why there was none."""

    instance: str
    attempt: str
    """For which it was run."""
    check: str
    command: tuple[str, ...]
    declaration: str
    """The digest of its name, command and limit."""
    ended: CheckEnd
    exit_status: int | None
    """None where it did not end by itself."""
    problem: str
    """Why it has no exit status, or why that says nothing; empty where it answers the question."""
    allowed: tuple[str, ...]
    """What an operator could do about the problem."""
    program: str
    """The whole path of the program that was run; empty where none was."""
    started: str
    """RFC 3339."""
    milliseconds: int
    output: str
    """The beginning of what it said, or all of it; masked."""
    output_end: str
    left_out: int
    """Bytes between the two."""
    tree: str
    """The digest of the facts of the Workdir as it was begun; empty where they are not known."""
    tree_after: str

    @property
    def is_conclusive(self) -> bool:
        """Whether its exit status answers the question."""
        return self.exit_status is not None and not self.problem

    @property
    def has_passed(self) -> bool:
        """Whether it answers it with yes."""
        return self.is_conclusive and self.exit_status == 0


CHECK: Final[Form[CheckRecord]] = record(
    CheckRecord,
    instance=TEXT,
    attempt=TEXT,
    check=TEXT,
    command=sequence(TEXT),
    declaration=TEXT,
    ended=choice(CheckEnd),
    exit_status=optional(COUNT),
    problem=TEXT,
    allowed=sequence(TEXT),
    program=TEXT,
    started=TEXT,
    milliseconds=COUNT,
    output=TEXT,
    output_end=TEXT,
    left_out=COUNT,
    tree=TEXT,
    tree_after=TEXT,
)
