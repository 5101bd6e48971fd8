"""How text reaches the streams of the process, whatever they can show, and what happens where they take none.

Invariants: a stream that is closed wants no text, which is no fault; one that fails ends the command with one clear line and status 3; a
reader who has left is for the program to take.
"""

import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import IO, Final, TextIO

import click

from stateward.compiler.cli.host import STATUS_ENVIRONMENT, Host, reason
from stateward.compiler.diagnostics.model import Diagnostic, Severity
from stateward.compiler.diagnostics.report import Failure

SHOWN_MAX: Final = 50
"""Diagnostics that people are shown when they ask for no other number."""


class OutputFailed(click.ClickException):
    """What was to be printed could not be."""

    exit_code = STATUS_ENVIRONMENT

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure

    def show(self, file: IO[str] | None = None) -> None:
        """Print to standard error."""
        click.echo(self.failure.text(), err=True, file=file, nl=False)


def say(text: str, *, err: bool = False, coloured: bool = False) -> None:
    """Write text to a stream of the process, whatever its encoding can show; one that is closed wants none."""
    stream = sys.stderr if err else sys.stdout
    if stream is None:
        return
    encoding = stream.encoding or "utf-8"
    with _printing(stream):
        click.echo(text.encode(encoding, "backslashreplace").decode(encoding), err=err, nl=False, color=coloured)


def put(data: bytes) -> None:
    """Write bytes to standard output as they are."""
    if sys.stdout is None:
        raise OutputFailed(Failure("standard output cannot be written: it is closed", "name a file", STATUS_ENVIRONMENT))
    with _printing(sys.stdout):
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()


@contextmanager
def _printing(stream: TextIO) -> Iterator[None]:
    """Turn a fault in printing into one clear line. A reader who has left is no fault: that is for the program to take."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as fault:
        # What is still buffered must not fail once more when the process ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        kind = "error" if stream is sys.stderr else "output"
        failure = Failure(f"standard {kind} cannot be written: {reason(fault)}", "send it elsewhere", STATUS_ENVIRONMENT)
        raise OutputFailed(failure) from fault


def json_text(data: object, *, indent: int | None = None, err: bool = False) -> str:
    """Write JSON with every character as it is where the stream can show it, and escaped where it cannot."""
    encoding = getattr(sys.stderr if err else sys.stdout, "encoding", None) or ""
    return json.dumps(data, ensure_ascii=not encoding.lower().startswith("utf"), indent=indent)


def fail(failure: Failure) -> None:
    """Tell a failure on standard error."""
    say(failure.text(), err=True)


def show_diagnostics(diagnostics: Sequence[Diagnostic], host: Host, shown_max: int, *, err: bool) -> None:
    """Tell diagnostics to people, the first few of them."""
    if not diagnostics:
        return
    from stateward.compiler.diagnostics.text import render  # noqa: PLC0415 - a clean flow needs no renderer

    look = host.look(err=err)
    shown = _foremost(diagnostics, shown_max) if 0 < shown_max < len(diagnostics) else diagnostics
    say(render(shown, look), err=err, coloured=look.colour)
    if len(shown) < len(diagnostics):
        say(f"{len(diagnostics) - len(shown)} more were found; `--max 0` shows all\n", err=err)


def _foremost(diagnostics: Sequence[Diagnostic], number: int) -> list[Diagnostic]:
    """Choose the errors before the warnings, and tell them in the order in which they stand."""
    first = sorted(range(len(diagnostics)), key=lambda at: diagnostics[at].severity is not Severity.ERROR)[:number]
    return [diagnostics[at] for at in sorted(first)]


def difference(name: str, before: str, after: str, what: str) -> str:
    """Show what would be changed in a file, line by line."""
    import difflib  # noqa: PLC0415 - only a difference needs it

    lines = difflib.unified_diff(_lines(before), _lines(after), name, f"{name} ({what})")
    return "".join(line if line.endswith("\n") else f"{line}\n\\ no newline at the end of the file\n" for line in lines)


def _lines(text: str) -> list[str]:
    """Split at LF and nowhere else, with the line ends kept."""
    *whole, last = text.split("\n")
    return [*(f"{line}\n" for line in whole), *([last] if last else [])]
