"""`stateward flow sync`: a folder of `*.dcdl` files and the Workspace, brought together.

Invariants: a file and a flow that both changed are shown and left alone; nothing is taken away on one side because it is gone on the other
unless that is asked for; what is done is told as it is done, and what files were made from is remembered whatever ends the command.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

import click

from stateward.compiler.cli.host import STATUS_ENVIRONMENT, SUFFIX, reason
from stateward.runtime.core.refusal import Refusal
from stateward.runtime.engine.folders import FileProblem, SyncBase, SyncKind, SyncOutcome, SyncStep, apply_sync, plan_sync
from stateward.runtime.ports import FlowAuthority
from stateward.runtime.surfaces.cli.errors import STATUS_USAGE, Stop
from stateward.runtime.surfaces.cli.flows.bases import Base, Bases
from stateward.runtime.surfaces.cli.flows.folder import FlowFolder, TooMuch, opened_folder
from stateward.runtime.surfaces.cli.flows.sources import is_flow
from stateward.runtime.surfaces.cli.flows.steps import Said, kept_below, said_of
from stateward.runtime.surfaces.cli.flows.where import DRY_RUN, JSON, NOTE, Where, about_flows
from stateward.runtime.surfaces.cli.output import emit, emit_json

_WRITING: Final = frozenset({SyncKind.PUSH, SyncKind.NEW_HERE})


@dataclass(slots=True)
class _Told:
    """What was told so far."""

    folder: Path
    as_json: bool
    counts: dict[str, int] = field(default_factory=dict)
    status: int = 0

    def say(self, said: Said) -> None:
        """Tell what became of one name."""
        self.counts[said.counted] = self.counts.get(said.counted, 0) + 1
        self.status = max(self.status, said.status)
        if self.as_json:
            emit_json(said.data())
        else:
            said.tell()

    def passed_over(self, steps: Iterable[SyncStep], below: Mapping[str, Path]) -> list[SyncStep]:
        """Tell which flows are not written because they were saved from a file further down; give the other steps."""
        left: list[SyncStep] = []
        for step in steps:
            file = below.get(step.name) if step.kind is SyncKind.NEW_THERE else None
            if file is not None and file.exists():
                self.say(kept_below(step, file))
            else:
                left.append(step)
        return left

    def end(self) -> None:
        """Tell the sum, and end the command where something is left to be done by a person."""
        if not self.as_json:
            total = sum(self.counts.values())
            counts = ", ".join(f"{number} {what}" for what, number in self.counts.items())
            emit(f"{total} {'flow' if total == 1 else 'flows'}{f': {counts}' if counts else ''}\n")
        if self.status:
            raise click.exceptions.Exit(self.status)


@click.command("sync")
@click.argument("folder", type=click.Path(path_type=Path), metavar="DIR")
@click.option("--delete", is_flag=True, help="Remove on one side what was removed on the other.")
@NOTE
@DRY_RUN
@JSON
@about_flows
def sync_command(*, folder: Path, delete: bool, note: str, dry_run: bool, as_json: bool, where: Where) -> None:
    """Bring the *.dcdl files of a folder and the flows of the Workspace together.

    A file that was changed is saved, a flow that was changed is written; what changed on both sides is shown and left alone. Exit status 1
    when something is left that a person has to see to.
    """
    told = _Told(folder, as_json)
    with _opened(folder) as files:
        if dry_run:
            _planned(where, files, told, delete=delete)
        else:
            _done(where, files, told, delete=delete, note=note)
    told.end()


def _planned(where: Where, folder: FlowFolder, told: _Told, *, delete: bool) -> None:
    trial = where.trial()
    if trial is not None:
        _tell_plan(_steps(trial, folder, {}), folder, told, delete=delete)
        return
    with where.reading() as flows:
        bases = where.bases()
        steps = told.passed_over(_steps(flows, folder, _known(bases, folder, flows)), bases.below(folder.path, flows.workspace))
        _tell_plan(steps, folder, told, delete=delete)


def _tell_plan(steps: Iterable[SyncStep], folder: FlowFolder, told: _Told, *, delete: bool) -> None:
    for step in steps:
        told.say(said_of(step, None, folder, delete=delete))


def _done(where: Where, folder: FlowFolder, told: _Told, *, delete: bool, note: str) -> None:
    trial = where.trial()
    if trial is not None:
        # Planned in an empty Workspace first, so that a folder in which nothing can be kept begins none.
        tried = _steps(trial, folder, {})
        if not any(step.kind in _WRITING for step in tried):
            _tell_plan(tried, folder, told, delete=delete)
            return
    with where.writing() as opened:
        opened.tell(quiet=told.as_json)
        flows, bases = opened.flows, where.bases()
        steps = told.passed_over(_steps(flows, folder, _known(bases, folder, flows)), bases.below(folder.path, flows.workspace))
        learnt: dict[str, Base | None] = {}
        try:
            for outcome in apply_sync(steps, folder, flows, delete=delete, note=note):
                learnt |= _learnt(outcome, folder, flows)
                told.say(said_of(outcome.step, outcome, folder, delete=delete))
        finally:
            where.remember(learnt)


def _steps(flows: FlowAuthority, folder: FlowFolder, bases: Mapping[str, SyncBase]) -> tuple[SyncStep, ...]:
    """Look at both sides and plan. Raises Stop."""
    try:
        files = folder.look()
    except TooMuch as problem:
        raise Stop(STATUS_USAGE, f"`{folder.path}` has {problem}", "save them folder by folder") from None
    except OSError as fault:
        raise _unreadable(folder.path, fault) from fault
    steps = plan_sync(dict(_flows_among(files, flows)), bases, flows)
    if isinstance(steps, Refusal):
        raise Stop(STATUS_USAGE, steps.message, " or ".join(steps.allowed))
    return tuple(_going_back(step, flows) for step in steps)


def _going_back(step: SyncStep, flows: FlowAuthority) -> SyncStep:
    """Leave to a person what would take a flow back to an old revision: a file of another branch looks just like it."""
    old = flows.holding(step.name, step.here) if step.kind is SyncKind.PUSH and step.here is not None else None
    if old is None or step.there is None:
        return step
    changed = flows.difference(step.name, old.revision, step.there.last.revision)
    base = SyncBase(old.revision, old.content_digest)
    return replace(step, kind=SyncKind.CONFLICT, base=base, difference=None if isinstance(changed, Refusal) else changed)


def _flows_among(files: Mapping[str, bytes | FileProblem], flows: FlowAuthority) -> Iterator[tuple[str, bytes | FileProblem]]:
    """Leave out what is no flow; where it stands in the place of one, say so."""
    for name, file in files.items():
        if isinstance(file, FileProblem) or is_flow(f"{name}{SUFFIX}", file):
            yield name, file
        elif flows.find(name) is not None:
            yield name, FileProblem("it holds no flow")


def _known(bases: Bases, folder: FlowFolder, flows: FlowAuthority) -> dict[str, SyncBase]:
    """Give what the files of the folder were made from, as far as it is a revision of this Workspace under their own name."""
    known = bases.within(folder.path)
    return {
        base.slug: SyncBase(base.revision, base.content_digest)
        for file, base in known.items()
        if (base.workspace, f"{base.slug}{SUFFIX}") == (flows.workspace, file)
    }


def _learnt(outcome: SyncOutcome, folder: FlowFolder, flows: FlowAuthority) -> dict[str, Base | None]:
    """Say what is to be remembered of a file, where that is another thing than was."""
    path, base, slug = str(folder.path / f"{outcome.step.name}{SUFFIX}"), outcome.base, outcome.step.name
    if base == outcome.step.base:
        return {}
    return {path: None if base is None else Base(flows.workspace, slug, base.revision, base.content_digest)}


@contextmanager
def _opened(path: Path) -> Iterator[FlowFolder]:
    """Open a folder. Raises Stop."""
    with ExitStack() as stack:
        try:
            folder = stack.enter_context(opened_folder(path))
        except (FileNotFoundError, NotADirectoryError):
            raise Stop(STATUS_USAGE, f"`{path}` is no folder", "name one that is there") from None
        except OSError as fault:
            raise _unreadable(path, fault) from fault
        yield folder


def _unreadable(path: Path, fault: OSError) -> Stop:
    return Stop(STATUS_ENVIRONMENT, f"`{path}` cannot be read: {reason(fault)}", "make it readable, and the folders above it too (chmod)")
