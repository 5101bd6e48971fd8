"""One Worker as the harness of its agent reaches it, over the engine."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from stateward.runtime.core.refusal import Refusal
from stateward.runtime.engine.hosted import HostEngine
from stateward.runtime.ports.records import Cursor, HostRecord, Recorded, RecordedEntry
from stateward.runtime.session.acts import RunOutcome
from stateward.runtime.session.entries import Actor

if TYPE_CHECKING:
    from stateward.runtime.ports import Standing


class EngineHostChannel:
    """The port `HostChannel` over the engine. Safe to share between threads."""

    def __init__(self, engine: HostEngine, worker: str, actor: Actor) -> None:
        self._engine, self._worker, self._actor = engine, worker, actor

    @property
    def worker(self) -> str:
        """The id of the Worker."""
        return self._worker

    def standing(self) -> "Standing | Refusal":
        """Say where it stands now."""
        return self._engine.standing(self._worker)

    def is_active(self) -> bool | Refusal:
        """Tell whether its flow is active."""
        return self._engine.is_active(self._worker)

    def record(self, records: Sequence[HostRecord], cursor: Cursor | None = None) -> Recorded | Refusal:
        """Commit records in one commit, each once for its key."""
        return self._engine.record_all(self._worker, records, self._actor, cursor)

    def cursor(self, host: str, session: str) -> Cursor | None:
        """Give how far the transcript of a session was taken in; None when nothing was."""
        return self._engine.cursor(self._worker, host, session)

    def start_run(self, run: str) -> RecordedEntry | Refusal:
        """Record that a run of the worker's agent began, or goes on."""
        return self._engine.start_run(self._worker, run, self._actor)

    def end_run(self, run: str, outcome: RunOutcome, message: str = "") -> RecordedEntry | Refusal:
        """Record how a run ended; the flow stays where it is."""
        return self._engine.end_run(self._worker, run, outcome, self._actor, message)

    def stop(self, reason: str, operation: str | None = None) -> RecordedEntry | Refusal:
        """Record that the agent stopped; everything is kept, and it may go on at any time."""
        return self._engine.stop(self._worker, reason, self._actor, operation)
