"""The flow that an argument of a command names, compiled: for commands that need one that is whole."""

from typing import TYPE_CHECKING, NamedTuple

import click

from stateward.compiler.cli.host import STANDARD_INPUT_SHOWN, STATUS_FOUND, host_of, loader_of, single, slug_of
from stateward.compiler.cli.output import SHOWN_MAX, fail, show_diagnostics
from stateward.compiler.diagnostics.model import errors_of
from stateward.compiler.diagnostics.report import Failure
from stateward.compiler.limits import FLOW_SOURCE_BYTES_MAX

if TYPE_CHECKING:
    from stateward.compiler.flow.definition import CompiledFlowDefinition


class Given(NamedTuple):
    """A flow, and the file that it was read from; None when it is no file."""

    definition: "CompiledFlowDefinition"
    path: str | None


def given_flow(context: click.Context, argument: str, stdin_name: str = STANDARD_INPUT_SHOWN) -> Given:
    """Compile the flow that an argument names; where there is none, or it has errors, tell that and end the command."""
    from stateward.compiler.pipeline import compile_source  # noqa: PLC0415 - help needs none of this

    host = host_of(context)
    found = single(host, argument, stdin_name, bytes_max=FLOW_SOURCE_BYTES_MAX)
    if isinstance(found, Failure):
        fail(found)
        context.exit(found.status)
    compilation = compile_source(found.data, name=found.name, slug=found.slug or slug_of(found.name), loader=loader_of(host, found))
    if compilation.definition is None:
        show_diagnostics(errors_of(compilation.diagnostics), host, SHOWN_MAX, err=True)
        context.exit(STATUS_FOUND)
    return Given(compilation.definition, found.path)
