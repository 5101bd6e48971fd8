"""The engine: every use case of a Worker, synchronous, on one commit path.

Invariants: a method either commits everything it reports or changes nothing; what it returns was durable before it returned; it never
waits for a verifier inside a commit. Refusals are values; failures of the environment are raised as `ports.Fault`. Safe to share
between threads, and any number of processes may work on one Worker at a time.
"""

from collections.abc import Iterator, Sequence

from stateward.runtime.core.events import EventId
from stateward.runtime.core.refusal import Refusal, RefusalCode
from stateward.runtime.engine import submit, transition
from stateward.runtime.engine.answers import Answered, Begun
from stateward.runtime.engine.commit import not_found
from stateward.runtime.engine.folding import Folds, payload_of
from stateward.runtime.engine.keys import is_id
from stateward.runtime.engine.means import Means
from stateward.runtime.engine.submission import Submitted
from stateward.runtime.engine.view import LoggedEntry, LoggedEvent, WorkerView, view_of
from stateward.runtime.ports import Clock, Ids, SessionStore, Snapshots, StoreNewer, Verifier, VerifierOutcome
from stateward.runtime.profile import Profile
from stateward.runtime.session.entries import Actor, ActorClass, Entry
from stateward.runtime.session.evidence import evidence_class
from stateward.runtime.session.payloads import OPAQUE, Payload, SessionStarted, flow_events
from stateward.runtime.session.segments import Segment


class Engine:
    """What a surface may ask of the Workers of one store, under one profile."""

    def __init__(self, sessions: SessionStore, snapshots: Snapshots, clock: Clock, ids: Ids, profile: Profile) -> None:
        self._means = Means(sessions, snapshots, clock, ids, profile, Folds(sessions))

    def start_worker(
        self,
        workspace: str,
        segments: Sequence[Segment],
        actor: Actor,
        submission_id: str | None = None,
        *,
        worked_by: ActorClass | None = None,
        workdir: str = "",
    ) -> Submitted | Refusal:
        """Create a Worker with its first input, which has exactly one flow segment, in one transaction.

        `worked_by` says who will do the work, by default whoever submits; `workdir` names the folder of the work. Under a
        `submission_id` the same input gives the first answer however often it is submitted, and another input conflicts.
        """
        given = submit.input_of(self._means, segments, actor, submission_id, first=True)
        if isinstance(given, Refusal):
            return given
        worker = self._means.ids.new() if submission_id is None else submit.worker_id_for(workspace, submission_id)
        profile = self._means.profile
        session = SessionStarted(
            worker=worker,
            workspace=workspace,
            profile=profile.pinned(),
            verifier=str(profile.verifier),
            isolation=submit.ISOLATION,
            worked_by=worked_by or actor.actor_class,
            workdir=workdir,
        )
        return submit.start_worker(self._means, session, given)

    def submit(self, worker: str, segments: Sequence[Segment], actor: Actor, submission_id: str | None = None) -> Submitted | Refusal:
        """Commit a further input, with one flow segment at most, and with one only when no instance is active."""
        given = submit.input_of(self._means, segments, actor, submission_id, first=False)
        return given if isinstance(given, Refusal) else submit.submit(self._means, worker, given)

    def begin(self, worker: str, reason: str, actor: Actor) -> Begun | Answered | Refusal:
        """Begin, or go on with, the verification of a request to leave the current state.

        `Answered` when the same request was judged already and nothing that counts was recorded since.
        """
        return self._means.commit(worker, transition.Beginning(self._means, reason, actor).plan)

    def report(self, worker: str, attempt: str, outcome: VerifierOutcome) -> Answered | Refusal:
        """Commit what a verification came to and give exactly what the worker is told.

        Idempotent: of several reports on one attempt the first that is committed counts, and all get its answer.
        """
        return transition.report(self._means, worker, attempt, outcome)

    def request_transition(self, worker: str, reason: str, actor: Actor, verifier: Verifier) -> Answered | Refusal:
        """Begin, verify and report. When verifying is interrupted the attempt stays open, and the next request goes on with it."""
        loaded = self._means.folds.load(worker)
        if loaded is None:
            return not_found(worker)
        if verifier.kind != loaded.session.verifier:
            message = f"this Worker is judged by a verifier of kind `{loaded.session.verifier}`, not `{verifier.kind}`"
            return Refusal(RefusalCode.VERIFIER_NOT_ALLOWED, message, (f"verify with kind `{loaded.session.verifier}`",))
        begun = self.begin(worker, reason, actor)
        if not isinstance(begun, Begun):
            return begun
        return self.report(worker, begun.request.attempt, verifier.verify(begun.request))

    def view(self, worker: str) -> WorkerView | Refusal:
        """Give a Worker as its log says now."""
        loaded = self._means.folds.load(worker)
        return not_found(worker) if loaded is None else view_of(loaded)

    def log(self, worker: str, after: int = 0, upto: int | None = None) -> Iterator[LoggedEntry]:
        """Read the entries with `after < seq <= upto`, what is unknown here included; none when there is no such Worker."""
        return map(_logged, self._means.sessions.entries(worker, after, upto)) if is_id(worker) else iter(())

    def events(self, worker: str, after: int = 0, upto: int | None = None) -> Iterator[LoggedEvent]:
        """Read the flow events of those entries."""
        return (event for entry in self.log(worker, after, upto) for event in entry.events)


def _logged(entry: Entry) -> LoggedEntry:
    payload, newer = _read(entry)
    events = tuple(LoggedEvent(EventId(entry.seq, index), event, entry) for index, event in enumerate(flow_events(payload)))
    return LoggedEntry(entry, evidence_class(entry.kind, entry.actor.actor_class), payload, newer, events)


def _read(entry: Entry) -> tuple[Payload, str]:
    try:
        return payload_of(entry), ""
    except StoreNewer as problem:
        return OPAQUE, problem.message
