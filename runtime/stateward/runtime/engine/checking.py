"""Running what an open attempt needs to be shown: the checks of the flow, by the host, outside of any commit.

Invariants: each run is one entry, committed as it has ended, so that nothing is run twice for what was recorded; a run counts for the
attempt only on the tree that the attempt is about; what may be run is what the profile in force and the one that is pinned both grant; a
check that was not run to its end is "could not check", never "no".
"""

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, TypeAlias

from stateward.runtime.core.decide import Decided, Ran, decide
from stateward.runtime.core.events import Account, ChecksRun, FailureCause, Part, PartKind, Usage, Verdict
from stateward.runtime.core.instance import Attempt, Instance, is_aside
from stateward.runtime.core.refusal import Refusal, RefusalCode
from stateward.runtime.core.texts import cut
from stateward.runtime.engine import records
from stateward.runtime.engine.actors import ENGINE
from stateward.runtime.engine.answers import Begun, question_for
from stateward.runtime.engine.commit import Append, not_found
from stateward.runtime.engine.folding import Loaded, payload_of
from stateward.runtime.engine.keys import check_key, checked_key, facts_key, passed_key
from stateward.runtime.engine.leasing import lease_problem
from stateward.runtime.engine.lineage import entries_through, reader
from stateward.runtime.engine.means import Means
from stateward.runtime.engine.rights import rights_of
from stateward.runtime.engine.told import stored_answer
from stateward.runtime.ports import Answered, VerificationRequest, VerifierFailed
from stateward.runtime.ports.checking import CheckRun, CheckRunner
from stateward.runtime.profile.commands import allowed
from stateward.runtime.session.captured import CapturedLog
from stateward.runtime.session.chain import digest_of, time_text
from stateward.runtime.session.checks import CheckEnd, CheckRecord
from stateward.runtime.session.entries import ActorClass, Entry, Head, Kind, NewEntry
from stateward.runtime.session.masking import Secrets
from stateward.runtime.session.payloads import Extension, FlowRecord, WorkdirRecord, encode
from stateward.runtime.session.strict import parse, render
from stateward.runtime.session.visible import visible

if TYPE_CHECKING:
    from stateward.compiler.predicates.declarations import CheckDeclaration

COMMAND_CHARACTERS: Final = 200
"""Of the command of a check that failed, told to the worker."""
LAST_LINES: Final = 20
"""Of what a check that failed said, told to the worker."""
LAST_BYTES: Final = 2 * 1024
"""Of these lines together."""
_ANOTHER_TREE: Final = "the Workdir is not what it was when the transition was requested"
_NEW_WORKER: Final = "start a new Worker: the profile that this one pins does not let it be run"


@dataclass(frozen=True, slots=True)
class _Shown:
    """A run of a check, and the number of its entry."""

    record: CheckRecord
    entry: int


def checked(
    means: Means, runner: CheckRunner | None, request: VerificationRequest, token: int, halt: int | None = None
) -> VerificationRequest | VerifierFailed | Answered | Refusal:
    """Run what has to be run before anybody is asked about an open attempt, and say what is to be asked then.

    `Answered` where nobody has to be asked, and a failed verification where a check changed what would be judged. Refused where the
    attempt is not open any more, the lease is another's, or whoever asked wants to know no more, which can be read from the handle `halt`.
    """
    while request.checks:
        shown: dict[str, _Shown] = {}
        for name in request.checks:
            found = _Checking(means, request.worker, request.attempt, name, token).shown(runner, halt)
            if isinstance(found, Refusal | Answered):
                return found
            shown[name] = found
        came: Begun | Answered | Refusal = means.commit(request.worker, _Reporting(means, request, shown, token).plan)
        if not isinstance(came, Begun):
            return came
        assert came.request.checks != request.checks  # what was asked for is answered
        changed = next((each.record for each in shown.values() if each.record.tree != each.record.tree_after), None)
        if changed is not None:
            message = f"check `{changed.check}`: {changed.problem}"
            return VerifierFailed(FailureCause.WORKDIR_CHANGED, message, Account(Usage(0, 0, 0)))
        request = came.request
    return request


_Step: TypeAlias = Append[_Shown | Answered | Refusal] | _Shown | Answered | Refusal


class _Checking:
    """One check for one attempt."""

    def __init__(self, means: Means, worker: str, attempt: str, name: str, token: int) -> None:
        self._means, self._worker, self._attempt, self._name, self._token = means, worker, attempt, name, token

    def shown(self, runner: CheckRunner | None, halt: int | None) -> _Shown | Answered | Refusal:
        """Give evidence that is fresh, or run the check and record what came of it."""
        loaded = self._means.folds.load(self._worker)
        if loaded is None:
            return not_found(self._worker)
        opened = _opened(self._means, loaded, self._attempt)
        if not isinstance(opened, _Open):
            return opened
        check = next(each for each in opened.definition_checks if each.name == self._name)
        known = self._known(loaded, opened, check)
        if known is not None:
            return known
        run = self._run(loaded, check, runner, halt)
        if run.ended is CheckEnd.STOPPED:
            return Refusal(RefusalCode.VERIFICATION_STOPPED, f"check `{check.name}` was stopped", ("request the transition again",))
        record = _recorded(opened, check, run, self._means.secrets)
        came: _Shown | Answered | Refusal = self._means.commit(self._worker, lambda loaded: self._plan(loaded, check, record))
        return came

    def _known(self, loaded: Loaded, opened: "_Open", check: "CheckDeclaration") -> _Shown | None:
        """Find what was recorded for this attempt, or else fresh evidence: of the same command on the same tree.

        What failed is looked at again where anything was recorded since that may have mended it.
        """
        attempt = opened.attempt
        found = self._found(check_key(attempt.id, check.name))
        if found is not None or not opened.is_known:
            return found
        passed = self._found(_passed_key(opened, check))
        if passed is not None and not is_aside(loaded.flow.aside, passed.entry):
            return passed
        return next((each for each in self._failed(loaded, opened) if _is_of(each.record, opened, check)), None)

    def _found(self, key: str) -> _Shown | None:
        entry = self._means.sessions.find(self._worker, key)
        return None if entry is None else shown_in(entry)

    def _failed(self, loaded: Loaded, opened: "_Open") -> Iterator[_Shown]:
        """Give what came of the checks of the last attempt of this visit, where nothing that counts was recorded since."""
        last = opened.instance.last
        if last is None or last.attempt.visit != opened.attempt.visit:
            return
        for part in last.attempt.parts:
            if part.kind is PartKind.CHECK and part.verdict is Verdict.NOT_MET and loaded.evidence <= part.entry:
                entry = next(entries_through(self._means.sessions, self._worker, part.entry - 1, part.entry), None)
                found = None if entry is None else shown_in(entry)
                if found is not None:
                    yield found

    def _run(self, loaded: Loaded, check: "CheckDeclaration", runner: CheckRunner | None, halt: int | None) -> CheckRun:
        workdir = loaded.session.workdir
        if runner is None or not workdir:
            problem = "this Worker has no Workdir" if not workdir else "no checks are run here"
            return CheckRun(CheckEnd.NOT_RUN, self._means.clock.now(), problem=problem)
        rights = rights_of(self._means, loaded.session.profile).checks
        run = runner.run(check, workdir, rights, halt)
        granted, in_force = (allowed(check.command, each.allow) for each in (rights, self._means.profile.checks))
        if run.ended is CheckEnd.NOT_RUN and in_force and not granted:
            return replace(run, allowed=(_NEW_WORKER,))
        return run

    def _plan(self, loaded: Loaded, check: "CheckDeclaration", record: CheckRecord) -> _Step:
        opened = _opened(self._means, loaded, self._attempt)
        if not isinstance(opened, _Open):
            return opened
        problem = lease_problem(self._means, self._worker, self._attempt, self._token)
        if problem is not None:
            return problem
        is_lasting = record.has_passed and opened.is_known and record.tree == opened.attempt.tree
        key = _passed_key(opened, check) if is_lasting else check_key(self._attempt, check.name)
        found = self._found(key)
        if found is not None:
            return found
        entry = NewEntry(Kind.EXTENSION, ENGINE, self._means.clock.now(), encode(Extension(record)), key)
        return Append((entry,), lambda head: _Shown(record, head.seq))


class _Reporting:
    """What came of checks, as the core decides on it."""

    def __init__(self, means: Means, request: VerificationRequest, shown: dict[str, _Shown], token: int) -> None:
        self._means, self._request, self._shown, self._token = means, request, shown, token

    def plan(self, loaded: Loaded) -> Append[Begun | Answered | Refusal] | Begun | Answered | Refusal:
        """Decide on it."""
        means, worker, attempt = self._means, self._request.worker, self._request.attempt
        opened = _opened(means, loaded, attempt)
        if not isinstance(opened, _Open):
            return opened
        problem = lease_problem(means, worker, attempt, self._token)
        if problem is not None:
            return problem
        assert loaded.definition is not None  # an attempt is open
        decided = decide(loaded.definition, loaded.flow, Ran(attempt, tuple(self._parts(opened))))
        if isinstance(decided, Refusal):
            return decided
        assert isinstance(decided, Decided)  # the attempt is open
        events, seq, time = decided.events, loaded.head.seq + 1, means.clock.now()
        if len(events) > 1:
            resolved = records.resolution(loaded.definition, loaded.flow, events, seq, time, self_judged=False)
            return Append((resolved.entry,), lambda _: Answered(resolved.answer))
        (run,) = events
        assert isinstance(run, ChecksRun)
        entry = NewEntry(
            Kind.EXTENSION, ENGINE, time, encode(Extension(FlowRecord(events))), checked_key(attempt, len(opened.attempt.parts))
        )
        return Append((entry,), lambda _: self._begun(loaded, opened, run))

    def _parts(self, opened: "_Open") -> Iterator[Part]:
        for name, shown in self._shown.items():
            verdict, missing = verdict_of(shown.record, opened.attempt.tree)
            for transition in opened.naming(name):
                yield Part(transition, PartKind.CHECK, verdict, name, missing, shown.entry)

    def _begun(self, loaded: Loaded, opened: "_Open", run: ChecksRun) -> Begun:
        assert loaded.definition is not None  # an attempt is open
        attempt = replace(opened.attempt, parts=(*opened.attempt.parts, *run.parts))
        captured = captured_for(self._means, loaded.worker, attempt)
        number, aside = opened.instance.attempts, loaded.flow.aside
        return Begun(question_for(loaded.worker, loaded.definition, opened.instance, attempt, captured, number=number, aside=aside))


# --- an open attempt ------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Open:
    """An attempt that is open."""

    instance: Instance
    attempt: Attempt
    definition_checks: "Sequence[CheckDeclaration]"
    ways: Sequence[tuple[str, tuple[str, ...]]]
    """The transitions of its state, and the checks that each names."""
    before: int
    """The number of the entry that last set something aside; 0 where none did."""
    is_known: bool
    """Whether the facts of the Workdir are all of it: then the same facts are the same tree."""

    def naming(self, check: str) -> tuple[str, ...]:
        """Give the transitions that name a check."""
        return tuple(way for way, checks in self.ways if check in checks)


def _opened(means: Means, loaded: Loaded, attempt: str) -> _Open | Answered | Refusal:
    """Give the attempt that is open; where somebody has resolved it, what was told."""
    instance, definition = loaded.flow.instance, loaded.definition
    opened = None if instance is None else instance.attempt
    if instance is None or definition is None or opened is None or opened.id != attempt:
        answer = stored_answer(means.sessions, loaded.worker, attempt)
        if answer is not None:
            return Answered(answer, repeated=True)
        return Refusal(RefusalCode.ATTEMPT_UNKNOWN, "the attempt that needs these checks is not open", ("request a transition",))
    ways = [(each.id, each.checks) for each in definition.state(opened.state).transitions]
    aside = loaded.flow.aside
    before, is_known = aside[-1].before if aside else 0, bool(opened.tree) and _is_whole(means, loaded.worker, attempt)
    return _Open(instance, opened, definition.declared_checks, ways, before, is_known)


def _is_whole(means: Means, worker: str, attempt: str) -> bool:
    """Tell whether the facts on which an attempt was begun are without a caveat, such as a repository within that was not looked into."""
    entry = means.sessions.find(worker, facts_key(attempt))
    payload = None if entry is None else payload_of(entry)
    if not isinstance(payload, Extension) or not isinstance(payload.record, WorkdirRecord):
        return False
    stated = parse(payload.record.facts.encode())
    return isinstance(stated, dict) and not stated.get("caveats")


def captured_for(means: Means, worker: str, attempt: Attempt) -> CapturedLog:
    """Give what a verifier of an open attempt is shown: the log up to the request, or to the last check that was run for it."""
    read = reader(means.sessions, worker)
    last = next(read(attempt.shown - 1, attempt.shown))
    return CapturedLog(Head(last.seq, last.digest), read)


# --- what is recorded -----------------------------------------------------------------------------------------------------------------


def shown_in(entry: Entry) -> _Shown | None:
    """Read the run of a check that an entry holds; None where it holds none, or nobody's word counts for it."""
    payload = payload_of(entry)
    if entry.actor.actor_class is ActorClass.ENGINE and isinstance(payload, Extension) and isinstance(payload.record, CheckRecord):
        return _Shown(payload.record, entry.seq)
    return None


def declaration_digest(check: "CheckDeclaration") -> str:
    """Give the digest of a check as its flow declares it."""
    return digest_of(render([check.name, list(check.command), check.timeout_seconds]))


def _passed_key(opened: _Open, check: "CheckDeclaration") -> str:
    return passed_key(digest_of(render([opened.instance.id, declaration_digest(check), opened.attempt.tree, opened.before])))


def _is_of(record: CheckRecord, opened: _Open, check: "CheckDeclaration") -> bool:
    """Tell whether a run is of the same command, on the tree that an attempt is about, and of the same instance."""
    same = (record.instance, record.declaration) == (opened.instance.id, declaration_digest(check))
    return same and record.is_conclusive and record.tree == record.tree_after == opened.attempt.tree


def _recorded(opened: _Open, check: "CheckDeclaration", run: CheckRun, secrets: Secrets) -> CheckRecord:
    return CheckRecord(
        instance=opened.instance.id,
        attempt=opened.attempt.id,
        check=check.name,
        command=tuple(map(secrets.mask, check.command)),
        declaration=declaration_digest(check),
        ended=run.ended,
        exit_status=run.status,
        problem=run.problem,
        allowed=run.allowed,
        program=secrets.mask(run.program),
        started=time_text(run.started),
        milliseconds=run.milliseconds,
        output=run.output,
        output_end=run.output_end,
        left_out=run.left_out,
        tree=run.tree,
        tree_after=run.tree_after,
    )


def verdict_of(record: CheckRecord, tree: str) -> tuple[Verdict, tuple[str, ...]]:
    """Say what a run comes to for an attempt on such a tree, and what is missing."""
    if not record.is_conclusive:
        return Verdict.INDETERMINATE, (record.problem or "it has no exit status", *record.allowed)
    if tree and record.tree != tree:
        return Verdict.INDETERMINATE, (_ANOTHER_TREE,)
    if record.exit_status == 0:
        return Verdict.MET, ()
    said = _last_lines(record.output_end or record.output)
    return Verdict.NOT_MET, (f"`{_line(record)}` ended with exit status {record.exit_status}", *([said] if said else []))


def _line(record: CheckRecord) -> str:
    """Give a command as somebody would type it, as far as it is told."""
    line = visible(shlex.join(record.command)).replace("\n", " ")
    return line if len(line) <= COMMAND_CHARACTERS else f"{line[:COMMAND_CHARACTERS]}…"


def _last_lines(output: str) -> str:
    """Give the last lines of an output, as many as fit."""
    lines = visible(output.replace("\r\n", "\n")).rstrip().split("\n")[-LAST_LINES:]
    while len(lines) > 1 and sum(len(each.encode()) + 1 for each in lines) > LAST_BYTES:
        del lines[0]
    return cut("\n".join(lines), LAST_BYTES)
