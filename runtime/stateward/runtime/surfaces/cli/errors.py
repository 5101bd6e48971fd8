"""How a command says that something failed: one line with what and where, one with the remedy, and the documented exit status.

Invariants: names in such a line, of files, Workers or whatever else was handed to the command, cannot act on a terminal; what looks like a
token of a service is not in it.
"""

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import click

from stateward.compiler.cli.host import STATUS_ENVIRONMENT, STATUS_FOUND, STATUS_USAGE, reason
from stateward.compiler.diagnostics.cells import safe
from stateward.runtime.marker import NoWorkspace
from stateward.runtime.ports import Fault
from stateward.runtime.surfaces.cli import STATUS_INTERRUPTED

__all__ = [
    "STATUS_ENVIRONMENT",
    "STATUS_FOUND",
    "STATUS_INTERRUPTED",
    "STATUS_USAGE",
    "Stop",
    "abandon_output",
    "faults_shown",
    "output_failed",
]


_TOKEN: Final = re.compile(r"sw_[A-Za-z0-9_-]{20,}")
"""Also one that was cut when it was copied."""


class Stop(click.ClickException):
    """End the command with a status, a line that names the thing, and a remedy."""

    def __init__(self, status: int, message: str, remedy: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.remedy = remedy

    @property
    def exit_code(self) -> int:  # type: ignore[override]  # click has it as a class variable
        """The exit status."""
        return self.status

    def show(self, file: Any = None) -> None:
        """Print to standard error."""
        click.echo(f"error: {_shown(self.message)}", err=True, file=file)
        if self.remedy:
            click.echo(f"  = help: {_shown(self.remedy)}", err=True, file=file)


def _shown(text: str) -> str:
    """Give a line fit for a terminal and for a log: it may hold what somebody mistook a token for."""
    return safe(_TOKEN.sub("sw_…", text))


def abandon_output() -> None:
    """Send what is still buffered for standard output, and all that follows, nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def output_failed(fault: OSError) -> Stop:
    """Say that standard output cannot be written; what is still buffered for it goes nowhere, so that it does not fail again at exit."""
    abandon_output()
    return Stop(STATUS_ENVIRONMENT, f"standard output cannot be written: {reason(fault)}", "send it elsewhere")


@contextmanager
def faults_shown() -> Iterator[None]:
    """Turn a fault into one clear line: of the environment with status 3, and with status 2 where simply nothing is there."""
    try:
        yield
    except NoWorkspace as fault:
        raise Stop(STATUS_USAGE, fault.message, fault.remedy) from fault
    except Fault as fault:
        raise Stop(STATUS_ENVIRONMENT, fault.message, fault.remedy) from fault
