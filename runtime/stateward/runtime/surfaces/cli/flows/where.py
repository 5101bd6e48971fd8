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
from stateward.runtime.marker import MARKER_FOLDER, find_workspace
from stateward.runtime.ports import FlowAuthority, Snapshots
from stateward.runtime.surfaces.cli.errors import STATUS_USAGE, Stop, faults_shown
from stateward.runtime.surfaces.cli.flows.bases import BASES_NAME, Base, Bases, project_folder
from stateward.runtime.surfaces.cli.options import SERVER, STORE, WORKDIR
from stateward.runtime.surfaces.cli.output import emit
from stateward.runtime.wiring import Place, account_name, authority, is_new, program_version, rehearsal


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
    server: str | None
    """The address of a service that holds them; None for a store."""

    @contextmanager
    def reading(self) -> Iterator[FlowAuthority]:
        """Open the flows to look at them. Raises NoWorkspace, and what opening a store or asking a service raises."""
        with authority(self.workdir, self.store, self.server) as found:
            yield found.flows

    @contextmanager
    def writing(self) -> Iterator[Opened]:
        """Open the flows to change them; begin a Workspace where there is none. Raises what opening a store or asking a service raises."""
        with authority(self.workdir, self.store, self.server, write=True) as found:
            yield Opened(found.flows, found.begun)

    def trial(self) -> FlowAuthority | None:
        """Give an empty Workspace in memory where writing would begin one: what it refuses begins none. None where there is one already."""
        if self.server is not None or not is_new(self.workdir, self.store):
            return None
        trial = rehearsal()
        return WorkspaceFlows(trial.flows, trial.workspace, account_name(), program_version(), trial.clock)

    @contextmanager
    def resolving(self, selector: str) -> Iterator[Snapshots]:
        """Open what resolves a selector; a built-in flow can be resolved without a Workspace."""
        is_builtin = selector.startswith(f"{BUILTIN}:")
        if is_builtin and self.server is None and find_workspace(self.workdir) is None:
            yield WorkspaceSnapshots("", None)
            return
        with self.reading() as flows:
            yield flows

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
            place = f"`{MARKER_FOLDER}/{BASES_NAME}`"
            say(f"warning: what {files} made from is not remembered: {place} cannot be written: {reason(fault)}\n", err=True)


def about_flows(command: Callable[..., None]) -> Callable[..., None]:
    """Add how a command is told where the flows are, give it that as `where`, and have faults told in one clear line."""

    @WORKDIR
    @STORE
    @SERVER
    @wraps(command)
    def asking(*, workdir: Path, store: Place | None, server: str | None, **given: Any) -> None:
        with faults_shown():
            command(where=Where(workdir, store, server), **given)

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
