"""`stateward run`: a person, or a script, works through a flow at the terminal.

Invariants: whatever was acknowledged is in the log, so an interruption at any moment loses nothing; a resumed run begins from the log
alone; a script's k-th request answers the instance's k-th attempt, so a script needs no cursor either.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import sleep
from typing import Final, assert_never

import click
from rich.console import Console
from rich.text import Text

from stateward.runtime.core.events import Status
from stateward.runtime.core.refusal import Refusal
from stateward.runtime.engine.answers import Answered
from stateward.runtime.engine.leasing import InProgress
from stateward.runtime.engine.submission import Submitted
from stateward.runtime.engine.view import FlowView, WorkerView
from stateward.runtime.ports import Verifier
from stateward.runtime.profile import DEFAULT, DEMONSTRATION
from stateward.runtime.session.payloads import UserInput
from stateward.runtime.session.segments import FlowSegment, Segment, TextSegment
from stateward.runtime.surfaces.cli.errors import STATUS_FOUND, STATUS_INTERRUPTED, STATUS_USAGE, Stop, faults_shown
from stateward.runtime.surfaces.cli.present import (
    answer_shown,
    end_shown,
    plain,
    refusal_shown,
    show,
    state_shown,
    task_shown,
    terminal_console,
)
from stateward.runtime.surfaces.cli.terminal import EndOfInput, Terminal
from stateward.runtime.verifier.person import NobodyThere, PersonVerifier
from stateward.runtime.verifier.script import AnswersFile, AnswersProblem, read_answers
from stateward.runtime.verifier.scripted import ScriptedVerifier
from stateward.runtime.wiring import Place, Runtime, locate_or_create, person_at_terminal, place_of, writing

WAIT_SECONDS_MAX: Final = 30.0
"""Before looking again whether somebody else still verifies."""
STATUS_ACTIVE: Final = STATUS_FOUND
"""The run ended and the flow did not."""


@click.command("run")
@click.argument("selector")
@click.option("--text", "texts", multiple=True, metavar="TEXT", help="What the work is about; may be given more than once.")
@click.option("--workdir", type=click.Path(path_type=Path), default=".", metavar="DIR", help="The folder of the work.")
@click.option("--resume", is_flag=True, help="Go on with the latest run of this flow in this folder, if there is one.")
@click.option("--worker", metavar="ID", help="The Worker to go on with, where it is not the latest.")
@click.option("--answers", type=click.Path(path_type=Path), metavar="FILE", help="Reasons and verdicts for a demonstration.")
@click.option("--max-requests", type=click.IntRange(min=1), metavar="N", help="End after N requests and leave the flow as it is.")
@click.option("--store", type=place_of, metavar="PLACE", help="The store, where it is not the usual one: a file or postgresql://…")
def run_command(
    *,
    selector: str,
    texts: tuple[str, ...],
    workdir: Path,
    worker: str | None,
    answers: Path | None,
    max_requests: int | None,
    store: Place | None,
    resume: bool,
) -> None:
    """Work through a flow at the terminal.

    SELECTOR is builtin:<slug> or workspace:<slug>. Each state is shown with its instructions and its ways out; give a reason to leave, and
    the verifier answers for each condition. Ctrl-C loses nothing: the same command with --resume goes on. Exit status: 0 when the flow
    ended, 1 when the run ended and the flow did not, 2 and 3 for wrong usage and a failing environment, 130 when interrupted.
    """
    if not workdir.is_dir():
        raise Stop(STATUS_USAGE, f"`{workdir}` is no folder", "name the folder of the work with `--workdir`")
    if worker is not None and not resume:
        raise Stop(STATUS_USAGE, "`--worker` names a Worker to go on with", "add `--resume`")
    script = None if answers is None else _script(answers)
    if script is None and not sys.stdin.isatty():
        raise Stop(STATUS_USAGE, "a person judges, and standard input is no terminal", "run it in a terminal, or name `--answers FILE`")
    folder = workdir.resolve()
    console = terminal_console()
    with faults_shown(), writing(locate_or_create(folder, store), DEFAULT if script is None else DEMONSTRATION) as runtime:
        run = Run(runtime, console, selector, str(folder), Terminal(console), script, max_requests)
        with _interruptible(run):
            status = run.whole(texts, worker, resume=resume)
    raise click.exceptions.Exit(status)


def _script(path: Path) -> AnswersFile:
    try:
        return read_answers(path)
    except AnswersProblem as problem:
        raise Stop(STATUS_USAGE, problem.message, problem.remedy) from problem


@contextmanager
def _interruptible(run: "Run") -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        show(run.console, Text("\ninterrupted; nothing is lost", "yellow"))
        run.say_how_to_resume()
        raise click.exceptions.Exit(STATUS_INTERRUPTED) from None


@dataclass
class Run:
    """One run of the command."""

    runtime: Runtime
    console: Console
    selector: str
    workdir: str
    terminal: Terminal
    script: AnswersFile | None
    requests_left: int | None

    def whole(self, texts: tuple[str, ...], worker: str | None, *, resume: bool) -> int:
        """Start or resume, work until the flow ends or the run does, and give the exit status."""
        view = self._resumed(worker) if resume else None
        if view is None:
            if resume:
                show(self.console, Text("nothing to resume here: starting", "dim"))
            view = self._started(texts)
        elif texts:
            show(self.console, Text("resuming: the text was submitted when the run started and is not submitted again", "dim"))
        show(self.console, *task_shown(self._task(view.worker)))
        return self._worked(view)

    def say_how_to_resume(self) -> None:
        """Say how to go on."""
        show(self.console, Text("go on with the same command and `--resume`", "dim"))

    # --- starting and resuming ------------------------------------------------------------------------------------------------------

    def _started(self, texts: tuple[str, ...]) -> WorkerView:
        segments: tuple[Segment, ...] = (FlowSegment(self.selector), *map(TextSegment, texts))
        actor = person_at_terminal()
        started = self.runtime.engine.start_worker(self.runtime.location.workspace, segments, actor, workdir=self.workdir)
        match started:
            case Refusal():
                raise Stop(STATUS_USAGE, f"{started.code}: {started.message}", "; ".join(started.allowed))
            case Submitted(worker=worker):
                show(self.console, Text(f"started Worker {worker}", "dim"))
                return self._view(worker)
        assert_never(started)

    def _resumed(self, named: str | None) -> WorkerView | None:
        ids = self.runtime.worker_ids()
        if named is not None and named not in ids:
            raise Stop(STATUS_USAGE, f"no Worker `{named}` in this Workspace", "leave out `--worker` for the latest one of this flow")
        for worker in reversed(ids) if named is None else (named,):
            view = self._view(worker)
            flow = view.flow
            if flow is not None and flow.pin.selector == self.selector and view.workdir == self.workdir:
                show(self.console, Text(f"resuming Worker {worker}", "dim"))
                return view
            if named is not None:
                raise Stop(STATUS_USAGE, f"Worker `{named}` does not run `{self.selector}` in this folder", "see `stateward status`")
        return None

    def _view(self, worker: str) -> WorkerView:
        view = self.runtime.engine.view(worker)
        assert isinstance(view, WorkerView), "the Worker was just listed or created"
        return view

    def _task(self, worker: str) -> tuple[str, ...]:
        """Give the texts that the run was started with: they lie in the entry behind the session's first."""
        return tuple(
            segment.content
            for logged in self.runtime.engine.log(worker, upto=2)
            if isinstance(logged.payload, UserInput)
            for segment in logged.payload.segments
            if isinstance(segment, TextSegment)
        )

    # --- working --------------------------------------------------------------------------------------------------------------------

    def _worked(self, view: WorkerView) -> int:
        verifier: Verifier = PersonVerifier(self.terminal) if self.script is None else ScriptedVerifier(self.script)
        flow = _flow(view)
        shown: tuple[str, int] | None = None
        while flow.status is Status.ACTIVE:
            if flow.attempt is None and self.requests_left == 0:
                return self._left()
            if shown != (flow.state, flow.visit):
                show(self.console, *state_shown(flow))
                shown = (flow.state, flow.visit)
            try:
                reason = self._reason(flow)
                if reason is None:
                    return self._left()
                if not self._asked(view.worker, reason, verifier):
                    return STATUS_ACTIVE
            except (EndOfInput, NobodyThere) as end:
                show(self.console, Text(f"\n{end or 'the input ended'}", "yellow"))
                return self._left()
            view = self._view(view.worker)
            flow = _flow(view)
        show(self.console, *end_shown(view, flow))
        return 0

    def _left(self) -> int:
        show(self.console, Text("the flow stays where it is", "dim"))
        self.say_how_to_resume()
        return STATUS_ACTIVE

    def _reason(self, flow: FlowView) -> str | None:
        """Give the reason of the next request; None when there is to be none. An open request is gone on with."""
        if flow.attempt is not None:
            show(self.console, Text("going on with the request that is open", "dim"))
            return flow.attempt.reason
        if self.requests_left is not None:
            self.requests_left -= 1
        if self.script is None:
            return self.terminal.line("reason to leave this state: ")
        if flow.attempts >= len(self.script.requests):
            show(self.console, Text(f"the answers file ends after {len(self.script.requests)} requests", "yellow"))
            return None
        return self.script.requests[flow.attempts].reason

    def _asked(self, worker: str, reason: str, verifier: Verifier) -> bool:
        """Make a request and show what came of it; tell whether the run can go on."""
        if self.script is not None:
            show(self.console, Text.assemble(("reason  ", "bold"), plain(reason)))
        outcome = self.runtime.engine.request_transition(worker, reason, person_at_terminal(), verifier)
        match outcome:
            case Refusal():
                show(self.console, *refusal_shown(outcome))
                return self.script is None
            case Answered():
                show(self.console, *answer_shown(outcome.answer, repeated=outcome.repeated, late=outcome.late))
                return not (outcome.repeated and self.script is not None)
            case InProgress(holder=holder, expires=expires):
                show(self.console, Text.assemble("the open request is verified by ", plain(holder), "; waiting", style="dim"))
                left = (expires - self.runtime.clock.now()).total_seconds()
                sleep(min(max(left, 0.0), WAIT_SECONDS_MAX))
                return True
        assert_never(outcome)


def _flow(view: WorkerView) -> FlowView:
    assert view.flow is not None, "a Worker of this command was started with a flow"
    return view.flow
