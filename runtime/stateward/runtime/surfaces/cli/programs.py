"""A Worker as JSON, for programs: `status --json` and `log --json`. Documented in docs/reference/commands.md.

Invariants: fields are only ever added; events are written as the log holds them, so they can be folded again.
"""

from typing import TYPE_CHECKING, Any, Final

from stateward.runtime.core.events import Variable
from stateward.runtime.core.flow import Transition
from stateward.runtime.core.instance import Attempt, Resolution
from stateward.runtime.engine.showing import entry_of
from stateward.runtime.engine.view import FlowView, LoggedEntry, WorkerView
from stateward.runtime.ports import EntryShown
from stateward.runtime.session.chain import time_text
from stateward.runtime.session.entries import reference

if TYPE_CHECKING:
    from stateward.compiler.predicates.declarations import Declaration
    from stateward.compiler.predicates.guards import Guard

VERSION: Final = 1


def view_data(view: WorkerView, current: int | None) -> dict[str, Any]:
    """Give a Worker's view as JSON data; `current` is the revision that its selector names now, None when none."""
    return {
        "version": VERSION,
        "worker": view.worker,
        "workspace": view.workspace,
        "workdir": view.workdir,
        "created": time_text(view.created),
        "head": {"seq": view.head.seq, "digest": view.head.digest},
        "profile": view.profile.name,
        "demonstration": view.profile.demonstration,
        "verifier": view.verifier,
        "self_judged": view.self_judged,
        "isolation": view.isolation,
        "read_only": view.read_only,
        "rolled_back": view.rolled_back,
        "rollbacks": [
            {"entry": each.entry, "lost": {"seq": each.lost.seq, "digest": each.lost.digest}, "by": each.by, "reason": each.reason}
            for each in view.rollbacks
        ],
        "flow": None if view.flow is None else {**_flow_data(view.flow), "current_revision": current},
    }


def _flow_data(flow: FlowView) -> dict[str, Any]:
    return {
        "instance": flow.instance,
        "number": flow.number,
        "selector": flow.pin.selector,
        "name": flow.name,
        "flow_id": flow.pin.flow_id,
        "flow_revision": flow.pin.flow_revision,
        "content_digest": flow.pin.content_digest,
        "definition_digest": flow.pin.definition_digest,
        "chosen_by": flow.pin.chosen_by,
        "status": str(flow.status),
        "state": flow.state,
        "visit": flow.visit,
        "visits": dict(flow.visits),
        "instructions": flow.instructions,
        "transitions": [_way_data(each) for each in flow.transitions],
        "inputs": dict(flow.inputs),
        "variables": [_variable_data(each, flow) for each in flow.definition.declared_variables],
        "halted": None if flow.halted is None else {"state": flow.halted.state, "visits": flow.halted.visits},
        "attempts": flow.attempts,
        "attempt": None if flow.attempt is None else _attempt_data(flow.attempt),
        "last": None if flow.last is None else _resolution_data(flow.last),
    }


def _way_data(way: Transition) -> dict[str, Any]:
    return {
        "id": way.id,
        "target": way.target,
        "condition": way.condition,
        "synthetic": way.synthetic,
        "when": "" if way.guard is None else _guard_text(way.guard),
        "checks": list(way.checks),
        "otherwise": way.otherwise,
    }


def _guard_text(guard: "Guard") -> str:
    from stateward.compiler.predicates.text import guard_text  # noqa: PLC0415 -- most flows have no guards

    return guard_text(guard)


def _variable_data(declared: "Declaration", flow: FlowView) -> dict[str, Any]:
    from stateward.compiler.predicates.text import schema_text  # noqa: PLC0415 -- most flows have no variables

    here, held = flow.definition.state(flow.state), flow.variables.get(declared.name)
    return {
        "name": declared.name,
        "constraint": schema_text(declared.schema),
        "is_set": held is not None,
        "holds": None if held is None else held.value,
        "written": None if held is None else written_data(held),
        "read_here": declared.name in here.reads,
        "set_here": declared.name in here.writes,
    }


def written_data(variable: Variable) -> dict[str, Any]:
    """Give who wrote a variable, and where."""
    return {"by": str(variable.source), "state": variable.state, "visit": variable.visit, "entry": reference(variable.entry)}


def _attempt_data(attempt: Attempt) -> dict[str, Any]:
    return {"id": attempt.id, "state": attempt.state, "visit": attempt.visit, "reason": attempt.reason, "requested": attempt.requested.seq}


def _resolution_data(last: Resolution) -> dict[str, Any]:
    return {
        "attempt": last.attempt.id,
        "status": str(last.status),
        "transition": last.transition,
        "code": last.rejection or last.failure or last.cancellation,
        "message": last.message,
    }


def entry_data(logged: LoggedEntry) -> dict[str, Any]:
    """Give an entry as JSON data; a payload that is no UTF-8 is shown with replacement."""
    return entry_form(entry_of(logged))


def entry_form(entry: EntryShown) -> dict[str, Any]:
    """Give an entry, from wherever it was read, as JSON data."""
    return {
        "version": VERSION,
        "worker": entry.worker,
        "seq": entry.seq,
        "reference": entry.reference,
        "time": time_text(entry.time),
        "actor": {"class": entry.actor_class, "channel": entry.channel, "principal": entry.principal},
        "kind": entry.kind,
        "evidence": entry.evidence,
        "payload_digest": entry.payload_digest,
        "previous": entry.previous,
        "digest": entry.digest,
        "payload": entry.payload,
        "newer": entry.newer,
        "events": list(entry.events),
    }
