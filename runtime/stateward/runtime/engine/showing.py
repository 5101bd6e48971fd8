"""Attempts and entries of a log, in the values that are shown to those who work inside a Worker, wherever it is kept."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from stateward.runtime.core.events import Event
from stateward.runtime.core.instance import AttemptStatus
from stateward.runtime.engine.view import LoggedEntry
from stateward.runtime.ports.asking import AttemptShown, EntryShown
from stateward.runtime.session.event_codec import EVENT

if TYPE_CHECKING:
    from stateward.runtime.engine.attempts import Explained


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
