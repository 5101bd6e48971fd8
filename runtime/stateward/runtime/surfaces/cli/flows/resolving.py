"""`stateward flow resolve`: what a selector stands for, and the definition itself. It only reads."""

import click
from rich.table import Table

from stateward.compiler.cli.output import put
from stateward.runtime.ports import Snapshot, Unresolved
from stateward.runtime.surfaces.cli.errors import STATUS_FOUND, STATUS_USAGE, Stop
from stateward.runtime.surfaces.cli.flows.forms import line_data, snapshot_data
from stateward.runtime.surfaces.cli.flows.where import JSON, Where, about_flows
from stateward.runtime.surfaces.cli.output import emit_json
from stateward.runtime.surfaces.cli.present import plain, show, terminal_console


@click.command("resolve")
@click.argument("selector")
@click.option("--definition", is_flag=True, help="Print the definition: the canonical JSON that its digest covers.")
@JSON
@about_flows
def resolve_command(*, selector: str, definition: bool, as_json: bool, where: Where) -> None:
    """Say what SELECTOR, such as workspace:paper or builtin:coder-review, stands for now: revision and digests."""
    with where.resolving(selector) as snapshots:
        found = snapshots.resolve(selector)
    if isinstance(found, Unresolved):
        raise Stop(STATUS_FOUND if found.code == "flow_broken" else STATUS_USAGE, found.message, found.help)
    if definition:
        put(found.definition_bytes)
    elif as_json:
        emit_json(line_data(**snapshot_data(found)))
    else:
        show(terminal_console(), _shown(found))


def _shown(found: Snapshot) -> Table:
    rows = Table.grid(padding=(0, 2))
    rows.add_row("selector", plain(found.selector))
    rows.add_row("revision", str(found.flow_revision))
    rows.add_row("content", plain(found.content_digest))
    rows.add_row("definition", plain(found.definition_digest))
    rows.add_row("flow", plain(found.flow_id))
    if found.workspace:
        rows.add_row("Workspace", plain(found.workspace))
    return rows
