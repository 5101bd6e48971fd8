"""Attempts and entries of a log, in the values that are shown to those who work inside a Worker, wherever it is kept.

Invariant: an agent is shown no value of a variable or an input that its state does not let it see, in whatever entry it lies; what is left
out is said, and the digests of the entry stay.
"""

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, TypeVar

from stateward.runtime.core.events import Assigned, Event, InstanceRewound, InstanceStarted, Variable, VariablesSet
from stateward.runtime.core.instance import AttemptStatus
from stateward.runtime.engine.view import LoggedEntry
from stateward.runtime.ports.asking import AttemptShown, EntryShown
from stateward.runtime.session.entries import Kind
from stateward.runtime.session.event_codec import EVENT

if TYPE_CHECKING:
    from stateward.runtime.engine.attempts import Explained
    from stateward.runtime.ports.work import Standing

V = TypeVar("V", Assigned, Variable)
NOT_SHOWN: Final = "«not shown»"
"""What stands for a value that a state does not let its worker see, and for a payload that holds one."""


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


def visible_in(standing: "Standing") -> frozenset[str]:
    """Name the variables that an agent may see where a Worker stands."""
    flow = standing.flow
    return frozenset() if flow is None else frozenset((*(each.name for each in flow.reads), *(each.name for each in flow.writes)))


def _without(event: Event, visible: Collection[str]) -> Event:
    """Give an event without the values that are not to be seen."""
    match event:
        case InstanceStarted():
            return replace(event, inputs=_seen(event.inputs, visible))
        case VariablesSet():
            return replace(event, values=_seen(event.values, visible))
        case InstanceRewound():
            return replace(event, variables=_seen(event.variables, visible))
        case _:
            return event


def _seen(values: tuple[V, ...], visible: Collection[str]) -> tuple[V, ...]:
    return tuple(each if each.name in visible else replace(each, value=NOT_SHOWN) for each in values)


def entry_for_agent(logged: LoggedEntry, visible: Collection[str]) -> EntryShown:
    """Show an entry to the agent of a Worker, which may see these variables."""
    events = tuple(replace(each, event=_without(each.event, visible)) for each in logged.events)
    entry = entry_of(replace(logged, events=events))
    is_whole = events == logged.events and logged.entry.kind != Kind.CHECKPOINT
    return entry if is_whole else replace(entry, payload=NOT_SHOWN)


def entry_of(logged: LoggedEntry) -> EntryShown:
    """Show an entry, to whoever may see all of it."""
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
