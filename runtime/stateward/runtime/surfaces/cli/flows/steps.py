"""What a sync says of each name: what was done or would be, what is left and why, and the one next step.

Invariant: whatever is left for a person to see to has a remedy, and ends the command with a status that is not 0.
"""

from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import Any, Final, TypeAlias, assert_never

from stateward.compiler.cli.host import STATUS_ENVIRONMENT, STATUS_FOUND, SUFFIX, Document
from stateward.compiler.cli.output import fail
from stateward.compiler.diagnostics.report import Failure
from stateward.runtime.core.refusal import Refusal
from stateward.runtime.engine.folders import FileProblem, SyncKind, SyncOutcome, SyncResult, SyncStep
from stateward.runtime.ports import Conflict, NotCompiled
from stateward.runtime.surfaces.cli.flows.folder import FlowFolder
from stateward.runtime.surfaces.cli.flows.forms import conflict_data, difference_data, line_data, refusal_data
from stateward.runtime.surfaces.cli.flows.shown import act_line, author_shown, revision_line, tell, tell_diagnostics, tell_difference
from stateward.runtime.surfaces.cli.output import emit
from stateward.runtime.surfaces.cli.writing import shown_path

Problem: TypeAlias = FileProblem | Conflict | NotCompiled | Refusal
_DONE: Final = {
    SyncKind.PUSH: ("saved", "would save", "saved", "to save"),
    SyncKind.NEW_HERE: ("saved", "would save", "saved", "to save"),
    SyncKind.PULL: ("wrote", "would write", "written", "to write"),
    SyncKind.NEW_THERE: ("wrote", "would write", "written", "to write"),
    SyncKind.REMOVED_HERE: ("removed", "would remove", "removed", "to remove"),
    SyncKind.REMOVED_THERE: ("deleted", "would delete", "deleted", "to delete"),
}
"""How it is told of one name that something was done, that it would be, and under what either is counted."""
_REMOVALS: Final = frozenset({SyncKind.REMOVED_HERE, SyncKind.REMOVED_THERE})
_COUNTED: Final = {
    SyncKind.CONFLICT: "in conflict",
    SyncKind.BROKEN: "not kept",
    SyncKind.SKIPPED: "not looked into",
}


@dataclass(frozen=True, slots=True)
class Said:
    """What is said of one name."""

    step: SyncStep
    result: str
    """For programs: `done`, `planned`, `nothing`, `left`, `moved` or `failed`."""
    counted: str
    """Under what it is counted."""
    file: str
    line: str = ""
    """For people, where nothing is wrong; empty where nothing is to be said."""
    failure: Failure | None = None
    """What is left for a person to see to."""
    revision: int | None = None
    """The last revision, after what was done."""
    problem: Problem | None = None
    document: Document | None = None
    """The file, where it does not compile."""

    @property
    def status(self) -> int:
        """The exit status that this alone would end with."""
        return 0 if self.failure is None else self.failure.status

    def tell(self) -> None:
        """Say it to people."""
        if self.line:
            emit(f"{self.line}\n")
        if self.result == "planned":
            tell_difference(self.step.difference)
        if self.failure is not None:
            self._tell_details()
            fail(self.failure)

    def _tell_details(self) -> None:
        step = self.step
        if step.kind is SyncKind.CONFLICT and step.there is not None:
            tell([f"  {revision_line(step.there.last)}", *([] if step.there.removed is None else [f"  {act_line(step.there.removed)}"])])
            tell_difference(step.difference)
        if isinstance(self.problem, NotCompiled) and self.document is not None:
            tell_diagnostics(self.document, step.name, self.problem)

    def data(self) -> dict[str, Any]:
        """Say it to programs."""
        step = self.step
        return line_data(
            slug=step.name,
            file=self.file,
            kind=str(step.kind),
            result=self.result,
            content_digest=step.here,
            revision=self.revision,
            base=None if step.base is None else step.base.revision,
            difference=None if step.difference is None else difference_data(step.difference),
            problem=None if self.problem is None else _problem_data(self.problem),
            message=None if self.failure is None else self.failure.message,
            help=None if self.failure is None else self.failure.remedy,
        )


def said_of(step: SyncStep, outcome: SyncOutcome | None, folder: FlowFolder, *, delete: bool) -> Said:
    """Say what became of a step, or would, where there is no outcome yet."""
    file = shown_path(str(folder.path / f"{step.name}{SUFFIX}"))
    result = _foreseen(step, delete=delete) if outcome is None else str(outcome.result)
    problem = step.problem if outcome is None or outcome.problem is None else outcome.problem
    revision = outcome.base.revision if outcome is not None and outcome.base is not None and result == "done" else step.revision
    if result == "nothing":
        return Said(step, result, "in step", file, revision=revision)
    if result in {"done", "planned"}:
        done, planned, counted_done, counted_planned = _DONE[step.kind]
        verb, counted = (done, counted_done) if result == "done" else (planned, counted_planned)
        return Said(step, result, counted, file, line=_done_line(step, verb, file, outcome), revision=revision)
    if result == "left" and step.kind in _DONE:
        return Said(step, result, "left", file, line=_left_line(step, file), revision=revision)
    document = Document(file, _content(folder, step.name), file) if isinstance(problem, NotCompiled) else None
    failure = _failure(step, outcome, problem, file)
    return Said(
        step, result, _COUNTED.get(step.kind, "not done"), file, failure=failure, revision=revision, problem=problem, document=document
    )


def kept_below(step: SyncStep, file: Path) -> Said:
    """Say of a flow that is not there that it was saved from a file in a folder further down."""
    shown = shown_path(str(file))
    return Said(step, "left", "from folders below", shown, line=f"left {shown}, which is in a folder below", revision=step.revision)


def _foreseen(step: SyncStep, *, delete: bool) -> str:
    if step.kind is SyncKind.IN_STEP:
        return "nothing"
    left = step.kind in _COUNTED or (step.kind in _REMOVALS and not delete)
    return "left" if left else "planned"


def _content(folder: FlowFolder, name: str) -> bytes:
    content = folder.read(name)
    return content if isinstance(content, bytes) else b""


def _done_line(step: SyncStep, verb: str, file: str, outcome: SyncOutcome | None) -> str:
    flow = f"workspace:{step.name}"
    match step.kind:
        case SyncKind.PUSH | SyncKind.NEW_HERE:
            base = None if outcome is None else outcome.base
            return f"{verb} {flow} revision {(step.revision or 0) + 1 if base is None else base.revision}{_lines_changed(step)}"
        case SyncKind.REMOVED_HERE:
            return f"{verb} {flow} at revision {step.revision}, as {file} was deleted"
    assert step.there is not None, "what is written or deleted here follows from a flow there"
    if step.there.removed is not None:
        return f"{verb} {file}, as {flow} was removed by {author_shown(step.there.removed.author)}"
    return f"{verb} {file}: {revision_line(step.there.last)}"


def _lines_changed(step: SyncStep) -> str:
    """Say what saving a file changes against the revision that it follows: an old state of a file may have come back."""
    if step.difference is None:
        return ""
    body = step.difference.text.split("\n")[2:]  # the heading names both
    added, taken = (sum(line.startswith(sign) for line in body) for sign in "+-")
    return f", {'at least ' if step.difference.cut else ''}+{added} -{taken} lines against revision {step.revision}"


def _left_line(step: SyncStep, file: str) -> str:
    if step.kind is SyncKind.REMOVED_HERE:
        return f"left {file} deleted; `--delete` removes workspace:{step.name} too"
    assert step.there is not None
    assert step.there.removed is not None
    by = author_shown(step.there.removed.author)
    return f"left {file}; workspace:{step.name} was removed by {by}, and `--delete` deletes the file too"


# --- what is left for a person ------------------------------------------------------------------------------------------------------


def _failure(step: SyncStep, outcome: SyncOutcome | None, problem: Problem | None, file: str) -> Failure:
    if outcome is not None and outcome.result is SyncResult.MOVED:
        return Failure(f"`{file}` or workspace:{step.name} changed while this ran", "sync once more", STATUS_FOUND)
    match problem:
        case FileProblem(reason=reason):
            failed = outcome is not None and outcome.result is SyncResult.FAILED
            return Failure(f"`{file}` is left alone: {reason}", "mend or move it", STATUS_ENVIRONMENT if failed else STATUS_FOUND)
        case NotCompiled():
            message = f"`{file}` is not kept: it does not compile as `{step.name}`"
            return Failure(message, f"mend it; `stateward compile {quote(file)}` tells whether it compiles", STATUS_FOUND)
        case Refusal(message=message, allowed=allowed):
            return Failure(f"`{file}` is not kept: {message}", " or ".join(allowed), STATUS_FOUND)
        case Conflict() | None:
            return _conflict(step, file)
    assert_never(problem)


def _conflict(step: SyncStep, file: str) -> Failure:
    assert step.there is not None, "a conflict is with a flow that is there"
    flow, last = f"workspace:{step.name}", step.there.last.revision
    since = f"since revision {step.base.revision}" if step.base is not None else ""
    if step.here is None:
        message = f"`{file}` was deleted, and {flow} changed {since}".rstrip()
        return Failure(message, f"take it back with `stateward flow show {step.name} --output {quote(file)}`", STATUS_FOUND)
    save = f"`stateward flow save {quote(file)} --base {last}`"
    if step.there.removed is not None:
        message = f"{flow} was removed by {author_shown(step.there.removed.author)}, and `{file}` holds what no revision does"
        return Failure(message, f"bring it back with {save}, or delete the file", STATUS_FOUND)
    if step.base is None:
        message = f"`{file}` and {flow} differ, and from which revision the file was made is not known"
    elif step.here == step.base.content_digest:
        message = f"`{file}` went back to revision {step.base.revision}, and {flow} is at revision {last}"
        return Failure(message, f"to go back to that one, {save}", STATUS_FOUND)
    else:
        message = f"`{file}` and {flow} both changed {since}"
    return Failure(message, f"bring the two together in the file, then {save}", STATUS_FOUND)


def _problem_data(problem: Problem) -> dict[str, Any]:
    match problem:
        case FileProblem(reason=reason):
            return {"kind": "file", "message": reason}
        case NotCompiled(diagnostics=diagnostics):
            return {"kind": "not_compiled", "diagnostics": list(diagnostics)}
        case Refusal():
            return {"kind": "refused", **refusal_data(problem)}
        case Conflict():
            return {"kind": "conflict", **conflict_data(problem)}
    assert_never(problem)
