"""`stateward flow`: flows in the Workspace."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final, assert_never

import click
from rich.table import Table
from rich.text import Text

from stateward.compiler.cli.host import SELECTORS
from stateward.compiler.diagnostics.report import Failure
from stateward.compiler.diagnostics.text import render
from stateward.compiler.limits import FLOW_SOURCE_BYTES_MAX
from stateward.runtime.core.refusal import Refusal
from stateward.runtime.engine.flows import WorkspaceFlows
from stateward.runtime.ports import Clock, Conflict, FlowRow, FlowStore, NotCompiled, Revision, RevisionFacts, Saved
from stateward.runtime.surfaces.cli.errors import STATUS_FOUND, STATUS_USAGE, Stop, faults_shown
from stateward.runtime.surfaces.cli.options import STORE, WORKDIR
from stateward.runtime.surfaces.cli.output import emit, emit_json
from stateward.runtime.surfaces.cli.present import show, terminal_console
from stateward.runtime.surfaces.cli.reading import FileHost
from stateward.runtime.wiring import (
    Place,
    account_name,
    is_new,
    locate,
    locate_or_begin,
    program_version,
    reading,
    rehearsal,
    writing,
)

SUFFIX: Final = ".dcdl"
PAGE: Final = 500


@click.group("flow")
def flow_group() -> None:
    """Keep flows in the Workspace, with every revision."""


@flow_group.command("save")
@click.argument("path", type=Path)
@click.option("--slug", help="What it is kept under; the file's name without its ending, where it is not given.")
@click.option("--base", type=click.IntRange(min=1), metavar="N", help="The revision it was made from; left out for a new slug.")
@click.option("--note", default="", help="What is said about the revision.")
@WORKDIR
@STORE
def save_command(*, path: Path, slug: str | None, base: int | None, note: str, workdir: Path, store: Place | None) -> None:
    """Compile a flow and keep it as a new revision. What does not compile is not kept."""
    content = content_of(path)
    slug = slug or path.name.removesuffix(SUFFIX)
    _require_unicode("note", note)
    saving = _Saving(path, content, slug, base, note)
    with faults_shown():
        if is_new(workdir, store):
            # Tried in an empty Workspace first, so that what is refused begins none.
            trial = rehearsal()
            saving.saved(trial.flows, trial.workspace, trial.clock)
        with writing(locate_or_begin(workdir, store)) as runtime:
            saved = saving.saved(runtime.flows, runtime.location.workspace, runtime.clock)
            location = runtime.location
    if location.begun:
        emit(f"began Workspace {location.workspace}\n")
    emit(f"{'saved' if saved.created else 'nothing changed:'} workspace:{slug} revision {saved.revision.revision}\n")


@dataclass(frozen=True, slots=True)
class _Saving:
    """What is to be saved."""

    path: Path
    content: bytes
    slug: str
    base: int | None
    note: str

    def saved(self, flows: FlowStore, workspace: str, clock: Clock) -> Saved:
        """Save it. Raises Stop when it is not kept."""
        authority = WorkspaceFlows(flows, workspace, account_name(), program_version(), clock)
        saved = authority.save(self.slug, self.content, base=self.base, note=self.note)
        match saved:
            case Saved():
                return saved
            case Conflict(current=None):
                raise Stop(STATUS_FOUND, f"no flow `{self.slug}` is kept, so there is no revision {self.base} of it", "leave out `--base`")
            case Conflict(current=current):
                assert current is not None
                raise Stop(STATUS_FOUND, *_stale(self.slug, self.base, current))
            case NotCompiled(compilation=compilation):
                assert compilation is not None, "it happened in this process"
                click.echo(render(compilation.diagnostics, FileHost().look(err=True)), err=True, nl=False)
                raise Stop(STATUS_FOUND, f"`{self.path}` is not kept: it does not compile as `{self.slug}`")
            case Refusal():
                raise Stop(STATUS_USAGE, saved.message, " or ".join(saved.allowed))
        assert_never(saved)


def _stale(slug: str, base: int | None, current: Revision) -> tuple[str, str]:
    made_from = "no revision" if base is None else f"revision {base}"
    return (
        f"`{slug}` is at revision {current.revision} by {current.author or 'somebody'}, and what is to be saved was made from {made_from}",
        f"bring the two together and save with `--base {current.revision}`",
    )


def content_of(path: Path) -> bytes:
    """Read a source from a file, to its end or to one byte more than a source has. Raises Stop."""
    if str(path).startswith(SELECTORS):
        raise Stop(STATUS_USAGE, f"`{path}` is no file", "name the file it is saved from")
    found = FileHost().find(str(path), bytes_max=FLOW_SOURCE_BYTES_MAX)
    document = found if isinstance(found, Failure) else next(found.documents) if not found.is_folder else None
    if document is None:
        raise Stop(STATUS_USAGE, f"`{path}` is a folder", "name a file in it")
    if isinstance(document, Failure):
        raise Stop(document.status, document.message, document.remedy)
    return document.data


def _require_unicode(what: str, text: str) -> None:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as problem:
        raise Stop(STATUS_USAGE, f"the {what} is no Unicode text", "write it in UTF-8") from problem


@flow_group.command("list")
@click.option("--json", "as_json", is_flag=True, help="Write JSON, one flow a line.")
@WORKDIR
@STORE
def list_command(workdir: Path, store: Place | None, *, as_json: bool) -> None:
    """List the flows of the Workspace with their current revisions."""
    found: list[FlowRow] = []
    with faults_shown(), reading(locate(workdir, store)) as runtime:
        while page := runtime.flows.sources(runtime.location.workspace, PAGE, found[-1].last.slug if found else ""):
            found += page
    if as_json:
        for each in found:
            emit_json(_data(each.last))
        return
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for name in ("selector", "revision", "saved", "by"):
        table.add_column(name)
    for last in (row.last for row in found):
        saved = last.created.isoformat(timespec="seconds")
        table.add_row(Text(f"workspace:{last.slug}"), str(last.revision), saved, Text(last.author))
    show(terminal_console(), table if found else Text("no flow is kept in this Workspace; `stateward flow save FILE` keeps one"))


def _data(revision: RevisionFacts) -> dict[str, str | int]:
    return {
        "selector": f"workspace:{revision.slug}",
        "flow_id": revision.flow_id,
        "revision": revision.revision,
        "content_digest": revision.content_digest,
        "definition_digest": revision.definition_digest,
        "author": revision.author,
        "note": revision.note,
        "created": revision.created.isoformat(),
    }
