"""`stateward eval`: print the value of a DCDL file."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from stateward.compiler.cli.host import STANDARD_INPUT, STATUS_FOUND, STDIN_NAME, Document, StandardInputOnly, host_of, single
from stateward.compiler.cli.output import SHOWN_MAX, fail, json_text, say, show_diagnostics
from stateward.compiler.diagnostics.json import VERSION, diagnostic_json
from stateward.compiler.diagnostics.model import Diagnostic, Severity, sort_key
from stateward.compiler.diagnostics.report import Failure
from stateward.compiler.limits import LIMITS
from stateward.compiler.source import Source

if TYPE_CHECKING:
    from stateward.compiler.language.loader import Loader


@click.command("eval")
@click.argument("path", metavar="FILE")
@click.option("--json", "as_json", is_flag=True, help="Print the value as JSON; what is no data is then an error.")
@STDIN_NAME
@click.pass_context
def eval_command(context: click.Context, path: str, *, as_json: bool, stdin_filename: str) -> None:
    """Evaluate a DCDL file and print its value.

    Imports reach the files of its folder and below. FILE may be `-`, which imports nothing.
    """
    host = host_of(context)
    found = single(host, path, stdin_filename, bytes_max=LIMITS.module_bytes)
    if isinstance(found, Failure):
        fail(found)
        context.exit(found.status)
    loader = StandardInputOnly().loader(path) if path == STANDARD_INPUT else host.loader(path)
    text, diagnostics = _evaluated(found, loader, as_json=as_json)
    if text is not None:
        show_diagnostics(diagnostics, host, SHOWN_MAX, err=True)
        say(text if text.endswith("\n") else f"{text}\n")
        return
    if as_json:
        told = [diagnostic_json(each) for each in diagnostics]
        say(f"{json_text({'version': VERSION, 'diagnostics': told}, indent=2)}\n")
    else:
        show_diagnostics(diagnostics, host, SHOWN_MAX, err=True)
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
        text = json_text(plain(data))
    return text, sorted([*found, *inspect(source, parsed.module)], key=sort_key)
