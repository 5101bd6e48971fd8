"""The commands for authors: compile, graph, fmt, eval. Wire in, a phase or the pipeline, wire out.

Invariants: nothing here opens a file, a folder or a store; what is read and written goes through a `Host`, which the program that mounts
the commands supplies as `ctx.obj` (a factory, called when a command runs). Run as a module it has a host that knows standard input
only. Exit status: 0 clean, 1 errors found, 2 wrong usage or nothing there, 3 the environment failed.
"""

import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum, auto
from itertools import chain
from pathlib import PurePath
from typing import IO, TYPE_CHECKING, Final, NamedTuple, Protocol, TextIO

import click

from stateward.compiler.diagnostics.cells import safe
from stateward.compiler.diagnostics.json import VERSION, diagnostic_json
from stateward.compiler.diagnostics.model import Diagnostic, Severity, sort_key
from stateward.compiler.diagnostics.report import Checked, Failure, Report, document, stricter, summary
from stateward.compiler.diagnostics.wording import counted
from stateward.compiler.limits import FLOW_SOURCE_BYTES_MAX, LIMITS
from stateward.compiler.source import Source

if TYPE_CHECKING:
    from stateward.compiler.diagnostics.text import Look
    from stateward.compiler.language.loader import Loader
    from stateward.compiler.pipeline import Compilation

STATUS_FOUND: Final = 1
STATUS_USAGE: Final = 2
STATUS_ENVIRONMENT: Final = 3
SHOWN_MAX: Final = 50
"""Diagnostics that people are shown when they ask for no other number."""
STANDARD_INPUT: Final = "-"
SUFFIX: Final = ".dcdl"
TEST_SUFFIX: Final = ".test.dcdl"
SELECTORS: Final = ("builtin:", "workspace:")


class Document(NamedTuple):
    """The bytes of one source, with how people know it."""

    name: str
    data: bytes
    """At most one byte more than was asked for, which is enough to tell that it is too large."""
    identity: str
    """The same for two documents exactly when they are one: what people see does not tell a file from a source of that name elsewhere."""
    path: str | None = None
    """The file that it was read from, as the system has it; None when it is no file."""
    slug: str | None = None
    """What it is kept under; None when it is not kept under a slug."""


class Found(NamedTuple):
    """What an argument names."""

    documents: Iterator[Document | Failure]
    """Read one by one, when they are asked for; those of a folder by path."""
    is_folder: bool


class Host(Protocol):
    """The world outside: files, folders, selectors, the terminal."""

    def find(self, argument: str, *, bytes_max: int) -> Found | Failure:
        """Find a file, all `*.dcdl` files below a folder, or what a selector names."""
        ...

    def standard_input(self, name: str, *, bytes_max: int) -> Document | Failure:
        """Read standard input to its end."""
        ...

    def write(self, path: str, data: bytes, *, never: Sequence[str] = ()) -> Failure | None:
        """Write a file whole or not at all; none of the files `never` is written over."""
        ...

    def loader(self, argument: str) -> "Loader":
        """Give the loader for the imports of a file: it reaches the files of that folder and below."""
        ...

    def look(self, *, err: bool = False) -> "Look":
        """Say how standard output, or standard error, is written to."""
        ...


class StandardInputOnly:
    """The host of the module run by itself: it reads standard input and nothing else."""

    def find(self, argument: str, *, bytes_max: int) -> Found | Failure:
        """Refuse: there are no files here."""
        del bytes_max
        return Failure(
            f"`{argument}` cannot be read: this command reads standard input only",
            f"name `-`, or use `stateward compile {argument}`",
            STATUS_USAGE,
        )

    def standard_input(self, name: str, *, bytes_max: int) -> Document | Failure:
        """Read standard input."""
        return read_standard_input(name, bytes_max)

    def write(self, path: str, data: bytes, *, never: Sequence[str] = ()) -> Failure | None:
        """Refuse: there are no files here."""
        del data, never
        return Failure(f"`{path}` cannot be written: this command writes standard output only", "name `-`", STATUS_USAGE)

    def loader(self, argument: str) -> "Loader":
        """Refuse every import."""
        from stateward.compiler.language.loader import REFUSING  # noqa: PLC0415 - each command loads what it needs

        del argument
        return REFUSING

    def look(self, *, err: bool = False) -> "Look":
        """Take the terminal to be plain."""
        from stateward.compiler.diagnostics.text import PLAIN  # noqa: PLC0415 - a clean flow needs no renderer

        del err
        return PLAIN


class OutputFailed(click.ClickException):
    """What was to be printed could not be."""

    exit_code = STATUS_ENVIRONMENT

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure

    def show(self, file: IO[str] | None = None) -> None:
        """Print to standard error."""
        click.echo(self.failure.text(), err=True, file=file, nl=False)


def read_standard_input(name: str, bytes_max: int) -> Document | Failure:
    """Read standard input to its end, or to one byte more than is wanted."""
    if sys.stdin is None:
        return Failure("standard input cannot be read: it is closed", "pipe the source into it", STATUS_ENVIRONMENT)
    try:
        return Document(name, sys.stdin.buffer.read(bytes_max + 1), STANDARD_INPUT)
    except OSError as fault:
        return Failure(f"standard input cannot be read: {reason(fault)}", "pipe the source into it", STATUS_ENVIRONMENT)


def reason(fault: OSError) -> str:
    """Say why the system did not do something, in the manner of messages."""
    return (fault.strerror or type(fault).__name__).lower()


def _host(context: click.Context) -> Host:
    host: Host = context.obj() if context.obj is not None else StandardInputOnly()
    return host


def _found(host: Host, path: str, stdin_name: str, *, bytes_max: int) -> Found | Failure:
    if path == STANDARD_INPUT:
        return Found(iter([host.standard_input(stdin_name, bytes_max=bytes_max)]), is_folder=False)
    return host.find(path, bytes_max=bytes_max)


def _single(host: Host, path: str, stdin_name: str, *, bytes_max: int) -> Document | Failure:
    """Give the one document that an argument must name."""
    found = _found(host, path, stdin_name, bytes_max=bytes_max)
    if isinstance(found, Failure):
        return found
    if found.is_folder:
        return Failure(f"`{path}` is a folder", "name a file in it", STATUS_USAGE)
    return next(found.documents)


def _slug(name: str) -> str | None:
    file = PurePath(name).name
    return file.removesuffix(SUFFIX) if file.endswith(SUFFIX) and not file.endswith(TEST_SUFFIX) else None


def _say(text: str, *, err: bool = False, coloured: bool = False) -> None:
    """Write text to a stream of the process, whatever its encoding can show; one that is closed wants none."""
    stream = sys.stderr if err else sys.stdout
    if stream is None:
        return
    encoding = stream.encoding or "utf-8"
    with _printing(stream):
        click.echo(text.encode(encoding, "backslashreplace").decode(encoding), err=err, nl=False, color=coloured)


def _put(data: bytes) -> None:
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


def _json(data: object, *, indent: int | None = None, err: bool = False) -> str:
    """Write JSON with every character as it is where the stream can show it, and escaped where it cannot."""
    encoding = getattr(sys.stderr if err else sys.stdout, "encoding", None) or ""
    return json.dumps(data, ensure_ascii=not encoding.lower().startswith("utf"), indent=indent)


def _fail(failure: Failure) -> None:
    _say(failure.text(), err=True)


def _show(diagnostics: Sequence[Diagnostic], host: Host, shown_max: int, *, err: bool) -> None:
    """Tell diagnostics to people, the first few of them."""
    if not diagnostics:
        return
    from stateward.compiler.diagnostics.text import render  # noqa: PLC0415 - a clean flow needs no renderer

    look = host.look(err=err)
    shown = diagnostics[:shown_max] if shown_max else diagnostics
    _say(render(shown, look), err=err, coloured=look.colour)
    if len(shown) < len(diagnostics):
        _say(f"{len(diagnostics) - len(shown)} more were found; `--max 0` shows all\n", err=err)


_STDIN_NAME = click.option("--stdin-filename", metavar="NAME", default="<stdin>", help="How standard input is named in what is shown.")


@click.command("compile")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option("--output", metavar="FILE", help="Write the definition, as canonical JSON; `-` for standard output.")
@click.option("--format", "form", type=click.Choice(["human", "json"]), default="human", help="How the report is written.")
@click.option("--strict", is_flag=True, help="Take warnings for errors.")
@click.option("--max", "shown_max", type=click.IntRange(min=0), help="Diagnostics to show; 0 for all. 50 for people, all in JSON.")
@_STDIN_NAME
@click.pass_context
def compile_command(
    context: click.Context, paths: Sequence[str], output: str | None, form: str, *, strict: bool, shown_max: int | None, stdin_filename: str
) -> None:
    """Check flows and report what is wrong with them.

    PATH is a file, a folder (every *.dcdl below it that is a flow; never *.test.dcdl), a selector such as builtin:coder-review, or `-`.
    """
    host = _host(context)
    run = _Run()
    for path in dict.fromkeys(paths):
        run.take(path, _found(host, path, stdin_filename, bytes_max=FLOW_SOURCE_BYTES_MAX))
    checked = [_checked(each.name, compilation, strict=strict) for each, compilation in run.compiled]
    report = Report(checked, [*run.failures, *_written(host, output, run, checked)], run.passed_over)
    err = output == STANDARD_INPUT
    if form == "json":
        _say(f"{_json(document(report), indent=2, err=err)}\n", err=err)
    else:
        found = [each for one in checked for each in one.diagnostics]
        _show(found, host, SHOWN_MAX if shown_max is None else shown_max, err=err)
        if checked:
            _say(f"{summary(report)}\n", err=err)
    for failure in report.failures if form == "human" or not err else ():  # a document for programs holds them already
        _fail(failure)
    context.exit(report.status)


@dataclass
class _Run:
    """What a run of compile has met so far."""

    compiled: list[tuple[Document, "Compilation"]] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    passed_over: int = 0
    seen: set[str] = field(default_factory=set)

    def take(self, path: str, found: Found | Failure) -> None:
        """Compile what one argument names; what was met before is not compiled again."""
        if isinstance(found, Failure):
            self.failures.append(found)
            return
        flows = 0
        passed_before = self.passed_over
        for each in found.documents:
            if isinstance(each, Failure):
                self.failures.append(each)
                flows += 1
            elif found.is_folder and not _is_flow(each):
                self.passed_over += 1
            else:
                flows += 1
                self._compile(each)
        if not flows:
            self.failures.append(_no_flow(path, self.passed_over - passed_before))

    def _compile(self, document_: Document) -> None:
        from stateward.compiler.pipeline import compile_source  # noqa: PLC0415 - help needs none of this

        if document_.identity in self.seen:
            return
        self.seen.add(document_.identity)
        compilation = compile_source(document_.data, name=document_.name, slug=document_.slug or _slug(document_.name))
        self.compiled.append((document_, compilation))


def _is_flow(document_: Document) -> bool:
    from stateward.compiler.flow.recognize import is_flow_source  # noqa: PLC0415 - help needs none of this

    return not document_.name.endswith(TEST_SUFFIX) and is_flow_source(document_.data)


def _no_flow(path: str, passed_over: int) -> Failure:
    passed = f" ({counted(passed_over, 'other file')} passed over)" if passed_over else ""
    return Failure(
        f"no flow in `{path}`{passed}", "a flow is a `*.dcdl` file with `states` or `schema_version`; name the file itself", STATUS_USAGE
    )


def _checked(name: str, compilation: "Compilation", *, strict: bool) -> Checked:
    definition = compilation.definition
    return Checked(
        file=name,
        flow=definition.name if definition is not None else None,
        content_digest=compilation.content_digest if definition is not None else None,
        definition_digest=compilation.definition_digest,
        diagnostics=stricter(compilation.diagnostics) if strict else compilation.diagnostics,
    )


def _written(host: Host, output: str | None, run: _Run, checked: Sequence[Checked]) -> list[Failure]:
    """Write the definition where one is asked for and the one flow is without errors."""
    if output is None:
        return []
    if len(checked) > 1:
        return [Failure(f"`--output` takes one flow, and {len(checked)} were named", "compile them one by one", STATUS_USAGE)]
    if run.failures or any(each.number_of(Severity.ERROR) for each in checked):
        return []
    from stateward.compiler.flow.canonical import canonical_bytes  # noqa: PLC0415 - help needs none of this

    definition = run.compiled[0][1].definition
    assert definition is not None
    data = canonical_bytes(definition)
    if output == STANDARD_INPUT:
        _put(data)
        return []
    failed = host.write(output, data, never=[each.path for each, _ in run.compiled if each.path is not None])
    return [failed] if failed is not None else []


@click.command("graph")
@click.argument("path", metavar="PATH")
@click.option("--format", "form", type=click.Choice(["text"]), default="text", help="How the graph is drawn.")
@_STDIN_NAME
@click.pass_context
def graph_command(context: click.Context, path: str, form: str, stdin_filename: str) -> None:
    """Draw the graph of a flow.

    PATH is a file, a selector such as builtin:coder-review, or `-`.
    """
    from stateward.compiler.drawing.text import draw_text  # noqa: PLC0415 - help needs none of this
    from stateward.compiler.pipeline import compile_source  # noqa: PLC0415

    del form
    host = _host(context)
    found = _single(host, path, stdin_filename, bytes_max=FLOW_SOURCE_BYTES_MAX)
    if isinstance(found, Failure):
        _fail(found)
        context.exit(found.status)
    compilation = compile_source(found.data, name=found.name, slug=found.slug or _slug(found.name))
    if compilation.definition is None:
        _show([each for each in compilation.diagnostics if each.severity is Severity.ERROR], host, SHOWN_MAX, err=True)
        context.exit(STATUS_FOUND)
    look = host.look()
    _say(draw_text(compilation.definition, width=look.width, boxes=look.boxes))


@click.command("fmt")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option("--check", is_flag=True, help="Change nothing; exit with 1 when something would be changed.")
@click.option("--diff", "as_diff", is_flag=True, help="Change nothing; show what would be changed.")
@_STDIN_NAME
@click.pass_context
def fmt_command(context: click.Context, paths: Sequence[str], *, check: bool, as_diff: bool, stdin_filename: str) -> None:
    """Write DCDL files in their one canonical form.

    PATH is a file, a folder (every *.dcdl below it), or `-`, for which the text goes to standard output. A file that does not parse is
    left alone.
    """
    host = _host(context)
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
                _fail(outcome)
                status = max(status, outcome.status)
            else:
                outcomes.append(outcome)
    dry = check or as_diff
    if _Formatted.BROKEN in outcomes or (dry and _Formatted.CHANGED in outcomes):
        status = max(status, STATUS_FOUND)
    if outcomes and STANDARD_INPUT not in paths:
        _say(f"{_formatting_summary(outcomes, dry=dry)}\n", err=as_diff)
    context.exit(status)


def _formattable(host: Host, path: str, stdin_name: str) -> Found | Failure:
    """Find what can be formatted; what a selector names is kept in no file."""
    if path.startswith(SELECTORS):
        return Failure(f"`{path}` is no file", "format the file that it is saved from", STATUS_USAGE)
    return _found(host, path, stdin_name, bytes_max=LIMITS.module_bytes)


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
            _show(text, self.host, SHOWN_MAX, err=True)
            return _Formatted.BROKEN
        same = text.encode() == given.data
        if self.as_diff:
            _say(_diff(safe(given.name), source.text, text))
        elif self.check:
            _say("" if same else f"{safe(given.name)} is not in canonical form\n")
        elif self.to_stdout:
            _put(text.encode())
        elif not same:
            assert given.path is not None, "only files and standard input are formatted"
            failed = self.host.write(given.path, text.encode())
            if failed is not None:
                return failed
            _say(f"formatted {safe(given.name)}\n")
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


def _diff(name: str, before: str, after: str) -> str:
    import difflib  # noqa: PLC0415 - only `--diff` needs it

    lines = difflib.unified_diff(_lines(before), _lines(after), name, f"{name} (formatted)")
    return "".join(line if line.endswith("\n") else f"{line}\n\\ no newline at the end of the file\n" for line in lines)


def _lines(text: str) -> list[str]:
    """Split at LF and nowhere else, with the line ends kept."""
    *whole, last = text.split("\n")
    return [*(f"{line}\n" for line in whole), *([last] if last else [])]


@click.command("eval")
@click.argument("path", metavar="FILE")
@click.option("--json", "as_json", is_flag=True, help="Print the value as JSON; what is no data is then an error.")
@_STDIN_NAME
@click.pass_context
def eval_command(context: click.Context, path: str, *, as_json: bool, stdin_filename: str) -> None:
    """Evaluate a DCDL file and print its value.

    Imports reach the files of its folder and below. FILE may be `-`, which imports nothing.
    """
    host = _host(context)
    found = _single(host, path, stdin_filename, bytes_max=LIMITS.module_bytes)
    if isinstance(found, Failure):
        _fail(found)
        context.exit(found.status)
    loader = StandardInputOnly().loader(path) if path == STANDARD_INPUT else host.loader(path)
    text, diagnostics = _evaluated(found, loader, as_json=as_json)
    if text is not None:
        _show(diagnostics, host, SHOWN_MAX, err=True)
        _say(text if text.endswith("\n") else f"{text}\n")
        return
    if as_json:
        told = [diagnostic_json(each) for each in diagnostics]
        _say(f"{_json({'version': VERSION, 'diagnostics': told}, indent=2)}\n")
    else:
        _show(diagnostics, host, SHOWN_MAX, err=True)
    context.exit(STATUS_FOUND)


def _evaluated(given: Document, loader: "Loader", *, as_json: bool) -> tuple[str | None, Sequence[Diagnostic]]:
    """Give the value of a module as text, None where something is wrong with it, and what was found."""
    from stateward.compiler.flow.intake import take_in  # noqa: PLC0415 - help needs none of this
    from stateward.compiler.language.data import plain  # noqa: PLC0415
    from stateward.compiler.language.evaluation import Evaluation  # noqa: PLC0415
    from stateward.compiler.language.inspect import inspect  # noqa: PLC0415
    from stateward.compiler.language.render import may_be_printed, show  # noqa: PLC0415
    from stateward.compiler.syntax.parser import parse  # noqa: PLC0415

    source = take_in(given.data, given.name, LIMITS.module_bytes)
    if not isinstance(source, Source):
        return None, [source.diagnostic()]
    parsed = parse(source)
    evaluation = Evaluation(source, parsed.module, loader=loader)
    data = evaluation.data(evaluation.root) if as_json else None
    if data is None:
        text = show(evaluation)
    else:
        may_be_printed(evaluation, data)
    found = [*parsed.diagnostics, *evaluation.diagnostics]
    if any(each.severity is Severity.ERROR for each in found):
        return None, sorted(found, key=sort_key)
    if data is not None:
        text = _json(plain(data))
    return text, sorted([*found, *inspect(source, parsed.module)], key=sort_key)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """Compile, draw, format and evaluate what comes by standard input."""


for _command in (compile_command, graph_command, fmt_command, eval_command):
    main.add_command(_command)

if __name__ == "__main__":
    main(prog_name="python -m stateward.compiler.cli")
