"""`stateward flow`: flows in the Workspace."""

import json
import sys
from pathlib import Path
from typing import Final, assert_never

import click
from rich.table import Table
from rich.text import Text

from stateward.compiler.diagnostics.text import render
from stateward.compiler.limits import FLOW_SOURCE_BYTES_MAX
from stateward.runtime.core.refusal import Refusal
from stateward.runtime.engine.flows import NotCompiled, save_flow
from stateward.runtime.ports import Revision, Saved, StaleBase
from stateward.runtime.surfaces.cli.errors import STATUS_ENVIRONMENT, STATUS_FOUND, STATUS_USAGE, Stop, faults_shown
from stateward.runtime.surfaces.cli.present import show, terminal_console
from stateward.runtime.surfaces.cli.reading import FileHost
from stateward.runtime.wiring import account_name, locate, locate_or_create, program_version, reading, writing

SUFFIX: Final = ".dcdl"
PAGE: Final = 500

_WORKDIR = click.option("--workdir", type=click.Path(path_type=Path), default=".", metavar="DIR", help="A folder of the Workspace.")
_STORE = click.option("--store", type=click.Path(path_type=Path), metavar="FILE", help="The store, where it is not the usual one.")


@click.group("flow")
def flow_group() -> None:
    """Keep flows in the Workspace, with every revision."""


@flow_group.command("save")
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--slug", help="What it is kept under; the file's name without its ending, where it is not given.")
@click.option("--base", type=click.IntRange(min=1), metavar="N", help="The revision it was made from; left out for a new slug.")
@click.option("--note", default="", help="What is said about the revision.")
@_WORKDIR
@_STORE
def save_command(*, path: Path, slug: str | None, base: int | None, note: str, workdir: Path, store: Path | None) -> None:
    """Compile a flow and keep it as a new revision. What does not compile is not kept."""
    content = _content(path)
    slug = slug or path.name.removesuffix(SUFFIX)
    with faults_shown(), writing(locate_or_create(workdir, store)) as runtime:
        saved = save_flow(
            runtime.flows,
            runtime.location.workspace,
            content,
            slug=slug,
            base=base,
            author=account_name(),
            note=note,
            compiler=program_version(),
            clock=runtime.clock,
        )
    match saved:
        case Saved(revision=revision, created=created):
            click.echo(f"{'saved' if created else 'nothing changed:'} workspace:{slug} revision {revision.revision}")
        case StaleBase(current=None):
            raise Stop(STATUS_FOUND, f"no flow `{slug}` is kept, so there is no revision {base} of it", "leave out `--base`")
        case StaleBase(current=current):
            assert current is not None
            raise Stop(STATUS_FOUND, *_stale(slug, base, current))
        case NotCompiled(compilation=compilation):
            click.echo(render(compilation.diagnostics, FileHost().look()), err=True, nl=False)
            raise Stop(STATUS_FOUND, f"`{path}` is not kept: it does not compile as `{slug}`")
        case Refusal():
            raise Stop(STATUS_USAGE, saved.message, "; ".join(saved.allowed))
        case _:
            assert_never(saved)


def _stale(slug: str, base: int | None, current: Revision) -> tuple[str, str]:
    made_from = "no revision" if base is None else f"revision {base}"
    return (
        f"`{slug}` is at revision {current.revision} by {current.author or 'somebody'}, and what is to be saved was made from {made_from}",
        f"bring the two together and save with `--base {current.revision}`",
    )


def _content(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(FLOW_SOURCE_BYTES_MAX + 1)
    except FileNotFoundError as missing:
        raise Stop(STATUS_USAGE, f"`{path}` does not exist", "check the path") from missing
    except IsADirectoryError as folder:
        raise Stop(STATUS_USAGE, f"`{path}` is a folder", "name a file in it") from folder
    except OSError as fault:
        reason = (fault.strerror or type(fault).__name__).lower()
        raise Stop(STATUS_ENVIRONMENT, f"`{path}` cannot be read: {reason}", "make it readable") from fault


@flow_group.command("list")
@click.option("--json", "as_json", is_flag=True, help="Write JSON, one flow a line.")
@_WORKDIR
@_STORE
def list_command(workdir: Path, store: Path | None, *, as_json: bool) -> None:
    """List the flows of the Workspace with their current revisions."""
    found: list[Revision] = []
    with faults_shown(), reading(locate(workdir, store)) as runtime:
        while page := runtime.flows.sources(runtime.location.workspace, PAGE, found[-1].slug if found else ""):
            found += page
    if as_json:
        for each in found:
            sys.stdout.write(json.dumps(_data(each)) + "\n")
        return
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for name in ("selector", "revision", "saved", "by"):
        table.add_column(name)
    for each in found:
        saved = each.created.isoformat(timespec="seconds")
        table.add_row(Text(f"workspace:{each.slug}"), str(each.revision), saved, Text(each.author))
    show(terminal_console(), table if found else Text("no flow is kept in this Workspace; `stateward flow save FILE` keeps one"))


def _data(revision: Revision) -> dict[str, str | int]:
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
