"""`stateward ps`, `why` and `replay`: many Workers in rows, one Worker explained, one log held against another flow. They only read."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import click
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from stateward.compiler.diagnostics.cells import safe
from stateward.compiler.diagnostics.wording import counted
from stateward.compiler.flow.definition import CompiledFlowDefinition
from stateward.compiler.pipeline import compile_source
from stateward.runtime.core.refusal import Refusal
from stateward.runtime.engine.explaining import Kind, PartFound
from stateward.runtime.engine.overview import OverviewRow, Why
from stateward.runtime.engine.replaying import Replayed
from stateward.runtime.engine.selectors import parse_selector
from stateward.runtime.engine.view import FlowView
from stateward.runtime.ports import Snapshot, Unresolved
from stateward.runtime.session.chain import time_text
from stateward.runtime.surfaces.cli.errors import STATUS_FOUND, STATUS_USAGE, Stop, faults_shown
from stateward.runtime.surfaces.cli.flows.sources import content_of
from stateward.runtime.surfaces.cli.options import SERVER, STORE, WORKDIR
from stateward.runtime.surfaces.cli.output import emit
from stateward.runtime.surfaces.cli.present import WORDS, plain, show, terminal_console, value_line
from stateward.runtime.surfaces.cli.reading import FileHost
from stateward.runtime.surfaces.cli.show import chosen_id, reads_a_worker
from stateward.runtime.wiring import Place, Runtime, locate, reading

PAGE: Final = 200


@click.command("ps")
@click.option("--stuck", is_flag=True, help="Only those that do not go on by themselves.")
@click.option("--all", "everything", is_flag=True, help="Those whose flow has ended, too.")
@WORKDIR
@STORE
@click.option("--json", "as_json", is_flag=True, help="Write JSON, one Worker a line.")
def ps_command(*, stuck: bool, everything: bool, workdir: Path, store: Place | None, as_json: bool) -> None:
    """List the Workers of the Workspace: where each stands, and what keeps it there."""
    with faults_shown(), reading(locate(workdir, store)) as runtime:
        rows = [row for row in _rows(runtime) if _is_wanted(row, stuck=stuck, everything=everything)]
    if as_json:
        for row in rows:
            emit(json.dumps(asdict(row), default=_plainly) + "\n")
    elif rows:
        show(terminal_console(), _table(rows))
    else:
        show(terminal_console(), Text("no Worker is stuck" if stuck else "no Worker is active; `--all` lists those that have ended"))


def _rows(runtime: Runtime) -> Iterator[OverviewRow]:
    after = ""
    while page := runtime.engine.workers(runtime.location.workspace, PAGE, after):
        yield from page
        after = page[-1].worker


def _is_wanted(row: OverviewRow, *, stuck: bool, everything: bool) -> bool:
    if row.problem:
        return True
    if stuck:
        return row.flow is not None and bool(row.flow.stuck)
    return everything or row.flow is None or row.flow.status == "active"


def _table(rows: Sequence[OverviewRow]) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for name in ("worker", "flow", "state", "since", "requests"):
        table.add_column(name, no_wrap=name in {"worker", "since"})
    table.add_column("what keeps it there")
    for row in rows:
        table.add_row(row.worker, *_cells(row))
    return table


def _cells(row: OverviewRow) -> Iterator[RenderableType]:
    flow = row.flow
    if flow is None:
        yield from (Text("none"), Text(""), Text(""), Text(""), plain(row.problem, "yellow"))
        return
    yield plain(flow.selector)
    yield Text.assemble((flow.state, "bold"), f" ({flow.visit})", "" if flow.status == "active" else f" {flow.status}")
    yield Text("" if flow.since is None else flow.since.strftime("%Y-%m-%d %H:%M:%S"))
    yield Text(str(flow.attempts))
    yield plain(row.problem or flow.stuck or (f"verified by {flow.verified_by}" if flow.verified_by else ""), "yellow")


@click.command("why")
@reads_a_worker
def why_command(worker: str | None, workdir: Path, store: Place | None, *, as_json: bool) -> None:
    """Say why a Worker stands where it stands, and for each way out what is missing.

    WORKER is its id, or the beginning or end of it; without one it is the Worker that was started last.
    """
    with faults_shown(), reading(locate(workdir, store)) as runtime:
        why = runtime.engine.why(chosen_id(runtime, worker))
    assert isinstance(why, Why), "a listed Worker is there"
    if as_json:
        emit(json.dumps(_why_data(why), default=_plainly, indent=2) + "\n")
    else:
        show(terminal_console(), *_explained(why))


def _why_data(why: Why) -> dict[str, Any]:
    flow = why.view.flow
    return {
        "worker": why.view.worker,
        "state": None if flow is None else flow.state,
        "visit": None if flow is None else flow.visit,
        "status": None if flow is None else flow.status,
        "stuck": why.stuck,
        "verified_by": None if why.verified is None else why.verified.holder,
        "answer": None if why.answer is None else asdict(why.answer),
        "ways": [asdict(each) for each in why.ways],
    }


def _explained(why: Why) -> Iterator[RenderableType]:
    flow = why.view.flow
    if flow is None:
        yield Text("no flow was started")
        return
    yield Text.assemble("in ", (flow.state, "bold"), f", visit {flow.visit}, {flow.status}")
    yield _came_by(flow, why)
    if why.stuck:
        yield Text.assemble(("does not go on by itself: ", "yellow"), plain(why.stuck))
    if why.verified is not None:
        yield plain(f"the open request is being verified by {why.verified.holder}")
    for way in why.ways:
        yield Text.assemble("\n", (way.transition, "bold"), (f" → {way.target}", "dim"))
        yield from map(_part_shown, way.parts)


def _came_by(flow: FlowView, why: Why) -> Text:
    if why.answer is not None and why.answer.transition is not None and why.answer.visit == flow.visit:
        judged = bool(flow.last is not None and flow.last.judgements)
        told = f", judged on the log up to {why.answer.judged}" if judged else f", asked in {why.answer.judged}; nobody had to judge it"
        return Text.assemble("by ", (why.answer.transition, "bold"), told)
    if flow.attempts == 0:
        return Text("nothing was requested yet", "dim")
    return Text(f"{counted(flow.attempts, 'request')} so far", "dim")


def _part_shown(part: PartFound) -> Text:
    """Show what a part of a way out came to, and what that rests on."""
    text = Text.assemble("  ", *_HEADS[part.kind](part))
    for seen in part.saw:
        held = Text.assemble(" = ", plain(value_line(seen.value))) if seen.is_set else Text(" was not set", "yellow")
        text.append("\n    ").append_text(plain(seen.name)).append_text(held).append(f"  {seen.entry}" if seen.entry else "", "dim")
    missing = () if part.saw else part.missing  # what a guard misses is among what it reads
    for each in missing:
        text.append("\n  missing: ", "bold").append_text(plain(each))
    if part.note:
        text.append("\n  ").append_text(plain(part.note, "yellow"))
    if part.judged:
        rests = f", rests on {', '.join(map(safe, part.cites))}" if part.cites else ""
        text.append(f"\n  judged on the log up to {part.judged}, told in {part.entry}{rests}", "dim")
    elif part.entry:
        text.append(f"\n  see {part.entry}", "dim")
    return text


def _came_to(part: PartFound) -> tuple[str, str]:
    return ("not run in this visit", "dim") if part.verdict is None else WORDS[part.verdict]


_HEADS: Final[Mapping[Kind, Callable[[PartFound], tuple[Text | str | tuple[str, str], ...]]]] = {
    Kind.GUARD: lambda part: ("guard ", _came_to(part), ": ", plain(part.text)),
    Kind.CHECK: lambda part: (f"check {safe(part.text)} ", _came_to(part)),
    Kind.OTHERWISE: lambda part: ("no other is met: ", _came_to(part) if part.verdict is not None else ("cannot be told yet", "dim")),
    Kind.CONDITION: lambda part: (
        (_came_to(part), ": ", plain(part.rationale)) if part.verdict is not None else (("not judged in this visit", "dim"),)
    ),
}


@click.command("replay")
@reads_a_worker
@click.option("--against", required=True, metavar="FLOW", help="The other flow: a file or a selector.")
@SERVER
def replay_command(worker: str | None, workdir: Path, store: Place | None, against: str, server: str | None, *, as_json: bool) -> None:
    """Run the recorded verdicts of a Worker through another flow and say where it would go elsewhere.

    Nothing is judged again and nothing is written. Exit status 1 when it goes elsewhere.
    """
    with faults_shown(), reading(locate(workdir, store, server)) as runtime:
        other = _definition(runtime, against)
        replayed = runtime.engine.replay(chosen_id(runtime, worker), other)
    if isinstance(replayed, Refusal):
        raise Stop(STATUS_USAGE, replayed.message, "; ".join(replayed.allowed))
    if as_json:
        emit(json.dumps(asdict(replayed), indent=2) + "\n")
    else:
        show(terminal_console(), *_compared(replayed, against))
    if replayed.divergence is not None:
        raise click.exceptions.Exit(STATUS_FOUND)


def _definition(runtime: Runtime, against: str) -> CompiledFlowDefinition:
    if not isinstance(parse_selector(against), Unresolved):
        found = runtime.snapshots.resolve(against)
        if isinstance(found, Snapshot):
            return found.definition
        raise Stop(STATUS_USAGE, found.message, found.help)
    compilation = compile_source(content_of(Path(against)), name=against, loader=FileHost().loader(against))
    if compilation.definition is None:
        raise Stop(STATUS_FOUND, f"`{against}` does not compile", f"see `stateward compile {against}`")
    return compilation.definition


def _compared(replayed: Replayed, against: str) -> Iterator[RenderableType]:
    found = replayed.divergence
    if found is None:
        yield plain(f"`{against}` leads the same way: {replayed.judged} judged requests, {replayed.state} in the end")
    else:
        yield plain(f"`{against}` leads elsewhere at {found.entry}, after {replayed.judged} judged requests", "yellow")
        here = found.elsewhere or "no way on"
        yield plain(f"  in {found.state or 'the beginning'}: recorded {found.recorded}, here {here} ({found.why})")
    for change in replayed.changes:
        yield plain(f"  worded differently: {change}", "dim")


def _plainly(value: object) -> str:
    return time_text(value) if isinstance(value, datetime) else str(value)
