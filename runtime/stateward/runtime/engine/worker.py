"""The engine: every use case of a Worker, synchronous, on one commit path.

Invariants: a method either commits everything it reports or changes nothing; what it returns was durable before it returned; it never
waits for a verifier inside a commit. Refusals are values; failures of the environment are raised as `ports.Fault`. Safe to share
between threads, and any number of processes may work on one Worker at a time.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from stateward.runtime.core.events import EventId, InstanceStarted
from stateward.runtime.core.flow import Flow
from stateward.runtime.core.instance import Aside, Attempt, is_aside
from stateward.runtime.core.operating import Verb, reason_problem
from stateward.runtime.core.refusal import Refusal, RefusalCode
from stateward.runtime.engine import (
    attempts,
    checking,
    forking,
    leasing,
    operating,
    overview,
    redaction,
    rollback,
    submit,
    transition,
    variables,
)
from stateward.runtime.engine.answers import Begun
from stateward.runtime.engine.attempts import Explained
from stateward.runtime.engine.commit import not_found
from stateward.runtime.engine.folding import Folds, payload_of
from stateward.runtime.engine.forking import Forked
from stateward.runtime.engine.guard import Guard
from stateward.runtime.engine.hosted import HostEngine
from stateward.runtime.engine.leasing import Heartbeat, NoHeartbeat
from stateward.runtime.engine.limits import CHECKPOINT_ENTRIES, RENEWALS
from stateward.runtime.engine.lineage import entries_through
from stateward.runtime.engine.means import Means
from stateward.runtime.engine.operating import Operated
from stateward.runtime.engine.overview import OverviewRow, Why
from stateward.runtime.engine.redaction import Redacted
from stateward.runtime.engine.replaying import Replayed, replay_against
from stateward.runtime.engine.rights import rights_of
from stateward.runtime.engine.view import LoggedEntry, LoggedEvent, Seen, WorkerView
from stateward.runtime.ports import (
    Answered,
    Clock,
    Damaged,
    Deleted,
    Ids,
    InProgress,
    Lease,
    LeaseStore,
    NoObserver,
    Observer,
    SessionStore,
    Snapshots,
    StoreNewer,
    Submitted,
    VerificationRequest,
    Verifier,
    VerifierOutcome,
    Witness,
    Workdirs,
    Written,
)
from stateward.runtime.ports.checking import CheckRunner
from stateward.runtime.profile import Profile
from stateward.runtime.session.entries import Actor, ActorClass, Entry
from stateward.runtime.session.evidence import evidence_class
from stateward.runtime.session.masking import NO_SECRETS, Secrets
from stateward.runtime.session.payloads import OPAQUE, Payload, PinnedProfile, SessionStarted, flow_events
from stateward.runtime.session.segments import Segment


class Engine(HostEngine):
    """What a surface may ask of the Workers of one store, under one profile."""

    def __init__(
        self,
        sessions: SessionStore,
        snapshots: Snapshots,
        clock: Clock,
        ids: Ids,
        profile: Profile,
        *,
        leases: LeaseStore,
        holder: str = "engine",
        heartbeat: Heartbeat | None = None,
        checkpoint_entries: int = CHECKPOINT_ENTRIES,
        witness: Witness | None = None,
        workdirs: Workdirs | None = None,
        secrets: Secrets = NO_SECRETS,
        observer: Observer | None = None,
        checks: CheckRunner | None = None,
    ) -> None:
        """`holder` is the name under which this engine verifies; `heartbeat` renews its lease meanwhile.

        A log that went back behind what `witness` knows is only looked at, until an operator accepts that. Through `workdirs` the folder of
        the work is looked at when a request is begun and when it is judged; without, nothing is known of it. No text that holds one of the
        `secrets` is stored or told with it. `checks` runs the checks of flows; without, none of them can be told.
        """
        guard = Guard(sessions, witness)
        self._means: Means = Means(
            sessions=sessions,
            clock=clock,
            ids=ids,
            profile=profile,
            folds=Folds(sessions),
            checkpoint_entries=checkpoint_entries,
            guard=guard,
            secrets=secrets,
            snapshots=snapshots,
            leases=leases,
            workdirs=workdirs,
        )
        self._holder = holder
        self._heartbeat = heartbeat or NoHeartbeat()
        self._observer = observer or NoObserver()
        self._checks = checks

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

    def set_variables(self, worker: str, values: Mapping[str, object], actor: Actor) -> Written | Refusal:
        """Set variables that the current state writes, all of them or none."""
        return variables.set_variables(self._means, worker, values, actor)

    def begin(self, worker: str, reason: str, actor: Actor, seen: Seen | None = None) -> Begun | Answered | InProgress | Refusal:
        """Begin, or go on with, the verification of a request to leave the current state.

        `Answered` when the same request was judged already and nothing that counts was recorded since; `InProgress` while somebody
        verifies the open attempt. With `seen`, refused as `state_changed` when the instance does not stand there any more.
        """
        return self._means.commit(worker, transition.Beginning(self._means, reason, actor, seen).plan)

    def claim(self, worker: str, attempt: str, holder: str) -> Lease | InProgress | Refusal:
        """Take the right to verify the open attempt."""
        return leasing.claim(self._means, worker, attempt, holder)

    def renew(self, worker: str, attempt: str, token: int) -> Lease | Refusal:
        """Make a lease last from now on; refused by token when it is another's by now."""
        return leasing.renew(self._means, worker, attempt, token)

    def release(self, worker: str, attempt: str, token: int) -> bool:
        """Give a lease back; false when it is no longer the caller's."""
        return leasing.release(self._means, worker, attempt, token)

    def expire(self, worker: str) -> Attempt | Refusal | None:
        """Give the open attempt that nobody verifies (any more), for whoever goes on with it; one that is held is left alone."""
        return leasing.unattended(self._means, worker)

    def report(self, worker: str, attempt: str, outcome: VerifierOutcome, token: int | None = None) -> Answered | Refusal:
        """Commit what a verification came to and give exactly what the worker is told.

        Idempotent: of several reports on one attempt the first that is committed counts, and all get its answer. Refused by `token`
        when the lease is another's by now; without one, while anybody holds a lease.
        """
        return transition.report(self._means, worker, attempt, outcome, token)

    def request_transition(
        self,
        worker: str,
        reason: str,
        actor: Actor,
        verifier: Verifier,
        seen: Seen | None = None,
        *,
        begun_with: Callable[[VerificationRequest], None] | None = None,
        halt: int | None = None,
    ) -> Answered | InProgress | Refusal:
        """Begin, run what checks are needed, verify and report.

        When that is interrupted the attempt stays open, and the next request goes on with it. `begun_with` is told of it before anything is
        run or judged; checks are stopped once something can be read from the handle `halt`.
        """
        loaded = self._means.folds.load(worker)
        if loaded is None:
            return not_found(worker)
        if verifier.kind != loaded.session.verifier:
            message = f"this Worker is judged by a verifier of kind `{loaded.session.verifier}`, not `{verifier.kind}`"
            return Refusal(RefusalCode.VERIFIER_NOT_ALLOWED, message, (f"verify with kind `{loaded.session.verifier}`",))
        begun = self.begin(worker, reason, actor, seen)
        if not isinstance(begun, Begun):
            return begun
        attempt = begun.request.attempt
        lease = self.claim(worker, attempt, self._holder)
        if not isinstance(lease, Lease):
            return self._overtaken(worker, attempt) or lease
        if begun_with is not None:
            begun_with(begun.request)
        seconds = self._means.profile.lease_seconds
        try:
            with self._observer.attempt(begun.request, verifier.kind) as observed:
                with self._heartbeat.during(seconds / RENEWALS, lambda: self._beat(worker, attempt, lease.token)):
                    asked = checking.checked(self._means, self._checks, begun.request, lease.token, halt)
                    came = verifier.verify(asked) if isinstance(asked, VerificationRequest) else asked
                if isinstance(came, Answered | Refusal):
                    answered = came
                else:
                    observed.verified(came)
                    answered = self.report(worker, attempt, came, lease.token)
                if isinstance(answered, Answered):
                    observed.answered(answered.answer)
                return answered
        finally:
            self.release(worker, attempt, lease.token)

    def person_problem(self, worker: str, person: Actor) -> Refusal | None:
        """Refuse a person as the judge of a Worker of whom less is known than its operators have to show: what a judge says is evidence."""
        loaded = self._means.folds.load(worker)
        return not_found(worker) if loaded is None else operating.operator_problem_of(self._means, loaded, person)

    def _overtaken(self, worker: str, attempt: str) -> Answered | None:
        """Give the answer to an attempt that somebody else has just resolved."""
        answer = self.told(worker, attempt)
        return None if answer is None else Answered(answer, repeated=True)

    def _beat(self, worker: str, attempt: str, token: int) -> None:
        """Renew; what comes of it shows when the outcome is reported."""
        leasing.renew(self._means, worker, attempt, token)

    # --- what an operator does ------------------------------------------------------------------------------------------------------

    def operate(
        self, worker: str, verb: Verb, reason: str, actor: Actor, operation: str | None = None, *, state: str = ""
    ) -> Operated | Refusal:
        """Pause, resume, withdraw, cancel, clear, or rewind to `state`. The same `operation` id gives the first answer again."""
        given = operating.operation_of(self._means, str(verb), reason, actor, operation, about=state)
        return given if isinstance(given, Refusal) else operating.operate(self._means, worker, given)

    def fork(self, worker: str, reason: str, actor: Actor, operation: str | None = None, *, at: int | None = None) -> Forked | Refusal:
        """Start a Worker that goes on from entry `at` of this one, by default from the last."""
        given = operating.operation_of(self._means, forking.FORK, reason, actor, operation, about="" if at is None else str(at))
        if isinstance(given, Refusal):
            return given
        problem = reason_problem(given.reason)
        return problem or forking.fork(self._means, worker, at, given)

    def make_whole(self, worker: str, reason: str, actor: Actor, operation: str | None = None) -> Operated | Refusal:
        """Copy what a fork reads from its parent into its own log: then the parent may be deleted."""
        given = operating.operation_of(self._means, forking.MAKE_WHOLE, reason, actor, operation)
        if isinstance(given, Refusal):
            return given
        problem = reason_problem(given.reason)
        return problem or forking.make_whole(self._means, worker, given)

    def accept_rollback(self, worker: str, reason: str, actor: Actor, operation: str | None = None) -> Operated | Refusal:
        """Let a log go on that went back, such as one out of a backup; what it lost is named in it for ever."""
        given = operating.operation_of(self._means, operating.ACCEPT_ROLLBACK, reason, actor, operation)
        if isinstance(given, Refusal):
            return given
        problem = reason_problem(given.reason)
        return problem or rollback.accept(self._means, worker, given)

    def redact(self, worker: str, secrets: Secrets, reason: str, actor: Actor) -> Redacted | Refusal:
        """Take secrets that were learned of later out of what a log holds. Its chain verifies as before."""
        masked = replace(self._means, secrets=secrets)
        given = operating.operation_of(masked, redaction.REDACT, reason, actor, None)
        if isinstance(given, Refusal):
            return given
        problem = reason_problem(given.reason)
        return problem or redaction.redact(self._means, worker, secrets, given)

    def delete(self, worker: str, actor: Actor) -> Deleted | Refusal:
        """Delete a Worker and its session for good; refused while a fork reads from it."""
        problem = operating.deletion_problem(self._means, worker, actor)
        return problem or forking.delete(self._means, worker)

    # --- looking --------------------------------------------------------------------------------------------------------------------

    def view(self, worker: str) -> WorkerView | Refusal:
        """Give a Worker as its log says now."""
        loaded = self._means.folds.load(worker)
        return not_found(worker) if loaded is None else self._means.view(loaded)

    def self_selectors(self, pinned: PinnedProfile) -> tuple[str, ...]:
        """Give the flows that an agent may submit to itself in a log that pins this profile."""
        if not self._means.profile.agent_selectors:  # what is not granted by both is not granted
            return ()
        return rights_of(self._means, pinned).agent_selectors

    def definition(self, digest: str) -> bytes | None:
        """Give the canonical bytes of a definition that a log pins; None when it is not stored. Raises Damaged."""
        return self._means.sessions.definition(digest)

    def workers(self, workspace: str, limit: int, after: str = "") -> tuple[OverviewRow, ...]:
        """Give a page of a Workspace's Workers, oldest first, those after `after`."""
        return overview.overview(self._means, workspace, limit, after)

    def why(self, worker: str) -> Why | Refusal:
        """Say why a Worker stands where it stands."""
        return overview.why(self._means, worker)

    def preview(self, worker: str, reason: str | None) -> VerificationRequest | Refusal:
        """Give what a verifier would be given now: of the open attempt, or of one that would be begun with `reason`. Nothing is written."""
        return attempts.preview(self._means, worker, None if reason is None else self._means.secrets.mask(reason))

    def explain(self, worker: str, attempt: str) -> Explained | None:
        """Give an attempt, from the request to what came of it; None when the Worker has none of that id."""
        return attempts.explain(self._means, worker, attempt)

    def replay(self, worker: str, other: Flow) -> Replayed | Refusal:
        """Run the verdicts recorded for the latest flow of a Worker through another definition."""
        loaded = self._means.folds.load(worker)
        if loaded is None:
            return not_found(worker)
        instance = loaded.flow.instance
        if instance is None or loaded.definition is None:
            return Refusal(RefusalCode.NO_ACTIVE_INSTANCE, "no flow was started", ("submit input with one flow segment",))
        began = max(each.id.seq for each in self.events(worker) if isinstance(each.event, InstanceStarted))
        return replay_against(self.events(worker, began - 1), instance.id, loaded.definition, other)

    def log(self, worker: str, after: int = 0, upto: int | None = None) -> Iterator[LoggedEntry]:
        """Read the entries with `after < seq <= upto`, what is unknown here included; none when there is no such Worker.

        The entries before a fork are those of its parent. Of a damaged log the entries before the damage are given, and Damaged is raised
        there; which of them a rewind set aside is not known then.
        """
        try:
            loaded = self._means.folds.load(worker)
        except Damaged:
            aside: Sequence[Aside] = ()
        else:
            if loaded is None:
                return iter(())
            aside = loaded.flow.aside
        return (_logged(each, aside) for each in entries_through(self._means.sessions, worker, after, upto))

    def events(self, worker: str, after: int = 0, upto: int | None = None) -> Iterator[LoggedEvent]:
        """Read the flow events of those entries."""
        return (event for entry in self.log(worker, after, upto) for event in entry.events)


def _logged(entry: Entry, aside: Sequence[Aside]) -> LoggedEntry:
    payload, newer = _read(entry)
    events = tuple(LoggedEvent(EventId(entry.seq, index), event, entry) for index, event in enumerate(flow_events(payload)))
    return LoggedEntry(entry, evidence_class(entry.kind, entry.actor.actor_class), payload, newer, events, is_aside(aside, entry.seq))


def _read(entry: Entry) -> tuple[Payload, str]:
    try:
        return payload_of(entry), ""
    except StoreNewer as problem:
        return OPAQUE, problem.message
