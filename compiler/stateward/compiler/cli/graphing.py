"""`stateward graph`: draw the graph of a flow."""

import click

from stateward.compiler.cli.host import STATUS_FOUND, STDIN_NAME, host_of, single, slug_of
from stateward.compiler.cli.output import SHOWN_MAX, fail, say, show_diagnostics
from stateward.compiler.diagnostics.model import Severity
from stateward.compiler.diagnostics.report import Failure
from stateward.compiler.limits import FLOW_SOURCE_BYTES_MAX


@click.command("graph")
@click.argument("path", metavar="PATH")
@click.option("--format", "form", type=click.Choice(["text"]), default="text", help="How the graph is drawn.")
@STDIN_NAME
@click.pass_context
def graph_command(context: click.Context, path: str, form: str, stdin_filename: str) -> None:
    """Draw the graph of a flow.

    PATH is a file, a selector such as builtin:coder-review, or `-`.
    """
    from stateward.compiler.drawing.text import draw_text  # noqa: PLC0415 - help needs none of this
    from stateward.compiler.pipeline import compile_source  # noqa: PLC0415

    del form
    host = host_of(context)
    found = single(host, path, stdin_filename, bytes_max=FLOW_SOURCE_BYTES_MAX)
    if isinstance(found, Failure):
        fail(found)
        context.exit(found.status)
    compilation = compile_source(found.data, name=found.name, slug=found.slug or slug_of(found.name))
    if compilation.definition is None:
        show_diagnostics([each for each in compilation.diagnostics if each.severity is Severity.ERROR], host, SHOWN_MAX, err=True)
        context.exit(STATUS_FOUND)
    look = host.look()
    say(draw_text(compilation.definition, width=look.width, boxes=look.boxes))
