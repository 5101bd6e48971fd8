"""Record a history with today's program: `python -m tests.histories.record NAME`. An existing file is never written over."""

import sys
from dataclasses import replace

from stateward.runtime.core.events import EntryCitation, FailureCause, InstanceStarted, Verdict
from stateward.runtime.engine.view import WorkerView
from stateward.runtime.ports import VerificationRequest, VerifierAnswered, VerifierCancelled, VerifierOutcome
from stateward.runtime.session.entries import Kind, NewEntry
from stateward.runtime.session.event_codec import event_name
from stateward.runtime.session.segments import TextSegment
from tests.histories.history import FOLDER, History, state_of, write
from tests.runtime.engines import AGENT, PERSON, Desk, Judge, failing, input_for, verdicts
from tests.runtime.flows import HALF, ODD_TEXT
from tests.runtime.judgements import judgement


def every_event() -> Desk:
    """Live through everything that a Worker can record."""
    desk = Desk("review", actor=AGENT)
    desk.engine.submit(desk.worker, (TextSegment(ODD_TEXT + HALF),), PERSON, "note")
    desk.request(f"ready {ODD_TEXT}{HALF}", {})
    desk.request("unclear", {"ready": Verdict.INDETERMINATE})
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


if __name__ == "__main__":
    write(FOLDER / f"{sys.argv[1]}.jsonl", history_of(every_event()))
