"""A secret that was learned of too late is taken out of what a log holds, and the chain verifies as before."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from stateward.runtime.core.events import FailureCause
from stateward.runtime.core.refusal import Refusal, RefusalCode
from stateward.runtime.engine.operating import Operated
from stateward.runtime.engine.redaction import Redacted
from stateward.runtime.engine.view import WorkerView
from stateward.runtime.engine.worker import Engine
from stateward.runtime.ports import RecordedEntry, RecordKey, VerifierFailed
from stateward.runtime.session.entries import Kind
from stateward.runtime.session.export import ExportProblem, definition_line, end_line, entry_line, header_line, read_export
from stateward.runtime.session.masking import Secrets
from stateward.runtime.session.segments import TextSegment
from stateward.runtime.session.verification import Code, Ends, Verification, verify
from stateward.store.database import open_store
from tests.runtime.engines import AGENT, HOST, PERSON, WORKSPACE, Desk, Judge, input_for
from tests.runtime.judgements import MET

TOKEN = 'tok"en-é-1234'  # noqa: S105 -- a secret of nobody
SECRETS = Secrets({"TOKEN": TOKEN})
FORMS = tuple(form.encode() for form in (TOKEN, json.dumps(TOKEN)[1:-1], json.dumps(TOKEN, ensure_ascii=False)[1:-1]))


@pytest.fixture
def desk() -> Desk:
    """A log with the secret in a record, an input, a reason, a verifier's words, an act and checkpoints."""
    desk = Desk(actor=AGENT, checkpoint_entries=4)
    desk.engine.record(desk.worker, Kind.TOOL_RESULT, f"it is {TOKEN}".encode(), HOST, RecordKey("h", "s", "1"))
    desk.engine.submit(desk.worker, (TextSegment(f"use {TOKEN}"),), PERSON)
    desk.request(f"used {TOKEN}", Judge(lambda _: VerifierFailed(FailureCause.MALFORMED, f"it said {TOKEN}")))
    desk.request(f"used {TOKEN} again", {})
    desk.engine.stop(desk.worker, f"leaked {TOKEN}", PERSON)
    desk.begin(f"still {TOKEN}")
    return desk


def redacted(desk: Desk, engine: Engine | None = None) -> Redacted:
    done = (engine or desk.engine).redact(desk.worker, SECRETS, f"leaked {TOKEN}", PERSON)
    assert isinstance(done, Redacted), done
    return done


def verified(desk: Desk) -> Verification:
    ends = desk.sessions.ends(desk.worker)
    assert ends is not None
    return verify(desk.worker, ends, (replace(each, redacted=False) for each in desk.log()), lambda *_: True)


def exported(desk: Desk) -> Iterator[str]:
    ends = desk.sessions.ends(desk.worker)
    assert ends is not None
    assert ends.head is not None
    pinned = desk.flow.pin.definition_digest
    yield header_line(desk.worker, WORKSPACE, ends.base, ends.head)
    yield from map(entry_line, desk.log())
    yield definition_line(pinned, desk.sessions.definition(pinned) or b"")
    yield end_line(len(desk.log()), 1)


def test_no_entry_holds_the_secret_any_more_and_the_chain_verifies(desk: Desk) -> None:
    before = desk.log()
    done = redacted(desk)
    after = desk.log()
    held = [each.reference for each in before if any(form in each.payload for form in FORMS)]
    assert (done.entries, True) == (tuple(held), len(held) >= 8)
    assert not any(form in each.payload for each in after for form in FORMS)
    assert [each.digest for each in before] == [each.digest for each in after][: len(before)]
    found = verified(desk)
    assert (True, "yes", len(held)) == (found.is_well, found.intact, found.redacted)


def test_the_flow_stands_where_it_stood_and_goes_on(desk: Desk) -> None:
    flow = desk.flow
    redacted(desk)
    for _ in range(2):
        opened = desk.flow.attempt
        assert opened is not None
        assert flow.attempt is not None
        assert replace(flow.attempt, reason="still «secret:TOKEN»") == opened
        assert (flow.state, flow.visit, flow.attempts) == (desk.flow.state, desk.flow.visit, desk.flow.attempts)
        desk.restart()
    assert "b" == desk.request("still «secret:TOKEN»", {"x": MET}).answer.state


def test_a_process_that_folded_the_log_before_forgets_what_it_knew(desk: Desk) -> None:
    other = desk._new_engine(desk.engine._means.profile)
    other.view(desk.worker)
    redacted(desk)
    view = other.view(desk.worker)
    assert isinstance(view, WorkerView)
    assert view.flow == desk.flow
    for number in range(6):
        other.record(desk.worker, Kind.NOTE, b"more", HOST, RecordKey("h", "s", f"n-{number}"))
        other.stop(desk.worker, "for today", PERSON)
    assert not any(form in each.payload for each in desk.log() for form in FORMS)
    desk.restart()
    assert view.flow == desk.flow


def test_what_was_taken_out_once_is_not_taken_out_again(desk: Desk) -> None:
    redacted(desk)
    before = desk.log()
    assert () == redacted(desk).entries
    assert before == desk.log()


def test_only_a_person_redacts_and_says_why(desk: Desk) -> None:
    for actor, reason, code in ((AGENT, "me", RefusalCode.OPERATOR_ONLY), (PERSON, " ", RefusalCode.REASON_BLANK)):
        answer = desk.engine.redact(desk.worker, SECRETS, reason, actor)
        assert isinstance(answer, Refusal)
        assert answer.code is code
    unknown = desk.engine.redact("nobody", SECRETS, "why not", PERSON)
    assert isinstance(unknown, Refusal)
    assert RefusalCode.WORKER_NOT_FOUND is unknown.code


def test_a_redacted_log_is_exported_and_read_as_it_is_now(desk: Desk) -> None:
    redacted(desk)
    lines = list(exported(desk))
    read = read_export(lines)
    assert desk.log() == list(read.entries)
    place = next(number for number, line in enumerate(lines) if '"redacted":true' in line)
    forged = [*lines]
    forged[place] = forged[place].replace("«".encode("unicode_escape").decode(), "X").replace("\\u00ab", "X")
    assert forged != lines
    with pytest.raises(ExportProblem, match="no entry says why"):
        read_export(forged)


def test_a_payload_that_changed_with_no_entry_that_says_so_is_still_found_altered(desk: Desk) -> None:
    redacted(desk)
    log = desk.sessions._logs[desk.worker]
    place = next(number for number, each in enumerate(log) if each.redacted)
    log[place] = replace(log[place], payload=b"another")
    found = verified(desk)
    assert ("no", [(Code.ALTERED, place + 1)]) == (found.intact, [(each.code, each.seq) for each in found.findings])


def test_a_fork_of_a_redacted_log_is_made_whole(desk: Desk) -> None:
    fork = desk.engine.fork(desk.worker, "another way", PERSON)
    assert not isinstance(fork, Refusal)
    redacted(desk)
    desk.engine.redact(fork.worker, SECRETS, "leaked", PERSON)
    assert isinstance(desk.engine.make_whole(fork.worker, "the parent has to go", PERSON), Operated)
    desk.engine.delete(desk.worker, PERSON)
    entries = [each.entry for each in desk.engine.log(fork.worker)]
    assert list(range(1, len(entries) + 1)) == [each.seq for each in entries]
    assert not any(form in each.payload for each in entries for form in FORMS)


def test_a_secret_is_taken_out_of_what_a_fork_holds_of_its_parent(desk: Desk) -> None:
    desk.engine.record(desk.worker, Kind.TOOL_RESULT, b"\xff" + TOKEN.encode(), HOST, RecordKey("h", "s", "2"))
    fork = desk.engine.fork(desk.worker, "another way", PERSON)
    assert not isinstance(fork, Refusal)
    assert isinstance(desk.engine.make_whole(fork.worker, "the parent has to go", PERSON), Operated)
    desk.engine.delete(desk.worker, PERSON)
    before = [each.entry.digest for each in desk.engine.log(fork.worker)]
    assert isinstance(desk.engine.redact(fork.worker, SECRETS, "leaked", PERSON), Redacted)
    after = [each.entry for each in desk.engine.log(fork.worker)]
    assert before == [each.digest for each in after][: len(before)]
    assert not any(form in each.payload for each in after for form in FORMS)
    assert b"\xff\xc2\xabsecret:TOKEN" in b"".join(each.payload for each in after)


def test_what_lies_in_several_parts_of_a_copy_is_not_redacted_and_said_so(desk: Desk) -> None:
    desk.engine.record(desk.worker, Kind.TOOL_RESULT, (TOKEN + " ").encode() * 20_000, HOST, RecordKey("h", "s", "2"))
    fork = desk.engine.fork(desk.worker, "another way", PERSON)
    assert not isinstance(fork, Refusal)
    desk.engine.make_whole(fork.worker, "the parent has to go", PERSON)
    refused = desk.engine.redact(fork.worker, SECRETS, "leaked", PERSON)
    assert isinstance(refused, Refusal)
    assert RefusalCode.NOT_REDACTED is refused.code


def test_a_database_holds_nothing_of_the_secret_any_more(desk: Desk, tmp_path: Path) -> None:
    with open_store(tmp_path / "store.db", write=True, create=True) as store:
        engine = Engine(store.sessions, desk.catalog, desk.clock, desk.ids, desk.engine._means.profile, leases=store.leases)
        started = engine.start_worker(WORKSPACE, input_for("fork"), PERSON)
        assert not isinstance(started, Refusal)
        engine.record(started.worker, Kind.TOOL_RESULT, TOKEN.encode() * 100, HOST, RecordKey("h", "s", "1"))
        done = engine.redact(started.worker, SECRETS, "leaked", PERSON)
        assert isinstance(done, Redacted)
        assert ("E00000003",) == done.entries
        (entry,) = store.sessions.entries(started.worker, 2, 3)
        assert (True, "«secret:TOKEN»" * 100) == (entry.redacted, entry.payload.decode())
        stored = list(store.stored.stored(started.worker, 4))
        ends = store.stored.ends(started.worker)
        assert isinstance(ends, Ends)
        assert (True, 1) == ((found := verify(started.worker, ends, stored, lambda *_: True)).is_well, found.redacted)
    assert TOKEN.encode() not in (tmp_path / "store.db").read_bytes()


@pytest.mark.parametrize("said", [f"it is {TOKEN}", "it is «secret:TOKEN»"], ids=["as it was", "as it is now"])
def test_a_record_that_is_told_again_after_it_was_redacted_is_the_same_record(desk: Desk, said: str) -> None:
    redacted(desk)
    again = desk.engine.record(desk.worker, Kind.TOOL_RESULT, said.encode(), HOST, RecordKey("h", "s", "1"))
    assert isinstance(again, RecordedEntry)
    assert again.repeated
    assert not any(form in each.payload for each in desk.log() for form in FORMS)
    other = desk.engine.record(desk.worker, Kind.TOOL_RESULT, b"it is another", HOST, RecordKey("h", "s", "1"))
    assert isinstance(other, Refusal)
