"""Workers with a long history, made in memory and put into a store in large parts: as they would have become, and soon enough."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Final

from stateward.runtime.engine.view import WorkerView
from stateward.runtime.engine.worker import Engine
from stateward.runtime.ports import Committed, RecordedEntry, RecordKey, SessionStore
from stateward.runtime.session.entries import Entry, Kind, NewEntry
from stateward.store.memory_sessions import MemorySessionStore
from tests.cases.children import TO_AND_FRO
from tests.cases.opened import PATIENT, ROUND
from tests.runtime.engines import AGENT, HOST, PERSON, WORKSPACE, Catalog, Judge, engine_on, input_for, submitted

EVIDENCE_BYTES: Final = 100_000
PART: Final = 512
"""Entries of one append."""


def aged(sessions: SessionStore, visits: int, evidence: int) -> str:
    """Put a Worker into a store that entered so many states, and whose host recorded something large so many times meanwhile."""
    memory = MemorySessionStore()
    engine = engine_on(memory, PATIENT, Catalog(ROUND))
    worker = submitted(engine.start_worker(WORKSPACE, input_for(ROUND.name), PERSON, worked_by=AGENT.actor_class)).worker
    judge = Judge(TO_AND_FRO)
    for number in range(1, visits):
        if number * evidence // visits > (number - 1) * evidence // visits:
            key = RecordKey("host", "session", str(number))
            recorded = engine.record(worker, Kind.TOOL_RESULT, f"{number:08}".encode() * (EVIDENCE_BYTES // 8), HOST, key)
            assert isinstance(recorded, RecordedEntry)
        engine.request_transition(worker, f"step {number}", AGENT, judge)
        judge.asked.clear()
    put(sessions, worker, memory.entries(worker), _pinned(engine, memory, worker))
    return worker


def _pinned(engine: Engine, sessions: SessionStore, worker: str) -> Mapping[str, bytes]:
    view = engine.view(worker)
    assert isinstance(view, WorkerView)
    assert view.flow is not None
    digest = view.flow.pin.definition_digest
    return {digest: sessions.definition(digest) or b""}


def put(sessions: SessionStore, worker: str, entries: Iterator[Entry], definitions: Mapping[str, bytes]) -> None:
    """Put a whole log into a store."""
    answer = sessions.create(worker, WORKSPACE, _new(entries, PART), definitions)
    while isinstance(answer, Committed) and (part := _new(entries, PART)):
        answer = sessions.append(worker, answer.head, part)
    assert isinstance(answer, Committed)


def _new(entries: Iterator[Entry], count: int) -> Sequence[NewEntry]:
    return [NewEntry(each.kind, each.actor, each.time, each.payload, each.key) for each in islice(entries, count)]
