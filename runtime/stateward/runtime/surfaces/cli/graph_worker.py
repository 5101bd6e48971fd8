"""The run of a Worker for `stateward graph --worker`: its pinned flow, and what its log says of the way through it. It only reads."""

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

import click

from stateward.compiler.cli.graphing import Run
from stateward.compiler.drawing.marks import Answered, Marks
from stateward.compiler.flow.definition import CompiledFlowDefinition
from stateward.runtime.core.events import Event, InstanceStarted, StateEntered, Status, TransitionCheckRejected, Verdict
from stateward.runtime.engine.view import FlowView
from stateward.runtime.surfaces.cli.errors import STATUS_USAGE, Stop, faults_shown
from stateward.runtime.surfaces.cli.show import chosen
from stateward.runtime.wiring import NoPlace, Place, locate, place_of, reading

_ANSWERED: Final[Mapping[Verdict, Answered]] = {
    Verdict.MET: Answered.MET,
    Verdict.NOT_MET: Answered.NOT_MET,
    Verdict.INDETERMINATE: Answered.UNCHECKED,
}


def run_of(worker: str, workdir: str, store: str | None) -> Run:
    """Give the flow of a Worker as it runs, of the latest where none is named. Raises Stop where there is none, or none that has a flow."""
    place = None if store is None else _place(store)
    with faults_shown(), reading(locate(Path(workdir), place)) as runtime:
        view = chosen(runtime, worker or None)
        if view.flow is None:
            raise Stop(STATUS_USAGE, f"Worker `{view.worker}` has no flow yet", "start one with `stateward run SELECTOR`")
        events = [each.event for each in runtime.engine.events(view.worker)]
        canonical = runtime.sessions.definition(view.flow.pin.definition_digest)
    assert canonical is not None, "what a log pins was read"
    return Run(CompiledFlowDefinition.model_validate_json(canonical), marks_of(view.flow, events))


def marks_of(flow: FlowView, events: Iterable[Event]) -> Marks:
    """Give what the events of a Worker say of its latest instance: each way that was taken, and the last answers of its present visit."""
    taken: Counter[tuple[str, str]] = Counter()
    answers: Mapping[str, Answered] = {}
    state = ""
    for event in events:
        match event:
            case InstanceStarted():
                taken.clear()
                answers = {}
            case StateEntered():
                if event.transition is not None:
                    taken[state, event.transition] += 1
                state, answers = event.state, {}
            case TransitionCheckRejected(judgements=judgements) if judgements:
                answers = {each.transition: _ANSWERED[each.checked] for each in judgements}
            case _:
                pass
    ended = flow.status is not Status.ACTIVE
    return Marks(current=flow.state, visits=flow.visits, taken=taken, answers={} if ended else answers)


def _place(text: str) -> Place:
    try:
        return place_of(text)
    except NoPlace as problem:  # click would tell the text itself, which may hold a password
        raise click.BadParameter(problem.message, param_hint="`--store`") from None
