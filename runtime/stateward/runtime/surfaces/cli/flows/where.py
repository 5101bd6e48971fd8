"""Where the flows are that a command is about: the one place that knows how a `FlowAuthority` comes to be.

Invariants: what only reads begins nothing; what writes begins a Workspace only where something is going to be kept in it.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any, Final

import click

from stateward.compiler.cli.host import reason
from stateward.compiler.cli.output import say
from stateward.runtime.engine.flows import WorkspaceFlows
from stateward.runtime.engine.selectors import BUILTIN
from stateward.runtime.engine.snapshots import WorkspaceSnapshots
from stateward.runtime.marker import NoWorkspace
from stateward.runtime.ports import Clock, FlowAuthority, FlowStore, Snapshots
from stateward.runtime.surfaces.cli.errors import STATUS_USAGE, Stop, faults_shown
from stateward.runtime.surfaces.cli.flows.bases import Base, Bases, project_folder
from stateward.runtime.surfaces.cli.options import STORE, WORKDIR
from stateward.runtime.surfaces.cli.output import emit
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


@dataclass(frozen=True, slots=True)
class Opened:
    """The flows of a Workspace to which something is written."""

    flows: FlowAuthority
    begun: bool
    """Whether the Workspace was begun just now."""

    def tell(self, *, quiet: bool) -> None:
        """Say that the Workspace was begun; not where programs read."""
        if self.begun and not quiet:
            emit(f"began Workspace {self.flows.workspace}\n")


@dataclass(frozen=True, slots=True)
class Where:
    """What a command was told about where the flows are."""

    workdir: Path
    store: Place | None

    @contextmanager
    def reading(self) -> Iterator[FlowAuthority]:
        """Open the flows to look at them. Raises NoWorkspace, and what opening a store raises."""
        location = locate(self.workdir, self.store)
        with reading(location) as runtime:
            yield _authority(runtime.flows, location.workspace, runtime.clock)

    @contextmanager
    def writing(self) -> Iterator[Opened]:
        """Open the flows to change them; begin a Workspace where there is none. Raises what opening a store raises."""
        location = locate_or_begin(self.workdir, self.store)
        with writing(location) as runtime:
            yield Opened(_authority(runtime.flows, location.workspace, runtime.clock), location.begun)

    def trial(self) -> FlowAuthority | None:
        """Give an empty Workspace in memory where writing would begin one: what it refuses begins none. None where there is one already."""
        if not is_new(self.workdir, self.store):
            return None
        trial = rehearsal()
        return _authority(trial.flows, trial.workspace, trial.clock)

    @contextmanager
    def resolving(self, selector: str) -> Iterator[Snapshots]:
        """Open what resolves a selector; a built-in flow can be resolved without a Workspace."""
        try:
            location = locate(self.workdir, self.store)
        except NoWorkspace:
            if not selector.startswith(f"{BUILTIN}:"):
                raise
            yield WorkspaceSnapshots("", None)
            return
        with reading(location) as runtime:
            yield _authority(runtime.flows, location.workspace, runtime.clock)

    def bases(self) -> Bases:
        """Give the record of what the files of the project were made from."""
        return Bases(project_folder(self.workdir))

    def remember(self, learnt: Mapping[str, Base | None]) -> None:
        """Remember of files, by path, which revision they are now, or forget it. Where that cannot be, say so: it fails nothing."""
        if not learnt:
            return
        try:
            self.bases().remember(learnt)
        except OSError as fault:
            files = "the file was" if len(learnt) == 1 else f"{len(learnt)} files were"
            say(f"warning: what {files} made from is not remembered: {reason(fault)}\n", err=True)


def _authority(flows: FlowStore, workspace: str, clock: Clock) -> FlowAuthority:
    return WorkspaceFlows(flows, workspace, account_name(), program_version(), clock)


def about_flows(command: Callable[..., None]) -> Callable[..., None]:
    """Add how a command is told where the flows are, give it that as `where`, and have faults told in one clear line."""

    @WORKDIR
    @STORE
    @wraps(command)
    def asking(*, workdir: Path, store: Place | None, **given: Any) -> None:
        with faults_shown():
            command(where=Where(workdir, store), **given)

    return asking


def _unicode(context: click.Context, parameter: click.Parameter, text: str) -> str:
    """Take a note. Raises Stop for bytes that are no text."""
    del context, parameter
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as problem:
        raise Stop(STATUS_USAGE, "the note is no Unicode text", "write it in UTF-8") from problem
    return text


JSON: Final = click.option("--json", "as_json", is_flag=True, help="Write JSON, for programs: one object a line.")
NOTE: Final = click.option("--note", default="", callback=_unicode, metavar="TEXT", help="Why; kept for ever with what is done.")
DRY_RUN: Final = click.option("--dry-run", is_flag=True, help="Say what would be done, and write nothing.")
