"""`stateward set`: set variables that the current state writes, all of them or none."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import click
from rich.text import Text

from stateward.compiler.cli.host import STANDARD_INPUT, Document, reason
from stateward.compiler.cli.host import read_standard_input as read_input
from stateward.compiler.diagnostics.report import Failure
from stateward.runtime.core.refusal import Refusal
from stateward.runtime.ports import Written
from stateward.runtime.surfaces.cli.errors import STATUS_FOUND, STATUS_USAGE, Stop, faults_shown
from stateward.runtime.surfaces.cli.judges import Working, working
from stateward.runtime.surfaces.cli.options import STORE, WORKDIR
from stateward.runtime.surfaces.cli.output import emit_json
from stateward.runtime.surfaces.cli.present import plain, refusal_shown, show, terminal_console
from stateward.runtime.surfaces.cli.values import Typed, object_of, typed, values_of
from stateward.runtime.surfaces.cli.writing import shown_path
from stateward.runtime.wiring import Place, person_at_terminal

VERSION: Final = 1
FILE_BYTES_MAX: Final = 1024 * 1024


@click.command("set")
@click.argument("given", nargs=-1, metavar="[WORKER] NAME=VALUE...")
@click.option("--from", "source", metavar="FILE", help="A file with one JSON object, a value for each name; `-` is standard input.")
@WORKDIR
@STORE
@click.option("--json", "as_json", is_flag=True, help="Write JSON, for programs.")
def set_command(*, given: tuple[str, ...], source: str | None, workdir: Path, store: Place | None, as_json: bool) -> None:
    """Set variables that the current state writes: all of them, or none.

    WORKER is its id, or the beginning or end of it; without one it is the Worker that was started last. VALUE is JSON (`3`, `true`,
    `["a.py"]`); for a variable that holds a text, the text as it stands will do. Exit status: 0 when they hold these values, 1 when they
    may not.
    """
    worker, values = _parted(given)
    if not values and source is None:
        raise Stop(STATUS_USAGE, "no variable is named", "name one as NAME=VALUE, or a file of them with `--from`")
    read = {} if source is None else object_of(_content(source), f"`{shown_path(source)}`")
    with faults_shown(), working(worker, workdir, store) as work:
        answer = work.runtime.engine.set_variables(work.worker, _values(work, values, read), person_at_terminal())
    if as_json:
        emit_json(_data(answer), indent=2)
    elif isinstance(answer, Refusal):
        show(terminal_console(), *refusal_shown(answer))
    else:
        show(terminal_console(), _said(answer))
    if isinstance(answer, Refusal):
        raise click.exceptions.Exit(STATUS_FOUND)


def _parted(given: Sequence[str]) -> tuple[str | None, tuple[Typed, ...]]:
    """Tell the Worker, which has no `=` in its id, from the values. Raises BadParameter."""
    worker = given[0] if given and "=" not in given[0] else None
    return worker, tuple(map(typed, given if worker is None else given[1:]))


def _content(source: str) -> bytes:
    """Read a file, or standard input. Raises Stop."""
    named = f"`{shown_path(source)}`"
    if source == STANDARD_INPUT:
        found: Document | Failure = read_input("<stdin>", FILE_BYTES_MAX)
        if isinstance(found, Failure):
            raise Stop(found.status, found.message, found.remedy)
        data = found.data
    else:
        try:
            with Path(source).open("rb") as file:
                data = file.read(FILE_BYTES_MAX + 1)
        except OSError as problem:
            raise Stop(STATUS_USAGE, f"{named} cannot be read: {reason(problem)}", "check the path") from problem
    if len(data) > FILE_BYTES_MAX:
        raise Stop(STATUS_USAGE, f"{named} is over the limit of {FILE_BYTES_MAX} bytes", "set less")
    return data


def _values(work: Working, given: Sequence[Typed], read: Mapping[str, object]) -> Mapping[str, object]:
    flow = work.view.flow
    values = values_of(given, () if flow is None else flow.definition.declared_variables)
    twice = next((each for each in values if each in read), None)
    if twice is not None:
        raise Stop(STATUS_USAGE, f"`{twice}` is given twice: in the file, and beside it", "give it once")
    return {**read, **values}


def _said(written: Written) -> Text:
    names = ", ".join(written.names)
    return plain(f"set {names} in {written.entry}" if written.entry else f"{names}: set to that already, and nothing was written")


def _data(answer: Written | Refusal) -> dict[str, Any]:
    if isinstance(answer, Refusal):
        told = {"code": str(answer.code), "message": answer.message, "allowed": list(answer.allowed)}
        return {"version": VERSION, "result": "refused", **told}
    return {"version": VERSION, "result": "set", "worker": answer.worker, "names": list(answer.names), "entry": answer.entry}
