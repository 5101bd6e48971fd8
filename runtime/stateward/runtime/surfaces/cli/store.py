"""`stateward store`: look after a store as a whole: its version, its migration, its soundness.

Invariants: `info`, `check` and `migrate --dry-run` write nothing; no password of a URL is shown.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click
from rich.table import Table
from rich.text import Text

from stateward.runtime.surfaces.cli.errors import STATUS_FOUND, faults_shown
from stateward.runtime.surfaces.cli.options import STORE, WORKDIR
from stateward.runtime.surfaces.cli.output import emit, emit_json
from stateward.runtime.surfaces.cli.present import plain, show, terminal_console
from stateward.runtime.wiring import Place
from stateward.runtime.wiring.caring import check_store, chosen_store, look_at_store, migrate_store

if TYPE_CHECKING:
    from stateward.store.care import Checked, StoreState

VERSION: Final = 1
_JSON: Final = click.option("--json", "as_json", is_flag=True, help="Write JSON, for programs.")


@click.group("store")
def store_group() -> None:
    """Look after a store as a whole: its version, its migration, its soundness."""


@store_group.command("info")
@WORKDIR
@STORE
@_JSON
def info_command(*, workdir: Path, store: Place | None, as_json: bool) -> None:
    """Say where the store lies, which version it has, and what a migration would do to it."""
    with faults_shown():
        state = look_at_store(chosen_store(workdir, store))
    if as_json:
        emit_json(_state_data(state))
        return
    _show_rows(*_state_rows(state))


def _state_rows(state: "StoreState") -> Iterator[tuple[str, str]]:
    yield "store", state.place
    yield "version", f"{state.version}, this program writes {state.known}"
    if not state.steps:
        yield "migration", "there is nothing to do"
        return
    for step in state.steps:
        yield "migration", step
    yield "copy before it", state.backup


def _state_data(state: "StoreState") -> dict[str, Any]:
    return {
        "version": VERSION,
        "place": state.place,
        "store_version": state.version,
        "program_version": state.known,
        "steps": list(state.steps),
        "backup": state.backup or None,
    }


@store_group.command("migrate")
@WORKDIR
@STORE
@_JSON
@click.option("--dry-run", is_flag=True, help="Say what would be done; nothing is written.")
def migrate_command(*, workdir: Path, store: Place | None, as_json: bool, dry_run: bool) -> None:
    """Bring the store to the version that this program writes. A copy of it is made first, and it is changed as a whole or not at all.

    Every command that writes does the same when it opens an older store.
    """
    with faults_shown():
        place = chosen_store(workdir, store)
        before = look_at_store(place)
        done = None if dry_run else migrate_store(place)
    if as_json:
        migrated = None if done is None else {"from": done.start, "to": done.end, "backup": done.backup}
        emit_json({**_state_data(before), "migrated": migrated})
    elif dry_run:
        _show_rows(*_state_rows(before))
    elif done is None:
        emit(f"{plain(before.place)} has store version {before.known} already\n")
    else:
        emit(f"brought {plain(before.place)} from store version {done.start} to {done.end}; what it was is in {plain(done.backup)}\n")


@store_group.command("check")
@WORKDIR
@STORE
@_JSON
def check_command(*, workdir: Path, store: Place | None, as_json: bool) -> None:
    """Check that the store is whole: its tables, its rules, every flow, act, token and definition, and in a file its pages and references.

    What the logs in it hold is checked by `stateward log verify`. Exit status: 0 when nothing is wrong, 1 when something is.
    """
    with faults_shown():
        checked = check_store(chosen_store(workdir, store))
    if as_json:
        emit_json(_checked_data(checked))
    else:
        _show_checked(checked)
    if checked.findings:
        raise click.exceptions.Exit(STATUS_FOUND)


def _checked_data(checked: "Checked") -> dict[str, Any]:
    return {
        "version": VERSION,
        "place": checked.place,
        "store_version": checked.version or None,
        "sound": not checked.findings,
        "findings": list(checked.findings),
    }


def _show_checked(checked: "Checked") -> None:
    version = str(checked.version) if checked.version else "not known"
    rows = [("store", checked.place), ("version", version), ("sound", "no" if checked.findings else "yes")]
    _show_rows(*rows, *(("finding", each) for each in checked.findings))


def _show_rows(*rows: tuple[str, str]) -> None:
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in rows:
        table.add_row(Text(name), plain(value))
    show(terminal_console(), table)
