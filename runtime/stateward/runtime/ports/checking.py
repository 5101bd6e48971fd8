"""The port on what runs the checks of a flow: commands of its author, run by the host in the folder of the work.

Invariants: a command that may not be run, or was not run to its end, has no exit status; what is kept of its output is bounded and masked.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Final, Protocol

from stateward.runtime.session.checks import CheckEnd

if TYPE_CHECKING:
    from stateward.compiler.predicates.declarations import CheckDeclaration

OUTPUT_BYTES_MAX: Final = 64 * 1024
"""Kept of what a check says: half from its beginning, half from its end."""


@dataclass(frozen=True, slots=True)
class CheckRights:
    """Which commands may be run; by default none."""

    allow: tuple[tuple[str, ...], ...] = ()
    """A command may be run that begins with the words of one of these."""
    workdir_programs: bool = False
    """Whether a program may lie in the folder of the work, where the worker can write it."""


@dataclass(frozen=True, slots=True)
class CheckRun:
    """One run of a check, or why there was none."""

    ended: CheckEnd
    started: datetime
    milliseconds: int = 0
    status: int | None = None
    """The exit status; None where it did not end by itself."""
    problem: str = ""
    """Why it has no exit status, or why that says nothing; empty where it does."""
    allowed: tuple[str, ...] = ()
    """What an operator could do about the problem."""
    program: str = ""
    """The whole path of the program that was run."""
    output: str = ""
    """The beginning of what it said on standard output and standard error, or all of it."""
    output_end: str = ""
    """The end, where there was more than is kept."""
    left_out: int = 0
    """Bytes between the two that are not kept."""
    tree: str = ""
    """The digest of the facts of the Workdir as it was begun; empty where they are not known."""
    tree_after: str = ""
    """The same as it had ended."""

    @property
    def is_conclusive(self) -> bool:
        """Whether its exit status answers the question."""
        return self.status is not None and not self.problem


class CheckRunner(Protocol):
    """Runs checks."""

    def run(self, check: "CheckDeclaration", root: str, rights: CheckRights, halt: int | None = None) -> CheckRun:
        """Run one in the Workdir `root`, to its end or its limit, or until something can be read from the handle `halt`.

        Never raises for what a command can do wrong: that is what comes of it. KeyboardInterrupt passes through, after the command was
        killed.
        """
