"""Submitting input: to a new Worker, or to one that is there.

Invariants: every check comes before the first write; one input is one entry, which holds the segments, the submission's id and the flow
it starts; a Worker and its first input are one transaction; one submission id stands for one input for ever.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final
from uuid import UUID, uuid5

from stateward.runtime.core.decide import Decided, Start, active_problem, decide
from stateward.runtime.core.events import Event, InstanceStarted
from stateward.runtime.core.instance import NOTHING_YET, FlowState, Pin
from stateward.runtime.core.refusal import Refusal, RefusalCode
from stateward.runtime.core.writing import taken_inputs
from stateward.runtime.engine.actors import ENGINE
from stateward.runtime.engine.commit import Append, Tries, contended, look_up
from stateward.runtime.engine.folding import Loaded, payload_of
from stateward.runtime.engine.keys import submission_key
from stateward.runtime.engine.masked import segments_without
from stateward.runtime.engine.means import Means
from stateward.runtime.engine.rights import rights_of, start_problem
from stateward.runtime.engine.submission import (
    count_message,
    fingerprint_of,
    inputs_of,
    resolve,
    selector_of,
    shape_problem,
    submission_id_problem,
    text_for_worker,
)
from stateward.runtime.ports import Committed, Duplicate, Moved, OutcomeUnknown, Snapshot, Submitted
from stateward.runtime.session.entries import Actor, ActorClass, Head, Kind, NewEntry
from stateward.runtime.session.payloads import FlowRecord, PinnedProfile, SessionStarted, UserInput, encode, flow_events
from stateward.runtime.session.segments import Segment

ISOLATION: Final = "local"
WORKERS_NAMESPACE: Final = UUID("f9fe1814-6822-48c2-a0c6-a92a45d36387")
"""In which a Worker's id follows from the submission that creates it, where the caller names one: so the Worker is created once."""


@dataclass(frozen=True, slots=True)
class Input:
    """An input, as it is asked to be committed."""

    segments: tuple[Segment, ...]
    actor: Actor
    submission: str

    @property
    def key(self) -> str:
        """The key of its entry."""
        return submission_key(self.submission)


@dataclass(frozen=True, slots=True)
class _Flow:
    """A flow that an input is to start."""

    snapshot: Snapshot
    events: tuple[Event, ...]

    @property
    def definitions(self) -> Mapping[str, bytes]:
        return {self.snapshot.definition_digest: self.snapshot.definition_bytes}


def input_of(means: Means, segments: Sequence[Segment], actor: Actor, submission: str | None, *, first: bool) -> Input | Refusal:
    """Take an input in, or refuse it for its shape."""
    given = segments_without(means.secrets, segments)
    problem = shape_problem(given, first=first) or (None if submission is None else submission_id_problem(submission))
    return problem or Input(given, actor, means.ids.new() if submission is None else submission)


def worker_id_for(workspace: str, submission: str) -> str:
    """Give the id of the Worker that a named submission creates."""
    return str(uuid5(WORKERS_NAMESPACE, f"{workspace}/{submission}"))


def start_worker(means: Means, session: SessionStarted, given: Input) -> Submitted | Refusal:
    """Create a Worker with its first input, unless this submission did so before."""
    tries = Tries()
    for _ in tries:
        earlier = _earlier(means, session.worker, given)
        if earlier is not None:
            return earlier
        flow = _flow(means, given, session.workspace, session.profile, NOTHING_YET)
        if not isinstance(flow, _Flow):
            assert flow is not None  # a first input starts a flow
            return flow
        head = _create(means, session, _entry(means, given, flow), flow, tries)
        if head is not None:
            return _submitted(session.worker, given, flow, head)
    return contended()


def submit(means: Means, worker: str, given: Input) -> Submitted | Refusal:
    """Commit an input to a Worker, unless this submission was committed before."""

    def plan(loaded: Loaded) -> Append[Submitted | Refusal] | Submitted | Refusal:
        earlier = _earlier(means, worker, given)
        if earlier is not None:
            return earlier
        flow = _flow(means, given, loaded.session.workspace, loaded.session.profile, loaded.flow)
        if isinstance(flow, Refusal):
            return flow
        entry = _entry(means, given, flow)
        return Append((entry,), lambda head: _submitted(worker, given, flow, head), {} if flow is None else flow.definitions)

    return means.commit(worker, plan)


def _earlier(means: Means, worker: str, given: Input) -> Submitted | Refusal | None:
    """Answer a submission whose id was used before: with the first answer, or as a conflict."""
    entry = means.sessions.find(worker, given.key)
    if entry is None:
        return None
    payload = payload_of(entry)
    assert isinstance(payload, UserInput)  # the key is given to nothing else
    instance = next((each.instance for each in flow_events(payload) if isinstance(each, InstanceStarted)), None)
    if payload.fingerprint != fingerprint_of(given.segments):
        about = f"instance `{instance}`" if instance is not None else f"entry {entry.reference}"
        message = f"submission `{given.submission}` was used for another input, which made {about}"
        return Refusal(RefusalCode.SUBMISSION_CONFLICT, message, ("submit under another id",))
    return Submitted(worker, given.submission, Head(entry.seq, entry.digest), instance, repeated=True)


def _flow(means: Means, given: Input, workspace: str, pinned: PinnedProfile, flow: FlowState) -> _Flow | Refusal | None:
    """Decide on the flow that an input starts; None when it starts none."""
    selector = selector_of(given.segments)
    if selector is None:
        return None
    active = active_problem(flow)
    if active is not None:
        active = replace(active, message=f"{active.message}; {count_message(given.segments)}")
    problem = start_problem(selector, given.actor.actor_class, rights_of(means, pinned), pinned.name) or active
    if problem is not None:
        return problem
    snapshot = resolve(means.snapshots, workspace, selector)
    if isinstance(snapshot, Refusal):
        return snapshot
    inputs = taken_inputs(snapshot.definition, inputs_of(given.segments))
    if isinstance(inputs, Refusal):
        return inputs
    decided = decide(snapshot.definition, flow, Start(means.ids.new(), _pin(snapshot, given.actor.actor_class), inputs))
    assert isinstance(decided, Decided)  # no instance is active
    return _Flow(snapshot, decided.events)


def _pin(snapshot: Snapshot, chosen_by: ActorClass) -> Pin:
    return Pin(
        workspace=snapshot.workspace,
        selector=snapshot.selector,
        flow_id=snapshot.flow_id,
        flow_revision=snapshot.flow_revision,
        content_digest=snapshot.content_digest,
        definition_digest=snapshot.definition_digest,
        chosen_by=str(chosen_by),
    )


def _entry(means: Means, given: Input, flow: _Flow | None) -> NewEntry:
    payload = UserInput(
        submission=given.submission,
        fingerprint=fingerprint_of(given.segments),
        segments=given.segments,
        text=text_for_worker(given.segments, None if flow is None else flow.snapshot.definition),
        records=() if flow is None else (FlowRecord(flow.events),),
    )
    return NewEntry(Kind.USER_INPUT, given.actor, means.clock.now(), encode(payload), given.key)


def _submitted(worker: str, given: Input, flow: _Flow | None, head: Head) -> Submitted:
    return Submitted(worker, given.submission, head, None if flow is None else flow.events[0].instance)


def _create(means: Means, session: SessionStarted, entry: NewEntry, flow: _Flow, tries: Tries) -> Head | None:
    """Create the log; None when that has to be decided again."""
    started = NewEntry(Kind.SESSION_STARTED, ENGINE, entry.time, encode(session))
    try:
        appended = means.sessions.create(session.worker, session.workspace, (started, entry), flow.definitions)
    except OutcomeUnknown as problem:
        return look_up(means.sessions, session.worker, entry, problem, tries)
    match appended:
        case Committed(head):
            return head
        case Moved() | Duplicate():  # the same submission, at the same time
            return None
