"""`stateward flow list`, `show` and `history`: what is kept, and how it came to be. They only read the Workspace."""

import sys
from collections.abc import Iterator
from heapq import merge
from itertools import islice
from pathlib import Path
from typing import Final, TypeAlias

import click
from rich.table import Table
from rich.text import Text

from stateward.compiler.cli.host import STANDARD_INPUT
from stateward.compiler.cli.output import put, say
from stateward.compiler.diagnostics.report import Failure
from stateward.compiler.diagnostics.wording import listed, quoted
from stateward.runtime.engine.folders import FileProblem
from stateward.runtime.ports import PAGE_MAX, FlowAct, FlowAuthority, FlowRow, Revision, RevisionFacts
from stateward.runtime.session.chain import digest_of
from stateward.runtime.surfaces.cli.errors import STATUS_ENVIRONMENT, STATUS_FOUND, STATUS_USAGE, Stop
from stateward.runtime.surfaces.cli.flows.bases import base_of
from stateward.runtime.surfaces.cli.flows.folder import replace_if_unchanged
from stateward.runtime.surfaces.cli.flows.forms import act_data, facts_data, line_data, row_data
from stateward.runtime.surfaces.cli.flows.naming import fitting, known, rows, slug_of
from stateward.runtime.surfaces.cli.flows.shown import author_shown, moment, note_shown, source_shown, what_was_done
from stateward.runtime.surfaces.cli.flows.sources import document_at
from stateward.runtime.surfaces.cli.flows.where import JSON, Where, about_flows
from stateward.runtime.surfaces.cli.output import emit, emit_json
from stateward.runtime.surfaces.cli.present import plain, show, terminal_console
from stateward.runtime.surfaces.cli.writing import shown_path, write_file

HISTORY_MAX: Final = 50
"""Revisions and acts that people are shown when they ask for no other number."""
Step: TypeAlias = RevisionFacts | FlowAct


# --- list ---------------------------------------------------------------------------------------------------------------------------


@click.command("list")
@click.argument("pattern", required=False, metavar="[PATTERN]")
@click.option("--removed", is_flag=True, help="Those that were removed, too.")
@JSON
@about_flows
def list_command(*, pattern: str | None, removed: bool, as_json: bool, where: Where) -> None:
    """List the flows of the Workspace with their last revisions.

    PATTERN, in quotes, names some of them: 'paper-*'.
    """
    with where.reading() as flows:
        found = rows(flows, removed=removed) if pattern is None else fitting(flows, slug_of(pattern), removed=removed)
        if as_json:
            for each in found:
                emit_json(line_data(**row_data(each)))
            return
        _show_rows(list(found), pattern)


def _show_rows(found: list[FlowRow], pattern: str | None) -> None:
    table = _table("selector", "revision", "saved", "by", "note")
    for each in found:
        last = each.last
        removed = each.removed
        note = note_shown(last.note) if removed is None else f"removed by {author_shown(removed.author)} {moment(removed.created)}"
        table.add_row(Text(f"workspace:{last.slug}"), str(last.revision), moment(last.created), plain(last.author), Text(note))
    none = "no flow is kept in this Workspace; `stateward flow save FILE` keeps one" if pattern is None else f"no flow fits `{pattern}`"
    show(terminal_console(), table if found else plain(none))


def _table(*columns: str) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for name in columns:
        table.add_column(name, overflow="fold")
    return table


# --- show ---------------------------------------------------------------------------------------------------------------------------


@click.command("show")
@click.argument("named", metavar="SLUG")
@click.option("--revision", type=click.IntRange(min=1), metavar="N", help="Another revision than the last one.")
@click.option("--module", metavar="PATH", help="A file that it imports, in place of its source.")
@click.option("--output", metavar="FILE", help="Write the source to a file; `-` for standard output.")
@click.option("--force", is_flag=True, help="Write over a file that holds what no revision does.")
@JSON
@about_flows
def show_command(
    *, named: str, revision: int | None, module: str | None, output: str | None, force: bool, as_json: bool, where: Where
) -> None:
    """Show the source of a flow, or write it to a file; with --json what is known of the revision.

    A file that was changed since it was saved is left alone.
    """
    if module is not None and (output not in {None, STANDARD_INPUT} or as_json):
        raise Stop(STATUS_USAGE, "`--module` goes with no `--output FILE` and no `--json`", "send it to a file with `>`")
    with where.reading() as flows:
        row = known(flows, named)
        found = _revision(flows, row, revision)
        if output is not None and output != STANDARD_INPUT:
            _write(flows, where, found, output, force=force)
    if module is not None:
        put(_module(found, module))
    elif as_json:
        modules = [{"path": path, "digest": digest_of(content)} for path, content in found.modules]
        emit_json(line_data(**row_data(FlowRow(found.facts, row.removed)), modules=modules))
    elif output is None and sys.stdout is not None and sys.stdout.isatty():
        emit(source_shown(found.content.decode("utf-8", "replace")))
    elif output is None or output == STANDARD_INPUT:
        put(found.content)
    else:
        emit(f"wrote workspace:{found.slug} revision {found.revision} to {shown_path(output)}\n")


def _module(revision: Revision, path: str) -> bytes:
    """Give a module of a revision. Raises Stop where it imports none of that path."""
    modules = dict(revision.modules)
    if path not in modules:
        remedy = f"name one of {listed(list(modules), 'or')}" if modules else ""
        raise Stop(STATUS_USAGE, f"`{revision.slug}` revision {revision.revision} imports no {quoted(path)}", remedy)
    return modules[path]


def _revision(flows: FlowAuthority, row: FlowRow, number: int | None) -> Revision:
    """Give the revision that is asked for. Raises Stop when there is none, or the flow was removed and none is named."""
    last = row.last
    if number is None and row.removed is not None:
        message = f"`{last.slug}` was removed by {row.removed.author or 'somebody'} at revision {last.revision}"
        raise Stop(STATUS_USAGE, message, f"name a revision: `--revision {last.revision}`")
    found = flows.source(last.slug, number)
    if found is None:
        raise Stop(STATUS_USAGE, f"`{last.slug}` has no revision {number}", f"name one from 1 to {last.revision}")
    return found


def _write(flows: FlowAuthority, where: Where, revision: Revision, output: str, *, force: bool) -> None:
    """Write a source to a file, unless that holds what would be lost. Raises Stop."""
    path = Path(output)
    was = _replaceable(flows, revision, output) if not force and path.is_file() else None
    if was is None or path.is_symlink():
        failure = write_file(output, (revision.content,))
    else:
        failure = _replaced(path, revision, was)
    if failure is not None:
        raise Stop(failure.status, failure.message, failure.remedy)
    where.remember({output: base_of(revision)})


def _replaceable(flows: FlowAuthority, revision: Revision, output: str) -> str:
    """Give the digest of what a file holds, where that is kept already. Raises Stop where it is not."""
    data = document_at(output).data
    digest = digest_of(data)
    if data and flows.holding(revision.slug, digest) is None:
        message = f"`{shown_path(output)}` holds what no revision of `{revision.slug}` does"
        raise Stop(STATUS_FOUND, message, "save it first, name another file, or add `--force`")
    return digest


def _replaced(path: Path, revision: Revision, was: str) -> Failure | None:
    name = shown_path(str(path))
    match replace_if_unchanged(path, revision.content, was):
        case FileProblem(reason=reason):
            return Failure(f"`{name}` is left alone: {reason}", "name another file", STATUS_ENVIRONMENT)
        case False:
            return Failure(f"`{name}` was changed at this very moment", "look at it, then try once more", STATUS_FOUND)
        case _:
            return None


# --- history ------------------------------------------------------------------------------------------------------------------------


@click.command("history")
@click.argument("named", metavar="SLUG")
@click.option("--max", "shown_max", type=click.IntRange(min=0), metavar="N", help="How many; 0 for all. 50 for people, all in JSON.")
@JSON
@about_flows
def history_command(*, named: str, shown_max: int | None, as_json: bool, where: Where) -> None:
    """Show every revision of a flow and what else was done to it, the latest first."""
    bound = shown_max if shown_max is not None else 0 if as_json else HISTORY_MAX
    with where.reading() as flows:
        steps = _steps(flows, known(flows, named).last.slug)
        shown = islice(steps, bound) if bound else steps
        if as_json:
            for each in shown:
                emit_json(line_data(**_step_data(each)))
            return
        _show_steps(list(shown))
        if bound and next(steps, None) is not None:
            say("more happened before; `--max 0` shows all\n", err=True)


def _steps(flows: FlowAuthority, slug: str) -> Iterator[Step]:
    """Bring revisions and acts together, the latest first: an act stands after the last revision that was there then."""
    return merge(_revisions(flows, slug), _acts(flows, slug), key=_place, reverse=True)


def _place(step: Step) -> tuple[int, int]:
    return (step.revision, step.number if isinstance(step, FlowAct) else 0)


def _revisions(flows: FlowAuthority, slug: str) -> Iterator[RevisionFacts]:
    before: int | None = None
    while page := flows.history(slug, PAGE_MAX, before):
        yield from page
        before = page[-1].revision


def _acts(flows: FlowAuthority, slug: str) -> Iterator[FlowAct]:
    before: int | None = None
    while page := flows.acts(slug, PAGE_MAX, before):
        yield from page
        before = page[-1].number


def _step_data(step: Step) -> dict[str, object]:
    return act_data(step) if isinstance(step, FlowAct) else {"kind": "saved", **facts_data(step)}


def _show_steps(steps: list[Step]) -> None:
    table = _table("revision", "when", "by", "what", "note")
    for each in steps:
        number, what = ("", what_was_done(each)) if isinstance(each, FlowAct) else (str(each.revision), "saved")
        table.add_row(number, moment(each.created), plain(each.author), what, Text(note_shown(each.note)))
    show(terminal_console(), table)
