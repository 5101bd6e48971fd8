"""Engines for tests: over session logs in memory, with a clock and ids that count, a catalog of definitions, and judges of our choice."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from itertools import count

from stateward.compiler.flow.canonical import canonical_bytes
from stateward.compiler.flow.definition import CompiledFlowDefinition
from stateward.runtime.core.events import FailureCause, Verdict
from stateward.runtime.engine.answers import Begun
from stateward.runtime.engine.limits import CHECKPOINT_ENTRIES
from stateward.runtime.engine.view import FlowView, WorkerView
from stateward.runtime.engine.worker import Engine
from stateward.runtime.ports import (
    Answered,
    SessionStore,
    Snapshot,
    Snapshots,
    Submitted,
    Unresolved,
    VerificationRequest,
    Verifier,
    VerifierAnswered,
    VerifierFailed,
    VerifierOutcome,
)
from stateward.runtime.ports.checking import CheckRunner
from stateward.runtime.profile import DEMONSTRATION, ModelSettings, Profile, VerifierKind
from stateward.runtime.session.chain import digest_of
from stateward.runtime.session.entries import Actor, ActorClass, Entry, Kind, NewEntry
from stateward.runtime.session.masking import NO_SECRETS, Secrets
from stateward.runtime.session.segments import NO_INPUTS, FlowSegment, Segment, TextSegment
from stateward.store.memory_leases import MemoryLeaseStore
from stateward.store.memory_sessions import MemorySessionStore
from tests.runtime.flows import FORK, NOTHING_TO_DO, REVIEW
from tests.runtime.guarded import REFINE
from tests.runtime.judgements import judgement
from tests.runtime.witnesses import HeldWitness
from tests.runtime.workdirs import ROOT, TextsWorkdir

MODEL = Profile("judged by a model", VerifierKind.MODEL, model=ModelSettings("some-model", provider="openai"))
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
WORKSPACE = "0198c0de-0000-7000-8000-00000000000a"
PERSON = Actor(ActorClass.PERSON, "terminal", "ada")
AGENT = Actor(ActorClass.AGENT, "mcp", "agent")
HOST = Actor(ActorClass.HOST, "hook", "harness")


class TickingClock:
    """Each look at it is a microsecond later."""

    def __init__(self) -> None:
        self._ticks = count(1)

    def now(self) -> datetime:
        """Give the present."""
        return NOON + timedelta(microseconds=next(self._ticks))


_NUMBERS = count(1)


class CountingIds:
    """Ids in order, of which none is ever given twice."""

    def new(self) -> str:
        """Give the next id."""
        return f"0198c0de-0000-7000-8000-{next(_NUMBERS):012x}"


class Catalog:
    """The port `Snapshots` over definitions, each under its name; they may be changed."""

    def __init__(self, *definitions: CompiledFlowDefinition) -> None:
        self.flows = {each.name: each for each in definitions or (FORK, REVIEW, NOTHING_TO_DO, REFINE)}
        self.asked: list[str] = []

    def resolve(self, selector: str) -> Snapshot | Unresolved:
        """Resolve `workspace:<name>`."""
        self.asked.append(selector)
        definition = self.flows.get(selector.removeprefix("workspace:"))
        if definition is None:
            return Unresolved("flow_not_found", f"there is no flow `{selector}`", "name another")
        return snapshot_of(definition)


def snapshot_of(definition: CompiledFlowDefinition) -> Snapshot:
    """Give a snapshot as a Workspace resolves it."""
    canonical = canonical_bytes(definition)
    return Snapshot(
        workspace=WORKSPACE,
        flow_id=f"id-{definition.name}",
        selector=f"workspace:{definition.name}",
        flow_revision=1,
        content_digest=digest_of(definition.name.encode()),
        definition_digest=digest_of(canonical),
        definition=definition,
        definition_bytes=canonical,
    )


class Judge:
    """A verifier that answers by a function and keeps what it was asked."""

    def __init__(self, answer: Callable[[VerificationRequest], VerifierOutcome], kind: str = "scripted") -> None:
        self._answer = answer
        self._kind = kind
        self.asked: list[VerificationRequest] = []

    @property
    def kind(self) -> str:
        """Its kind."""
        return self._kind

    def verify(self, request: VerificationRequest) -> VerifierOutcome:
        """Answer."""
        self.asked.append(request)
        return self._answer(request)


def saying(given: Mapping[str, Verdict]) -> Callable[[VerificationRequest], VerifierOutcome]:
    """Give verdicts; transitions that are not given are `not_met`."""
    return lambda request: verdicts(request, given)


def verdicts(request: VerificationRequest, given: Mapping[str, Verdict]) -> VerifierOutcome:
    """Answer a request with verdicts; transitions that are not given are `not_met`."""
    return VerifierAnswered(tuple(judgement(each.transition, given.get(each.transition, Verdict.NOT_MET)) for each in request.questions))


def failing(cause: FailureCause, message: str = "it broke") -> Callable[[VerificationRequest], VerifierOutcome]:
    """Fail."""
    return lambda _: VerifierFailed(cause, message)


def engine_on(sessions: SessionStore, profile: Profile = DEMONSTRATION, catalog: Snapshots | None = None) -> Engine:
    """Give an engine on a store."""
    return Engine(sessions, catalog or Catalog(), TickingClock(), CountingIds(), profile, leases=MemoryLeaseStore())


def input_for(flow: str, *texts: str, **inputs: object) -> tuple[Segment, ...]:
    """Give an input that starts a flow."""
    return (FlowSegment(f"workspace:{flow}", inputs), *map(TextSegment, texts))


class Desk:
    """One Worker in one store, and an engine; `restarted` gives the same store to an engine that remembers nothing."""

    def __init__(
        self,
        flow: str = "fork",
        profile: Profile = DEMONSTRATION,
        actor: Actor = PERSON,
        *,
        checkpoint_entries: int = CHECKPOINT_ENTRIES,
        sessions: MemorySessionStore | None = None,
        workdirs: TextsWorkdir | None = None,
        secrets: Secrets = NO_SECRETS,
        witness: HeldWitness | None = None,
        inputs: Mapping[str, object] = NO_INPUTS,
        catalog: Catalog | None = None,
        checks: CheckRunner | None = None,
    ) -> None:
        self._checks = checks
        self._witness = witness
        self._workdirs = workdirs
        self._secrets = secrets
        self._checkpoint_entries = checkpoint_entries
        self.sessions = sessions or MemorySessionStore()
        self.leases = MemoryLeaseStore()
        self.catalog = catalog or Catalog()
        self.ids = CountingIds()
        self.clock = TickingClock()
        self.actor = actor
        self.engine = self._new_engine(profile)
        workdir = "" if workdirs is None else ROOT
        self.worker = submitted(
            self.engine.start_worker(
                WORKSPACE, input_for(flow, "Ticket 41", **inputs), PERSON, worked_by=actor.actor_class, workdir=workdir
            )
        ).worker

    def _new_engine(self, profile: Profile) -> Engine:
        return Engine(
            self.sessions,
            self.catalog,
            self.clock,
            self.ids,
            profile,
            leases=self.leases,
            checkpoint_entries=self._checkpoint_entries,
            workdirs=self._workdirs,
            secrets=self._secrets,
            witness=self._witness,
            checks=self._checks,
        )

    def restart(self, profile: Profile = DEMONSTRATION) -> None:
        """Forget everything but the store."""
        self.engine = self._new_engine(profile)

    @property
    def view(self) -> WorkerView:
        """The Worker."""
        view = self.engine.view(self.worker)
        assert isinstance(view, WorkerView), view
        return view

    @property
    def flow(self) -> FlowView:
        """Its flow."""
        flow = self.view.flow
        assert flow is not None
        return flow

    def log(self) -> list[Entry]:
        """Its whole log."""
        return list(self.sessions.entries(self.worker))

    def begin(self, reason: str) -> Begun:
        """Begin, or continue."""
        begun = self.engine.begin(self.worker, reason, self.actor)
        assert isinstance(begun, Begun), begun
        return begun

    def request(self, reason: str, given: Mapping[str, Verdict] | Verifier) -> Answered:
        """Request a transition."""
        judge = Judge(saying(given), self.view.verifier) if isinstance(given, Mapping) else given
        answered = self.engine.request_transition(self.worker, reason, self.actor, judge)
        assert isinstance(answered, Answered), answered
        return answered

    def record_evidence(self, payload: bytes = b"exit status 0") -> None:
        """Append what a host would: a tool's result."""
        head = self.sessions.head(self.worker)
        assert head is not None
        self.sessions.append(self.worker, head, (NewEntry(Kind.TOOL_RESULT, HOST, self.clock.now(), payload),), {})


def submitted(answer: object) -> Submitted:
    """Expect an input to have been committed."""
    assert isinstance(answer, Submitted), answer
    return answer
