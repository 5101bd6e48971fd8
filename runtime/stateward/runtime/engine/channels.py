"""One Worker as its agent reaches it, over the engine.

Invariants: everything goes through the engine, as for every other surface; what was verified while nobody waited for it is told before
anything else is asked, so that an agent never asks to leave a state that it does not know it is in. An answer whose asker is gone counts as
not told; one that is no longer how things are is not told, but that they changed.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from threading import Event, Lock
from typing import Final, Protocol

from stateward.compiler.flow.definition import CompiledFlowDefinition
from stateward.runtime.core.refusal import Refusal, RefusalCode
from stateward.runtime.core.texts import is_blank, size_of
from stateward.runtime.engine.answers import Begun
from stateward.runtime.engine.commit import not_found
from stateward.runtime.engine.halting import Halt
from stateward.runtime.engine.showing import attempt_of, entry_for_agent, entry_of, visible_in
from stateward.runtime.engine.view import WorkerView
from stateward.runtime.engine.worker import Engine
from stateward.runtime.ports import (
    LOG_PAGE_MAX,
    Answered,
    Asked,
    AttemptShown,
    Clock,
    Ids,
    InProgress,
    LogPage,
    RecordedEntry,
    RecordKey,
    Standing,
    StoppableVerifier,
    Submitted,
    VerificationRequest,
    VerifierCancelled,
    VerifierOutcome,
    Waiting,
    Written,
)
from stateward.runtime.profile import VerifierKind
from stateward.runtime.session.entries import Actor, ActorClass, Kind, reference
from stateward.runtime.session.segments import Segment

NOTE_BYTES_MAX: Final = 16 * 1024
STOP_SECONDS: Final = 2.0
"""How long a verification that is to stop is waited for."""
_NUDGE_SECONDS: Final = 0.05
"""How often it is told to stop: what tells it before it has begun is not heard."""


class Withdrawn(Exception):
    """Whoever asked does not want the verification any more; the attempt stays open."""


class Threads(Protocol):
    """Runs something beside what goes on."""

    def start(self, name: str, work: Callable[[], None]) -> None:
        """Begin."""


@dataclass(frozen=True, slots=True)
class Judges:
    """Who verifies here."""

    judge: Callable[[WorkerView], StoppableVerifier | Refusal]
    """Makes the judge of a Worker, where that is no person. Raises Fault."""
    holder: str
    """The name under which this process verifies."""
    lease_seconds: float


class _Run:
    """One verification that goes on in a thread. What it came to is set once."""

    def __init__(self, verifier: StoppableVerifier) -> None:
        self.verifier = verifier
        self.begun = Event()
        """That the attempt is known, or everything is over."""
        self.over = Event()
        self.withdrawn = Event()
        self.waiting = 0
        """How many wait for it."""
        self.unheard = False
        """Whether one of those has given up, so that the result is to be told again."""
        self.halt = Halt()
        """Stops the checks that are run for it."""
        self.request: VerificationRequest | None = None
        self.outcome: Asked | None = None
        self.fault: BaseException | None = None

    def has_begun(self, request: VerificationRequest) -> None:
        """Take what is verified."""
        self.request = request
        self.begun.set()

    def stop(self) -> None:
        """Let it end, and be told that it is to."""
        self.halt.say()
        self.verifier.cancel()

    def result(self) -> Asked:
        """Give what it came to. Raises what it met."""
        if self.fault is not None:
            raise self.fault
        assert self.outcome is not None, "it is over"
        return self.outcome


class _Watched:
    """A verifier of one run."""

    def __init__(self, run: _Run) -> None:
        self._verifier, self._run = run.verifier, run

    @property
    def kind(self) -> str:
        """That of the judge."""
        return self._verifier.kind

    def verify(self, request: VerificationRequest) -> VerifierOutcome:
        """Judge, watched. Raises Withdrawn when nobody wants to know any more."""
        self._run.has_begun(request)
        outcome = None if self._run.withdrawn.is_set() else self._verifier.verify(request)
        if outcome is None or (isinstance(outcome, VerifierCancelled) and self._run.withdrawn.is_set()):
            raise Withdrawn
        return outcome


def _is_stopped(outcome: Asked) -> bool:
    return isinstance(outcome, Refusal) and outcome.code is RefusalCode.VERIFICATION_STOPPED


class EngineWorkerChannel:
    """The port `WorkerChannel` over the engine. Safe to share between threads; one verification of it goes on at a time."""

    def __init__(
        self,
        engine: Engine,
        worker: str,
        actor: Actor,
        *,
        judges: Judges,
        threads: Threads,
        clock: Clock,
        ids: Ids,
        source_of: Callable[[Standing], str | None],
    ) -> None:
        """Take the Worker, who asks, and who verifies; `source_of` gives the source of the revision that is pinned."""
        self._engine, self._worker, self._actor = engine, worker, actor
        self._judges, self._threads, self._clock, self._ids, self._source_of = judges, threads, clock, ids, source_of
        self._lock = Lock()
        self._run: _Run | None = None
        self._given: _Run | None = None
        """That whose result was given last."""

    @property
    def worker(self) -> str:
        """The id of the Worker."""
        return self._worker

    def standing(self) -> Standing | Refusal:
        """Say where it stands now."""
        return self._engine.standing(self._worker)

    def submit(self, segments: Sequence[Segment], submission: str | None = None) -> Submitted | Refusal:
        """Commit an input."""
        return self._engine.submit(self._worker, segments, self._actor, submission)

    def set_variables(self, values: Mapping[str, object]) -> Written | Refusal:
        """Set variables that the current state writes."""
        return self._engine.set_variables(self._worker, values, self._actor)

    # --- asking -------------------------------------------------------------------------------------------------------------------

    def ask(self, reason: str, wait_seconds: float) -> Asked:
        """Ask to leave the current state, and wait so long at most for the answer."""
        view = self._engine.view(self._worker)
        if isinstance(view, Refusal):
            return view
        if view.verifier == VerifierKind.PERSON:
            return self._asked_a_person(reason)
        run = self._running(reason, view)
        if isinstance(run, Refusal):
            return run
        run.over.wait(max(0.0, wait_seconds))
        return self._still_so(self._told(run))

    def _asked_a_person(self, reason: str) -> Asked:
        begun = self._engine.begin(self._worker, reason, self._actor)
        if not isinstance(begun, Begun):
            return begun
        asked = begun.request
        return Waiting(self._worker, asked.attempt, asked.reason, reference(len(asked.captured)), begun.continued)

    def _running(self, reason: str, view: WorkerView) -> _Run | Refusal:
        """Give the verification that goes on, or whose answer was not told yet; else begin one."""
        with self._lock:
            if self._run is not None:
                self._run.waiting += 1
                return self._run
            verifier = self._judges.judge(view)
            if isinstance(verifier, Refusal):
                return verifier
            run = self._run = _Run(verifier)
            run.waiting += 1
        self._threads.start("stateward verification", lambda: self._verify(run, reason))
        return run

    def _verify(self, run: _Run, reason: str) -> None:
        try:
            run.outcome = self._engine.request_transition(
                self._worker, reason, self._actor, _Watched(run), begun_with=run.has_begun, halt=run.halt.handle
            )
            if run.withdrawn.is_set() and _is_stopped(run.outcome):
                run.fault = Withdrawn()
        except BaseException as fault:  # noqa: BLE001 -- raised again where somebody waits for it
            run.fault = fault
        finally:
            run.halt.close()
            run.over.set()
            run.begun.set()

    def _told(self, run: _Run) -> Asked:
        """Give what a verification came to, once; or that it goes on."""
        run.begun.wait()
        with self._lock:
            run.waiting -= 1
            is_over = run.over.is_set()
            if is_over and run.unheard:
                run.unheard = False
            elif is_over and self._run is run:
                self._run, self._given = None, run
        if not is_over:
            asked = run.request
            assert asked is not None, "the attempt is known"
            expires = self._clock.now() + timedelta(seconds=self._judges.lease_seconds)
            return InProgress(self._worker, asked.attempt, asked.reason, reference(len(asked.captured)), self._judges.holder, expires)
        if isinstance(run.fault, Withdrawn):
            return Refusal(RefusalCode.VERIFICATION_STOPPED, "the verification was stopped", ("request the transition again",))
        return run.result()

    def cancel(self) -> bool:
        """Stop verifying what this channel asked; the attempt stays open, and that it was stopped is recorded."""
        stopped = self._withdraw()
        if stopped is None:
            self._tell_again()
            return False
        self._noted(f"verifying attempt {stopped.attempt} was stopped by whoever asked", f"stopped {self._ids.new()}")
        return True

    def _tell_again(self) -> None:
        """Keep what a verification came to for the next request: whoever asked gave up just then, and may not have been told."""
        with self._lock:
            if self._run is None and self._given is not None and isinstance(self._given.outcome, Answered):
                self._run = self._given
            elif self._run is not None and self._run.over.is_set():
                self._run.unheard = self._run.waiting > 0

    def _still_so(self, asked: Asked) -> Asked:
        """Give an answer, which may have waited to be told, unless others moved the flow since."""
        view = self._engine.view(self._worker)
        if not isinstance(asked, Answered) or isinstance(view, Refusal) or view.flow is None:
            return asked
        answer, flow = asked.answer, view.flow
        if (answer.state, answer.visit, answer.status) == (flow.state, flow.visit, flow.status):
            return asked
        now = f"the flow is in state `{flow.state}` now (visit {flow.visit}, {flow.status})"
        message = f"attempt {answer.attempt} was answered, and others moved the flow since: {now}"
        return Refusal(RefusalCode.STATE_CHANGED, message, ("look where the Worker stands, and request a transition out of that state",))

    @property
    def is_verifying(self) -> bool:
        """Whether something is being verified here."""
        run = self._run
        return run is not None and not run.over.is_set()

    @property
    def is_busy(self) -> bool:
        """Whether something is being verified here, or its answer was not told yet."""
        return self._run is not None

    def close(self) -> None:
        """Stop what goes on; the attempt stays open for whoever asks next."""
        self._withdraw()

    def _withdraw(self) -> VerificationRequest | None:
        """Stop the verification that goes on, and give what was asked; None where none was, or it came to its end before."""
        with self._lock:
            run = self._run
        if run is None or run.over.is_set():
            return None
        run.withdrawn.set()
        for _ in range(round(STOP_SECONDS / _NUDGE_SECONDS)):
            run.stop()
            if run.over.wait(_NUDGE_SECONDS):
                break
        if not isinstance(run.fault, Withdrawn):
            return None
        with self._lock:
            if self._run is run:
                self._run = None
        return run.request

    def attempt(self, attempt: str) -> AttemptShown | None:
        """Give an attempt of this Worker and what came of it."""
        explained = self._engine.explain(self._worker, attempt)
        return None if explained is None else attempt_of(explained)

    # --- what is said and seen ----------------------------------------------------------------------------------------------------

    def note(self, text: str, use: str | None = None) -> RecordedEntry | Refusal:
        """Record what the agent says, as a claim."""
        if is_blank(text):
            return Refusal(RefusalCode.RECORD_MALFORMED, "the note says nothing", ("give a text",))
        if size_of(text) > NOTE_BYTES_MAX:
            return Refusal(RefusalCode.RECORD_TOO_LARGE, f"the note has {size_of(text)} bytes", (f"give at most {NOTE_BYTES_MAX} bytes",))
        return self._noted(text, use or self._ids.new())

    def _noted(self, text: str, use: str) -> RecordedEntry | Refusal:
        key = RecordKey("stateward", self._actor.host_session or "", use, "note")
        return self._engine.record(self._worker, Kind.NOTE, text.encode("utf-8", "surrogatepass"), self._actor, key)

    def log(self, after: int = 0, limit: int = LOG_PAGE_MAX) -> LogPage | Refusal:
        """Read entries with numbers behind `after`."""
        head = self._engine.head(self._worker)
        if head is None:
            return not_found(self._worker)
        upto = min(after + min(limit, LOG_PAGE_MAX), head.seq)
        logged = self._engine.log(self._worker, after, upto) if upto > after else ()
        if self._actor.actor_class is not ActorClass.AGENT:
            return LogPage(tuple(map(entry_of, logged)), head)
        standing = self._engine.standing(self._worker)
        if isinstance(standing, Refusal):
            return standing
        visible = visible_in(standing)
        return LogPage(tuple(entry_for_agent(each, visible) for each in logged), head)

    def source(self) -> str | None:
        """Give the source of the flow that it runs."""
        standing = self.standing()
        return None if isinstance(standing, Refusal) else self._source_of(standing)

    def definition(self) -> CompiledFlowDefinition | None:
        """Give the definition that is pinned. Raises Damaged when it is not what was pinned."""
        view = self._engine.view(self._worker)
        if isinstance(view, Refusal) or view.flow is None:
            return None
        canonical = self._engine.definition(view.flow.pin.definition_digest)
        return None if canonical is None else CompiledFlowDefinition.model_validate_json(canonical)
