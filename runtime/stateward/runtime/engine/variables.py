"""Writing variables: what a worker sets is a fact of the log, with who wrote it where.

Invariants: one write is one entry, all of it or nothing; what is set is masked before it is judged; a write that changes nothing writes
nothing and is answered alike, so that a lost answer may be asked for again.
"""

from collections.abc import Mapping

from stateward.runtime.core.decide import Decided, decide
from stateward.runtime.core.events import InstanceRewound, InstanceStarted, Variable, VariablesSet
from stateward.runtime.core.refusal import Refusal, RefusalCode
from stateward.runtime.core.writing import Unchanged, Write
from stateward.runtime.engine.commit import Append
from stateward.runtime.engine.folding import Loaded, payload_of
from stateward.runtime.engine.lineage import entries_through
from stateward.runtime.engine.masked import values_without
from stateward.runtime.engine.means import Means
from stateward.runtime.ports.asking import Written
from stateward.runtime.session.entries import Actor, Kind, NewEntry, reference
from stateward.runtime.session.payloads import Extension, FlowRecord, encode, flow_events


def set_variables(means: Means, worker: str, values: Mapping[str, object], actor: Actor) -> Written | Refusal:
    """Set variables that the current state writes."""
    given = values_without(means.secrets, values)

    def plan(loaded: Loaded) -> Append[Written | Refusal] | Written | Refusal:
        if loaded.definition is None:
            return Refusal(RefusalCode.NO_ACTIVE_INSTANCE, "no flow was started", ("submit input with one flow segment",))
        decided = decide(loaded.definition, loaded.flow, Write(given))
        if isinstance(decided, Refusal):
            return decided
        if isinstance(decided, Unchanged):
            return Written(worker, tuple(given), "")
        assert isinstance(decided, Decided)  # a write is neither repeated nor continued
        (event,) = decided.events
        assert isinstance(event, VariablesSet)
        entry = NewEntry(Kind.EXTENSION, actor, means.clock.now(), encode(Extension(FlowRecord((event,)))))
        return Append((entry,), lambda head: Written(worker, tuple(given), reference(head.seq)))

    return means.commit(worker, plan)


def variables_at(means: Means, worker: str, seq: int) -> tuple[Variable, ...]:
    """Give what the variables held right after an entry, which may lie in the log that this one was forked off. Raises Damaged."""
    held: dict[str, Variable] = {}
    for entry in entries_through(means.sessions, worker, 0, seq):
        for event in flow_events(payload_of(entry)):
            match event:
                case InstanceStarted():
                    held = {}
                case VariablesSet(source=source, state=state, visit=visit, values=values):
                    held |= {each.name: Variable(each.name, each.value, source, state, visit, entry.seq) for each in values}
                case InstanceRewound(variables=variables):
                    held = {each.name: each for each in variables}
                case _:
                    pass
    return tuple(held.values())
