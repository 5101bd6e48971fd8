"""`stateward start`: start a Worker and leave it in its first state, for whoever asks with `stateward request`."""

from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import click

from stateward.runtime.core.refusal import Refusal
from stateward.runtime.engine.view import WorkerView
from stateward.runtime.marker import find_workspace, work_folder
from stateward.runtime.ports import Snapshot, Snapshots, Submitted
from stateward.runtime.profile import DEFAULT, Profile, VerifierKind
from stateward.runtime.session.segments import FlowSegment, TextSegment
from stateward.runtime.surfaces.cli.errors import STATUS_USAGE, Stop, faults_shown
from stateward.runtime.surfaces.cli.options import SERVER, STORE, TEXTS
from stateward.runtime.surfaces.cli.output import emit_json
from stateward.runtime.surfaces.cli.present import show, status_shown, terminal_console
from stateward.runtime.surfaces.cli.profile import PROFILE, profile_named
from stateward.runtime.surfaces.cli.programs import view_data
from stateward.runtime.surfaces.cli.values import INPUTS, Typed, values_of
from stateward.runtime.wiring import Place, client_of, is_new, locate_or_begin, person_at_terminal, rehearsal, writing

Segments: TypeAlias = tuple[FlowSegment | TextSegment, ...]
"""What a Worker is started with: its flow, then its texts."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a Worker is to be started with, as it was said."""

    selector: str
    texts: tuple[str, ...]
    inputs: tuple[Typed, ...]

    def segments(self, snapshots: Snapshots) -> Segments:
        """Give the input of it; what a typed value is depends on the flow. Raises Stop."""
        inputs: dict[str, object] = {}
        if self.inputs:
            found = snapshots.resolve(self.selector)  # what is not found is refused when it is started
            inputs = values_of(self.inputs, found.definition.declared_inputs if isinstance(found, Snapshot) else ())
        return (FlowSegment(self.selector, inputs), *map(TextSegment, self.texts))


@click.command("start")
@click.argument("selector")
@TEXTS
@INPUTS
@click.option("--workdir", type=Path, default=".", metavar="DIR", help="The folder of the work.")
@PROFILE
@STORE
@SERVER
@click.option("--json", "as_json", is_flag=True, help="Write JSON, for programs.")
def start_command(
    *,
    selector: str,
    texts: tuple[str, ...],
    inputs: tuple[Typed, ...],
    workdir: Path,
    profile_name: str | None,
    store: Place | None,
    server: str | None,
    as_json: bool,
) -> None:
    """Start a Worker on a flow and show its first state.

    SELECTOR is builtin:<slug> or workspace:<slug>. Nothing is asked: `stateward request` asks to leave a state.
    """
    wanted = Wanted(selector, texts, inputs)
    with faults_shown():
        folder = work_folder(workdir)
        profile = profile_named(DEFAULT.name if profile_name is None else profile_name, folder)
        if profile.verifier is VerifierKind.SCRIPTED:
            raise Stop(STATUS_USAGE, f"under profile `{profile.name}` answers out of a file judge", "use `stateward run … --answers FILE`")
        if is_new(folder, store):
            rehearse(profile, wanted, folder, server)
        with writing(locate_or_begin(folder, store, server, sealing=True), profile) as runtime:
            segments = wanted.segments(runtime.snapshots)
            started = runtime.engine.start_worker(runtime.location.workspace, segments, person_at_terminal(), workdir=str(folder))
            if isinstance(started, Refusal):
                raise refused(started)
            assert isinstance(started, Submitted)
            view = runtime.engine.view(started.worker)
            assert isinstance(view, WorkerView), "the Worker was just created"
            assert view.flow is not None, "it was started with a flow"
            current = runtime.current_revision(selector, view.flow.pin.flow_revision)
    if as_json:
        emit_json(view_data(view, current), indent=2)
    else:
        show(terminal_console(), *status_shown(view, current))


def rehearse(profile: Profile, wanted: Wanted, folder: Path, server: str | None) -> None:
    """Stop what an empty Workspace would refuse, or one with the flows of the service that is named, before one is begun."""
    with nullcontext() if server is None else client_of(server, find_workspace(folder)) as flows:
        trial = rehearsal(profile, flows)
        started = trial.engine.start_worker(trial.workspace, wanted.segments(trial.snapshots), person_at_terminal())
    if isinstance(started, Refusal):
        raise refused(started)


def refused(refusal: Refusal) -> Stop:
    """Give how a command ends that was refused."""
    return Stop(STATUS_USAGE, f"{refusal.code}: {refusal.message}", " or ".join(refusal.allowed))
