"""`stateward request` and `stateward verify`: ask to leave a state, and have the open request judged.

Invariants: asking takes a reason and nothing else; a person who judges is asked by `verify` alone, never on the standard input of whoever
asks; a request that nobody verifies stays open and is gone on with.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
from rich.console import RenderableType
from rich.text import Text

from stateward.runtime.core.instance import AttemptStatus
from stateward.runtime.core.refusal import Refusal
from stateward.runtime.engine.answers import Begun
from stateward.runtime.ports import Answered, InProgress
from stateward.runtime.profile import VerifierKind
from stateward.runtime.session.answers import ANSWER
from stateward.runtime.session.chain import time_text
from stateward.runtime.session.entries import reference
from stateward.runtime.surfaces.cli.errors import STATUS_FOUND, STATUS_USAGE, Stop, faults_shown
from stateward.runtime.surfaces.cli.judges import Working, judge_of, working
from stateward.runtime.surfaces.cli.options import spoken
from stateward.runtime.surfaces.cli.output import emit_json
from stateward.runtime.surfaces.cli.present import answer_shown, plain, refusal_shown, show, terminal_console
from stateward.runtime.surfaces.cli.show import reads_a_worker
from stateward.runtime.surfaces.cli.start import refused
from stateward.runtime.surfaces.cli.terminal import Terminal, ended_in_order, say_checks
from stateward.runtime.verifier.declared import ToolDeclaration
from stateward.runtime.verifier.person import NobodyThere
from stateward.runtime.wiring import Place, given_to_a_judge, person_at_terminal

VERSION = 1
Outcome = Answered | Begun | InProgress | Refusal


@click.command("request")
@reads_a_worker
@click.option("--reason", type=spoken, required=True, metavar="TEXT", help="Why the state may be left: a claim, which the verifier checks.")
def request_command(worker: str | None, workdir: Path, store: Place | None, reason: str, *, as_json: bool) -> None:
    """Ask to leave the current state.

    WORKER is its id, or the beginning or end of it; without one it is the Worker that was started last. Where a person judges, the request
    is left open for `stateward verify`. Exit status: 0 when the state was left, 1 when it was not.
    """
    with faults_shown(), ended_in_order(), working(worker, workdir, store) as work:
        _told(_requested(work, reason), as_json=as_json)


def _requested(work: Working, reason: str) -> Outcome:
    engine = work.runtime.engine
    if work.view.verifier == VerifierKind.PERSON:
        return engine.begin(work.worker, reason, person_at_terminal())
    verifier = judge_of(work.runtime, work.profile, work.view, Terminal(terminal_console()))
    return engine.request_transition(work.worker, reason, person_at_terminal(), verifier, begun_with=say_checks)


@click.command("verify")
@reads_a_worker
@click.option("--reason", type=spoken, metavar="TEXT", help="With --dry-run, where no request is open: the reason of one that might be.")
@click.option("--dry-run", is_flag=True, help="Show what a verifier would be given; nothing is asked and nothing written.")
def verify_command(worker: str | None, workdir: Path, store: Place | None, reason: str | None, *, dry_run: bool, as_json: bool) -> None:
    """Have the open request of a Worker judged, by whoever judges it: a model, a program, or the person at this terminal.

    WORKER is its id, or the beginning or end of it; without one it is the Worker that was started last. Exit status: 0 when the state was
    left, 1 when it was not.
    """
    if reason is not None and not dry_run:
        raise Stop(STATUS_USAGE, "`--reason` is for `--dry-run`", "ask with `stateward request`")
    with faults_shown(), ended_in_order(), working(worker, workdir, store) as work:
        if dry_run:
            _show_given(work, reason, as_json=as_json)
        else:
            _told(_verified(work), as_json=as_json)


def _verified(work: Working) -> Outcome:
    flow = work.view.flow
    if flow is not None and flow.paused is not None:
        raise Stop(
            STATUS_USAGE, f"Worker {work.worker} is paused by {flow.paused.by}", "an operator resumes it: `stateward operate resume`"
        )
    if flow is None or flow.attempt is None:
        raise Stop(STATUS_USAGE, f"no request of Worker {work.worker} is open", "ask with `stateward request --reason TEXT`")
    verifier = judge_of(work.runtime, work.profile, work.view, Terminal(terminal_console()))
    try:
        engine, reason = work.runtime.engine, flow.attempt.reason
        return engine.request_transition(work.worker, reason, person_at_terminal(), verifier, flow.seen, begun_with=say_checks)
    except NobodyThere as end:
        raise Stop(STATUS_FOUND, str(end), "run it again") from end


# --- what came of it ------------------------------------------------------------------------------------------------------------------


def _told(outcome: Outcome, *, as_json: bool) -> None:
    if as_json:
        emit_json(_data(outcome), indent=2)
    else:
        show(terminal_console(), *_shown(outcome))
    if not (isinstance(outcome, Answered) and outcome.answer.outcome is AttemptStatus.ENTERED):
        raise click.exceptions.Exit(STATUS_FOUND)


def _shown(outcome: Outcome) -> Iterator[RenderableType]:
    match outcome:
        case Answered(answer=answer, repeated=repeated, late=late):
            yield from answer_shown(answer, repeated=repeated, late=late)
            if answer.instructions.strip():
                yield plain(answer.instructions)
        case Begun(request=request, continued=True):
            yield plain(f"going on with the open request, whose reason is: {request.reason}")
            yield Text(f"attempt {request.attempt} waits for a person: stateward verify {request.worker}")
        case Begun(request=request):
            yield Text(f"asked; attempt {request.attempt} waits for a person: stateward verify {request.worker}")
        case InProgress(attempt=attempt, holder=holder):
            yield plain(f"attempt {attempt} is being verified by {holder}")
        case Refusal():
            yield from refusal_shown(outcome)


def _data(outcome: Outcome) -> dict[str, Any]:
    match outcome:
        case Answered(answer=answer, repeated=repeated, late=late):
            return {"version": VERSION, "result": "answered", "repeated": repeated, "late": late, "answer": ANSWER.write(answer)}
        case Begun(request=request, continued=continued):
            judged = {"reason": request.reason, "judged": reference(len(request.captured))}
            return {"version": VERSION, "result": "waiting", "attempt": request.attempt, "continued": continued, **judged}
        case InProgress(attempt=attempt, holder=holder, expires=expires):
            return {"version": VERSION, "result": "verifying", "attempt": attempt, "holder": holder, "until": time_text(expires)}
        case Refusal(code=code, message=message, allowed=allowed):
            return {"version": VERSION, "result": "refused", "code": str(code), "message": message, "allowed": list(allowed)}


# --- what a verifier would be given -------------------------------------------------------------------------------------------------------


def _show_given(work: Working, reason: str | None, *, as_json: bool) -> None:
    request = work.runtime.engine.preview(work.worker, reason)
    if isinstance(request, Refusal):
        raise refused(request)
    with given_to_a_judge(work.runtime, work.profile, request, work.view.workdir) as box:
        tools = (*box.declarations, box.finish)
        if as_json:
            data = {"version": VERSION, "prompt_digest": box.prompt_digest, "system": box.system, "user": box.user}
            emit_json({**data, "tools": list(map(_tool_data, tools))}, indent=2)
            return
        show(terminal_console(), *_given(box.system, box.user, box.prompt_digest, tools))


def _tool_data(tool: ToolDeclaration) -> dict[str, Any]:
    return {"name": tool.name, "description": tool.description, "parameters": tool.parameters}


def _given(system: str, user: str, digest: str, tools: tuple[ToolDeclaration, ...]) -> Iterator[RenderableType]:
    yield Text.assemble(("system", "bold"), (f"  prompt {digest}", "dim"))
    yield plain(system)
    yield Text("\nrequest", "bold")
    yield plain(user)
    for tool in tools:
        yield Text.assemble("\ntool ", (tool.name, "bold"))
        yield plain(tool.description)
        yield plain(json.dumps(tool.parameters, ensure_ascii=False, sort_keys=True), "dim")
