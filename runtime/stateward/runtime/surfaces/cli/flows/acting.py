"""`stateward flow restore` and `remove`: what changes a flow without a file.

Invariants: nothing is done on another revision than the one that whoever asked has seen: the one named with `--base`, or the one that was
shown to a person at the terminal, who said yes to it. Where nobody can be asked, `--base` has to be named.
"""

from typing import assert_never

import click

from stateward.compiler.cli.output import fail
from stateward.compiler.diagnostics.report import Failure
from stateward.runtime.core.refusal import Refusal
from stateward.runtime.ports import Conflict, FlowRow, NotCompiled, RemoveAnswer, Removed, SaveAnswer, Saved
from stateward.runtime.surfaces.cli.errors import STATUS_FOUND, STATUS_USAGE, Stop
from stateward.runtime.surfaces.cli.flows.conflicts import of_an_act
from stateward.runtime.surfaces.cli.flows.forms import act_data, conflict_data, facts_data, line_data
from stateward.runtime.surfaces.cli.flows.naming import known
from stateward.runtime.surfaces.cli.flows.shown import act_line, author_shown, revision_line, tell, tell_conflict
from stateward.runtime.surfaces.cli.flows.where import DRY_RUN, JSON, NOTE, Where, about_flows
from stateward.runtime.surfaces.cli.output import emit, emit_json
from stateward.runtime.surfaces.cli.terminal import is_terminal

BASE = click.option("--base", type=click.IntRange(min=1), metavar="N", help="The last revision, as it was seen; asked for at a terminal.")


@click.command("restore")
@click.argument("named", metavar="SLUG")
@click.argument("revision", type=click.IntRange(min=1), metavar="N")
@BASE
@NOTE
@DRY_RUN
@JSON
@about_flows
def restore_command(*, named: str, revision: int, base: int | None, note: str, dry_run: bool, as_json: bool, where: Where) -> None:
    """Make revision N of a flow current again, as a new revision with the same source. A removed flow is brought back by it."""
    with where.reading() as flows:
        row = known(flows, named)
    seen = _seen(row, base, f"restore revision {revision} of `{row.last.slug}`", dry_run=dry_run, as_json=as_json)
    if dry_run:
        with where.reading() as flows:
            answer = flows.restore(row.last.slug, revision, base=seen, note=note, dry_run=True)
    else:
        with where.writing() as opened:
            answer = opened.flows.restore(row.last.slug, revision, base=seen, note=note)
    _tell_restored(row, revision, answer, dry_run=dry_run, as_json=as_json)


def _tell_restored(row: FlowRow, number: int, answer: SaveAnswer, *, dry_run: bool, as_json: bool) -> None:
    match answer:
        case Saved(revision=revision, created=created) if as_json:
            result = "restored" if created else "unchanged"
            emit_json(line_data(slug=revision.slug, result=result, dry_run=dry_run, restored=number, revision=facts_data(revision.facts)))
        case Saved(revision=revision, created=True):
            restored = "would restore" if dry_run else "restored"
            emit(f"{restored} workspace:{revision.slug} revision {number} as revision {revision.revision}\n")
        case Saved(revision=revision):
            emit(f"nothing changed: workspace:{revision.slug} revision {revision.revision} is the same\n")
        case Conflict() | Refusal():
            _not_done(row, answer, dry_run=dry_run, as_json=as_json)
        case NotCompiled():
            raise AssertionError("restoring compiles nothing")
        case _:
            assert_never(answer)


@click.command("remove")
@click.argument("named", metavar="SLUG")
@BASE
@NOTE
@DRY_RUN
@JSON
@about_flows
def remove_command(*, named: str, base: int | None, note: str, dry_run: bool, as_json: bool, where: Where) -> None:
    """Hide a flow: it is resolved no more. Every revision stays, and saving or restoring brings it back."""
    with where.reading() as flows:
        row = known(flows, named)
        if row.removed is not None:
            _tell_removed(row, Removed(row.removed, created=False), dry_run=dry_run, as_json=as_json)
            return
    seen = _seen(row, base, f"remove `{row.last.slug}`", dry_run=dry_run, as_json=as_json)
    if dry_run:
        with where.reading() as flows:
            answer = flows.remove(row.last.slug, base=seen, note=note, dry_run=True)
    else:
        with where.writing() as opened:
            answer = opened.flows.remove(row.last.slug, base=seen, note=note)
    _tell_removed(row, answer, dry_run=dry_run, as_json=as_json)


def _tell_removed(row: FlowRow, answer: RemoveAnswer, *, dry_run: bool, as_json: bool) -> None:
    slug = row.last.slug
    match answer:
        case Removed(act=act, created=created) if as_json:
            emit_json(line_data(slug=slug, result="removed" if created else "unchanged", dry_run=dry_run, act=act_data(act)))
        case Removed(act=act, created=True):
            emit(f"{'would remove' if dry_run else 'removed'} workspace:{slug} at revision {act.revision}\n")
        case Removed(act=act):
            emit(f"nothing changed: workspace:{slug} was removed by {author_shown(act.author)} at revision {act.revision}\n")
        case Conflict() | Refusal():
            _not_done(row, answer, dry_run=dry_run, as_json=as_json)
        case _:
            assert_never(answer)


def _seen(row: FlowRow, base: int | None, what: str, *, dry_run: bool, as_json: bool) -> int:
    """Give the revision on which something is to be done: the one that was named, else the last one, if whoever asks says yes to it.

    Raises Stop where nobody has.
    """
    last = row.last.revision
    if base is not None or dry_run:
        return last if base is None else base
    if as_json or not is_terminal():
        message = f"nobody can be asked whether to {what}, and nothing was done"
        raise Stop(STATUS_USAGE, message, f"name the revision that was seen last: `--base {last}`")
    tell([f"  {revision_line(row.last)}", *([] if row.removed is None else [f"  {act_line(row.removed)}"])])
    if not click.confirm(f"{what}?", err=True):
        raise Stop(STATUS_USAGE, "nothing was done", f"add `--base {last}` to do it without being asked")
    return last


def _not_done(row: FlowRow, answer: Conflict | Refusal, *, dry_run: bool, as_json: bool) -> None:
    """Tell why nothing was done, and end. Raises Stop."""
    slug = row.last.slug
    if isinstance(answer, Refusal):
        raise Stop(STATUS_USAGE, answer.message, " or ".join(answer.allowed))
    told = of_an_act(answer)
    if as_json:
        conflict = conflict_data(answer)
        emit_json(line_data(slug=slug, result="conflict", dry_run=dry_run, conflict=conflict, message=told.message, help=told.remedy))
    else:
        tell_conflict(answer)
        fail(Failure(*told, STATUS_FOUND))
    raise click.exceptions.Exit(STATUS_FOUND)
