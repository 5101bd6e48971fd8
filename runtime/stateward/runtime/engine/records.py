"""Events as entries: which entry of the log holds what was decided.

Invariants: a request is an `extension` from whoever asked; what resolves an attempt is a `tool_result` from the engine, with exactly what
the worker is told and the events beside it; each has the key by which it is found.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from stateward.runtime.core.events import Event, EventId, LateResultIgnored, Recorded, TransitionRequested
from stateward.runtime.core.evolve import evolve
from stateward.runtime.core.flow import Flow
from stateward.runtime.core.instance import FlowState
from stateward.runtime.engine.actors import ENGINE
from stateward.runtime.engine.answers import answer_of
from stateward.runtime.engine.keys import facts_key, late_key, request_key, resolution_key
from stateward.runtime.session.answers import Answer
from stateward.runtime.session.entries import Actor, ActorClass, Kind, NewEntry
from stateward.runtime.session.payloads import TRANSITION_TOOL, Extension, FlowRecord, ToolResult, encode, workdir_record

JUDGE: Final = Actor(ActorClass.VERIFIER, "in_process")


@dataclass(frozen=True, slots=True)
class Resolved:
    """An attempt's end, as it is to be recorded."""

    entry: NewEntry
    answer: Answer
    flow: FlowState
    """After it."""


def resolution(definition: Flow, flow: FlowState, events: Sequence[Event], seq: int, time: datetime, *, self_judged: bool) -> Resolved:
    """Put what resolves the open attempt, and what the worker is told of it, into one entry; `seq` is the number it will have."""
    flow = folded(flow, events, seq)
    answer = _answer(definition, flow, self_judged=self_judged)
    payload = encode(ToolResult(TRANSITION_TOOL, answer, (FlowRecord(tuple(events)),)))
    return Resolved(NewEntry(Kind.TOOL_RESULT, ENGINE, time, payload, resolution_key(answer.attempt)), answer, flow)


def folded(flow: FlowState, events: Sequence[Event], seq: int) -> FlowState:
    """Give the state after the events of the entry of that number."""
    for index, event in enumerate(events):
        flow = evolve(flow, Recorded(EventId(seq, index), event))
    return flow


def told(definition: Flow, flow: FlowState, time: datetime, *, self_judged: bool) -> NewEntry:
    """Put what the worker is told of an attempt that an operator's act has just closed into an entry of its own."""
    answer = _answer(definition, flow, self_judged=self_judged)
    return NewEntry(Kind.TOOL_RESULT, ENGINE, time, encode(ToolResult(TRANSITION_TOOL, answer)), resolution_key(answer.attempt))


def _answer(definition: Flow, flow: FlowState, *, self_judged: bool) -> Answer:
    instance = flow.instance
    assert instance is not None  # it has just resolved an attempt
    return answer_of(definition, instance, self_judged=self_judged)


def request(events: tuple[Event, ...], actor: Actor, time: datetime) -> NewEntry:
    """Put a request, which is the last of these events, into an entry."""
    requested = events[-1]
    assert isinstance(requested, TransitionRequested)
    return NewEntry(Kind.EXTENSION, actor, time, encode(Extension(FlowRecord(events))), request_key(requested.attempt))


def facts(stated: bytes, attempt: str, time: datetime) -> NewEntry:
    """Put the facts of the Workdir, as they were when an attempt began, into an entry: evidence that can be cited."""
    return NewEntry(Kind.EXTENSION, ENGINE, time, encode(Extension(workdir_record(stated))), facts_key(attempt))


def late(event: LateResultIgnored, time: datetime) -> NewEntry:
    """Put the note of a late result into an entry."""
    return NewEntry(Kind.EXTENSION, JUDGE, time, encode(Extension(FlowRecord((event,)))), late_key(event.attempt))
