"""`stateward run`: a person, or a script, works through a flow at the terminal.

Invariants: whatever was acknowledged is in the log, so an interruption at any moment loses nothing; a resumed run begins from the log
alone; a script's k-th request answers the instance's k-th attempt, so a script needs no cursor either; what is refused before it began
has written nothing.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import sleep
from typing import Final, assert_never

import click
from rich.console import Console
from rich.text import Text

from stateward.runtime.core.events import Status
from stateward.runtime.core.operating import Verb
from stateward.runtime.core.refusal import Refusal, RefusalCode
from stateward.runtime.engine.view import FlowView, WorkerView
from stateward.runtime.marker import work_folder
from stateward.runtime.ports import Answered, Damaged, InProgress, Submitted, Verifier
from stateward.runtime.profile import DEFAULT, DEMONSTRATION, Profile, VerifierKind
from stateward.runtime.session.payloads import SessionStarted, UserInput
from stateward.runtime.session.segments import FlowSegment, TextSegment
from stateward.runtime.surfaces.cli.errors import STATUS_ENVIRONMENT, STATUS_FOUND, STATUS_INTERRUPTED, STATUS_USAGE, Stop, faults_shown
from stateward.runtime.surfaces.cli.judges import judge_of
from stateward.runtime.surfaces.cli.options import SERVER, STORE, TEXTS
from stateward.runtime.surfaces.cli.present import (
    answer_shown,
    end_shown,
    plain,
    refusal_shown,
    show,
    state_shown,
    task_shown,
    terminal_console,
    value_line,
)
from stateward.runtime.surfaces.cli.profile import PROFILE, profile_named
from stateward.runtime.surfaces.cli.start import Wanted, refused, rehearse
from stateward.runtime.surfaces.cli.terminal import EndOfInput, Terminal, ended_in_order, is_terminal, say_checks
from stateward.runtime.surfaces.cli.values import INPUTS, Typed, values_of
from stateward.runtime.verifier.person import NobodyThere
from stateward.runtime.verifier.script import AnswersFile, AnswersProblem, read_answers
from stateward.runtime.verifier.scripted import ScriptedVerifier
from stateward.runtime.wiring import Place, Runtime, is_new, locate_or_begin, person_at_terminal, writing

FIRST_ENTRIES: Final = 2
"""In which a Worker's session and its first input lie."""
NOTHING_THERE: Final = (FileNotFoundError, NotADirectoryError, IsADirectoryError)
LIFTED_BY: Final = {
    RefusalCode.INSTANCE_HELD: Verb.CLEAR,
    RefusalCode.INSTANCE_PAUSED: Verb.RESUME,
    RefusalCode.INSTANCE_HALTED: Verb.RESUME,
}
"""What an operator can do about a refusal."""
WAIT_SECONDS_MAX: Final = 30.0
"""Before looking again whether somebody else still verifies."""
_SETS: Final = re.compile(r"set\s+(?P<name>[A-Za-z0-9_-]+)\s*=\s*(?P<value>.*)")
STATUS_ACTIVE: Final = STATUS_FOUND
"""The run ended and the flow did not."""


@click.command("run")
@click.argument("selector")
@TEXTS
@INPUTS
@click.option("--workdir", type=Path, default=".", metavar="DIR", help="The folder of the work.")
@click.option("--resume", is_flag=True, help="Go on with the latest run of this flow in this folder, if there is one.")
@click.option("--worker", metavar="ID", help="The Worker to go on with, where it is not the latest.")
@PROFILE
@click.option("--answers", type=Path, metavar="FILE", help="Reasons and verdicts for a demonstration.")
@click.option("--max-requests", type=click.IntRange(min=1), metavar="N", help="End after N requests and leave the flow as it is.")
@STORE
@SERVER
def run_command(
    *,
    selector: str,
    texts: tuple[str, ...],
    inputs: tuple[Typed, ...],
    workdir: Path,
    worker: str | None,
    profile_name: str | None,
    answers: Path | None,
    max_requests: int | None,
    store: Place | None,
    server: str | None,
    resume: bool,
) -> None:
    """Work through a flow at the terminal.

    SELECTOR is builtin:<slug> or workspace:<slug>. Each state is shown with its instructions and its ways out; give a reason to leave, and
    the verifier answers for each condition. Ctrl-C loses nothing: the same command with --resume goes on. Exit status: 0 when the flow
    ended, 1 when the run ended and the flow did not, 2 and 3 for wrong usage and a failing environment, 130 when interrupted.
    """
    if worker is not None and not resume:
        raise Stop(STATUS_USAGE, "`--worker` names a Worker to go on with", "add `--resume`")
    script = None if answers is None else _script(answers)
    if script is None and not is_terminal():
        message = "a person gives the reasons, and standard input is no terminal"
        raise Stop(STATUS_USAGE, message, "run it in a terminal, or name `--answers FILE`; an agent asks with `stateward request`")
    wanted = Wanted(selector, texts, inputs)
    console = terminal_console()
    with faults_shown():
        folder = work_folder(workdir)
        profile = profile_named((DEFAULT if script is None else DEMONSTRATION).name if profile_name is None else profile_name, folder)
        if (profile.verifier is VerifierKind.SCRIPTED) != (script is not None):
            raise _answers_misplaced(profile)
        if is_new(folder, store):
            if worker is not None:
                raise _no_worker(worker)
            rehearse(profile, wanted, folder, server)
        with writing(locate_or_begin(folder, store, server, sealing=True), profile) as runtime:
            run = Run(runtime, profile, console, wanted, str(folder), Terminal(console), script, max_requests)
            with ended_in_order(), _interruptible(run):
                status = run.whole(worker, resume=resume)
    raise click.exceptions.Exit(status)


def _script(path: Path) -> AnswersFile:
    try:
        return read_answers(path)
    except AnswersProblem as problem:
        unreadable = isinstance(problem.__cause__, OSError) and not isinstance(problem.__cause__, NOTHING_THERE)
        raise Stop(STATUS_ENVIRONMENT if unreadable else STATUS_USAGE, problem.message, problem.remedy) from problem


def _answers_misplaced(profile: Profile) -> Stop:
    if profile.verifier is VerifierKind.SCRIPTED:
        return Stop(STATUS_USAGE, f"under profile `{profile.name}` answers out of a file judge", "name them: `--answers FILE`")
    return Stop(STATUS_USAGE, f"under profile `{profile.name}` judges a {profile.verifier}, and no script", "leave out `--answers`")


def _no_worker(named: str) -> Stop:
    return Stop(STATUS_USAGE, f"no Worker `{named}` in this Workspace", "leave out `--worker` for the latest one of this flow")


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
    profile: Profile
    console: Console
    wanted: Wanted
    workdir: str
    terminal: Terminal
    script: AnswersFile | None
    requests_left: int | None
    _told: str = ""
    """The open attempt of which it was told that it is gone on with, or waited for."""

    def whole(self, worker: str | None, *, resume: bool) -> int:
        """Start or resume, work until the flow ends or the run does, and give the exit status."""
        view = self._resumed(worker) if resume else None
        if view is None:
            if resume:
                self._say("nothing to resume here: starting")
            view = self._started()
        elif self.wanted.texts or self.wanted.inputs:
            said = "the text" if not self.wanted.inputs else "the input"
            self._say(f"resuming: {said} was submitted when the run started and is not submitted again")
        show(self.console, *task_shown(self._task(view.worker)))
        return self._worked(view)

    def say_how_to_resume(self) -> None:
        """Say how to go on."""
        self._say("go on with the same command and `--resume`")

    def _say(self, text: str) -> None:
        show(self.console, plain(text, "dim"))

    # --- starting and resuming ------------------------------------------------------------------------------------------------------

    def _started(self) -> WorkerView:
        location = self.runtime.location
        segments = self.wanted.segments(self.runtime.snapshots)
        started = self.runtime.engine.start_worker(location.workspace, segments, person_at_terminal(), workdir=self.workdir)
        match started:
            case Refusal():
                raise refused(started)
            case Submitted(worker=worker):
                if location.begun:
                    self._say(f"began Workspace {location.workspace} in {self.workdir}")
                self._say(f"started Worker {worker}")
                return self._view(worker)
        assert_never(started)

    def _resumed(self, named: str | None) -> WorkerView | None:
        ids = self.runtime.worker_ids()
        if named is not None:
            return self._named(named, ids)
        for worker in reversed(ids):
            if self._started_as(worker, alone=len(ids) == 1) == (self.wanted.selector, self.workdir):
                self._say(f"resuming Worker {worker}")
                return self._view(worker)
        return None

    def _named(self, named: str, ids: Sequence[str]) -> WorkerView:
        if named not in ids:
            raise _no_worker(named)
        view = self._view(named)
        if view.flow is None or view.flow.pin.selector != self.wanted.selector:
            raise Stop(STATUS_USAGE, f"Worker `{named}` does not run `{self.wanted.selector}`", "see `stateward status`")
        self._say(f"resuming Worker {named}")
        if view.workdir != self.workdir:
            self._say(f"it was started for {view.workdir}, and goes on in {self.workdir}")
        return view

    def _started_as(self, worker: str, *, alone: bool) -> tuple[str, str]:
        """Give the selector and the folder that a Worker was started with, from its first entries: nothing else of its log matters."""
        selector = workdir = ""
        try:
            for logged in self.runtime.engine.log(worker, upto=FIRST_ENTRIES):
                match logged.payload:
                    case SessionStarted():
                        workdir = logged.payload.workdir
                    case UserInput(segments=segments):
                        selector = next((each.selector for each in segments if isinstance(each, FlowSegment)), "")
                    case _:
                        pass
        except Damaged as fault:
            remedy = fault.remedy if alone else "name the Worker to go on with: `--worker ID`"
            raise Stop(STATUS_ENVIRONMENT, fault.message, remedy) from fault
        return selector, workdir

    def _view(self, worker: str) -> WorkerView:
        view = self.runtime.engine.view(worker)
        assert isinstance(view, WorkerView), "the Worker was just listed or created"
        return view

    def _task(self, worker: str) -> tuple[str, ...]:
        """Give the texts that the run was started with."""
        return tuple(
            segment.content
            for logged in self.runtime.engine.log(worker, upto=FIRST_ENTRIES)
            if isinstance(logged.payload, UserInput)
            for segment in logged.payload.segments
            if isinstance(segment, TextSegment)
        )

    # --- working --------------------------------------------------------------------------------------------------------------------

    def _worked(self, view: WorkerView) -> int:
        flow = _flow(view)
        if flow.status is not Status.ACTIVE:
            return self._ended(view)
        verifier = self._verifier(view)
        shown: tuple[str, int] | None = None
        while flow.status is Status.ACTIVE:
            if flow.attempt is None and self.requests_left == 0:
                return self._left()
            if shown != (flow.state, flow.visit):
                show(self.console, *state_shown(flow))
                shown = (flow.state, flow.visit)
            try:
                reason = self._reason(view.worker, flow)
                if reason is None:
                    return self._left()
                outcome = self._asked(view.worker, reason, verifier, flow)
            except (EndOfInput, NobodyThere) as end:
                show(self.console, Text(f"\n{end or 'the input ended'}", "yellow"))
                return self._left()
            before, view = flow, self._view(view.worker)
            flow = _flow(view)
            if not self._goes_on(outcome, before, flow):
                return self._left()
        return self._ended(view)

    def _ended(self, view: WorkerView) -> int:
        show(self.console, *end_shown(view, _flow(view)))
        return 0

    def _verifier(self, view: WorkerView) -> Verifier:
        """Give the judge. Raises Stop where nothing can come of a request, whatever its reason."""
        if view.read_only:
            remedy = "see `stateward operate accept-rollback --help`" if view.rolled_back else "use the newer program"
            raise Stop(STATUS_ENVIRONMENT, view.read_only, remedy)
        if self.script is None:
            return judge_of(self.runtime, self.profile, view, self.terminal)
        if view.verifier != VerifierKind.SCRIPTED:
            raise Stop(STATUS_USAGE, f"Worker {view.worker} is judged by `{view.verifier}`, not by a script", "leave out `--answers`")
        return ScriptedVerifier(self.script)

    def _left(self) -> int:
        self._say("the flow stays where it is")
        self.say_how_to_resume()
        return STATUS_ACTIVE

    def _reason(self, worker: str, flow: FlowView) -> str | None:
        """Give the reason of the next request; None when there is to be none. An open request is gone on with.

        What is to be set before it is set: a script says so, and a person types it.
        """
        if flow.attempt is not None:
            self._tell_once(flow.attempt.id, "going on with the request that is open")
            return flow.attempt.reason
        if self.requests_left is not None:
            self.requests_left -= 1
        if self.script is None:
            return self._typed(worker, flow)
        if flow.attempts >= len(self.script.requests):
            show(self.console, Text(f"the answers file ends after {len(self.script.requests)} requests", "yellow"))
            return None
        request = self.script.requests[flow.attempts]
        return request.reason if not request.set or self._set(worker, request.set) else None

    def _typed(self, worker: str, flow: FlowView) -> str:
        """Give the reason that a person types. Where the state writes variables, a line `set NAME=VALUE` sets one. Raises EndOfInput."""
        writes = flow.definition.state(flow.state).writes
        if writes:
            self._say(f"`set NAME=VALUE` sets a variable: {', '.join(writes)}")
        while True:
            line = self.terminal.line("reason to leave this state: ")
            given = _SETS.fullmatch(line) if writes else None
            if given is None:
                return line
            try:
                values = values_of((Typed(given["name"], given["value"]),), flow.definition.declared_variables)
            except Stop as problem:
                self._say(f"{problem.message}; {problem.remedy}")
                continue
            self._set(worker, values)

    def _set(self, worker: str, values: Mapping[str, object]) -> bool:
        """Set variables, and say what came of it."""
        answer = self.runtime.engine.set_variables(worker, values, person_at_terminal())
        if isinstance(answer, Refusal):
            show(self.console, *refusal_shown(answer))
            return False
        show(
            self.console,
            Text.assemble(("set     ", "bold"), plain(", ".join(f"{name} = {value_line(each)}" for name, each in values.items()))),
        )
        return True

    def _asked(self, worker: str, reason: str, verifier: Verifier, flow: FlowView) -> Answered | InProgress | Refusal:
        """Make a request and show what came of it. A script's reason is only for the request that was due when it was looked up."""
        if self.script is not None and not self._told:
            show(self.console, Text.assemble(("reason  ", "bold"), plain(reason)))
        seen = None if self.script is None else flow.seen
        outcome = self.runtime.engine.request_transition(worker, reason, person_at_terminal(), verifier, seen, begun_with=say_checks)
        match outcome:
            case Refusal():
                show(self.console, *refusal_shown(outcome))
                if outcome.code in LIFTED_BY:
                    self._say(f"an operator lifts that: stateward operate {LIFTED_BY[outcome.code]} {worker} --reason …")
            case Answered():
                show(self.console, *answer_shown(outcome.answer, repeated=outcome.repeated, late=outcome.late))
            case InProgress(attempt=attempt, holder=holder):
                self._tell_once(f"{attempt} {holder}", f"the open request is verified by {holder}; waiting")
            case _:
                assert_never(outcome)
        return outcome

    def _tell_once(self, about: str, text: str) -> None:
        if self._told != about:
            self._told = about
            self._say(text)

    def _goes_on(self, outcome: Answered | InProgress | Refusal, before: FlowView, after: FlowView) -> bool:
        """Tell whether another round can come to anything else: something moved, or a person can give another reason."""
        match outcome:
            case InProgress(expires=expires):
                left = (expires - self.runtime.clock.now()).total_seconds()
                sleep(min(max(left, 0.0), WAIT_SECONDS_MAX))
                return True
            case Answered(repeated=False):
                self._told = ""
                return True
            case _:
                moved = (after.instance, after.visit, after.attempts, after.attempt) != (
                    before.instance,
                    before.visit,
                    before.attempts,
                    before.attempt,
                )
                return moved or (self.script is None and before.attempt is None)


def _flow(view: WorkerView) -> FlowView:
    assert view.flow is not None, "a Worker of this command was started with a flow"
    return view.flow
