"""`stateward explain`: what a code means, with a source that fails, what is said of it, one that passes, and what to change."""

import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import click

from stateward.compiler.cli.host import STATUS_USAGE, host_of, slug_of
from stateward.compiler.cli.output import fail, say
from stateward.compiler.diagnostics.codes import BESIDE, CODES
from stateward.compiler.diagnostics.model import Severity
from stateward.compiler.diagnostics.report import Failure
from stateward.compiler.diagnostics.wording import nearest, quoted

if TYPE_CHECKING:
    from stateward.compiler.diagnostics.pages import Example, Page
    from stateward.compiler.diagnostics.text import Look

PROSE_COLUMNS_MAX: Final = 100
"""Wider lines of prose are hard to read, however wide the terminal is."""
INDENT: Final = "    "
_HEADINGS: Final = {Severity.ERROR: "errors", Severity.WARNING: "warnings, which block with `--strict` alone"}


@click.command("explain")
@click.argument("code", required=False, metavar="[CODE]")
@click.pass_context
def explain_command(context: click.Context, code: str | None) -> None:
    """Say what a diagnostic means.

    CODE is what stands in brackets after `error` or `warning`. Without it all codes are listed.
    """
    if code is None:
        say(_listed())
        return
    if code in BESIDE:
        say("\n".join(_prose(BESIDE[code], PROSE_COLUMNS_MAX)) + "\n")
        return
    if code not in CODES:
        near = nearest(code, (*CODES, *BESIDE))
        remedy = f"did you mean `{near}`?" if near is not None else "`stateward explain` lists the codes"
        fail(Failure(f"no diagnostic has the code {quoted(code)}", remedy, STATUS_USAGE))
        context.exit(STATUS_USAGE)
    from stateward.compiler.diagnostics.pages import page_of  # noqa: PLC0415 - help needs none of this

    look = host_of(context).look()
    say("\n\n".join(_explained(page_of(code), look)) + "\n", coloured=look.colour)


def _listed() -> str:
    """List every code with its title, errors first."""
    width = max(map(len, CODES))
    parts: list[str] = []
    for severity, heading in _HEADINGS.items():
        lines = [f"  {code.name:<{width}}  {code.title}" for code in CODES.values() if code.severity is severity]
        parts.append("\n".join([f"{heading}:", *lines]))
    parts.append("\n".join(["of tests and profiles:", *(f"  {name}" for name in BESIDE)]))
    return "\n\n".join([*parts, "`stateward explain CODE` says more of one\n"])


def _explained(page: "Page", look: "Look") -> Iterator[str]:
    """Give the paragraphs and blocks of a page, with empty lines between them."""
    from stateward.compiler.diagnostics.text import strong  # noqa: PLC0415 - a list needs no renderer

    width = min(look.width, PROSE_COLUMNS_MAX)
    code = page.code
    yield strong(f"{code.severity.value}[{code.name}]", look)
    yield from _prose(page.meaning, width)
    yield strong("this fails:", look)
    yield _source(page.fails)
    yield _said(page.fails, look)
    yield strong("this passes:", look)
    yield _source(page.passes)
    yield strong("what to change:", look)
    yield from _prose(page.change, width)


def _prose(text: str, width: int) -> Iterator[str]:
    for paragraph in text.split("\n\n"):
        yield textwrap.fill(" ".join(paragraph.split()), width, break_long_words=False, break_on_hyphens=False)


def _source(example: "Example") -> str:
    """Show the lines of a source as lines of a terminal."""
    from stateward.compiler.diagnostics.cells import lay_out  # noqa: PLC0415 - a list needs no renderer

    lines = ("".join(lay_out(line).pieces) for line in example.text.splitlines())
    return "\n".join(f"{INDENT}{line}".rstrip() for line in lines)


def _said(example: "Example", look: "Look") -> str:
    """Give what is told of an example."""
    from stateward.compiler.diagnostics.text import render  # noqa: PLC0415 - a list needs no renderer
    from stateward.compiler.pipeline import compile_source  # noqa: PLC0415

    found = compile_source(example.data, name=example.file, slug=slug_of(example.file), limits=example.limits)
    return render(found.diagnostics, look).rstrip("\n")
