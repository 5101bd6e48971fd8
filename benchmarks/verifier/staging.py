"""Laying a case out: its files in a folder of its own, its log in a store, through the engine, as they came into being in earnest.

Invariants: what a case says was recorded is recorded by the same calls that a surface makes, under the actor class of its channel; a file
of a case lies beneath its folder; git is run without any configuration but its own.
"""

import json
import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Protocol, assert_never

from benchmarks.verifier.cases import (
    TASK,
    Bytes,
    Called,
    Case,
    Given,
    Link,
    Long,
    Noted,
    Output,
    Ran,
    Refused,
    Rewound,
    Said,
    Step,
    Used,
    WorkFile,
    whole,
)
from stateward.compiler.flow.definition import (
    CANCEL_TRANSITION,
    CANCELLED_STATE,
    CompiledFlowDefinition,
    CompiledState,
    CompiledTransition,
)
from stateward.compiler.flow.lower import CANCEL_CONDITION
from stateward.runtime.core.events import Judgement, Verdict
from stateward.runtime.core.operating import Verb
from stateward.runtime.core.refusal import Refusal
from stateward.runtime.engine.worker import Engine
from stateward.runtime.ports import (
    Answered,
    LeaseStore,
    RecordedEntry,
    RecordKey,
    SessionStore,
    Submitted,
    Transcripts,
    VerificationRequest,
    VerifierAnswered,
    VerifierOutcome,
)
from stateward.runtime.profile import Profile, VerifierKind
from stateward.runtime.session.entries import Actor, ActorClass, Kind, reference
from stateward.runtime.session.masking import NO_SECRETS
from stateward.runtime.session.segments import FlowSegment, TextSegment
from stateward.runtime.wiring import Folders, SystemClock, TimeOrderedIds
from tests.runtime.engines import AGENT, HOST, PERSON, WORKSPACE, Catalog

ACTORS: Final[Mapping[str, Actor]] = {"host": HOST, "agent": AGENT, "person": PERSON}
FINISHED: Final = "finished"
_GIT: Final = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_AUTHOR_NAME": "worker",
    "GIT_AUTHOR_EMAIL": "worker@example.org",
    "GIT_COMMITTER_NAME": "worker",
    "GIT_COMMITTER_EMAIL": "worker@example.org",
    "GIT_AUTHOR_DATE": "2026-03-01T12:00:00Z",
    "GIT_COMMITTER_DATE": "2026-03-01T12:00:00Z",
    "PATH": os.environ.get("PATH", os.defpath),
}


class Stores(Protocol):
    """What a log and what was said to a model are kept in."""

    @property
    def sessions(self) -> SessionStore:
        """The logs."""

    @property
    def leases(self) -> LeaseStore:
        """Who judges."""

    @property
    def transcripts(self) -> Transcripts:
        """What models were told and answered."""


class CaseNotLaidOutError(Exception):
    """The engine refused what a case says was recorded; the message says what."""


@dataclass
class Laid:
    """A case as it lies in a store and in a folder, up to the moment before the worker asks."""

    case: Case
    engine: Engine
    worker: str
    workdir: Path | None
    labels: dict[str, str] = field(default_factory=dict)
    """The references of the entries that have a label."""


def lay_out(case: Case, store: Stores, folder: Path, profile: Profile) -> Laid:
    """Write the files of a case into a new folder and its log into a store. Raises CaseNotLaidOutError."""
    workdir = None if case.files is None else folder
    if workdir is not None:
        write_files(case, workdir)
    catalog = Catalog(definition_of(case))
    engine = Engine(
        store.sessions,
        catalog,
        SystemClock(),
        TimeOrderedIds(),
        profile,
        leases=store.leases,
        workdirs=Folders(NO_SECRETS),
        holder="evaluation",
    )
    segments = (FlowSegment(f"workspace:{case.flow}"), TextSegment(case.task))
    started = engine.start_worker(WORKSPACE, segments, PERSON, worked_by=ActorClass.AGENT, workdir="" if workdir is None else str(workdir))
    if not isinstance(started, Submitted):
        raise CaseNotLaidOutError(f"{case.id}: {started.message}")
    laid = Laid(case, engine, started.worker, workdir, {TASK: reference(started.head.seq)})
    for number, step in enumerate(case.session):
        seq = _taken(laid, number, step)
        if step.label:
            laid.labels[step.label] = reference(seq)
    return laid


def definition_of(case: Case) -> CompiledFlowDefinition:
    """Give the flow of a case: its state, and an end to which every way leads."""
    ways = [CompiledTransition(id=each, target=FINISHED, condition=text, synthetic=False) for each, text in case.ways.items()]
    cancel = CompiledTransition(id=CANCEL_TRANSITION, target=CANCELLED_STATE, condition=CANCEL_CONDITION, synthetic=True)
    here = CompiledState(id=case.state, instructions=case.instructions, terminal=False, transitions=(*ways, cancel))
    ends = (CompiledState(id=each, instructions="", terminal=True, transitions=()) for each in (FINISHED, CANCELLED_STATE))
    return CompiledFlowDefinition(schema_version=1, name=case.flow, initial=case.state, states=(here, *ends))


# --- the log ------------------------------------------------------------------------------------------------------------------------


def _taken(laid: Laid, number: int, step: Step) -> int:
    """Carry one step out and give the number of its entry."""
    match step:
        case Ran() | Used():
            return _recorded(laid, number, Kind.TOOL_RESULT, _payload(step), step.by)
        case Called(called=tool, given=given, by=by):
            return _recorded(laid, number, Kind.TOOL_CALL, json.dumps({"tool_name": tool, "tool_input": given}), by)
        case Said(said=text, by=by):
            return _recorded(laid, number, Kind.ASSISTANT_MESSAGE, text, by)
        case Noted(noted=text, by=by):
            return _recorded(laid, number, Kind.NOTE, text, by)
        case Given(input=text, by=by):
            submitted = laid.engine.submit(laid.worker, (TextSegment(text),), ACTORS[by])
            return submitted.head.seq if isinstance(submitted, Submitted) else _refused(laid, submitted)
        case Rewound(rewound=reason):
            operated = laid.engine.operate(laid.worker, Verb.REWIND, reason, PERSON, state=laid.case.state)
            return _refused(laid, operated) if isinstance(operated, Refusal) else _head(laid)
        case Refused():
            return _turned_down(laid, step)
    assert_never(step)


def _payload(step: Ran | Used) -> str:
    """Write a result as the hooks of a harness do."""
    if isinstance(step, Used):
        return _result(step.used, step.given, {"output": whole(step.output)})
    response: dict[str, object] = {"stdout": whole(step.output)}
    if step.status is not None:
        response = {"exit_code": step.status, **response}
    given: dict[str, object] = {"command": step.ran, "cwd": step.folder} if step.folder else {"command": step.ran}
    return _result("Bash", given, response)


def _result(tool: str, given: Mapping[str, object], response: Mapping[str, object]) -> str:
    return json.dumps({"tool_name": tool, "tool_input": given, "tool_response": response}, ensure_ascii=False)


def _recorded(laid: Laid, number: int, kind: Kind, payload: str, by: str) -> int:
    key = RecordKey("evaluation", laid.case.id, str(number))
    recorded = laid.engine.record(laid.worker, kind, payload.encode(), ACTORS[by], key)
    return recorded.head.seq if isinstance(recorded, RecordedEntry) else _refused(laid, recorded)


def _turned_down(laid: Laid, step: Refused) -> int:
    answered = laid.engine.request_transition(laid.worker, step.asked, ACTORS["agent"], _SaysNo(step))
    if not isinstance(answered, Answered):
        raise CaseNotLaidOutError(f"{laid.case.id}: an earlier request was not answered")
    return _head(laid)


class _SaysNo:
    """The judge of an earlier request."""

    kind = VerifierKind.MODEL

    def __init__(self, step: Refused) -> None:
        self._step = step

    def verify(self, request: VerificationRequest) -> VerifierOutcome:
        """Turn everything down."""
        no, step = Verdict.NOT_MET, self._step
        return VerifierAnswered(
            tuple(Judgement(each.transition, no, no, step.rationale, (step.missing,)) for each in request.questions), frozenset()
        )


def _head(laid: Laid) -> int:
    view = laid.engine.view(laid.worker)
    assert not isinstance(view, Refusal)  # noqa: S101 -- it was started here
    return view.head.seq


def _refused(laid: Laid, refusal: Refusal) -> int:
    raise CaseNotLaidOutError(f"{laid.case.id}: {refusal.message}")


# --- the folder ---------------------------------------------------------------------------------------------------------------------


def write_files(case: Case, folder: Path) -> None:
    """Write the files of a case, commit them where they are to be, and write the later ones. Raises CaseNotLaidOutError."""
    folder.mkdir(parents=True)
    for name, content in (case.files or {}).items():
        _write(folder, name, content)
    if case.repository:
        _commit(folder)
    for name, content in case.later.items():
        _write(folder, name, content)


def _write(folder: Path, name: str, content: WorkFile) -> None:
    path = folder / name
    if Path(name).is_absolute() or ".." in Path(name).parts:
        raise CaseNotLaidOutError(f"file {name!r} lies outside")
    path.parent.mkdir(parents=True, exist_ok=True)
    match content:
        case str() | Long():
            _put(path, content)
        case Link(link=target):
            path.symlink_to(target)
        case Bytes(hex=digits):
            path.write_bytes(bytes.fromhex(digits))
        case _:
            assert_never(content)


def _put(path: Path, text: Output) -> None:
    path.write_text(whole(text), "utf-8", newline="")


def _commit(folder: Path) -> None:
    for given in (("init", "--quiet", "--initial-branch", "main"), ("add", "--all"), ("commit", "--quiet", "--message", "Work")):
        subprocess.run(("git", *given), cwd=folder, env=_GIT, check=True, capture_output=True)
