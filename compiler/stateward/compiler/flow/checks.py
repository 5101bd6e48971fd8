"""Stage 4: names, counts, texts and references of a typed Flow source.

Each check judges one thing and passes over what failed before (`None`). What would only follow from another fault is not said: a
reserved id is not also a bad one, and no state is missed while states were lost or there is none.
"""

from collections.abc import Iterator
from typing import NamedTuple

from stateward.compiler.diagnostics.wording import counted, quoted
from stateward.compiler.flow.deciding import check_deciding
from stateward.compiler.flow.declared import Declared
from stateward.compiler.flow.declaring import check_declarations, check_named, check_state, names_of
from stateward.compiler.flow.identifiers import identifier_fault
from stateward.compiler.flow.problems import Problem
from stateward.compiler.flow.problems.meaning import (
    CountOutOfBounds,
    DuplicateCondition,
    InvalidIdentifier,
    NameDiffersFromSlug,
    NoWayOut,
    Reserved,
    StateNotFound,
    TerminalHasTransitions,
    TextBlank,
    TextTooLarge,
)
from stateward.compiler.flow.problems.told import came_through
from stateward.compiler.flow.reserved import CANCEL_TRANSITION, CANCELLED_STATE
from stateward.compiler.flow.schema import LATER_VERSION
from stateward.compiler.flow.typed import FlowSource, Located, StateSource, Transitions, TransitionSource
from stateward.compiler.limits import FLOW_LIMITS, FlowLimits
from stateward.compiler.source import Place
from stateward.compiler.syntax.lookalikes import plain_like


class _Context(NamedTuple):
    """What references are judged against."""

    flow: str | None
    declared: Declared
    complete: bool
    """Whether a name that is not declared is certainly missing."""
    limits: FlowLimits
    renamed: str | None
    """The one state that nothing names, where one name alone is not declared: that state was probably called so."""


def check(flow: FlowSource, *, slug: str | None = None, limits: FlowLimits = FLOW_LIMITS) -> list[Problem]:
    """Give everything that is wrong with the meaning of a source, and what is worth a warning.

    `slug` is the name that the source is kept under, where it is kept under one.
    """
    context = _context(flow, limits)
    found: list[Problem] = []
    found += _name(flow.name, slug)
    found += _state_count(flow, limits)
    found += _initial(flow.initial, context)
    for state in flow.states.items if flow.states is not None else ():
        found += _state(state, context)
    if flow.form == LATER_VERSION:
        found += _later(flow, limits)
    return found


def _later(flow: FlowSource, limits: FlowLimits) -> Iterator[Problem]:
    """Judge what only version 2 has."""
    names = names_of(flow)
    yield from check_declarations(flow, limits)
    for state in flow.states.items if flow.states is not None else ():
        yield from check_state(state, names)
        if state.transitions is not None:
            yield from check_deciding(state, state.transitions)
            for transition in state.transitions.items:
                yield from check_named(transition, names)


def _context(flow: FlowSource, limits: FlowLimits) -> _Context:
    ids = tuple(state.id for state in flow.states.items) if flow.states is not None else ()
    complete = flow.states is not None and flow.states.complete and bool(ids)
    declared = Declared(ids)
    renamed = _renamed(flow, declared) if complete else None
    return _Context(flow.name.value if flow.name is not None else None, declared, complete, limits, renamed)


def _renamed(flow: FlowSource, declared: Declared) -> str | None:
    named = {each.value for each in _references(flow)}
    missing = [each for each in named if each not in declared]
    unnamed = [each for each in declared.ids if each not in named]
    return unnamed[0] if len(missing) == 1 == len(unnamed) and identifier_fault(unnamed[0]) is None else None


def _references(flow: FlowSource) -> Iterator[Located[str]]:
    """Give every name of a state but those of its declaration."""
    if flow.initial is not None:
        yield flow.initial
    for state in flow.states.items if flow.states is not None else ():
        for transition in state.transitions.items if state.transitions is not None else ():
            if transition.target is not None:
                yield transition.target


def _name(name: Located[str] | None, slug: str | None) -> Iterator[Problem]:
    if name is None:
        return
    if identifier_fault(name.value) is not None:
        yield InvalidIdentifier("invalid_name", "flow name", name.value, name.origin.place, name.path, came_through(name.origin))
    elif slug is not None and name.value != slug:
        yield NameDiffersFromSlug(name, slug)


def _state_count(flow: FlowSource, limits: FlowLimits) -> Iterator[Problem]:
    states = flow.states
    if states is None:
        return
    number = len(states.items)
    if number == 0 and states.complete:
        yield CountOutOfBounds("states_empty", "the flow has no states", states.key, states.path, "no state in it")
    if number > limits.states:
        message = f"the flow has {counted(number, 'state')}"
        yield CountOutOfBounds("too_many_states", message, states.key, states.path, f"more than {limits.states:,} states")


def _initial(initial: Located[str] | None, context: _Context) -> Iterator[Problem]:
    if initial is None:
        return
    if initial.value == CANCELLED_STATE:
        message = f"the flow cannot begin in {quoted(CANCELLED_STATE)}"
        place = initial.origin.place
        yield Reserved("reserved_state", message, place, initial.path, "a reserved state", came_through(initial.origin))
    elif context.complete and initial.value not in context.declared:
        yield _not_found("initial_not_found", initial, context)


def _state(state: StateSource, context: _Context) -> Iterator[Problem]:
    if state.id == CANCELLED_STATE:
        yield Reserved("reserved_state", f"state id {quoted(state.id)} is reserved", state.key, state.path, "added by the compiler")
    elif identifier_fault(state.id) is not None and not _was_told(state.key):
        yield InvalidIdentifier("invalid_state_id", "state id", state.id, state.key, state.path)
    if state.instructions is not None:
        if state.terminal is False:
            yield from _blank("instructions_empty", state.instructions)
        yield from _size("instructions_too_large", state.instructions, context.limits)
    if state.transitions is not None:
        yield from _ways_out(state, state.transitions, context)


def _ways_out(state: StateSource, transitions: Transitions, context: _Context) -> Iterator[Problem]:
    number = len(transitions.items)
    key = transitions.key if transitions.key is not None else state.key
    if state.terminal is True and number:
        yield TerminalHasTransitions(state.id, key, state.terminal_origin, transitions.path)
    if state.terminal is False and not number and transitions.complete:
        yield NoWayOut(state.id, key, transitions.path)
    if number > context.limits.transitions:
        message = f"state {quoted(state.id)} has {counted(number, 'transition')}"
        label = f"more than {context.limits.transitions:,} transitions"
        yield CountOutOfBounds("too_many_transitions", message, key, transitions.path, label)
    for transition in transitions.items:
        yield from _transition(transition, context)
    yield from _duplicates(state, transitions)


def _transition(transition: TransitionSource, context: _Context) -> Iterator[Problem]:
    id_, key, path = transition.id, transition.key, transition.path
    if id_ == CANCEL_TRANSITION:
        yield Reserved("reserved_transition", f"transition id {quoted(id_)} is reserved", key, path, "added by the compiler")
    elif identifier_fault(id_) is not None and not _was_told(key):
        yield InvalidIdentifier("invalid_transition_id", "transition id", id_, key, path)
    if transition.target is not None:
        yield from _target(transition.target, context)
    if transition.condition is not None:
        yield from _blank("condition_empty", transition.condition)
        yield from _size("condition_too_large", transition.condition, context.limits)


def _was_told(key: Place) -> bool:
    """Tell whether the syntax says of a name without quotes already that its letters only look like those of names."""
    return plain_like(key.source.slice(key.span)) is not None


def _target(target: Located[str], context: _Context) -> Iterator[Problem]:
    if target.value.startswith("$"):
        message = f"target {quoted(target.value)} is reserved"
        place = target.origin.place
        yield Reserved(
            "reserved_transition_target",
            message,
            place,
            target.path,
            "no authored way leads there",
            came_through(target.origin),
            note="nothing is filled into a string of DCDL" if target.value.startswith("${") else None,
        )
    elif context.complete and target.value not in context.declared:
        yield _not_found("transition_target_not_found", target, context)


def _not_found(code: str, reference: Located[str], context: _Context) -> StateNotFound:
    meant = context.declared.meant(reference.value)
    return StateNotFound(code, reference, context.flow, context.declared.ids, meant, context.renamed)


def _blank(code: str, text: Located[str]) -> Iterator[Problem]:
    if not text.value or text.value.isspace():
        yield TextBlank(code, text)


def _size(code: str, text: Located[str], limits: FlowLimits) -> Iterator[Problem]:
    if len(text.value) * 4 <= limits.text_bytes:
        return
    size = len(text.value.encode())
    if size > limits.text_bytes:
        yield TextTooLarge(code, text, size, limits.text_bytes)


def _duplicates(state: StateSource, transitions: Transitions) -> Iterator[Problem]:
    same: dict[object, list[TransitionSource]] = {}
    for transition in transitions.items:
        if transition.target is not None and transition.condition is not None:
            same.setdefault((transition.condition.value, transition.target.value, _deterministic(transition)), []).append(transition)
    in_order = state.select is not None and state.select.value == "first"
    for group in same.values():
        if len(group) > 1:
            yield DuplicateCondition(tuple(group), state.id, in_order=in_order)


def _deterministic(transition: TransitionSource) -> object:
    """Give what decides a transition beside its condition; what failed is like nothing else."""
    if transition.said.isdisjoint({"when", "checks", "otherwise"}):
        return None
    failed = {name for name in ("when", "checks", "otherwise") if name in transition.said and getattr(transition, name) is None}
    guard = transition.when.guard if transition.when is not None else None
    checks = frozenset(each.value for each in transition.checks.items) if transition.checks is not None else frozenset[str]()
    otherwise = transition.otherwise is not None and transition.otherwise.value
    return (guard, checks, otherwise, id(transition) if failed else None)
