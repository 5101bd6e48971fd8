"""Where a Worker stands, in the values that are shown to those who work inside it, wherever it is kept."""

from stateward.runtime.core.instance import AttemptStatus, hold_message
from stateward.runtime.engine.hosted import HostEngine
from stateward.runtime.engine.view import FlowView, WorkerView
from stateward.runtime.ports.work import FlowStanding, OpenAttempt, Standing, WayOut
from stateward.runtime.session.answers import Answer


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
