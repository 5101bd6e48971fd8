"""`stateward flow provenance`: where what a flow reads can come from. It only reads."""

from collections.abc import Iterator
from itertools import groupby
from typing import Any, Final

import click
from rich.console import RenderableType
from rich.text import Text

from stateward.compiler.cli.given import given_flow
from stateward.compiler.flow.provenance import Certainty, Reading, provenance
from stateward.runtime.surfaces.cli.flows.forms import line_data
from stateward.runtime.surfaces.cli.flows.where import JSON
from stateward.runtime.surfaces.cli.output import emit_json
from stateward.runtime.surfaces.cli.present import indented, plain, show, terminal_console

_STYLES: Final = {Certainty.ALWAYS: "green", Certainty.PERHAPS: "yellow", Certainty.NEVER: "red"}
_WORDS: Final = {Certainty.ALWAYS: "on every way", Certainty.PERHAPS: "on some ways", Certainty.NEVER: "never set"}


@click.command("provenance")
@click.argument("path", metavar="FLOW")
@JSON
@click.pass_context
def provenance_command(context: click.Context, *, path: str, as_json: bool) -> None:
    """Show for each state, and each guard, where the variables and inputs that it reads can come from.

    FLOW is a file, or a selector such as workspace:paper. Whether a value is there on every way or on some is told of the graph alone: a
    state that writes a variable counts as having written it.
    """
    found = provenance(given_flow(context, path).definition)
    if as_json:
        for each in found:
            emit_json(line_data(**_data(each)))
        return
    show(terminal_console(), *(_shown(found) if found else [Text("the flow reads no variables and no inputs")]))


def _shown(found: tuple[Reading, ...]) -> Iterator[RenderableType]:
    for state, readings in groupby(found, key=lambda each: each.state):
        yield Text(state, "bold")
        for each in readings:
            yield indented(_line(each))


def _line(reading: Reading) -> Text:
    where = f"guard of {reading.transition}" if reading.transition else "shown"
    name = f"input.{reading.name}" if reading.is_input else f"vars.{reading.name}"
    sources = [word for word, there in (("default", reading.default), ("input", reading.given)) if there]
    sources += [f"written in {', '.join(reading.writers)}"] if reading.writers else []
    came = f"  {'; '.join(sources)}" if sources else ""
    certainty = (_WORDS[reading.certainty], _STYLES[reading.certainty])
    return Text.assemble((f"{where}: ", "dim"), plain(name), "  ", certainty, plain(came, "dim"))


def _data(reading: Reading) -> dict[str, Any]:
    return {
        "state": reading.state,
        "transition": reading.transition,
        "name": reading.name,
        "is_input": reading.is_input,
        "default": reading.default,
        "given": reading.given,
        "writers": list(reading.writers),
        "certainty": str(reading.certainty),
    }
