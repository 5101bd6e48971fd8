"""A Worker, its attempts and its log in the values that are shown to those who work inside it, wherever it is kept."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from stateward.runtime.core.events import Event
from stateward.runtime.core.instance import AttemptStatus, hold_message
from stateward.runtime.engine.hosted import HostEngine
from stateward.runtime.engine.view import FlowView, LoggedEntry, WorkerView
from stateward.runtime.ports.work import AttemptShown, EntryShown, FlowStanding, OpenAttempt, Standing, WayOut
from stateward.runtime.session.answers import Answer
from stateward.runtime.session.event_codec import EVENT

if TYPE_CHECKING:
    from stateward.runtime.engine.attempts import Explained


def standing_of(engine: HostEngine, view: WorkerView) -> Standing:
    """Say where a Worker stands."""
    flow = view.flow
    return Standing(
        worker=view.worker,
        workspace=view.workspace,
        workdir=view.workdir,
        head=view.head,
        profile=view.profile.name,
        verifier=view.verifier,
        isolation=view.isolation,
        read_only=view.read_only,
        self_selectors=engine.self_selectors(view.profile),
        flow=None if flow is None else _flow(flow, _last(engine, view.worker, flow)),
    )


def _last(engine: HostEngine, worker: str, flow: FlowView) -> Answer | None:
    """Give what was told last, where that was a request to leave the state as it was entered this time."""
    if flow.last is None or flow.last.status is AttemptStatus.ENTERED or flow.last.attempt.visit != flow.visit:
        return None
    return engine.told(worker, flow.last.attempt.id)


def _flow(flow: FlowView, last: Answer | None) -> FlowStanding:
    opened = flow.attempt
    return FlowStanding(
        instance=flow.instance,
        name=flow.name,
        selector=flow.pin.selector,
        revision=flow.pin.flow_revision,
        definition_digest=flow.pin.definition_digest,
        state=flow.state,
        instructions=flow.instructions,
        ways=tuple(WayOut(each.id, each.target, each.condition, each.synthetic) for each in flow.transitions),
        visit=flow.visit,
        status=str(flow.status),
        attempts=flow.attempts,
        open=None if opened is None else OpenAttempt(opened.id, opened.reason, opened.requested.seq),
        last=last,
        paused="" if flow.paused is None else f"{flow.paused.by}: {flow.paused.reason}",
        held="" if flow.held is None else hold_message(flow.held),
    )


def attempt_of(explained: "Explained") -> AttemptShown:
    """Show an attempt."""
    asked, told = explained.requested, explained.told
    if explained.resolved is None:
        status = AttemptStatus.VERIFYING
    else:
        status = AttemptStatus.CANCELLED if told is None else told.outcome
    return AttemptShown(asked.attempt, asked.state, asked.visit, asked.reason, explained.asked.seq, str(status), told)


def _event(event: Event) -> Mapping[str, Any]:
    written = EVENT.write(event)
    assert isinstance(written, dict), "an event is written as an object"
    return written


def entry_of(logged: LoggedEntry) -> EntryShown:
    """Show an entry."""
    entry = logged.entry
    return EntryShown(
        worker=entry.worker,
        seq=entry.seq,
        reference=entry.reference,
        time=entry.time,
        actor_class=str(entry.actor.actor_class),
        channel=entry.actor.channel,
        principal=entry.actor.principal,
        kind=entry.kind,
        evidence=str(logged.evidence),
        payload_digest=entry.payload_digest,
        previous=entry.previous,
        digest=entry.digest,
        payload=entry.payload.decode("utf-8", "replace"),
        newer=logged.newer,
        events=tuple(_event(each.event) for each in logged.events),
        set_aside=logged.set_aside,
    )
