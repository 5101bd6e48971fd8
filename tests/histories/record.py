"""Record a history with today's program: `python -m tests.histories.record NAME`. An existing file is never written over."""

import sys
from dataclasses import replace

from stateward.runtime.core.events import Account, Citation, EntryCitation, FailureCause, FileCitation, InstanceStarted, Usage, Verdict
from stateward.runtime.core.operating import Verb
from stateward.runtime.engine.view import WorkerView
from stateward.runtime.ports import RecordKey, VerificationRequest, VerifierAnswered, VerifierCancelled, VerifierFailed, VerifierOutcome
from stateward.runtime.session.acts import RunOutcome
from stateward.runtime.session.entries import Head, Kind, NewEntry
from stateward.runtime.session.event_codec import event_name
from stateward.runtime.session.masking import Secrets
from stateward.runtime.session.segments import TextSegment
from tests.histories.history import FOLDER, History, state_of, write
from tests.runtime.checks import BOTH, SURE, Checks
from tests.runtime.engines import AGENT, HOST, MODEL, PERSON, Catalog, Desk, Judge, failing, input_for, verdicts
from tests.runtime.flows import HALF, ODD_TEXT
from tests.runtime.guarded import NEEDS, REFINE
from tests.runtime.judgements import judgement
from tests.runtime.witnesses import HeldWitness
from tests.runtime.workdirs import TextsWorkdir


def every_event() -> Desk:
    """Live through everything that a Worker can record."""
    desk = Desk("review", actor=AGENT)
    desk.engine.submit(desk.worker, (TextSegment(ODD_TEXT + HALF),), PERSON, "note")
    desk.request(f"ready {ODD_TEXT}{HALF}", {})
    desk.request("unclear", {"ready": Verdict.INDETERMINATE})
    desk.record_evidence()
    desk.request("both", {"ready": Verdict.MET, "$cancel": Verdict.MET})
    desk.request("no such way", Judge(lambda _: VerifierAnswered((judgement("nowhere", Verdict.MET),))))
    desk.request("unresolved", Judge(lambda request: cited(request, "E99999999")))
    desk.request("broken", Judge(failing(FailureCause.TIMEOUT, "too slow")))
    desk.request("given up", Judge(lambda _: VerifierCancelled()))
    desk.begin("before the tests ran")
    desk.record_evidence(b'{"exit": 0, "n": 9007199254740993, "f": 1.0, "half": "\\ud800"}')
    moved = desk.request("the tests ran", Judge(lambda request: cited(request, "E00000002"))).answer
    desk.engine.report(desk.worker, moved.attempt, VerifierCancelled())
    foreign(desk, Kind.EXTENSION, b'{"v":1,"record":{"domain":"acme.notes","text":"hello"}}')
    foreign(desk, "assistant_message", b"\xff\x00")
    desk.request("found one", {"bad": Verdict.MET})
    desk.request("fixed it", {"fixed": Verdict.MET})
    desk.request("all good", {"good": Verdict.MET})
    desk.engine.submit(desk.worker, input_for("fork", "and now this"), PERSON, "second")
    desk.request("round again", {"z": Verdict.MET})
    desk.request("cannot be done", {"$cancel": Verdict.MET})
    desk.engine.submit(desk.worker, input_for("nothing"), PERSON, "third")
    desk.engine.submit(desk.worker, input_for("fork"), PERSON, "fourth")
    desk.request("not yet", {})
    desk.begin("still open")
    return desk


def every_verb() -> Desk:
    """Live through everything that operators and hosts can do to a Worker, checkpoints included."""
    desk = Desk("fork", actor=AGENT, checkpoint_entries=8)
    worker, engine = desk.worker, desk.engine
    engine.start_run(worker, "run-1", HOST)
    desk.begin("not yet")
    engine.operate(worker, Verb.WITHDRAW, "too early", PERSON, "op-1")
    engine.operate(worker, Verb.PAUSE, f"lunch {ODD_TEXT}{HALF}", PERSON, "op-2")
    engine.operate(worker, Verb.RESUME, "back", PERSON, "op-3")
    for number in range(3):
        desk.request(f"look {number}", {})
    engine.operate(worker, Verb.CLEAR, "look again", PERSON, "op-4")
    for number in range(3):
        desk.request(f"look once more {number}", {})
    engine.record(worker, Kind.TOOL_CALL, b'{"run": "tests"}', HOST, RecordKey("host", "s", "use-1", "call"))
    engine.record(worker, Kind.TOOL_RESULT, b'{"exit": 0}', HOST, RecordKey("host", "s", "use-1", "result"))
    engine.record(worker, Kind.ASSISTANT_MESSAGE, b"all is well", AGENT, RecordKey("host", "s", "m-1"))
    engine.record(worker, Kind.NOTE, b"\xff\x00", AGENT, RecordKey("host", "s", "n-1"))
    desk.request("the tests ran", {"z": Verdict.MET})
    desk.request("and on", {"x": Verdict.MET})
    desk.begin("the end")
    engine.operate(worker, Verb.REWIND, "not there yet", PERSON, "op-5", state="a")
    engine.end_run(worker, "run-1", RunOutcome.CANCELLED, HOST, "the host went away")
    engine.stop(worker, "for today", PERSON, "stop-1")
    desk.request("nowhere", {"y": Verdict.MET})
    engine.operate(worker, Verb.CANCEL, "given up", PERSON, "op-6")
    return desk


def every_version() -> Desk:
    """Live through what later versions of events and checkpoints hold: what judged and at what cost, the Workdir, a log that went back."""
    witness, workdir = HeldWitness(), TextsWorkdir(a="one\ntwo\n", b=f"{ODD_TEXT}")
    desk = Desk("fork", MODEL, AGENT, checkpoint_entries=6, workdirs=workdir, witness=witness, secrets=Secrets({"TOKEN": "tok-12345678"}))
    account = Account(Usage(3, 4000, 250), "some-model", "sha256:p", "sha256:t")
    desk.record_evidence()
    desk.request("nothing cited tok-12345678", Judge(lambda request: replace(answered(request), account=account), "model"))
    desk.request("no answer", Judge(lambda _: VerifierFailed(FailureCause.TIMEOUT, "slow", account), "model"))
    desk.request("given up", Judge(lambda _: VerifierCancelled(Account(None, "some-model")), "model"))
    desk.request("not counted", Judge(answered, "model"))
    witness.known[desk.worker] = Head(999, "sha256:" + "0f" * 32)
    desk.engine.accept_rollback(desk.worker, f"the disk died {ODD_TEXT}", PERSON, "op-1")
    workdir.texts["a"] = "one\nthree\n"
    lines = FileCitation("a", 2, 2, "three")
    desk.request("a line", Judge(lambda request: replace(answered(request, lines), account=account), "model"))
    open_ = desk.begin("it will change").request
    workdir.texts["a"] = "one\nfour\n"
    desk.engine.report(desk.worker, open_.attempt, answered(open_, EntryCitation("E00000003")))
    desk.begin("still open")
    desk.engine.stop(desk.worker, "for today", PERSON, "stop-1")
    return desk


def every_variable() -> Desk:
    """Live through what flows with variables, guards, checks and limits of visits record."""
    checks = Checks(TextsWorkdir(a="one\n"), {"pytest": 1})
    desk = Desk(
        "refine", SURE, AGENT, checkpoint_entries=9, inputs=NEEDS, catalog=Catalog(REFINE, BOTH), checks=checks, workdirs=checks.workdir
    )
    worker, engine = desk.worker, desk.engine
    findings = [{"file": f"a {ODD_TEXT}", "severity": "high"}]
    engine.set_variables(worker, {"attempts": 1, "findings": findings}, AGENT)
    desk.request("worked on", {})
    engine.set_variables(worker, {"bugs": True}, AGENT)
    desk.request("there are bugs", {})
    engine.set_variables(worker, {"attempts": 9}, AGENT)
    engine.operate(worker, Verb.REWIND, "look again", PERSON, "op-1", state="look")
    engine.set_variables(worker, {"bugs": True}, AGENT)
    desk.request("there still are", {})
    engine.operate(worker, Verb.RESUME, "once more", PERSON, "op-2")
    desk.request("there still are, and it may be entered", {})
    desk.request("worked on again", {})
    engine.set_variables(worker, {"bugs": False}, AGENT)
    desk.request("none is left", {})
    engine.submit(worker, input_for("both"), PERSON, "second")
    desk.request("reviewed", {"small": Verdict.MET})
    desk.request("tested", {})
    checks.statuses["pytest"] = 0
    checks.workdir.texts["a"] = "two\n"
    desk.request("reviewed and tested", {"ready": Verdict.MET})
    engine.operate(worker, Verb.CANCEL, "done with", PERSON, "op-3")
    engine.submit(worker, input_for("refine", topic=f"owls {ODD_TEXT}", limit=7), PERSON, "third")
    engine.set_variables(worker, {"attempts": 2, "findings": findings}, AGENT)
    return desk


def answered(request: VerificationRequest, *citations: Citation) -> VerifierAnswered:
    """Answer that the first condition is met, with citations of what was shown."""
    given = verdicts(request, {request.questions[0].transition: Verdict.MET})
    assert isinstance(given, VerifierAnswered)
    first, *others = given.judgements
    return VerifierAnswered((replace(first, citations=citations), *others), frozenset(citations))


def cited(request: VerificationRequest, reference: str) -> VerifierOutcome:
    """Answer that the first condition is met, with a citation."""
    given = verdicts(request, {request.questions[0].transition: Verdict.MET})
    assert isinstance(given, VerifierAnswered)
    first, *others = given.judgements
    return VerifierAnswered((replace(first, citations=(EntryCitation(reference),)), *others))


def foreign(desk: Desk, kind: str, payload: bytes) -> None:
    """Append what another program would."""
    head = desk.sessions.head(desk.worker)
    assert head is not None
    desk.sessions.append(desk.worker, head, (NewEntry(kind, AGENT, desk.clock.now(), payload),))


def history_of(desk: Desk) -> History:
    """Give what a Worker recorded."""
    view = desk.engine.view(desk.worker)
    assert isinstance(view, WorkerView)
    names = [event_name(each.event) for each in desk.engine.events(desk.worker)]
    started = [each.event for each in desk.engine.events(desk.worker) if isinstance(each.event, InstanceStarted)]
    definitions = {each.definition_digest: desk.sessions.definition(each.definition_digest) or b"" for each in started}
    return History(definitions, tuple(desk.log()), state_of(view, names))


LIVES = {
    "0.1-every-event": every_event,
    "0.1-every-verb": every_verb,
    "0.1-every-version": every_version,
    "0.1-every-variable": every_variable,
}


if __name__ == "__main__":
    write(FOLDER / f"{sys.argv[1]}.jsonl", history_of(LIVES[sys.argv[1]]()))
