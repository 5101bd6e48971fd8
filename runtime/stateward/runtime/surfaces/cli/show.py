"""`stateward status` and `stateward log`: where a Worker stands, and what happened. They only read."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import click

from stateward.runtime.engine.view import LoggedEntry, WorkerView
from stateward.runtime.surfaces.cli.errors import STATUS_USAGE, Stop, faults_shown
from stateward.runtime.surfaces.cli.options import SERVER, STORE, WORKDIR
from stateward.runtime.surfaces.cli.output import emit_json
from stateward.runtime.surfaces.cli.present import log_shown, show, status_shown, terminal_console
from stateward.runtime.surfaces.cli.programs import entry_data, view_data
from stateward.runtime.wiring import Place, Runtime, locate, reading

PART_CHARACTERS_MIN: Final = 4
"""The least of an id that names a Worker."""


def names_a_worker(command: Any) -> Any:
    """Add how a command is told which Worker it is about."""
    options = (
        click.argument("worker", required=False, metavar="[WORKER]"),
        WORKDIR,
        STORE,
    )
    for option in reversed(options):
        command = option(command)
    return command


def reads_a_worker(command: Any) -> Any:
    """Add what every command takes that shows something of one Worker."""
    return names_a_worker(click.option("--json", "as_json", is_flag=True, help="Write JSON, for programs.")(command))


@click.command("status")
@reads_a_worker
@SERVER
def status_command(worker: str | None, workdir: Path, store: Place | None, server: str | None, *, as_json: bool) -> None:
    """Show where a Worker stands.

    WORKER is its id, or the beginning or end of it; without one it is the Worker that was started last.
    """
    with faults_shown(), reading(locate(workdir, store, server)) as runtime:
        view = chosen(runtime, worker)
        pin = None if view.flow is None else view.flow.pin
        current = None if pin is None else runtime.current_revision(pin.selector, pin.flow_revision)
        if as_json:
            emit_json(view_data(view, current), indent=2)
        else:
            show(terminal_console(), *status_shown(view, current))


@click.command("show")
@reads_a_worker
@click.option("--after", type=click.IntRange(min=0), default=0, metavar="N", help="Begin behind entry N.")
def log_show_command(worker: str | None, workdir: Path, store: Place | None, after: int, *, as_json: bool) -> None:
    """Show the session log of a Worker, with the events it holds.

    WORKER is its id, or the beginning or end of it; without one it is the Worker that was started last. Of a damaged log the entries before
    the damage are shown, and why there are no more.
    """
    with faults_shown(), reading(locate(workdir, store)) as runtime:
        entries = runtime.engine.log(chosen_id(runtime, worker), after=after)
        if as_json:
            for each in entries:
                emit_json(entry_data(each))
            return
        shown: list[LoggedEntry] = []
        try:
            shown.extend(entries)
        finally:
            show(terminal_console(), log_shown(shown))


def chosen_id(runtime: Runtime, named: str | None) -> str:
    """Give the id of the Worker that was named, or of the latest. Raises Stop when none or several fit."""
    ids = runtime.worker_ids()
    if not ids:
        raise Stop(STATUS_USAGE, "this Workspace has no Worker yet", "start one with `stateward run SELECTOR`")
    return ids[-1] if named is None else _named(ids, named)


def chosen(runtime: Runtime, named: str | None) -> WorkerView:
    """Give the Worker that was named, or the latest. Raises Stop when none or several fit."""
    worker = chosen_id(runtime, named)
    view = runtime.engine.view(worker)
    assert isinstance(view, WorkerView), "a listed Worker is there"
    return view


def _named(ids: Sequence[str], named: str) -> str:
    if named in ids:
        return named
    fitting = [each for each in ids if len(named) >= PART_CHARACTERS_MIN and (each.startswith(named) or each.endswith(named))]
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        raise Stop(STATUS_USAGE, f"{len(fitting)} Workers fit `{named}`", "name one by more of its id")
    raise Stop(STATUS_USAGE, f"no Worker of this Workspace fits `{named}`", "leave the id out for the latest one")
