"""The part of the engine that the harness of an agent needs: telling the log what happened, and looking where a Worker stands.

Here for itself, so that whoever calls it in a process that lives for one call loads nothing else.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from stateward.runtime.core.events import Status
from stateward.runtime.core.refusal import Refusal
from stateward.runtime.engine import recording
from stateward.runtime.engine.commit import not_found
from stateward.runtime.engine.host_means import HostMeans
from stateward.runtime.engine.recording import NewRecord
from stateward.runtime.engine.told import stored_answer
from stateward.runtime.ports.records import Cursor, HostRecord, Recorded, RecordedEntry, RecordKey
from stateward.runtime.session.acts import RunOutcome
from stateward.runtime.session.answers import Answer
from stateward.runtime.session.entries import Actor, Head
from stateward.runtime.session.payloads import PinnedProfile

if TYPE_CHECKING:
    from stateward.runtime.ports import Standing


class HostEngine:
    """What a harness may ask of the Workers of one store. Refusals are values; failures of the environment are raised as `ports.Fault`."""

    def __init__(self, means: HostMeans) -> None:
        """Take what it works with."""
        self._means = means

    # --- what happened in the worker's agent ----------------------------------------------------------------------------------------

    def record(self, worker: str, kind: str, payload: bytes, actor: Actor, key: RecordKey) -> RecordedEntry | Refusal:
        """Record an `assistant_message`, `tool_call`, `tool_result` or `note`, once for its key."""
        return recording.record(self._means, worker, NewRecord(kind, payload, actor, key))

    def record_all(self, worker: str, given: Sequence[HostRecord], actor: Actor, cursor: Cursor | None = None) -> Recorded | Refusal:
        """Record up to RECORDS_MAX records in one commit, and with them how far a transcript was taken in."""
        return recording.record_all(self._means, worker, given, actor, cursor)

    def cursor(self, worker: str, host: str, session: str) -> Cursor | None:
        """Give how far the transcript of a host's session was taken in; None when nothing was."""
        return recording.cursor_of(self._means.sessions, worker, host, session)

    def start_run(self, worker: str, run: str, actor: Actor) -> RecordedEntry | Refusal:
        """Record that a run of the worker's agent began."""
        return recording.start_run(self._means, worker, run, actor)

    def end_run(self, worker: str, run: str, outcome: RunOutcome, actor: Actor, message: str = "") -> RecordedEntry | Refusal:
        """Record how a run ended; the flow stays where it is."""
        return recording.end_run(self._means, worker, run, actor, outcome=outcome, message=message)

    def stop(self, worker: str, reason: str, actor: Actor, operation: str | None = None) -> RecordedEntry | Refusal:
        """Record that the Worker was stopped; everything is kept, and it may go on at any time."""
        return recording.stop(self._means, worker, operation or self._means.ids.new(), reason, actor)

    # --- looking --------------------------------------------------------------------------------------------------------------------

    def is_active(self, worker: str) -> bool | Refusal:
        """Tell whether the flow of a Worker is active."""
        loaded = self._means.folds.load(worker)
        if loaded is None:
            return not_found(worker)
        instance = loaded.flow.instance
        return instance is not None and instance.status is Status.ACTIVE

    def standing(self, worker: str) -> "Standing | Refusal":
        """Say where a Worker stands, to those who work inside it."""
        from stateward.runtime.engine.standing import standing_of, told_of  # noqa: PLC0415 -- whoever only records asks for less

        loaded = self._means.folds.load(worker)
        if loaded is None:
            return not_found(worker)
        rolled_back, attempt = self._means.rolled_back(loaded), told_of(loaded)
        last = None if attempt is None else self.told(worker, attempt)
        return standing_of(loaded, rolled_back, self.self_selectors(loaded.session.profile), last)

    def head(self, worker: str) -> Head | None:
        """Give the last entry of a log; None when there is no such Worker."""
        return self._means.sessions.head(worker)

    def told(self, worker: str, attempt: str) -> Answer | None:
        """Give what the worker was told of an attempt; None where it is open, was closed by an operator or is another log's."""
        return stored_answer(self._means.sessions, worker, attempt)

    def self_selectors(self, pinned: PinnedProfile) -> tuple[str, ...]:
        """Give the flows that an agent may submit to itself in a log that pins this profile; to a harness that is none."""
        return ()
