"""`stateward operate`: what a person does to a Worker from outside. Each act is recorded with its reason and shown in every later view."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeAlias, assert_never

import click
from rich.text import Text

from stateward.runtime.core.operating import Verb
from stateward.runtime.core.refusal import Refusal
from stateward.runtime.engine.forking import Forked
from stateward.runtime.engine.operating import Operated
from stateward.runtime.engine.redaction import Redacted
from stateward.runtime.ports import Deleted, RecordedEntry
from stateward.runtime.session.acts import Standing
from stateward.runtime.session.masking import SecretProblem, Secrets
from stateward.runtime.surfaces.cli.errors import STATUS_FOUND, STATUS_USAGE, Stop, faults_shown
from stateward.runtime.surfaces.cli.judges import working
from stateward.runtime.surfaces.cli.options import STORE, WORKDIR, spoken
from stateward.runtime.surfaces.cli.present import refusal_shown, show, terminal_console
from stateward.runtime.surfaces.cli.terminal import is_terminal
from stateward.runtime.wiring import Place, Runtime, person_at_terminal

HELP: Final = {
    Verb.PAUSE: "Refuse requests until the Worker is resumed.",
    Verb.RESUME: "Take requests again.",
    Verb.WITHDRAW: "Close the open request without a judgement.",
    Verb.CANCEL: "End the flow as cancelled, without worker or verifier.",
    Verb.CLEAR: "Lift the hold that was set for want of progress.",
}
"""The verbs that need nothing but a reason."""
VALUE_BYTES_MAX: Final = 256 * 1024
"""Read of a file that holds a secret."""
SHOWN_MAX: Final = 10
"""Entries named in one line."""

Outcome: TypeAlias = Operated | Forked | Redacted | RecordedEntry | Deleted | Refusal


def _acts(command: Any) -> Any:
    """Add what every act takes."""
    options = (
        click.argument("worker"),
        click.option("--reason", type=spoken, required=True, help="Why; it stands in the log."),
        WORKDIR,
        STORE,
    )
    for option in reversed(options):
        command = option(command)
    return command


def _acted(worker: str, workdir: Path, store: Place | None, act: Callable[[Runtime, str], Outcome]) -> None:
    with faults_shown(), working(worker, workdir, store) as work:
        outcome = act(work.runtime, work.worker)
    _show(outcome)


@click.group("operate")
def operate_group() -> None:
    """Step in: pause, resume, withdraw, cancel, clear, rewind, fork, make-whole, accept-rollback, redact, stop, delete.

    WORKER is the id of a Worker, or a beginning or end of it.
    """


def _verb_command(verb: Verb, text: str) -> click.Command:
    @click.command(str(verb), help=text)
    @_acts
    def command(*, worker: str, reason: str, workdir: Path, store: Place | None) -> None:
        _acted(worker, workdir, store, lambda runtime, named: runtime.engine.operate(named, verb, reason, person_at_terminal()))

    return command


for _verb, _text in HELP.items():
    operate_group.add_command(_verb_command(_verb, _text))


@operate_group.command("rewind")
@_acts
@click.option("--to", "state", required=True, metavar="STATE", help="The state to enter again, at a new visit.")
def rewind_command(*, worker: str, reason: str, state: str, workdir: Path, store: Place | None) -> None:
    """Enter an earlier state again. What is set aside stays readable and counts as evidence no longer."""
    _acted(
        worker, workdir, store, lambda runtime, named: runtime.engine.operate(named, Verb.REWIND, reason, person_at_terminal(), state=state)
    )


@operate_group.command("fork")
@_acts
@click.option("--at", type=click.IntRange(min=1), metavar="N", help="The entry to go on from; the last one, where it is not given.")
def fork_command(*, worker: str, reason: str, at: int | None, workdir: Path, store: Place | None) -> None:
    """Start a second Worker that goes on from an entry of this one."""
    _acted(worker, workdir, store, lambda runtime, named: runtime.engine.fork(named, reason, person_at_terminal(), at=at))


@operate_group.command("make-whole")
@_acts
def make_whole_command(*, worker: str, reason: str, workdir: Path, store: Place | None) -> None:
    """Copy what a fork reads from its parent into its own log. Then the parent may be deleted."""
    _acted(worker, workdir, store, lambda runtime, named: runtime.engine.make_whole(named, reason, person_at_terminal()))


@operate_group.command("accept-rollback")
@_acts
def accept_rollback_command(*, worker: str, reason: str, workdir: Path, store: Place | None) -> None:
    """Let a Worker go on whose log went back, such as one out of a backup. What it lost is named in its log for ever."""
    _acted(worker, workdir, store, lambda runtime, named: runtime.engine.accept_rollback(named, reason, person_at_terminal()))


@operate_group.command("redact")
@_acts
@click.option("--name", required=True, metavar="NAME", help="What the secret is called from now on.")
@click.option("--from", "source", type=click.Path(path_type=Path), required=True, metavar="FILE", help="The file that holds the secret.")
def redact_command(*, worker: str, reason: str, name: str, source: Path, workdir: Path, store: Place | None) -> None:
    """Take a secret that got into a log out of it; `«secret:NAME»` stands there instead, and the log verifies as before."""
    secrets = _secrets(name, source)
    _acted(worker, workdir, store, lambda runtime, named: runtime.engine.redact(named, secrets, reason, person_at_terminal()))


def _secrets(name: str, source: Path) -> Secrets:
    try:
        with source.open("rb") as file:
            return Secrets({name: file.read(VALUE_BYTES_MAX + 1).decode("utf-8", "surrogateescape")})
    except OSError as problem:
        raise Stop(STATUS_USAGE, f"`{source}` cannot be read: {(problem.strerror or 'no file').lower()}", "check the path") from problem
    except SecretProblem as problem:
        raise Stop(STATUS_USAGE, str(problem), "name a file that holds the secret alone") from problem


@operate_group.command("stop")
@_acts
def stop_command(*, worker: str, reason: str, workdir: Path, store: Place | None) -> None:
    """Record that the Worker was stopped. Everything is kept, and it may go on at any time."""
    _acted(worker, workdir, store, lambda runtime, named: runtime.engine.stop(named, reason, person_at_terminal()))


@operate_group.command("delete")
@click.argument("worker")
@click.option("--yes", is_flag=True, help="Delete without asking back.")
@WORKDIR
@STORE
def delete_command(*, worker: str, yes: bool, workdir: Path, store: Place | None) -> None:
    """Delete a Worker and its whole session, for good."""

    def act(runtime: Runtime, named: str) -> Outcome:
        if not yes and not is_terminal():
            raise Stop(
                STATUS_USAGE, "nobody can be asked whether to delete, and nothing was deleted", "add `--yes` to delete without being asked"
            )
        if not yes and not click.confirm(f"delete Worker {named} and its log for good?", err=True):
            raise Stop(STATUS_USAGE, "nothing was deleted", "add `--yes` to delete without being asked")
        return runtime.engine.delete(named, person_at_terminal())

    _acted(worker, workdir, store, act)


def _show(outcome: Outcome) -> None:
    console = terminal_console()
    match outcome:
        case Refusal():
            show(console, *refusal_shown(outcome))
            raise click.exceptions.Exit(STATUS_FOUND)
        case Operated(verb=verb, entry=entry, before=before, after=after):
            show(console, Text.assemble((verb, "bold"), f" recorded as {entry}: {_standing(before)} → {_standing(after)}"))
        case Forked(worker=worker, origin=origin):
            show(console, Text(f"forked off {origin.worker} at entry {origin.seq}: Worker {worker}"))
        case Redacted(entries=entries):
            named = ", ".join(entries[:SHOWN_MAX]) + (f" and {len(entries) - SHOWN_MAX} more" if len(entries) > SHOWN_MAX else "")
            show(console, Text(f"redacted {named}" if entries else "no entry of this log holds it"))
        case RecordedEntry():
            show(console, Text("stop recorded; everything is kept"))
        case Deleted():
            show(console, Text("deleted"))
        case _:
            assert_never(outcome)


def _standing(standing: Standing | None) -> str:
    if standing is None:
        return "no flow"
    marks = [mark for mark, there in (("paused", standing.paused), ("held", standing.held)) if there]
    return ", ".join([f"{standing.state} (visit {standing.visit})", str(standing.status), *marks])
