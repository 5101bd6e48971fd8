"""Whatever comes in, by whatever door: no known secret is stored, told, or given to a verifier."""

import json
from dataclasses import replace

import pytest

from stateward.runtime.core.events import FailureCause, FileCitation
from stateward.runtime.core.instance import AttemptStatus
from stateward.runtime.core.operating import Verb
from stateward.runtime.engine.operating import Operated
from stateward.runtime.ports import RecordedEntry, RecordKey, VerificationRequest, VerifierAnswered, VerifierFailed, VerifierOutcome
from stateward.runtime.session.acts import RunOutcome
from stateward.runtime.session.chain import check
from stateward.runtime.session.entries import GENESIS, Head, Kind
from stateward.runtime.session.export import entry_line
from stateward.runtime.session.masking import Secrets
from stateward.runtime.session.segments import TextSegment
from tests.runtime.engines import AGENT, HOST, MODEL, PERSON, Desk, Judge, verdicts
from tests.runtime.judgements import MET, judgement
from tests.runtime.workdirs import TextsWorkdir

TOKEN = 'tok"en\\-é-1234'  # noqa: S105 -- a secret of nobody
SECRETS = Secrets({"TOKEN": TOKEN})
PLACEHOLDER = "«secret:TOKEN»"


@pytest.fixture
def desk() -> Desk:
    return Desk(actor=AGENT, secrets=SECRETS, workdirs=TextsWorkdir(**{f"a {TOKEN}": "x"}))


def telling(request: VerificationRequest) -> VerifierOutcome:
    given = verdicts(request, {"x": MET})
    assert isinstance(given, VerifierAnswered)
    changed = [
        replace(each, rationale=f"{each.rationale} {TOKEN}", missing=tuple(f"{one} {TOKEN}" for one in each.missing))
        for each in given.judgements
    ]
    return VerifierAnswered(tuple(changed))


def lived(desk: Desk) -> None:
    """Come in by every door with a secret."""
    engine, worker = desk.engine, desk.worker
    engine.submit(worker, (TextSegment(f"say {TOKEN}"),), PERSON)
    for kind, payload in ((Kind.TOOL_CALL, json.dumps({"env": {"T": TOKEN}})), (Kind.TOOL_RESULT, f"out {TOKEN}"), (Kind.NOTE, TOKEN)):
        recorded = engine.record(worker, kind, payload.encode(), HOST if kind != Kind.NOTE else AGENT, RecordKey("h", "s", str(kind)))
        assert isinstance(recorded, RecordedEntry)
    engine.start_run(worker, "run-1", HOST)
    engine.end_run(worker, "run-1", RunOutcome.FAILED, HOST, f"no {TOKEN}")
    desk.request(f"done with {TOKEN}", Judge(lambda _: VerifierFailed(FailureCause.MALFORMED, f"it said {TOKEN}")))
    desk.request(f"done with {TOKEN} again", Judge(telling))
    assert isinstance(engine.operate(worker, Verb.PAUSE, f"leaked {TOKEN}", PERSON), Operated)
    engine.stop(worker, f"because of {TOKEN}", PERSON)
    engine.fork(worker, f"without {TOKEN}", PERSON)


def test_nothing_that_is_stored_holds_a_secret_and_the_chain_verifies(desk: Desk) -> None:
    lived(desk)
    forms = (TOKEN, json.dumps(TOKEN)[1:-1], json.dumps(TOKEN, ensure_ascii=False)[1:-1])
    previous = GENESIS
    for each in desk.log():
        assert not any(form.encode() in each.payload for form in forms), each.kind
        assert not any(form in entry_line(each) for form in forms)
        assert check(each, previous) is None
        previous = Head(each.seq, each.digest)
    assert 11 <= sum(PLACEHOLDER.encode() in each.payload for each in desk.log())


def test_what_a_worker_is_told_is_what_is_stored(desk: Desk) -> None:
    told = desk.request(f"done with {TOKEN}", Judge(lambda request: verdicts(request, {}))).answer
    assert f"done with {PLACEHOLDER}" == told.reason
    again = desk.request(f"done with {TOKEN}", Judge(telling))
    assert (told, True) == (again.answer, again.repeated)
    desk.restart()
    assert AttemptStatus.ENTERED is desk.request("another reason", Judge(telling)).answer.outcome


def test_a_verifier_is_given_no_secret(desk: Desk) -> None:
    desk.engine.record(desk.worker, Kind.TOOL_RESULT, TOKEN.encode(), HOST, RecordKey("h", "s", "1"))
    request = desk.begin(f"done with {TOKEN}").request
    assert f"done with {PLACEHOLDER}" == request.reason
    assert not any(TOKEN.encode() in each.payload for each in request.captured)


def test_the_same_record_is_recorded_once_though_it_holds_a_secret(desk: Desk) -> None:
    first, second = (desk.engine.record(desk.worker, Kind.TOOL_RESULT, TOKEN.encode(), HOST, RecordKey("h", "s", "1")) for _ in range(2))
    assert isinstance(first, RecordedEntry)
    assert isinstance(second, RecordedEntry)
    assert (first.head, True) == (second.head, second.repeated)


def test_lines_that_were_shown_masked_are_cited_masked() -> None:
    workdir = TextsWorkdir(a=f"key {PLACEHOLDER}")
    desk = Desk(profile=MODEL, actor=AGENT, secrets=SECRETS, workdirs=workdir)
    cited = FileCitation("a", 1, 1, f"key {TOKEN}")

    def answer(request: VerificationRequest) -> VerifierOutcome:
        others = [judgement(each.transition, verdict=judgement("x", MET).verdict.NOT_MET) for each in request.questions[1:]]
        return VerifierAnswered((judgement("x", MET, citations=(cited,)), *others), frozenset({cited}))

    assert AttemptStatus.ENTERED is desk.request("done", Judge(answer, "model")).answer.outcome
    assert not any(TOKEN.encode() in each.payload for each in desk.log())
