"""`stateward graph`: draw the graph of a flow, and the run of a Worker on it."""

from collections.abc import Callable
from pathlib import PurePath
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol, runtime_checkable

import click

from stateward.compiler.cli.given import given_flow
from stateward.compiler.cli.host import STANDARD_INPUT, STATUS_USAGE, STDIN_NAME, Host, host_of
from stateward.compiler.cli.output import fail, put, say
from stateward.compiler.diagnostics.report import Failure

if TYPE_CHECKING:
    from stateward.compiler.drawing.marks import Marks
    from stateward.compiler.flow.definition import CompiledFlowDefinition

TEXT: Final = "text"
SVG: Final = "svg"
FORMATS: Final = (TEXT, "mermaid", "dot", SVG)
THEMES: Final = ("light", "dark", "auto")
_ENDINGS: Final = {".svg": SVG, ".dot": "dot", ".gv": "dot", ".mmd": "mermaid", ".mermaid": "mermaid"}
WIDTH: Final = 100
"""Columns of a text that is written to a file."""


class Run(NamedTuple):
    """A flow, with what is marked on it."""

    definition: "CompiledFlowDefinition"
    marks: "Marks"
    source: str | None = None
    """The file that it was read from."""


@runtime_checkable
class HasWorkers(Protocol):
    """What a host that knows Workers adds."""

    def run_of(self, worker: str, workdir: str, store: str | None) -> Run:
        """Give the flow of a Worker as it runs, of the latest where none is named. Raises ClickException where there is none."""
        ...


class _Picture(NamedTuple):
    """How a flow is to be drawn."""

    form: str
    theme: str
    cancelled: bool


@click.command("graph")
@click.argument("path", required=False, metavar="[PATH]")
@click.option(
    "--format", "form", type=click.Choice(FORMATS), help="How the graph is drawn: as the ending of the --output file says, or as text."
)
@click.option("--output", metavar="FILE", help="Write it to a file; `-` for standard output.")
@click.option("--theme", type=click.Choice(THEMES), help="The colours of SVG; `auto` follows the viewer.")
@click.option("--cancelled", is_flag=True, help="Show every way to the synthetic end.")
@click.option(
    "--worker", is_flag=False, flag_value="", metavar="[ID]", help="Draw the flow of a Worker with what it did: the latest, where no ID is."
)
@click.option("--workdir", default=".", metavar="DIR", help="With --worker: a folder of its Workspace.")
@click.option("--store", metavar="PLACE", help="With --worker: the store, where it is not the usual one.")
@STDIN_NAME
@click.pass_context
def graph_command(
    context: click.Context,
    *,
    path: str | None,
    form: str | None,
    output: str | None,
    theme: str | None,
    worker: str | None,
    workdir: str,
    store: str | None,
    stdin_filename: str,
    cancelled: bool,
) -> None:
    """Draw the graph of a flow.

    PATH is a file, a selector such as builtin:coder-review, or `-`. With --worker it is the flow of that Worker: where it stands, what it
    visited, which transitions it took and what was last answered are marked. ID is its id, or the beginning or end of it.
    """
    if (path is None) == (worker is None):
        raise click.UsageError("name a flow by its PATH, or a Worker by --worker.")
    form = form or _ENDINGS.get(PurePath(output or "").suffix.lower(), TEXT)
    if theme is not None and form != SVG:
        raise click.UsageError(f"--theme goes with --format {SVG}.")
    host = host_of(context)
    if path is None:
        assert worker is not None, "one of the two was given"
        run = _run(context, host, lambda workers: workers.run_of(worker, workdir, store))
    else:
        run = _compiled(context, path, stdin_filename)
    _write(context, host, run, output, _Picture(form, theme or "auto", cancelled))


def _run(context: click.Context, host: Host, read: Callable[[HasWorkers], Run]) -> Run:
    if not isinstance(host, HasWorkers):
        fail(Failure("no Worker is known here: this command reads standard input only", "use `stateward graph --worker`", STATUS_USAGE))
        context.exit(STATUS_USAGE)
    return read(host)


def _compiled(context: click.Context, path: str, stdin_name: str) -> Run:
    """Compile a source; end the command where there is none or it has errors."""
    from stateward.compiler.drawing.marks import UNMARKED  # noqa: PLC0415 - help needs none of this

    given = given_flow(context, path, stdin_name)
    return Run(given.definition, UNMARKED, given.path)


def _write(context: click.Context, host: Host, run: Run, output: str | None, picture: _Picture) -> None:
    """Write a picture to a file, or to standard output: text as the terminal can show it, anything else as UTF-8."""
    to_terminal = output is None or output == STANDARD_INPUT
    if to_terminal and picture.form == TEXT:
        look = host.look()
        say(_drawn(run, picture, width=look.width, boxes=look.boxes))
        return
    data = _drawn(run, picture).encode("utf-8", "replace")
    if output is None or to_terminal:
        put(data)
        return
    failed = host.write(output, data, never=[] if run.source is None else [run.source])
    if failed is not None:
        fail(failed)
        context.exit(failed.status)


def _drawn(run: Run, picture: _Picture, *, width: int = WIDTH, boxes: bool = True) -> str:
    """Draw; each form loads what it needs and no other."""
    definition, marks, cancelled = run.definition, run.marks, picture.cancelled
    match picture.form:
        case "mermaid":
            from stateward.compiler.drawing.mermaid import draw_mermaid  # noqa: PLC0415

            return draw_mermaid(definition, marks, cancelled=cancelled)
        case "dot":
            from stateward.compiler.drawing.dot import draw_dot  # noqa: PLC0415

            return draw_dot(definition, marks, cancelled=cancelled)
        case "svg":
            from stateward.compiler.drawing.svg import draw_svg  # noqa: PLC0415
            from stateward.compiler.drawing.theme import Theme  # noqa: PLC0415

            return draw_svg(definition, marks, theme=Theme(picture.theme), cancelled=cancelled)
        case _:
            from stateward.compiler.drawing.text import draw_text  # noqa: PLC0415

            return draw_text(definition, marks, cancelled=cancelled, width=width, boxes=boxes)
