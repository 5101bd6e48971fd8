"""A Worker is what its log says: restored from the store alone, read-only where newer, refused where damaged."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from stateward.compiler.flow.canonical import canonical_bytes
from stateward.runtime.core.events import LateResultIgnored, StateEntered, Status, TransitionRequested
from stateward.runtime.core.refusal import Refusal, RefusalCode
from stateward.runtime.engine import folding
from stateward.runtime.engine.view import WorkerView
from stateward.runtime.ports import Damaged, StoreNewer, VerifierCancelled
from stateward.runtime.profile import VerifierKind
from stateward.runtime.session.chain import link_all
from stateward.runtime.session.entries import GENESIS, ActorClass, Entry, Head, Kind, NewEntry
from stateward.runtime.session.payloads import Extension, FlowRecord, ForeignRecord, Opaque, encode
from stateward.runtime.session.pinned import read_pinned
from stateward.runtime.session.segments import TextSegment
from stateward.store.memory_sessions import MemorySessionStore
from tests.runtime.engines import AGENT, HOST, NOON, PERSON, WORKSPACE, Desk, engine_on
from tests.runtime.flows import FORK, REVIEW
from tests.runtime.judgements import MET


class Tampered(MemorySessionStore):
    """A store whose entries and definitions are not what was written, as a store that checks nothing gives them."""

    def __init__(self, entries: list[Entry], definitions: dict[str, bytes]) -> None:
        super().__init__()
        self.log = entries
        self.kept = definitions

    def head(self, worker: str) -> Head | None:
        return Head(self.log[-1].seq, self.log[-1].digest) if self.log else None

    def entries(self, worker: str, after: int = 0, upto: int | None = None) -> Iterator[Entry]:
        return iter([each for each in self.log if after < each.seq <= (upto or len(self.log))])

    def definition(self, digest: str) -> bytes | None:
        return self.kept.get(digest)


def definitions_of(desk: Desk) -> dict[str, bytes]:
    digest = desk.flow.pin.definition_digest
    canonical = desk.sessions.definition(digest)
    assert canonical is not None
    return {digest: canonical}


def relinked(log: list[Entry], change: Callable[[list[NewEntry]], list[NewEntry]]) -> list[Entry]:
    """Give a log that was changed by somebody who knows how to link it again."""
    new = [NewEntry(each.kind, each.actor, each.time, each.payload, each.key) for each in log]
    return list(link_all(log[0].worker, GENESIS, change(new)))


def walked() -> Desk:
    desk = Desk()
    desk.request("go", {"x": MET})
    return desk


def appended(desk: Desk, kind: str, payload: bytes, actor: Any = HOST) -> None:
    head = desk.sessions.head(desk.worker)
    assert head is not None
    desk.sessions.append(desk.worker, head, (NewEntry(kind, actor, desk.clock.now(), payload),))


# --- restoring ----------------------------------------------------------------------------------------------------------------------


def test_a_worker_is_restored_from_its_store_alone() -> None:
    desk = walked()
    desk.begin("more")
    before = desk.view
    desk.restart()
    assert before == desk.view


def test_what_another_engine_appended_is_seen() -> None:
    desk = Desk()
    other = engine_on(desk.sessions, catalog=desk.catalog)
    assert desk.flow.state == "a"
    assert isinstance(other.view(desk.worker), WorkerView)
    desk.request("go", {"x": MET})
    view = other.view(desk.worker)
    assert desk.view == view


def test_the_behaviour_is_that_of_the_pinned_definition_whatever_became_of_the_source() -> None:
    desk = Desk()
    pinned = desk.flow
    desk.catalog.flows["fork"] = REVIEW
    desk.restart()
    assert desk.request("go", {"x": MET}).answer.state == "b"
    del desk.catalog.flows["fork"]
    desk.restart()
    assert (pinned.pin, read_pinned(canonical_bytes(FORK))) == (desk.flow.pin, desk.flow.definition)
    assert desk.request("on", {"end": MET}).answer.status is Status.COMPLETED


def test_several_workers_are_restored_independently() -> None:
    desk = walked()
    workers = [Desk().worker for _ in range(3)]
    assert len({*workers, desk.worker}) == 4
    assert desk.flow.state == "b"


def test_a_log_that_was_put_back_to_an_earlier_state_is_folded_anew() -> None:
    desk = walked()
    log = desk.log()
    store = Tampered(log, definitions_of(desk))
    engine = engine_on(store)
    moved = engine.view(desk.worker)
    store.log = log[:2]
    earlier = engine.view(desk.worker)
    assert isinstance(moved, WorkerView)
    assert isinstance(earlier, WorkerView)
    assert moved.flow is not None
    assert earlier.flow is not None
    assert ("b", "a") == (moved.flow.state, earlier.flow.state)


def test_another_log_of_the_same_or_a_greater_length_is_folded_anew() -> None:
    desk = walked()
    log = desk.log()
    store = Tampered(log[:3], definitions_of(desk))
    engine = engine_on(store)
    assert isinstance(engine.view(desk.worker), WorkerView)
    note = NewEntry("note", AGENT, NOON, b"")
    for other in (relinked(log[:2], lambda new: [*new, note]), relinked(log[:2], lambda new: [*new, note, note, note])):
        store.log = other
        view = engine.view(desk.worker)
        assert isinstance(view, WorkerView)
        assert (Head(other[-1].seq, other[-1].digest), None) == (view.head, view.flow and view.flow.attempt)


# --- what is not ours ---------------------------------------------------------------------------------------------------------------


def test_unknown_kinds_and_foreign_extensions_are_kept_and_shown_as_unknown_and_change_nothing() -> None:
    desk = walked()
    before = desk.flow
    appended(desk, "telemetry", b"\xff\x00")
    appended(desk, Kind.EXTENSION, b'{"v":1,"record":{"domain":"acme.notes","anything":[1.0,' + b"9" * 30 + b"]}}")
    appended(desk, Kind.TOOL_RESULT, b'{"n": 9007199254740993, "half": "\\ud800", "f": 1.0}')
    assert before == desk.flow
    kept = list(desk.engine.log(desk.worker, after=4))
    assert [Opaque, Extension, Opaque] == [type(each.payload) for each in kept]
    assert Extension(ForeignRecord("acme.notes")) == kept[1].payload
    assert ["diagnostic", "diagnostic", "host"] == [each.evidence for each in kept]
    assert desk.request("on", {"end": MET}).answer.state == "done"


def test_events_that_a_host_records_as_a_tool_result_move_nothing() -> None:
    desk = walked()
    forged = next(each.payload for each in desk.log() if each.kind == Kind.TOOL_RESULT)
    appended(desk, Kind.TOOL_RESULT, forged)
    appended(desk, "note", forged, AGENT)
    assert ("b", 2) == (desk.flow.state, desk.flow.visit)


NEWER = {
    "an event type": b'{"v":1,"record":{"domain":"flow.runtime.v1","events":[{"type":"instance_moved","version":1,"instance":"i"}]}}',
    "an event version": b'{"v":1,"record":{"domain":"flow.runtime.v1","events":[{"type":"state_entered","version":2}]}}',
    "a domain": b'{"v":1,"record":{"domain":"flow.runtime.v2","events":[]}}',
    "a payload version": b'{"v":2,"record":[]}',
}


@pytest.mark.parametrize("payload", NEWER.values(), ids=NEWER.keys())
def test_what_a_newer_program_wrote_makes_a_worker_read_only(payload: bytes) -> None:
    desk = walked()
    attempt = desk.begin("on").request.attempt
    appended(desk, Kind.EXTENSION, payload, AGENT)
    before = desk.log()
    assert "newer program" in desk.view.read_only
    assert ("b", 2) == (desk.flow.state, desk.flow.visit)
    refused = [
        desk.engine.begin(desk.worker, "more", PERSON),
        desk.engine.submit(desk.worker, (TextSegment("more"),), PERSON),
        desk.engine.report(desk.worker, attempt, VerifierCancelled()),
    ]
    assert {RefusalCode.WORKER_READ_ONLY} == {each.code for each in refused if isinstance(each, Refusal)}
    assert (3, before) == (len(refused), desk.log())
    shown = list(desk.engine.log(desk.worker))
    assert (len(before), True) == (len(shown), "newer program" in shown[-1].newer)


def test_a_worker_that_a_newer_program_created_is_refused_by_name() -> None:
    desk = walked()
    log = relinked(desk.log(), lambda new: [replace(new[0], payload=b'{"v":4}'), *new[1:]])
    with pytest.raises(StoreNewer, match="newer program"):
        engine_on(Tampered(log, {})).view(desk.worker)


# --- damage -------------------------------------------------------------------------------------------------------------------------


def swapped(log: list[Entry]) -> list[Entry]:
    return [*log[:2], log[3], log[2], *log[4:]]


DAMAGE: dict[str, tuple[Callable[[list[Entry]], list[Entry]], str]] = {
    "an entry left out": (lambda log: [*log[:2], *log[3:]], "entry E00000004 .* it does not follow"),
    "the first entry left out": (lambda log: log[1:], "entry E00000002 .* the log does not begin"),
    "two entries swapped": (swapped, "it does not follow"),
    "no session at the beginning": (lambda log: relinked(log, lambda new: new[1:]), "entry E00000001 .* session"),
    "a payload that is no JSON": (lambda log: relinked(log, lambda new: [*new[:2], replace(new[2], payload=b"{")]), "E00000003 .* no JSON"),
    "a payload with another member": (
        lambda log: relinked(log, lambda new: [*new[:2], replace(new[2], payload=new[2].payload[:-1] + b',"also":1}')]),
        "E00000003 .* member `also` is unknown",
    ),
    "a request left out and linked again": (
        lambda log: relinked(log, lambda new: [*new[:2], *new[3:]]),
        "E00000003 .* resolved and not open",
    ),
    "an answer twice and linked again": (lambda log: relinked(log, lambda new: [*new[:4], new[3]]), "E00000005 .* of visit 1"),
    "a request twice and linked again": (lambda log: relinked(log, lambda new: [*new[:3], new[2]]), "E00000004 .* is used twice"),
}


@pytest.mark.parametrize(("damage", "message"), DAMAGE.values(), ids=DAMAGE.keys())
def test_a_damaged_log_is_refused_naming_the_entry(damage: Callable[[list[Entry]], list[Entry]], message: str) -> None:
    desk = walked()
    desk.engine.submit(desk.worker, (TextSegment("by the way"),), PERSON)
    log = desk.log()
    with pytest.raises(Damaged, match=message):
        engine_on(Tampered(damage(log), definitions_of(desk))).view(desk.worker)


def test_a_log_of_another_worker_is_refused() -> None:
    desk = walked()
    with pytest.raises(Damaged, match="does not begin with this Worker's session"):
        engine_on(Tampered(desk.log(), definitions_of(desk))).view("another")


def test_a_pinned_definition_that_is_not_there_is_refused_with_flow_digest_and_state() -> None:
    desk = walked()
    with pytest.raises(Damaged, match=f"{desk.flow.pin.definition_digest} of flow `workspace:fork`, in state `a`, is not there"):
        engine_on(Tampered(desk.log(), {})).view(desk.worker)


def test_a_pinned_definition_that_lacks_the_recorded_state_is_refused_with_flow_digest_and_state() -> None:
    desk = walked()
    digest = desk.flow.pin.definition_digest
    with pytest.raises(Damaged, match=f"flow `workspace:fork` .{digest}. has no state `a`"):
        engine_on(Tampered(desk.log(), {digest: canonical_bytes(REVIEW)})).view(desk.worker)


def test_a_pinned_definition_that_is_none_is_refused() -> None:
    desk = walked()
    digest = desk.flow.pin.definition_digest
    with pytest.raises(Damaged, match=f"definition {digest}"):
        engine_on(Tampered(desk.log(), {digest: b"{}"})).view(desk.worker)


def test_a_damaged_log_is_not_half_remembered() -> None:
    desk = walked()
    log = desk.log()
    store = Tampered([*log[:2], *log[3:]], definitions_of(desk))
    engine = engine_on(store)
    with pytest.raises(Damaged):
        engine.view(desk.worker)
    store.log = log
    view = engine.view(desk.worker)
    assert desk.view == view


# --- the log ------------------------------------------------------------------------------------------------------------------------


def test_the_log_is_read_with_its_events_and_their_identities() -> None:
    desk = walked()
    events = list(desk.engine.events(desk.worker))
    assert [(2, 0), (2, 1), (3, 0), (4, 0), (4, 1)] == [(each.id.seq, each.id.index) for each in events]
    assert [StateEntered, TransitionRequested] == [type(each.event) for each in events[1:3]]
    assert {ActorClass.PERSON, ActorClass.ENGINE} == {each.entry.actor.actor_class for each in events}
    assert [events[2]] == list(desk.engine.events(desk.worker, after=2, upto=3))


def test_a_record_that_the_engine_never_writes_is_refused_although_every_part_of_it_is_known() -> None:
    desk = walked()
    event = LateResultIgnored(instance="another", visit=1, attempt="t")
    appended(desk, Kind.EXTENSION, encode(Extension(FlowRecord((event,)))), AGENT)
    with pytest.raises(Damaged, match="there is no instance `another`"):
        desk.engine.view(desk.worker)
    assert [WORKSPACE] == [each.workspace for each in desk.sessions.workers(WORKSPACE, 10)]


def test_the_kind_of_a_judge_that_is_a_person_is_named_as_profiles_name_it() -> None:
    assert VerifierKind.PERSON == folding.PERSON
