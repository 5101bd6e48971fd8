"""Logs as files: everything comes back, an imported one can go on, and what is not a whole log is refused."""

import json
from collections.abc import Callable
from dataclasses import replace

import pytest

from stateward.runtime.core.events import Verdict
from stateward.runtime.engine.forking import Forked
from stateward.runtime.ports import Answered, Committed, SessionStore
from stateward.runtime.session.chain import digest_of
from stateward.runtime.session.entries import Head, NewEntry
from stateward.runtime.session.export import (
    Export,
    ExportProblem,
    definition_line,
    end_line,
    entry_line,
    header_line,
    pinned_by,
    read_export,
)
from stateward.runtime.session.verification import Ends, verify
from stateward.store.memory_sessions import MemorySessionStore
from tests.runtime.engines import PERSON, WORKSPACE, Desk, Judge, engine_on, saying

TRANSITIONS = 40


def exported(sessions: SessionStore, worker: str) -> list[str]:
    head = sessions.head(worker)
    assert head is not None
    entries = list(sessions.entries(worker, 0, head.seq))
    pinned = dict.fromkeys(digest for entry in entries for digest in pinned_by(entry))
    known = {digest: sessions.definition(digest) or b"" for digest in pinned}
    base = Head(entries[0].seq - 1, entries[0].previous)
    lines = [header_line(worker, WORKSPACE, base, head), *map(entry_line, entries)]
    return [*lines, *(definition_line(*each) for each in known.items()), end_line(len(entries), len(known))]


def imported(export: Export) -> MemorySessionStore:
    sessions = MemorySessionStore()
    new = [NewEntry(each.kind, each.actor, each.time, each.payload, each.key) for each in export.entries]
    assert Committed(export.head) == sessions.create(export.worker, export.workspace, new, export.definitions)
    return sessions


@pytest.fixture
def desk() -> Desk:
    return Desk()


def refused(lines: list[str]) -> str:
    with pytest.raises(ExportProblem) as problem:
        read_export(lines)
    return str(problem.value)


def test_every_entry_and_definition_comes_back_as_it_was(desk: Desk) -> None:
    desk.record_evidence(b"\x00\xff\xfe no text")
    desk.record_evidence(b'{"n": 9007199254740993, "f": 1.0, "s": "\\ud800", "braces": "{x} {{ %s ${HOME} {% if %}"}')
    desk.begin("is it done?")
    read = read_export(exported(desk.sessions, desk.worker))
    assert (desk.log(), desk.worker, WORKSPACE) == (list(read.entries), read.worker, read.workspace)
    pinned = desk.flow.pin.definition_digest
    assert {pinned: desk.sessions.definition(pinned)} == read.definitions
    assert (desk.flow.state, desk.flow.attempt) == (
        read.state.instance and read.state.instance.state,
        read.state.instance and read.state.instance.attempt,
    )


@pytest.mark.parametrize("whole", [False, True], ids=["reading through its parent", "whole"])
def test_the_export_of_a_fork_verifies_and_folds_without_its_parent(desk: Desk, whole: bool) -> None:
    desk.request("go", {"x": Verdict.MET})
    fork = desk.engine.fork(desk.worker, "try another way", PERSON)
    assert isinstance(fork, Forked)
    if whole:
        desk.engine.make_whole(fork.worker, "the parent has to go", PERSON)
    desk.engine.request_transition(fork.worker, "the end", PERSON, Judge(saying({"end": Verdict.MET})))
    read = read_export(exported(desk.sessions, fork.worker))
    assert read.base == Head(fork.origin.seq, fork.origin.digest)
    assert list(read.entries) == list(desk.sessions.entries(fork.worker))
    verified = verify(fork.worker, Ends(read.base, read.head, read.head.seq), read.entries, lambda *_: True)
    assert (True, "yes", "yes") == (verified.is_well, verified.intact, verified.complete)
    assert read.state.instance is not None
    assert ("done", 3) == (read.state.instance.state, read.state.instance.visit)


def test_an_export_of_a_fork_that_claims_another_beginning_is_refused(desk: Desk) -> None:
    fork = desk.engine.fork(desk.worker, "try another way", PERSON)
    assert isinstance(fork, Forked)
    _, *lines = exported(desk.sessions, fork.worker)
    head = desk.sessions.head(fork.worker)
    assert head is not None
    assert "does not follow" in refused([header_line(fork.worker, WORKSPACE, Head(fork.origin.seq, digest_of(b"")), head), *lines])


def test_seals_come_back_too(desk: Desk) -> None:
    entries = [replace(each, key_id="seal-1", seal=b"\x00\xff") for each in desk.log()]
    lines = exported(desk.sessions, desk.worker)
    lines[1 : 1 + len(entries)] = map(entry_line, entries)
    assert entries == list(read_export(lines).entries)


def test_each_export_of_a_log_that_grows_shows_one_state_and_can_go_on_elsewhere() -> None:
    desk = Desk()
    exports = [exported(desk.sessions, desk.worker)]
    for number in range(TRANSITIONS):
        desk.begin(f"claim {number}")
        exports.append(exported(desk.sessions, desk.worker))
        desk.request(f"claim {number}", {"z": Verdict.MET})  # from its state into the same one
        exports.append(exported(desk.sessions, desk.worker))
    for lines in exports:
        read = read_export(lines)
        assert read.state.instance is not None
        assert "a" == read.state.instance.state
        judge = Judge(saying({"x": Verdict.MET}))
        answered = engine_on(imported(read)).request_transition(read.worker, "the imported one goes on", desk.actor, judge)
        assert isinstance(answered, Answered)
        assert "b" == answered.answer.state


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda lines: lines[:-1], "it ends before the log does"),
        (lambda lines: lines[:3], "it ends before the log does"),
        (lambda lines: [], "it ends before the log does"),
        (lambda lines: [lines[0], *lines[2:]], "entry E00000001 is damaged"),
        (lambda lines: [*lines[:2], *lines[3:]], "entry E00000002 is damaged"),
        (lambda lines: [lines[0], lines[2], lines[1], *lines[3:]], "entry E00000001 is damaged"),
        (lambda lines: [*lines[:-3], *lines[-2:]], "it should hold 4 entries and holds 3"),
        (lambda lines: [*lines, lines[-1]], "its lines are not those of one log in order"),
        (lambda lines: [lines[0], *lines], "its lines are not those of one log in order"),
        (lambda lines: lines[1:], "its lines are not those of one log in order"),
        (lambda lines: [*lines[:-1], "{"], "line 7 is none of a log"),
        (lambda lines: [*lines[:-1], "[]"], "line 7 is none of a log"),
        (lambda lines: [*lines[:-1], "{}"], "line 7 is none of a log"),
    ],
)
def test_what_is_no_whole_log_is_refused(desk: Desk, change: Callable[[list[str]], list[str]], said: str) -> None:
    desk.begin("is it done?")
    desk.record_evidence()
    lines = exported(desk.sessions, desk.worker)
    assert 7 == len(lines)
    assert said in refused(change(lines))


def test_an_altered_byte_in_a_payload_is_named(desk: Desk) -> None:
    lines = exported(desk.sessions, desk.worker)
    lines[2] = lines[2].replace("Ticket 41", "Ticket 42")
    assert "entry E00000002 is damaged: its payload is not what was written" == refused(lines)


def test_a_definition_that_is_another_or_missing_is_refused(desk: Desk) -> None:
    lines = exported(desk.sessions, desk.worker)
    altered = [*lines[:-2], lines[-2].replace("instructions", "instructionz"), lines[-1]]
    assert "is not what was written" in refused(altered)
    missing = [*lines[:-2], end_line(2, 0)]
    assert "its events cannot be" in refused(missing)


def test_an_export_without_a_current_state_is_refused(desk: Desk) -> None:
    lines = exported(desk.sessions, desk.worker)
    header = json.loads(lines[0])
    first = desk.log()[0]
    header["head"] = {"seq": 1, "digest": first.digest}
    assert "it holds no current state" == refused([json.dumps(header), lines[1], end_line(1, 0)])


def test_an_export_whose_log_enters_two_states_at_once_is_refused(desk: Desk) -> None:
    sessions = MemorySessionStore()
    entries = desk.log()
    twice = [*entries, entries[1]]
    new = [NewEntry(each.kind, each.actor, each.time, each.payload, f"{place}") for place, each in enumerate(twice)]
    digest = desk.flow.pin.definition_digest
    sessions.create(desk.worker, WORKSPACE, new, {digest: desk.sessions.definition(digest) or b""})
    assert "its events cannot be" in refused(exported(sessions, desk.worker))


def test_a_head_that_is_not_the_last_entry_is_refused(desk: Desk) -> None:
    lines = exported(desk.sessions, desk.worker)
    header = json.loads(lines[0])
    header["head"]["digest"] = digest_of(b"another")
    assert "its last entry is not the head that it names" == refused([json.dumps(header), *lines[1:]])


def test_a_line_that_a_newer_program_adds_is_passed_over(desk: Desk) -> None:
    lines = exported(desk.sessions, desk.worker)
    assert desk.log() == list(read_export([*lines[:-1], '{"type":"receipt"}', lines[-1]]).entries)
    newer = [lines[0].replace('"version":1', '"version":2'), *lines[1:]]
    assert "its version is 2, this program knows version 1" == refused(newer)
