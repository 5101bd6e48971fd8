"""`stateward flow export` and `import`: flows with every revision as a file that stands by itself, and back.

Invariants: a bundle is written whole or not at all; one is taken in whole or not at all; its digest is told, so that whoever gets it can
say which one was meant.
"""

from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from typing import Final, assert_never

import click

from stateward.compiler.cli.host import SELECTORS, STANDARD_INPUT, read_standard_input
from stateward.compiler.cli.output import fail, put, say
from stateward.compiler.diagnostics.report import Failure
from stateward.compiler.diagnostics.wording import listed
from stateward.runtime.core.refusal import Refusal
from stateward.runtime.ports import BUNDLE_BYTES_MAX, Brought, BundleConflict, Diverged, FlowAuthority, TakeInAnswer, TakenIn
from stateward.runtime.surfaces.cli.errors import STATUS_FOUND, STATUS_USAGE, Stop
from stateward.runtime.surfaces.cli.flows.forms import brought_data, diverged_data, line_data, refusal_data
from stateward.runtime.surfaces.cli.flows.naming import slugs_named
from stateward.runtime.surfaces.cli.flows.shown import author_shown, moment, note_shown, tell
from stateward.runtime.surfaces.cli.flows.where import DRY_RUN, JSON, NOTE, Where, about_flows
from stateward.runtime.surfaces.cli.output import emit, emit_json
from stateward.runtime.surfaces.cli.reading import FileHost
from stateward.runtime.surfaces.cli.writing import shown_path, write_file

DIVERGED_MAX: Final = 20
"""Flows of a bundle of which it is shown where their histories part."""


# --- export -------------------------------------------------------------------------------------------------------------------------


@click.command("export")
@click.argument("named", nargs=-1, metavar="[SLUG]...")
@click.option("-o", "--output", required=True, metavar="FILE", help="Where to write the bundle; `-` for standard output.")
@about_flows
def export_command(*, named: Sequence[str], output: str, where: Where) -> None:
    """Write flows with every revision to a file: those named, by slugs or patterns in quotes, or all, the removed ones too.

    The digest of the bundle is told on standard error.
    """
    with where.reading() as flows:
        pieces = flows.export(slugs_named(flows, named))
        if isinstance(pieces, Refusal):
            raise Stop(STATUS_USAGE, pieces.message, " or ".join(pieces.allowed))
        digest = _written(pieces, output)
    say(f"bundle {digest}\n", err=True)


def _written(pieces: Iterator[bytes], output: str) -> str:
    """Write a bundle and give its digest. Raises Stop."""
    digest = _Digest()
    if output == STANDARD_INPUT:
        for piece in digest.of(pieces):
            put(piece)
    else:
        failure = write_file(output, digest.of(pieces))
        if failure is not None:
            raise Stop(failure.status, failure.message, failure.remedy)
    return digest.text()


class _Digest:
    """The digest of a bundle that goes by in pieces of any size: it covers every byte before the last line."""

    def __init__(self) -> None:
        self._hash = sha256()
        self._line = b""

    def of(self, pieces: Iterable[bytes]) -> Iterator[bytes]:
        """Let pieces go by."""
        for piece in pieces:
            held = self._line + piece
            end = held.rfind(b"\n", 0, -1) + 1
            self._hash.update(held[:end])
            self._line = held[end:]
            yield piece

    def text(self) -> str:
        """Give the digest of what has gone by."""
        return f"sha256:{self._hash.hexdigest()}"


# --- import -------------------------------------------------------------------------------------------------------------------------


@click.command("import")
@click.argument("file", metavar="FILE")
@click.option("--expect", metavar="DIGEST", help="The digest that the bundle is to have, as exporting it told.")
@click.option("--accept-definitions", is_flag=True, help="Take definitions that this program does not make of their sources.")
@NOTE
@DRY_RUN
@JSON
@about_flows
def import_command(
    *, file: str, expect: str | None, accept_definitions: bool, note: str, dry_run: bool, as_json: bool, where: Where
) -> None:
    """Take in a bundle: what is not here yet of each flow, or nothing. FILE is `-` for standard input.

    Numbers, authors, notes and times stay as they were; what was brought, by whom and from where stands in the history.
    """
    bundle = _read(file)

    def taken(flows: FlowAuthority, *, dry: bool) -> TakeInAnswer:
        return flows.take_in(bundle, note=note, expected=expect, accept=accept_definitions, dry_run=dry)

    trial = where.trial()
    if trial is not None:
        # Tried in an empty Workspace first, so that what is refused begins none.
        answer = taken(trial, dry=True)
        if dry_run or not isinstance(answer, TakenIn):
            _tell(answer, dry_run=dry_run, as_json=as_json)
            return
    if dry_run:
        with where.reading() as flows:
            answer = taken(flows, dry=True)
    else:
        with where.writing() as opened:
            opened.tell(quiet=as_json)
            answer = taken(opened.flows, dry=False)
    _tell(answer, dry_run=dry_run, as_json=as_json)


def _read(file: str) -> bytes:
    """Read a bundle, or one byte more than one has. Raises Stop."""
    if file == STANDARD_INPUT:
        found = read_standard_input("<stdin>", BUNDLE_BYTES_MAX)
    else:
        named = FileHost().find(f"./{file}" if file.startswith(SELECTORS) else file, bytes_max=BUNDLE_BYTES_MAX)
        if not isinstance(named, Failure) and named.is_folder:
            raise Stop(STATUS_USAGE, f"`{shown_path(file)}` is a folder", "name a file in it")
        found = named if isinstance(named, Failure) else next(named.documents)
    if isinstance(found, Failure):
        raise Stop(found.status, found.message, found.remedy)
    return found.data


def _tell(answer: TakeInAnswer, *, dry_run: bool, as_json: bool) -> None:
    """Tell what came of a bundle. Ends the command with 1 where it was not taken in."""
    match answer:
        case TakenIn() if as_json:
            flows = [brought_data(each) for each in answer.flows]
            emit_json(line_data(result="imported", dry_run=dry_run, bundle=answer.bundle, origin=answer.origin, flows=flows))
        case TakenIn():
            emit("".join(f"{_brought_line(each, dry_run=dry_run)}\n" for each in answer.flows))
            if not answer.flows or any(each.first <= each.last for each in answer.flows):
                emit(f"{'would import' if dry_run else 'imported'} bundle {answer.bundle} of Workspace {answer.origin}\n")
            else:
                emit(f"nothing changed: all of bundle {answer.bundle} of Workspace {answer.origin} is here\n")
        case BundleConflict():
            _tell_conflict(answer, dry_run=dry_run, as_json=as_json)
        case Refusal():
            _tell_refusal(answer, dry_run=dry_run, as_json=as_json)
        case _:
            assert_never(answer)


def _brought_line(brought: Brought, *, dry_run: bool) -> str:
    if brought.first > brought.last:
        return f"nothing changed: workspace:{brought.slug} revision {brought.last}{', which is removed' if brought.removed else ''}"
    revisions = f"revision {brought.last}" if brought.first == brought.last else f"revisions {brought.first} to {brought.last}"
    return f"{'would import' if dry_run else 'imported'} workspace:{brought.slug} {revisions}{_effect(brought, dry_run=dry_run)}"


def _effect(brought: Brought, *, dry_run: bool) -> str:
    """Say whether a flow that something was brought of is hidden by it, or shown again."""
    match brought.was_removed, brought.removed:
        case False, True if brought.first > 1:
            return f", which {'would hide' if dry_run else 'hides'} the flow: it was removed where the bundle comes from"
        case _, True:
            return f", and it {'would stay' if dry_run else 'is'} removed, as it is where the bundle comes from"
        case True, False:
            return f", which {'would bring' if dry_run else 'brings'} the flow back: it was removed here"
        case _:
            return ""


def _tell_conflict(conflict: BundleConflict, *, dry_run: bool, as_json: bool) -> None:
    names = listed([each.slug for each in conflict.flows])
    message = f"nothing was imported: {names} {'has' if len(conflict.flows) == 1 else 'have'} another history here than in the bundle"
    remedy = "import it into a Workspace of its own, and save what is wanted of it here"
    if as_json:
        flows = [diverged_data(each) for each in conflict.flows]
        emit_json(line_data(result="conflict", dry_run=dry_run, bundle=conflict.bundle, flows=flows, message=message, help=remedy))
    else:
        tell([line for each in conflict.flows[:DIVERGED_MAX] for line in _diverged_lines(each)])
        fail(Failure(message, remedy, STATUS_FOUND))
    raise click.exceptions.Exit(STATUS_FOUND)


def _diverged_lines(diverged: Diverged) -> Iterator[str]:
    yield f"  workspace:{diverged.slug} differs from revision {diverged.revision} on"
    there = diverged.there
    for where, author, created, note in (
        ("here     ", diverged.here.author, diverged.here.created, diverged.here.note),
        ("in bundle", there.author, there.created, there.note),
    ):
        yield f"    {where}  {moment(created)}  {author_shown(author)}  {note_shown(note)}".rstrip()


def _tell_refusal(refusal: Refusal, *, dry_run: bool, as_json: bool) -> None:
    remedy = " or ".join(refusal.allowed)
    if as_json:
        told = refusal_data(refusal)
        emit_json(line_data(result="refused", dry_run=dry_run, refusal=told, message=refusal.message, help=remedy))
    else:
        fail(Failure(refusal.message, remedy, STATUS_FOUND))
    raise click.exceptions.Exit(STATUS_FOUND)
