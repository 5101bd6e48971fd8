"""Folding a history that was stored: what `evolve` cannot see by itself is checked here.

Invariants of a history that can be: no id is used twice; the events of an entry are numbered from 0 and leave no state to be entered;
every state and transition is one of the pinned definition; a check that passed has exactly one verdict `met`, that of the transition
taken, after the citations were checked too.
"""

from collections.abc import Iterable, Mapping, Sequence, Set
from itertools import groupby

from stateward.runtime.core.events import (
    EventId,
    InstanceStarted,
    Recorded,
    StateEntered,
    TransitionCheckPassed,
    TransitionRequested,
    Verdict,
)
from stateward.runtime.core.evolve import awaits_entry, broken, evolve
from stateward.runtime.core.flow import Flow, State
from stateward.runtime.core.instance import NOTHING_YET, FlowState, Instance, status_in


def replay(recorded: Iterable[Recorded], definitions: Mapping[str, Flow]) -> FlowState:
    """Fold a whole history. Raises HistoryBroken when it cannot be."""
    state, used = NOTHING_YET, set[str]()
    for _, record in groupby(recorded, key=lambda each: each.id.seq):
        events = tuple(record)
        state = advance(state, events, definitions, used)
        used |= new_ids(events)
    return state


def advance(state: FlowState, record: Sequence[Recorded], definitions: Mapping[str, Flow], used: Set[str]) -> FlowState:
    """Give the state after the events of one entry; `used` are the ids that the history used before.

    Raises HistoryBroken when the entry cannot follow on this state.
    """
    for index, recorded in enumerate(record):
        if recorded.id != EventId(record[0].id.seq, index):
            broken(recorded.id, f"expected event {record[0].id.seq}.{index}")
        fresh = _new_id(recorded)
        if fresh is not None and (fresh in used or fresh in new_ids(record[:index])):
            broken(recorded.id, f"id `{fresh}` is used twice")
        after = evolve(state, recorded)
        _check_definition(state, recorded, after.instance, definitions)
        state = after
    if record and state.instance is not None and awaits_entry(state.instance):
        broken(record[-1].id, "its record ends before a state is entered")
    return state


def new_ids(record: Iterable[Recorded]) -> set[str]:
    """Give the ids that events use for the first time."""
    return {fresh for each in record if (fresh := _new_id(each)) is not None}


def _new_id(recorded: Recorded) -> str | None:
    match recorded.event:
        case InstanceStarted(instance=instance):
            return instance
        case TransitionRequested(attempt=attempt):
            return attempt
        case _:
            return None


def _check_definition(before: FlowState, recorded: Recorded, after: Instance | None, definitions: Mapping[str, Flow]) -> None:
    assert after is not None  # every event has an instance
    if not after.state:
        return  # the state entered next, in the same record, is the first thing to be looked up
    definition = definitions.get(after.pin.definition_digest)
    if definition is None:
        named = f"definition {after.pin.definition_digest} of flow `{after.pin.selector}`"
        broken(recorded.id, f"{named}, in state `{after.state}`, is not there")
    match recorded.event:
        case TransitionCheckPassed() as passed:
            _check_passed(definition.state(after.state), recorded.id, passed)
        case StateEntered() as entered:
            _check_entered(definition, before, recorded.id, entered, after)
        case _:
            return


def _check_passed(here: State, at: EventId, passed: TransitionCheckPassed) -> None:
    judged = tuple(each.transition for each in passed.judgements)
    if judged != tuple(each.id for each in here.transitions):
        broken(at, f"its verdicts are not those of the transitions of state `{here.id}`")
    met = tuple(each.transition for each in passed.judgements if each.verdict is Verdict.MET)
    checked = tuple(each.transition for each in passed.judgements if each.checked is Verdict.MET)
    if not met == checked == (passed.transition,):
        broken(at, f"transition `{passed.transition}` is not the only one met")


def _check_entered(definition: Flow, before: FlowState, at: EventId, entered: StateEntered, after: Instance) -> None:
    named = f"flow `{after.pin.selector}` ({after.pin.definition_digest})"
    if all(each.id != entered.state for each in definition.states):
        broken(at, f"{named} has no state `{entered.state}`")
    if entered.status is not status_in(definition, entered.state):
        broken(at, f"state `{entered.state}` of {named} is entered as `{entered.status}`")
    target = _target(definition, before)
    if target != entered.state:
        broken(at, f"state `{entered.state}` of {named} is entered where `{target}` is due")


def _target(definition: Flow, before: FlowState) -> str | None:
    assert before.instance is not None  # `evolve` accepted the event
    due = before.instance.due
    assert due is not None
    if due.state is not None:
        return due.state
    if due.transition is None:
        return definition.initial
    taken = definition.state(before.instance.state).transition(due.transition)
    return None if taken is None else taken.target
