"""`stateward flow save`: files into the Workspace, each as a new revision.

Invariants: every file is reported; one that is not kept keeps no other from being kept; what a file was made from is remembered only when
the file is the same as a revision.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, assert_never

import click

from stateward.compiler.cli.host import STANDARD_INPUT, Document
from stateward.compiler.cli.output import fail
from stateward.compiler.diagnostics.report import Failure
from stateward.compiler.diagnostics.wording import counted
from stateward.runtime.core.refusal import Refusal, RefusalCode
from stateward.runtime.engine.selectors import is_slug
from stateward.runtime.ports import Conflict, FlowAuthority, NotCompiled, SaveAnswer, Saved
from stateward.runtime.session.chain import digest_of
from stateward.runtime.surfaces.cli.errors import STATUS_FOUND, STATUS_USAGE, Stop
from stateward.runtime.surfaces.cli.flows.bases import Base, Bases, base_of
from stateward.runtime.surfaces.cli.flows.conflicts import of_a_save
from stateward.runtime.surfaces.cli.flows.forms import conflict_data, facts_data, line_data, refusal_data
from stateward.runtime.surfaces.cli.flows.shown import tell_conflict, tell_diagnostics
from stateward.runtime.surfaces.cli.flows.sources import Sources, imported_by, slug_for, sources_of
from stateward.runtime.surfaces.cli.flows.where import DRY_RUN, JSON, NOTE, Where, about_flows
from stateward.runtime.surfaces.cli.output import emit, emit_json

Outcome: TypeAlias = SaveAnswer | Failure
_OF_THE_SOURCE: Final = frozenset({RefusalCode.NAME_DIFFERS})
"""Refusals of what a file holds; others are of how the command was used."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """How files are to be kept."""

    slug: str | None
    base: int | None
    override: bool
    note: str
    dry_run: bool


@dataclass(frozen=True, slots=True)
class Kept:
    """What became of one file."""

    document: Document | Failure
    slug: str
    outcome: Outcome
    brought_back: bool = False
    """Whether the flow was removed before."""

    @property
    def document_name(self) -> str:
        """What the file is called; empty where none could be read."""
        return self.document.name if isinstance(self.document, Document) else ""

    @property
    def digest(self) -> str:
        """The digest of what it holds; empty where it could not be read."""
        return digest_of(self.document.data) if isinstance(self.document, Document) else ""

    @property
    def status(self) -> int:
        """The exit status that this alone would end with."""
        match self.outcome:
            case Saved():
                return 0
            case Failure(status=status):
                return status
            case Refusal(code=code) if code not in _OF_THE_SOURCE:
                return STATUS_USAGE
            case _:
                return STATUS_FOUND


@click.command("save")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option("--slug", help="What it is kept under; the file's name without its ending, where it is not given.")
@click.option("--base", type=click.IntRange(min=1), metavar="N", help="The revision it was made from, where that is not remembered.")
@click.option("--override", is_flag=True, help="Keep it on whatever is the last revision; the note says so.")
@NOTE
@DRY_RUN
@JSON
@about_flows
def save_command(
    *,
    paths: Sequence[str],
    slug: str | None,
    base: int | None,
    override: bool,
    note: str,
    dry_run: bool,
    as_json: bool,
    where: Where,
) -> None:
    """Compile flows and keep each as a new revision. What does not compile is not kept.

    PATH is a file, a folder (every *.dcdl below it that is a flow), a pattern in quotes such as 'flows/**/*.dcdl', or `-` with --slug.
    """
    sources = sources_of(paths)
    if (slug is not None or base is not None) and (sources.several or len(sources.found) > 1):
        raise Stop(STATUS_USAGE, "`--slug` and `--base` are for one file, and several are named", "name one file, or leave them out")
    if slug == "":
        raise Stop(STATUS_USAGE, "an empty slug names no flow", "name one with `--slug`, or leave it out to keep the file under its name")
    if slug is None and STANDARD_INPUT in paths:
        raise Stop(STATUS_USAGE, "what standard input holds has no name to be kept under", "name one with `--slug`")
    wanted = Wanted(slug, base, override, note, dry_run)
    kept: list[Kept] = []
    try:
        for each in _saved(where, sources, wanted, quiet=as_json):
            kept.append(each)
            _report(each, wanted, as_json=as_json)
    finally:
        if not dry_run:
            where.remember(dict(_learnt(kept)))
    if sources.several and not as_json and any(isinstance(each.document, Document) for each in kept):
        emit(_summary(kept, sources.passed_over, dry_run=dry_run))
    _exit(kept)


def _exit(kept: Sequence[Kept]) -> None:
    status = max((each.status for each in kept), default=0)
    if status:
        raise click.exceptions.Exit(status)


def _saved(where: Where, sources: Sources, wanted: Wanted, *, quiet: bool) -> Iterator[Kept]:
    trial, bases = where.trial(), where.bases()
    if trial is not None:
        # Tried in an empty Workspace first, so that what is refused begins none.
        tried = list(_each_saved(trial, bases, sources, wanted))
        if wanted.dry_run or not any(isinstance(each.outcome, Saved) for each in tried):
            yield from tried
            return
    if wanted.dry_run:
        with where.reading() as flows:
            yield from _each_saved(flows, bases, sources, wanted)
        return
    with where.writing() as opened:
        opened.tell(quiet=quiet)
        yield from _each_saved(opened.flows, bases, sources, wanted)


def _each_saved(flows: FlowAuthority, bases: Bases, sources: Sources, wanted: Wanted) -> Iterator[Kept]:
    taken: dict[str, str] = {}
    for document in sources.found:
        if isinstance(document, Failure):
            yield Kept(document, "", document)
            continue
        slug = wanted.slug or slug_for(document)
        first = taken.setdefault(slug, document.name)
        if first != document.name:
            message = f"`{document.name}` would be kept as `{slug}`, as `{first}` is"
            yield Kept(document, slug, Failure(message, "give it another name", STATUS_USAGE))
        else:
            yield _one_saved(flows, bases, document, slug, wanted)


def _one_saved(flows: FlowAuthority, bases: Bases, document: Document, slug: str, wanted: Wanted) -> Kept:
    row = flows.find(slug) if is_slug(slug) else None
    removed = row is not None and row.removed is not None
    # What was removed since is not brought back unless somebody says so.
    base = wanted.base if wanted.base is not None or row is None or removed else _base_of(flows, bases, document, slug)
    modules = imported_by(document, slug)
    outcome = flows.save(
        slug, document.data, base=base, modules=modules, note=wanted.note, override=wanted.override, dry_run=wanted.dry_run
    )
    return Kept(document, slug, outcome, brought_back=removed)


def _base_of(flows: FlowAuthority, bases: Bases, document: Document, slug: str) -> int | None:
    """Say which revision a file was made from: the one that has its very content, else the one that is remembered.

    In this order, so that an old state of a file, such as one of another branch, does not take the place of what was saved since.
    """
    same = flows.holding(slug, digest_of(document.data))
    if same is not None:
        return same.revision
    known = bases.of(document.path or document.name)
    return known.revision if known is not None and (known.workspace, known.slug) == (flows.workspace, slug) else None


def _learnt(kept: Sequence[Kept]) -> Iterator[tuple[str, Base]]:
    for each in kept:
        if isinstance(each.outcome, Saved) and isinstance(each.document, Document) and each.document.path is not None:
            yield each.document.path, base_of(each.outcome.revision)


# --- telling ------------------------------------------------------------------------------------------------------------------------


def _report(kept: Kept, wanted: Wanted, *, as_json: bool) -> None:
    if as_json:
        emit_json(line_data(**_data(kept, wanted)))
    elif isinstance(kept.outcome, Saved):
        emit(f"{_saved_line(kept, kept.outcome, dry_run=wanted.dry_run)}\n")
    else:
        _tell_details(kept)
        fail(_failure(kept))


def _saved_line(kept: Kept, saved: Saved, *, dry_run: bool) -> str:
    revision = f"workspace:{kept.slug} revision {saved.revision.revision}"
    if not saved.created:
        return f"nothing changed: {revision}"
    back = ", which brings it back" if kept.brought_back else ""
    return f"{'would save' if dry_run else 'saved'} {revision}{back}"


def _tell_details(kept: Kept) -> None:
    match kept.outcome:
        case Conflict() as conflict:
            tell_conflict(conflict)
        case NotCompiled() as refused:
            assert isinstance(kept.document, Document)
            tell_diagnostics(kept.document, kept.slug, refused)
        case _:
            pass


def _failure(kept: Kept) -> Failure:
    """Say in a line, with its remedy, why a file was not kept."""
    match kept.outcome:
        case Failure() as failure:
            return failure
        case Conflict() as conflict:
            return Failure(*of_a_save(conflict, kept.document_name, kept.digest), kept.status)
        case NotCompiled():
            message = f"`{kept.document_name}` is not kept: it does not compile as `{kept.slug}`"
            return Failure(message, f"mend it; `stateward compile {kept.document_name}` tells whether it compiles", kept.status)
        case Refusal() as refusal:
            return Failure(refusal.message, " or ".join(refusal.allowed), kept.status)
        case Saved():
            raise AssertionError("what was kept did not fail")
    assert_never(kept.outcome)


def _data(kept: Kept, wanted: Wanted) -> dict[str, Any]:
    told: dict[str, Any] = {"file": kept.document_name or None, "slug": kept.slug or None, "dry_run": wanted.dry_run}
    match kept.outcome:
        case Saved(revision=revision, created=created):
            return {**told, "result": "saved" if created else "unchanged", "revision": facts_data(revision.facts)}
        case Conflict() as conflict:
            told |= {"result": "conflict", "conflict": conflict_data(conflict)}
        case NotCompiled(diagnostics=diagnostics):
            told |= {"result": "not_compiled", "diagnostics": list(diagnostics)}
        case Refusal() as refusal:
            told |= {"result": "refused", "refusal": refusal_data(refusal)}
        case Failure():
            told |= {"result": "failed"}
        case _:
            assert_never(kept.outcome)
    failure = _failure(kept)
    return {**told, "message": failure.message, "help": failure.remedy}


def _summary(kept: Sequence[Kept], passed_over: int, *, dry_run: bool) -> str:
    saved = [each.outcome for each in kept if isinstance(each.outcome, Saved)]
    new = sum(each.created for each in saved)
    counts = [f"{new} {'to save' if dry_run else 'saved'}", f"{len(saved) - new} unchanged"]
    if len(saved) < len(kept):
        counts.append(f"{len(kept) - len(saved)} not kept")
    passed = f"; passed over {counted(passed_over, 'file')} that {'is' if passed_over == 1 else 'are'} no flow" if passed_over else ""
    return f"{counted(len(kept), 'file')}: {', '.join(counts)}{passed}\n"
