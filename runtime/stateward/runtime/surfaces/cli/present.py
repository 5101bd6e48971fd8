"""How a Worker looks in a terminal: values in, rich renderables out, and their way to standard output.

Invariants: text of authors, workers and verifiers reaches the terminal with nothing in it that a terminal would obey, and is never read
as markup; what could not be checked is called that, never yes or no.
"""

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, assert_never

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from stateward.compiler.diagnostics.cells import safe
from stateward.compiler.diagnostics.wording import counted
from stateward.runtime.core.events import (
    ChecksRun,
    Event,
    InstanceCancelled,
    InstanceHalted,
    InstancePaused,
    InstanceResumed,
    InstanceRewound,
    InstanceStarted,
    LateResultIgnored,
    Part,
    PartKind,
    ProgressHoldCleared,
    ProgressHoldSet,
    StateEntered,
    Status,
    TransitionCheckPassed,
    TransitionCheckRejected,
    TransitionRequested,
    TransitionVerificationCancelled,
    TransitionVerificationFailed,
    VariablesSet,
    Verdict,
)
from stateward.runtime.core.flow import Transition
from stateward.runtime.core.instance import AttemptStatus, halt_message
from stateward.runtime.core.refusal import Refusal
from stateward.runtime.engine.view import FlowView, LoggedEntry, WorkerView
from stateward.runtime.session.answers import Answer, TransitionAnswer
from stateward.runtime.session.checks import CheckRecord
from stateward.runtime.session.entries import reference
from stateward.runtime.session.payloads import Extension, SessionStarted, UserInput, WorkdirRecord
from stateward.runtime.session.strict import Malformed, Newer
from stateward.runtime.surfaces.cli.output import Shape, emit

PLAIN_WIDTH: Final = 120
SUMMARY_CHARACTERS_MAX: Final = 160
WORDS: Final[Mapping[Verdict, tuple[str, str]]] = {
    Verdict.MET: ("met", "green"),
    Verdict.NOT_MET: ("not met", "red"),
    Verdict.INDETERMINATE: ("could not check", "yellow"),
}
STATUS_STYLES: Final[Mapping[Status, str]] = {Status.ACTIVE: "cyan", Status.COMPLETED: "green", Status.CANCELLED: "yellow"}


def terminal_console() -> Console:
    """Give the console that parts are laid out for; where it is no terminal, lines are wide and hold no colours."""
    shape = Shape(sys.stdout)
    console = Console(file=shape, highlight=False)
    return console if console.is_terminal else Console(file=shape, highlight=False, width=PLAIN_WIDTH)


def indented(part: RenderableType) -> Padding:
    """Set a part in by two columns."""
    return Padding(part, (0, 0, 0, 2), expand=False)


def plain(text: str, style: str = "") -> Text:
    """Give foreign text, of one or several lines, fit for a terminal."""
    return Text("\n".join(safe(line.expandtabs(4)) for line in text.replace("\r\n", "\n").split("\n")), style=style)


def show(console: Console, *parts: RenderableType) -> None:
    """Print parts one below the other, without the blanks that fill up their lines."""
    with console.capture() as captured:
        for part in parts:
            console.print(part)
    emit("\n".join(line.rstrip(" ") for line in captured.get().split("\n")))


def task_shown(texts: Sequence[str]) -> Iterator[RenderableType]:
    """Show what a run was started with."""
    if texts:
        yield Text("task", style="bold")
    for text in texts:
        yield indented(plain(text))


def state_shown(flow: FlowView) -> Iterator[RenderableType]:
    """Show the state an instance is in: its instructions and the conditions of its ways out."""
    title = Text.assemble((flow.state, "bold"), (f"  visit {flow.visit}", "dim"))
    yield Rule(title, align="left", style="dim")
    if flow.instructions.strip():
        yield indented(plain(flow.instructions))
    if flow.transitions:
        yield Text("\nways out", style="bold")
        for transition in flow.transitions:
            yield indented(_way_out(transition))
    if flow.definition.declared_variables:
        yield Text("\nvariables", style="bold")
        yield indented(_variables(flow))
    yield Text("")


def _way_out(transition: Transition) -> Group:
    head = Text.assemble((transition.id, "bold"), (f" → {transition.target}", "dim"))
    parts = [indented(Text.assemble((f"{name} ", "dim"), plain(text))) for name, text in parts_of(transition)]
    condition = [indented(plain(transition.condition, "dim" if transition.synthetic else ""))] if transition.condition else []
    return Group(head, *parts, *condition)


def parts_of(transition: Transition) -> Iterator[tuple[str, str]]:
    """Give what a transition asks of the run itself, part by part."""
    if transition.guard is not None:
        from stateward.compiler.predicates.text import guard_text  # noqa: PLC0415 -- most flows have no guards

        yield "when", guard_text(transition.guard)
    if transition.checks:
        yield "checks", ", ".join(transition.checks)
    if transition.otherwise:
        yield "otherwise", "where no other is met"


def _variables(flow: FlowView) -> Table:
    """Show all variables: a person may see what the state does not show its worker."""
    from stateward.compiler.predicates.text import schema_text  # noqa: PLC0415 -- most flows have no variables

    here = flow.definition.state(flow.state)
    table = Table.grid(padding=(0, 2))
    for _ in range(3):
        table.add_column()
    for each in flow.definition.declared_variables:
        held = flow.variables.get(each.name)
        value = Text("not set", "dim") if held is None else plain(value_line(held.value))
        where = "" if held is None else f"{held.source}, in {held.state} (visit {held.visit}), {reference(held.entry)}"
        marks = ["read here"] if each.name in here.reads else []
        marks += [f"set here: {schema_text(each.schema)}"] if each.name in here.writes else []
        table.add_row(Text(each.name, "bold"), value, plain("; ".join(filter(None, (where, *marks))), "dim"))
    return table


def value_line(value: object) -> str:
    """Give the beginning of a value, as JSON in one line."""
    return _cut(json.dumps(value, ensure_ascii=False))


def answer_shown(answer: Answer, *, repeated: bool, late: bool) -> Iterator[RenderableType]:
    """Show what came of a request."""
    if repeated:
        yield Text("nothing was recorded since this was judged; the answer stands, and another reason is judged anew", style="dim")
    if late:
        yield Text("this request was answered already; the result that came now was ignored", style="dim")
    if answer.outcome is AttemptStatus.ENTERED:
        yield Text.assemble(("moved  ", "bold green"), f"{answer.transition} → {answer.state}", (f"  visit {answer.visit}", "dim"))
    else:
        yield _not_moved(answer)
        for result in answer.results:
            yield indented(_result_shown(result))
    if answer.self_judged:
        yield Text("self-judged: whoever judged this also did the work", style="dim")
    yield Text("")


def _not_moved(answer: Answer) -> Text:
    code = answer.code if not answer.cause else f"{answer.code}, {answer.cause}"
    head = Text.assemble(("not moved  ", "bold red"), (code, "bold"))
    if answer.outcome is AttemptStatus.FAILED:
        head.append("  could not check", style="yellow")
    if answer.message:
        head.append("\n").append_text(plain(answer.message))
    return head


def _result_shown(result: TransitionAnswer) -> Group:
    word, style = WORDS[result.verdict]
    lines: list[RenderableType] = [
        Text.assemble((result.transition, "bold"), "  ", (word, style)),
        indented(plain(result.rationale)),
    ]
    lines += [indented(Text.assemble(("missing: ", "bold"), plain(each))) for each in result.missing]
    if result.note:
        lines.append(indented(plain(result.note, "yellow")))
    return Group(*lines)


def part_shown(part: Part) -> Text:
    """Show what the runtime found of one part of a way out."""
    what = "its guard" if part.kind is PartKind.WHEN else f"check {part.name}"
    word, style = WORDS[part.verdict]
    text = Text.assemble((part.transition, "bold"), f"  {what}: ", (word, style))
    if part.entry:
        text.append(f"  in {reference(part.entry)}", "dim")
    for each in part.missing:
        text.append("\n  missing: ", "bold").append_text(plain(each))
    return text


def refusal_shown(refusal: Refusal) -> Iterator[RenderableType]:
    """Show why something may not be done now, and what may."""
    yield Text.assemble(("refused  ", "bold red"), (str(refusal.code), "bold"), "\n", plain(refusal.message))
    for allowed in refusal.allowed:
        yield Text.assemble(("  allowed: ", "bold"), plain(allowed))


def end_shown(view: WorkerView, flow: FlowView) -> Iterator[RenderableType]:
    """Show how a flow ended."""
    style = STATUS_STYLES[flow.status]
    yield Rule(
        Text.assemble((str(flow.status), f"bold {style}"), (f"  {flow.name} in state {flow.state}", "dim")), align="left", style=style
    )
    if flow.instructions.strip():
        yield indented(plain(flow.instructions))
    yield Text(
        f"Worker {view.worker}, {view.head.seq} entries, {counted(flow.attempts, 'request')}, {counted(flow.visit, 'state')} entered",
        style="dim",
    )


def status_shown(view: WorkerView, current: int | None) -> Iterator[RenderableType]:
    """Show where a Worker stands, as a table of two columns; `current` is the revision that its selector names now, None when none."""
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True)
    table.add_column()
    for name, value in _status_rows(view, current):
        table.add_row(name, value)
    yield table
    flow = view.flow
    if flow is not None and flow.status is Status.ACTIVE:
        yield Text("")
        yield from state_shown(flow)


def _status_rows(view: WorkerView, current: int | None) -> Iterator[tuple[str, RenderableType]]:
    yield "Worker", Text(view.worker)
    flow = view.flow
    if flow is not None:
        yield "flow", _pinned(flow, current)
        yield "definition", Text(flow.pin.definition_digest, overflow="fold")
        yield "status", Text(str(flow.status), style=f"bold {STATUS_STYLES[flow.status]}")
        yield "state", Text.assemble((flow.state, "bold"), (f"  visit {flow.visit}", "dim"))
        yield "requests", Text(str(flow.attempts))
        if flow.inputs:
            yield "inputs", plain(_cut(", ".join(f"{name} = {value_line(value)}" for name, value in flow.inputs.items())))
        if flow.halted is not None:
            yield "halted", plain(halt_message(flow.halted), "yellow")
        if flow.attempt is not None:
            yield "open request", plain(f"{flow.attempt.id}: {_cut(flow.attempt.reason)}")
        if flow.last is not None:
            yield "last request", Text(f"{flow.last.status}" + (f", {flow.last.rejection}" if flow.last.rejection else ""))
    yield "verifier", Text(_judge(view))
    yield "isolation", Text(view.isolation)
    yield "started", Text(view.created.isoformat(timespec="seconds"))
    yield "work folder", plain(view.workdir or "none")
    yield "log", Text(f"{view.head.seq} entries, head {view.head.digest}", overflow="fold")
    for each in view.rollbacks:
        yield (
            "rolled back",
            plain(f"accepted by {each.by} in {reference(each.entry)}, giving up {reference(each.lost.seq)}: {_cut(each.reason)}"),
        )
    if view.read_only:
        yield "read-only", plain(view.read_only, "yellow")


def _pinned(flow: FlowView, current: int | None) -> Text:
    said = plain(f"{flow.pin.selector}  revision {flow.pin.flow_revision}")
    if current != flow.pin.flow_revision:
        said.append("  none is current any more" if current is None else f"  revision {current} is current", "yellow")
    return said


def _judge(view: WorkerView) -> str:
    marks = [mark for mark, there in (("self-judged", view.self_judged), ("demonstration", view.profile.demonstration)) if there]
    return f"{view.verifier} ({', '.join(marks)})" if marks else view.verifier


def log_shown(entries: Sequence[LoggedEntry]) -> Table:
    """Show entries as a table, each event on a line of its own."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("entry", no_wrap=True)
    table.add_column("time", style="dim", no_wrap=True)
    table.add_column("actor", no_wrap=True)
    table.add_column("kind", no_wrap=True)
    table.add_column("what")
    one_day = len({each.entry.time.date() for each in entries}) <= 1
    for each in entries:
        lines = [event_line(event.event) for event in each.events] or [entry_line(each)]
        table.add_row(
            each.entry.reference,
            each.entry.time.strftime("%H:%M:%S" if one_day else "%Y-%m-%d %H:%M:%S"),
            str(each.entry.actor.actor_class),
            plain(each.entry.kind),
            Text("\n").join(lines),
        )
    return table


def entry_line(logged: LoggedEntry) -> Text:
    """Say in one line what an entry without events holds."""
    match logged.payload:
        case SessionStarted(verifier=verifier, profile=profile):
            return Text(f"judged by {verifier}, profile {profile.name}")
        case UserInput(text=text):
            return plain(_cut(text))
        case Extension(record=WorkdirRecord(facts=facts)):
            return plain(_facts_line(facts))
        case Extension(record=CheckRecord() as run):
            return plain(_check_line(run))
        case _:
            return plain(f"written by a newer program: {logged.newer}" if logged.newer else f"{len(logged.entry.payload)} bytes", "dim")


def _check_line(run: CheckRecord) -> str:
    said = run.problem if run.exit_status is None else f"exit status {run.exit_status} after {run.milliseconds / 1000:.1f} s"
    doubt = f", {run.problem}" if run.exit_status is not None and run.problem else ""
    return f"check {run.check}: {said}{doubt}"


def _facts_line(stated: str) -> str:
    from stateward.runtime.workdir.facts import decode_facts, line_of  # noqa: PLC0415 -- most logs hold none

    try:
        return line_of(decode_facts(stated.encode()))
    except (Malformed, Newer):
        return f"facts of the Workdir that are not known, or not here: {_cut(stated)}"


def event_line(event: Event) -> Text:
    """Say in one line what happened."""
    match event:
        case InstanceStarted(selector=selector, flow_revision=revision):
            return plain(f"flow {selector} started, revision {revision}")
        case StateEntered(state=state, visit=visit, status=status):
            ended = "" if status is Status.ACTIVE else f", {status}"
            return Text.assemble("entered ", (safe(state), "bold"), f" (visit {visit}{ended})")
        case TransitionRequested(reason=reason):
            return Text.assemble("asked to leave: ", plain(_cut(reason)))
        case TransitionCheckPassed(transition=transition):
            return Text.assemble("check passed: ", (safe(transition), "green"))
        case TransitionCheckRejected(code=code, judgements=judgements):
            said = ", ".join(f"{safe(each.transition)} {WORDS[each.checked][0]}" for each in judgements)
            return Text.assemble("rejected: ", (str(code), "red"), f" ({said})" if said else "")
        case TransitionVerificationCancelled(cause=cause):
            return Text(f"verification given up: {cause}", "yellow")
        case TransitionVerificationFailed(cause=cause, message=message):
            return Text.assemble("could not check: ", (str(cause), "yellow"), " ", plain(_cut(message)))
        case LateResultIgnored(attempt=attempt):
            return Text(f"late result for {safe(attempt)} ignored", "dim")
        case ProgressHoldSet(judgements=judgements_alike):
            return Text(f"held: {judgements_alike} judgements saw the same evidence and moved nothing", "yellow")
        case ChecksRun() | VariablesSet() | InstanceHalted():
            return _noted_line(event)
        case InstanceRewound(by=by, reason=reason, state=state):
            return Text.assemble("rewound to ", (safe(state), "bold"), " by ", plain(by), ": ", plain(_cut(reason)))
        case InstancePaused() | InstanceResumed() | InstanceCancelled() | ProgressHoldCleared():
            return Text.assemble(_ACTS[type(event)], " by ", plain(event.by), ": ", plain(_cut(event.reason)))
    assert_never(event)


def _noted_line(event: ChecksRun | VariablesSet | InstanceHalted) -> Text:
    match event:
        case ChecksRun(parts=parts):
            said = ", ".join(f"{safe(each.name)} {WORDS[each.verdict][0]}" for each in parts)
            return Text.assemble("checks run: ", said or "none")
        case VariablesSet(source=source, values=values):
            said = ", ".join(f"{each.name} = {value_line(each.value)}" for each in values)
            return Text.assemble("set by ", str(source), ": ", plain(_cut(said)))
        case InstanceHalted(state=state, visits=visits):
            return Text.assemble("halted: ", safe(state), f" was entered {visits} times, as often as it may be")
    assert_never(event)


_ACTS: Final = {InstancePaused: "paused", InstanceResumed: "resumed", InstanceCancelled: "cancelled", ProgressHoldCleared: "hold cleared"}


def _cut(text: str) -> str:
    """Give the beginning of a text in one line."""
    line = " ".join(text.split())
    return line if len(line) <= SUMMARY_CHARACTERS_MAX else f"{line[: SUMMARY_CHARACTERS_MAX - 1]}…"
