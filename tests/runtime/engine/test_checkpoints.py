"""Checkpoints: restoring reads from the last one, and it is what the log before it comes to."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

import pytest

from stateward.runtime.core.operating import Verb
from stateward.runtime.engine.view import WorkerView
from stateward.runtime.ports import Damaged
from stateward.runtime.session.chain import link_all
from stateward.runtime.session.entries import GENESIS, Entry, Kind, NewEntry
from stateward.runtime.session.payloads import Checkpoint, decode, encode
from stateward.store.memory_sessions import MemorySessionStore
from tests.histories.history import History, RecordedStore
from tests.runtime.engines import AGENT, PERSON, Desk, engine_on
from tests.runtime.flows import HALF, ODD_TEXT
from tests.runtime.judgements import MET


class CountingStore(MemorySessionStore):
    """Counts the entries that are read."""

    read = 0

    def entries(self, worker: str, after: int = 0, upto: int | None = None) -> Iterator[Entry]:
        for entry in super().entries(worker, after, upto):
            self.read += 1
            yield entry


def lived(*, checkpoint_entries: int = 8, rounds: int = 6) -> Desk:
    desk = Desk(actor=AGENT, checkpoint_entries=checkpoint_entries)
    for number in range(rounds):
        desk.record_evidence()
        desk.request(f"look {number} {ODD_TEXT}{HALF}", {})
        desk.request(f"round {number}", {"z": MET})
    desk.engine.operate(desk.worker, Verb.REWIND, "once more", PERSON, state="a")
    desk.begin("open")
    return desk


def test_a_worker_restored_from_a_checkpoint_is_the_one_that_was_folded_entry_by_entry() -> None:
    desk = lived()
    live = desk.view
    assert desk.sessions.latest(desk.worker, Kind.CHECKPOINT) is not None
    desk.restart()
    assert live == desk.view
    whole = RecordedStore(History(definitions_of(desk), tuple(desk.log()), {}))
    whole.latest = lambda worker, kind: None  # type: ignore[method-assign]
    assert live == engine_on(whole).view(desk.worker)


def definitions_of(desk: Desk) -> Mapping[str, bytes]:
    digest = desk.flow.pin.definition_digest
    return {digest: desk.sessions.definition(digest) or b""}


def test_restoring_reads_no_more_entries_of_a_longer_log() -> None:
    reads = []
    for rounds in (10, 100):
        desk = lived(checkpoint_entries=16, rounds=rounds)
        counting = CountingStore()
        counting.__dict__.update(desk.sessions.__dict__)
        assert isinstance(engine_on(counting, catalog=desk.catalog).view(desk.worker), WorkerView)
        reads.append(counting.read)
    assert max(reads) <= 20


def test_a_checkpoint_is_written_with_what_makes_it_due() -> None:
    desk = lived(checkpoint_entries=4)
    log = desk.log()
    places = [each.seq for each in log if each.kind == Kind.CHECKPOINT]
    assert places
    assert all(later - earlier <= 6 for earlier, later in zip([0, *places], places, strict=False))
    assert log[-1].kind != Kind.CHECKPOINT


def test_a_checkpoint_that_is_not_what_the_log_comes_to_is_damage() -> None:
    desk = lived()
    log = desk.log()
    place = next(each.seq for each in log if each.kind == Kind.CHECKPOINT)
    payload = decode(log[place - 1])
    assert isinstance(payload, Checkpoint)
    forged = encode(replace(payload, evidence=payload.evidence + 1))
    new = [NewEntry(each.kind, each.actor, each.time, forged if each.seq == place else each.payload, each.key) for each in log]
    store = RecordedStore(History(definitions_of(desk), link_all(desk.worker, GENESIS, new), {}))
    store.latest = lambda worker, kind: None  # type: ignore[method-assign]
    with pytest.raises(Damaged, match="it is not what the log before it comes to"):
        engine_on(store).view(desk.worker)


def test_a_checkpoint_from_anybody_but_the_engine_is_not_believed() -> None:
    desk = Desk(actor=AGENT)
    head = desk.sessions.head(desk.worker)
    assert head is not None
    desk.sessions.append(desk.worker, head, (NewEntry(Kind.CHECKPOINT, AGENT, desk.clock.now(), b"{}"),))
    desk.restart()
    assert "a" == desk.flow.state
