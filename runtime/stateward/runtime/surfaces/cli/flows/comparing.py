"""`stateward flow diff`: what changed between two revisions, or between a revision and a file. It only reads."""

import sys
from dataclasses import replace

import click

from stateward.compiler.cli.output import put
from stateward.runtime.core.refusal import Refusal
from stateward.runtime.engine.differences import revisions_compared
from stateward.runtime.engine.limits import REVISION_MAX
from stateward.runtime.ports import Difference, FlowAuthority, FlowRow
from stateward.runtime.surfaces.cli.errors import STATUS_FOUND, STATUS_USAGE, Stop
from stateward.runtime.surfaces.cli.flows.forms import difference_data, line_data
from stateward.runtime.surfaces.cli.flows.naming import known
from stateward.runtime.surfaces.cli.flows.shown import difference_lines
from stateward.runtime.surfaces.cli.flows.sources import document_at, imported_by
from stateward.runtime.surfaces.cli.flows.where import JSON, Where, about_flows
from stateward.runtime.surfaces.cli.output import emit, emit_json
from stateward.runtime.surfaces.cli.reading import FileHost


@click.command("diff")
@click.argument("named", metavar="SLUG")
@click.argument("old", required=False, metavar="[OLD|FILE]")
@click.argument("new", required=False, metavar="[NEW]")
@click.option("--check", is_flag=True, help="Exit with 1 when there is a difference.")
@JSON
@about_flows
def diff_command(*, named: str, old: str | None, new: str | None, check: bool, as_json: bool, where: Where) -> None:
    """Show what changed in a flow: in its last revision, since revision OLD, from OLD to NEW, or from its last revision to a FILE.

    A FILE whose name is a number is named with its folder: ./7.
    """
    with where.reading() as flows:
        row = known(flows, named)
        found = _compared(flows, row, old, new)
    if as_json:
        emit_json(line_data(slug=row.last.slug, same=not found.text, **difference_data(found)))
    elif found.text:
        _show(found)
    else:
        emit(f"{found.old} and {found.new} are the same\n")
    if check and found.text:
        raise click.exceptions.Exit(STATUS_FOUND)


def _compared(flows: FlowAuthority, row: FlowRow, old: str | None, new: str | None) -> Difference:
    if old is not None and new is None and _number(old) is None:
        return _with_file(flows, row, old)
    last = row.last.revision
    if old is None and last == 1:
        raise Stop(STATUS_USAGE, f"`{row.last.slug}` has one revision, and no other to compare it with", "name a file to compare it with")
    first = last - 1 if old is None else _revision(row, old)
    second = last if new is None else _revision(row, new)
    found = flows.difference(row.last.slug, first, second)
    if isinstance(found, Refusal):
        raise Stop(STATUS_USAGE, found.message, " or ".join(found.allowed))
    return found


def _with_file(flows: FlowAuthority, row: FlowRow, path: str) -> Difference:
    document = document_at(path)
    revision = flows.source(row.last.slug, row.last.revision)
    assert revision is not None, "the last revision of a flow is there"
    file = replace(revision, content=document.data, modules=imported_by(document, revision.slug))
    return revisions_compared(revision, file, f"{revision.slug} revision {revision.revision}", document.name)


def _number(text: str) -> int | None:
    """Read the number of a revision; None for what is none."""
    if not (text.isascii() and text.isdecimal() and len(text) <= len(str(REVISION_MAX))):
        return None
    return int(text)


def _revision(row: FlowRow, text: str) -> int:
    number = _number(text)
    if number is None:
        raise Stop(STATUS_USAGE, f"`{text}` is no number of a revision", f"name one from 1 to {row.last.revision}")
    return number


def _show(found: Difference) -> None:
    """Print a difference: at a terminal fit for one, elsewhere as it is, so that a program can apply it."""
    if sys.stdout is not None and sys.stdout.isatty():
        colour = FileHost().look().colour
        emit("".join(f"{line}\n" for line in difference_lines(found.text, colour=colour)))
    else:
        put(found.text.encode("utf-8", "surrogateescape"))
    if found.cut:
        click.echo("warning: the difference is larger than what is shown of one", err=True)
