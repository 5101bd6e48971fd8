"""`stateward fmt`: write DCDL files in their one canonical form."""

from collections.abc import Sequence
from enum import Enum, auto
from itertools import chain
from typing import NamedTuple

import click

from stateward.compiler.cli.host import (
    SELECTORS,
    STANDARD_INPUT,
    STATUS_FOUND,
    STATUS_USAGE,
    STDIN_NAME,
    SUFFIX,
    Document,
    Found,
    Host,
    found_at,
    host_of,
)
from stateward.compiler.cli.output import SHOWN_MAX, difference, fail, put, say, show_diagnostics
from stateward.compiler.diagnostics.cells import safe
from stateward.compiler.diagnostics.model import Diagnostic
from stateward.compiler.diagnostics.report import Failure
from stateward.compiler.diagnostics.wording import counted
from stateward.compiler.limits import LIMITS
from stateward.compiler.source import Source


@click.command("fmt")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option("--check", is_flag=True, help="Change nothing; exit with 1 when something would be changed.")
@click.option("--diff", "as_diff", is_flag=True, help="Change nothing; show what would be changed.")
@STDIN_NAME
@click.pass_context
def fmt_command(context: click.Context, paths: Sequence[str], *, check: bool, as_diff: bool, stdin_filename: str) -> None:
    """Write DCDL files in their one canonical form.

    PATH is a file, a folder (every *.dcdl below it), or `-`, for which the text goes to standard output. A file that does not parse is
    left alone.
    """
    host = host_of(context)
    outcomes: list[_Formatted] = []
    status = 0
    for path in dict.fromkeys(paths):
        found = _formattable(host, path, stdin_filename)
        if not isinstance(found, Failure) and found.is_folder:
            found = _peeked(path, found)
        for each in [found] if isinstance(found, Failure) else found.documents:
            task = _Formatting(host, check=check, as_diff=as_diff, to_stdout=path == STANDARD_INPUT)
            outcome = each if isinstance(each, Failure) else task.run(each)
            if isinstance(outcome, Failure):
                fail(outcome)
                status = max(status, outcome.status)
            else:
                outcomes.append(outcome)
    dry = check or as_diff
    if _Formatted.BROKEN in outcomes or (dry and _Formatted.CHANGED in outcomes):
        status = max(status, STATUS_FOUND)
    if outcomes and STANDARD_INPUT not in paths:
        say(f"{_formatting_summary(outcomes, dry=dry)}\n", err=as_diff)
    context.exit(status)


def _formattable(host: Host, path: str, stdin_name: str) -> Found | Failure:
    """Find what can be formatted; what a selector names is kept in no file."""
    if path.startswith(SELECTORS):
        return Failure(f"`{path}` is no file", "format the file that it is saved from", STATUS_USAGE)
    return found_at(host, path, stdin_name, bytes_max=LIMITS.module_bytes)


def _peeked(path: str, found: Found) -> Found | Failure:
    """Give what a folder holds, or say that it holds nothing."""
    first = next(found.documents, None)
    if first is None:
        return Failure(f"no `*{SUFFIX}` file in `{path}`", "name the file itself, or another folder", STATUS_USAGE)
    return Found(chain((first,), found.documents), is_folder=True)


class _Formatted(Enum):
    """What became of a file."""

    CHANGED = auto()
    SAME = auto()
    BROKEN = auto()


class _Formatting(NamedTuple):
    """What is to be done with the canonical form of a document."""

    host: Host
    check: bool
    as_diff: bool
    to_stdout: bool

    def run(self, given: Document) -> _Formatted | Failure:
        """Format one document."""
        source, text = _canonical(given)
        if isinstance(text, tuple):
            show_diagnostics(text, self.host, SHOWN_MAX, err=True)
            return _Formatted.BROKEN
        same = text.encode() == given.data
        if self.as_diff:
            say(difference(safe(given.name), source.text, text, "formatted"))
        elif self.check:
            say("" if same else f"{safe(given.name)} is not in canonical form\n")
        elif self.to_stdout:
            put(text.encode())
        elif not same:
            assert given.path is not None, "only files and standard input are formatted"
            failed = self.host.write(given.path, text.encode())
            if failed is not None:
                return failed
            say(f"formatted {safe(given.name)}\n")
        return _Formatted.SAME if same else _Formatted.CHANGED


def _formatting_summary(outcomes: Sequence[_Formatted], *, dry: bool) -> str:
    counts = [
        f"{outcomes.count(kind)} {verb}"
        for kind, verb in (
            (_Formatted.CHANGED, "would be changed" if dry else "changed"),
            (_Formatted.SAME, "already in canonical form"),
            (_Formatted.BROKEN, "left alone"),
        )
        if kind in outcomes
    ]
    return f"{counted(len(outcomes), 'file')}: {', '.join(counts)}"


def _canonical(given: Document) -> tuple[Source, str | tuple[Diagnostic, ...]]:
    """Give the source and its canonical text, or why there is none."""
    from stateward.compiler.flow.intake import take_in  # noqa: PLC0415 - help needs none of this
    from stateward.compiler.formatting.printer import format_source  # noqa: PLC0415

    source = take_in(given.data, given.name, LIMITS.module_bytes)
    if isinstance(source, Source):
        return source, format_source(source)
    return source.source, (source.diagnostic(),)
