"""Folding a history that was stored: what `evolve` cannot see by itself is checked here.

Invariants of a history that can be: no id is used twice; the events of an entry are numbered from 0 and leave no state to be entered;
every state and transition is one of the pinned definition; the transition taken is the one that the verdicts lead to, those of the
runtime's own parts and those of the verifier after the citations were checked; variables hold what they were declared to hold.
"""

from collections.abc import Iterable, Mapping, Sequence, Set
from itertools import groupby

from stateward.runtime.core.events import (
    Assigned,
    ChecksRun,
    EventId,
    InstanceRewound,
    InstanceStarted,
    Part,
    Recorded,
    Source,
    StateEntered,
    TransitionCheckPassed,
    TransitionRequested,
    Variable,
    VariablesSet,
    Verdict,
)
from stateward.runtime.core.evolve import awaits_entry, broken, evolve
from stateward.runtime.core.flow import Flow, State, is_plain
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
            assert before.instance is not None  # `evolve` accepted the event
            assert before.instance.attempt is not None
            _check_passed(definition.state(after.state), recorded.id, passed, before.instance.attempt.parts)
        case TransitionRequested() as requested:
            _check_requested(definition.state(after.state), recorded.id, requested)
        case ChecksRun() as run:
            _check_run(definition.state(after.state), recorded.id, run)
        case VariablesSet() as written:
            _check_written(definition, recorded.id, written)
        case InstanceRewound(variables=held) if held:
            _check_held(definition, recorded.id, held)
        case StateEntered() as entered:
            _check_entered(definition, before, recorded.id, entered, after)
        case _:
            return


def _check_passed(here: State, at: EventId, passed: TransitionCheckPassed, parts: tuple[Part, ...]) -> None:
    judged = tuple(each.transition for each in passed.judgements)
    if not parts and is_plain(here):
        met = tuple(each.transition for each in passed.judgements if each.verdict is Verdict.MET)
        checked = tuple(each.transition for each in passed.judgements if each.checked is Verdict.MET)
        asked, is_taken = tuple(each.id for each in here.transitions), met == checked == (passed.transition,)
    else:
        from stateward.runtime.core.judging import Passed, asked_of, rule_again  # noqa: PLC0415 - rules are loaded where they are needed

        asked = asked_of(here, parts)
        is_taken = judged == asked and rule_again(here, passed.judgements, parts) == Passed(passed.transition, passed.judgements)
    if judged != asked:
        broken(at, f"its verdicts are not those of the transitions of state `{here.id}`")
    if not is_taken:
        broken(at, f"transition `{passed.transition}` is not the only one met")


def _check_requested(here: State, at: EventId, requested: TransitionRequested) -> None:
    guarded = tuple(each.id for each in here.transitions if each.guard is not None)
    if tuple(each.transition for each in requested.parts) != guarded:
        broken(at, f"its parts are not those of the guards of state `{here.id}`")


def _check_run(here: State, at: EventId, run: ChecksRun) -> None:
    known = {(each.id, check) for each in here.transitions for check in each.checks}
    if not {(each.transition, each.name) for each in run.parts} <= known:
        broken(at, f"it is of checks that state `{here.id}` does not need")


def _check_written(definition: Flow, at: EventId, written: VariablesSet) -> None:
    writes = definition.state(written.state).writes
    for each in written.values:
        if written.source is Source.WORKER and each.name not in writes:
            broken(at, f"state `{written.state}` does not write `{each.name}`")
    _check_values(definition, at, written.values)


def _check_held(definition: Flow, at: EventId, held: tuple[Variable, ...]) -> None:
    for each in held:
        if each.entry > at.seq:
            broken(at, f"variable `{each.name}` cannot have held what entry {each.entry} wrote")
    _check_values(definition, at, held)


def _check_values(definition: Flow, at: EventId, values: Iterable[Assigned | Variable]) -> None:
    from stateward.runtime.core.writing import misfit_of  # noqa: PLC0415 - most flows write nothing

    declared = {each.name: each for each in definition.declared_variables}
    for each in values:
        if each.name not in declared:
            broken(at, f"there is no variable `{each.name}`")
        fault = misfit_of(declared[each.name], each.value)
        if fault is not None:
            broken(at, f"variable `{each.name}` cannot hold this: {fault}")


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
