"""A world that comes from a seed: two engines race on one Worker, processes die, answers are lost, results come late and twice.

After each act the world is checked against laws that say nothing of how the engine works:

- what is stored folds, by a fold that knows only the stored bytes, to what each engine shows;
- the chain is unbroken, and no entry that anybody was told of is gone or changed;
- no id and no key is used twice; at most one attempt is open; a state is entered only on verdicts that somebody reported;
- all who ask about one attempt are told the same, and it is what is stored; one submission has one entry;
- a refusal writes nothing.
"""

from collections.abc import Callable, Mapping
from random import Random

from stateward.compiler.flow.definition import CompiledFlowDefinition
from stateward.runtime.core.events import (
    EntryCitation,
    Event,
    FailureCause,
    Judgement,
    LateResultIgnored,
    Recorded,
    StateEntered,
    TransitionCheckPassed,
    TransitionRequested,
    Verdict,
)
from stateward.runtime.core.instance import JUDGED_CODES, AttemptStatus
from stateward.runtime.core.refusal import Refusal, RefusalCode
from stateward.runtime.core.replay import replay
from stateward.runtime.engine.answers import Answered, Begun
from stateward.runtime.engine.submission import Submitted
from stateward.runtime.engine.view import FlowView, WorkerView
from stateward.runtime.engine.worker import Engine
from stateward.runtime.ports import (
    Ids,
    SessionStore,
    VerificationRequest,
    VerifierAnswered,
    VerifierCancelled,
    VerifierFailed,
    VerifierOutcome,
)
from stateward.runtime.profile import DEMONSTRATION
from stateward.runtime.session.answers import Answer
from stateward.runtime.session.chain import check
from stateward.runtime.session.entries import GENESIS, Entry, Head, Kind, NewEntry
from stateward.runtime.session.evidence import is_admissible
from stateward.runtime.session.payloads import Payload, ToolResult, UserInput
from stateward.runtime.session.segments import TextSegment
from stateward.store.memory_leases import MemoryLeaseStore
from stateward.store.memory_sessions import MemorySessionStore
from tests.runtime.engines import AGENT, HOST, PERSON, WORKSPACE, Catalog, TickingClock, input_for, snapshot_of
from tests.runtime.flows import FORK, NOTHING_TO_DO, REVIEW
from tests.runtime.judgements import judgement
from tests.simulation.faults import Crash, FaultyStore, Point

DEFINITIONS: Mapping[str, CompiledFlowDefinition] = {snapshot_of(each).definition_digest: each for each in (FORK, REVIEW, NOTHING_TO_DO)}
RACES_MAX = 2
"""How deep one write is overtaken by others."""
SETTLING_MAX = 200
"""Acts after which a flow that nothing disturbs has ended."""


class SeededIds:
    """Ids out of the seed."""

    def __init__(self, random: Random) -> None:
        self._random = random

    def new(self) -> str:
        """Give an id."""
        return f"{self._random.getrandbits(64):016x}"


class World:
    """One history."""

    def __init__(self, seed: int, store: SessionStore | None = None, ids: Ids | None = None) -> None:
        self.random = Random(seed)  # noqa: S311 -- everything in a world comes from its seed; nothing in it is secret
        self.store = FaultyStore(store or MemorySessionStore())
        self.ids = ids or SeededIds(self.random)
        self.clock = TickingClock()
        self.leases = MemoryLeaseStore()
        self.catalog = Catalog()
        self.engines = [self._engine(), self._engine()]
        self.worker = ""
        self.verifications: list[VerificationRequest] = []
        """Handed out to verifiers; each may be answered any number of times, or never."""
        self.reported: dict[str, list[tuple[Judgement, ...]]] = {}
        self.tried: set[str] = set()
        """Attempts that a report was made on, whatever became of it."""
        self.told: dict[str, Answer] = {}
        self.acknowledged: dict[int, str] = {}
        """Digests of entries that somebody was told of."""
        self.submissions: dict[str, Submitted] = {}
        self.story: list[str] = []
        self._checked: list[Entry] = []
        self._overtakes = 0
        self._depth = 0
        self._faults = True

    def _engine(self) -> Engine:
        return Engine(self.store, self.catalog, self.clock, self.ids, DEMONSTRATION, leases=self.leases)

    # --- acting ---------------------------------------------------------------------------------------------------------------------

    def begin(self) -> None:
        """Create the Worker, however often that fails."""
        self.store.draw, self.store.overtake = self._point, self._overtake
        while not self.worker:
            self._acting(self._create)

    def act(self) -> None:
        """Let somebody do something, and check the world."""
        acts: list[tuple[int, Callable[[Engine], None]]] = [
            (6, self._request),
            (6, self._report),
            (2, self._report_again),
            (2, self._ask_again),
            (2, self._say),
            (2, self._start_flow),
            (3, self._record_evidence),
            (1, self._create),
            (2, self._look),
        ]
        (chosen,) = self.random.choices([act for _, act in acts], [weight for weight, _ in acts])
        self._acting(chosen)

    def _acting(self, act: Callable[[Engine], None]) -> None:
        place = self.random.randrange(len(self.engines))
        self.story.append(f"{'  ' * self._depth}{place}: {act.__name__}")
        try:
            act(self.engines[place])
        except Crash:
            self.story.append(f"{'  ' * self._depth}{place}: dies")
            self.engines[place] = self._engine()

    def _point(self) -> Point:
        if not self._faults:
            return Point.NOTHING
        points = list(Point) if self._depth < RACES_MAX else [each for each in Point if each is not Point.OVERTAKEN]
        (point,) = self.random.choices(points, [12 if each is Point.NOTHING else 1 for each in points])
        if point is not Point.NOTHING:
            self.story.append(f"{'  ' * self._depth}{point.value}")
        return point

    def _overtake(self) -> None:
        if self.worker:
            self._overtakes += 1
            self._depth += 1
            try:
                for _ in range(self.random.randint(1, 2)):
                    self.act()
            finally:
                self._depth -= 1

    def _create(self, engine: Engine) -> None:
        submitted = engine.start_worker(WORKSPACE, input_for("review", "Ticket 41"), PERSON, "first")
        assert isinstance(submitted, Submitted), submitted
        assert self.worker in {"", submitted.worker}
        self.worker = submitted.worker
        self._acknowledge("first", submitted)

    def _request(self, engine: Engine) -> None:
        reason = self.random.choice(["done", "done ", "tested and done", "stuck", " "])
        actor = self.random.choice([PERSON, AGENT])
        before = self._mark()
        answer = engine.begin(self.worker, reason, actor)
        if isinstance(answer, Begun):
            self.verifications.append(answer.request)
            captured = answer.request.captured
            self.acknowledged[len(captured)] = captured[-1].digest
        else:
            self._heard(answer, before)

    def _report(self, engine: Engine) -> None:
        if self.verifications:
            self._answer(engine, self.verifications[-1])

    def _report_again(self, engine: Engine) -> None:
        if self.verifications:
            self._answer(engine, self.random.choice(self.verifications))

    def _answer(self, engine: Engine, request: VerificationRequest) -> None:
        outcome = self._outcome(request)
        if isinstance(outcome, VerifierAnswered):
            self.reported.setdefault(request.attempt, []).append(outcome.judgements)
        before, alone = self._mark(), self._is_open(request.attempt) and request.attempt not in self.tried
        self.tried.add(request.attempt)
        answer = engine.report(self.worker, request.attempt, outcome)
        self._heard(answer, before)
        if alone and before[1] == self._overtakes:
            assert isinstance(answer, Answered)
            assert not answer.late

    def _is_open(self, attempt: str) -> bool:
        opened = self._flow().attempt
        return opened is not None and opened.id == attempt

    def _flow(self) -> FlowView:
        view = self._engine().view(self.worker)
        assert isinstance(view, WorkerView)
        assert view.flow is not None
        return view.flow

    def _ask_again(self, engine: Engine) -> None:
        """Whoever lost an answer asks again: as long as nothing that counts was recorded, it is told once more and not judged."""
        last = self._flow().last
        if last is None:
            return
        entered = last.status is AttemptStatus.ENTERED
        since = last.resolved.seq if entered else last.attempt.requested.seq
        known = any(map(is_admissible, self.store.entries(self.worker, since)))
        before = self._mark()
        answer = engine.begin(self.worker, f" {last.attempt.reason}", PERSON)
        if isinstance(answer, Begun):
            self.verifications.append(answer.request)
        judged = entered or last.rejection in JUDGED_CODES
        if judged and not known and self._flow().held is None and before[1] == self._overtakes:
            assert isinstance(answer, Answered)
            assert (answer.repeated, answer.answer.attempt, before) == (True, last.attempt.id, self._mark())

    def _outcome(self, request: VerificationRequest) -> VerifierOutcome:
        kind = self.random.choice(["move", "move", "move", "any", "any", "none", "nonsense", "fail", "give up"])
        ways = [each.transition for each in request.questions]
        authored = ways[:-1]
        match kind:
            case "fail":
                return VerifierFailed(self.random.choice(list(FailureCause)), "it broke")
            case "give up":
                return VerifierCancelled()
            case "nonsense":
                return VerifierAnswered((judgement("nowhere", Verdict.MET),))
            case "move":
                met = self.random.choice(authored if self.random.random() < 0.95 else ways)
                return VerifierAnswered(tuple(self._judged(each, Verdict.MET if each == met else Verdict.NOT_MET) for each in ways))
            case "none":
                return VerifierAnswered(tuple(self._judged(each, Verdict.NOT_MET) for each in ways))
            case _:
                return VerifierAnswered(tuple(self._judged(each, self.random.choice(list(Verdict))) for each in ways))

    def _judged(self, transition: str, verdict: Verdict) -> Judgement:
        cited = self.random.choice([(), (), (), ("E00000001",), ("E99999999",)])
        return judgement(transition, verdict, citations=tuple(map(EntryCitation, cited)))

    def _say(self, engine: Engine) -> None:
        name = f"note {self.random.randrange(8)}"
        before = self._mark()
        answer = engine.submit(self.worker, (TextSegment(name),), self.random.choice([PERSON, AGENT]), name)
        self._submitted(name, answer, before)

    def _start_flow(self, engine: Engine) -> None:
        name = f"flow {self.random.randrange(6)}"
        flow = ["review", "fork", "nothing"][int(name[-1]) % 3]
        before = self._mark()
        self._submitted(name, engine.submit(self.worker, input_for(flow), PERSON, name), before)

    def _submitted(self, name: str, answer: Submitted | Refusal, before: tuple[int, int]) -> None:
        if isinstance(answer, Submitted):
            self._acknowledge(name, answer)
        else:
            assert answer.code is RefusalCode.INSTANCE_ACTIVE, answer
            self._refused(before)

    def _record_evidence(self, engine: Engine) -> None:
        """A host's hook appends beside the engines, by its own compare-and-swap."""
        head = self.store.sound.head(self.worker)
        assert head is not None
        self.store.sound.append(self.worker, head, (NewEntry(Kind.TOOL_RESULT, HOST, self.clock.now(), b"exit status 0"),), {})

    def _look(self, engine: Engine) -> None:
        view = engine.view(self.worker)
        assert isinstance(view, WorkerView), view
        fresh = self._engine().view(self.worker)
        assert fresh == view

    # --- what was said --------------------------------------------------------------------------------------------------------------

    def _heard(self, answer: Answered | Refusal, before: tuple[int, int]) -> None:
        if isinstance(answer, Refusal):
            allowed = {RefusalCode.NO_ACTIVE_INSTANCE, RefusalCode.REASON_BLANK, RefusalCode.STATE_CHANGED, RefusalCode.INSTANCE_HELD}
            assert answer.code in allowed, answer
            self._refused(before)
            return
        first = self.told.setdefault(answer.answer.attempt, answer.answer)
        assert first == answer.answer

    def _refused(self, before: tuple[int, int]) -> None:
        _, overtakes = before
        assert overtakes != self._overtakes or before == self._mark()

    def _acknowledge(self, name: str, submitted: Submitted) -> None:
        first = self.submissions.setdefault(name, submitted)
        assert (first.worker, first.head, first.instance) == (submitted.worker, submitted.head, submitted.instance)
        self.acknowledged[submitted.head.seq] = submitted.head.digest

    def _mark(self) -> tuple[int, int]:
        """Give the length of the log, and how often somebody was overtaken: then another may have written."""
        head = self.store.sound.head(self.worker)
        return 0 if head is None else head.seq, self._overtakes

    # --- the laws -------------------------------------------------------------------------------------------------------------------

    def check(self) -> None:
        """Check every law."""
        logged = list(self.engines[0].log(self.worker))
        self._check_chain([each.entry for each in logged])
        live = [engine.view(self.worker) for engine in (*self.engines, self._engine())]
        assert live[0] == live[1] == live[2]
        view = live[0]
        assert isinstance(view, WorkerView)
        events = [event for each in logged for event in each.events]
        folded = replay([Recorded(each.id, each.event) for each in events], DEFINITIONS).instance
        assert folded is not None
        assert view.flow is not None
        assert (folded.id, folded.state, folded.visit, folded.status, folded.attempt, folded.last) == (
            view.flow.instance,
            view.flow.state,
            view.flow.visit,
            view.flow.status,
            view.flow.attempt,
            view.flow.last,
        )
        self._check_attempts([each.event for each in events])
        self._check_payloads([each.payload for each in logged])

    def _check_chain(self, log: list[Entry]) -> None:
        known = len(self._checked)
        assert self._checked == log[:known]
        for entry, before in zip(log[known:], [None, *log][known:], strict=False):
            assert check(entry, GENESIS if before is None else Head(before.seq, before.digest)) is None
        self._checked = log
        assert self.acknowledged.items() <= {entry.seq: entry.digest for entry in log}.items()
        keys = [entry.key for entry in log if entry.key is not None]
        assert len(keys) == len(set(keys))

    def _check_attempts(self, events: list[Event]) -> None:
        begun = [each.attempt for each in events if isinstance(each, TransitionRequested)]
        assert len(begun) == len(set(begun))
        late = [each.attempt for each in events if isinstance(each, LateResultIgnored)]
        assert len(late) == len(set(late))
        passed = {each.attempt: each for each in events if isinstance(each, TransitionCheckPassed)}
        entered = [each.attempt for each in events if isinstance(each, StateEntered) and each.attempt is not None]
        assert entered == list(passed)
        for attempt, check_passed in passed.items():
            given = [(each.transition, each.verdict) for each in check_passed.judgements]
            assert given in [[(each.transition, each.verdict) for each in said] for said in self.reported.get(attempt, [])]

    def _check_payloads(self, payloads: list[Payload]) -> None:
        answers = [each.content for each in payloads if isinstance(each, ToolResult)]
        assert answers == [self.told.get(each.attempt, each) for each in answers]
        submissions = [each.submission for each in payloads if isinstance(each, UserInput)]
        assert len(submissions) == len(set(submissions))
        assert set(self.submissions) <= set(submissions)

    # --- the end --------------------------------------------------------------------------------------------------------------------

    def settle(self) -> None:
        """Let nothing go wrong any more: whatever is open is verified and the flow walks to its end."""
        self._faults = False
        engine = self.engines[0]
        for step in range(SETTLING_MAX):
            self._record_evidence(engine)
            answer = engine.begin(self.worker, f"settling {step}", PERSON)
            if isinstance(answer, Refusal):
                assert answer.code is RefusalCode.NO_ACTIVE_INSTANCE
                return self._tell_all(engine)
            if isinstance(answer, Begun):
                self._settle(engine, answer.request)
        raise AssertionError(f"not settled after {SETTLING_MAX} steps")

    def _tell_all(self, engine: Engine) -> None:
        """Whoever still verifies is told what became of it."""
        for request in self.verifications:
            answered = engine.report(self.worker, request.attempt, VerifierCancelled())
            assert isinstance(answered, Answered)
            assert (answered.late, self.told.get(request.attempt, answered.answer)) == (True, answered.answer)

    def _settle(self, engine: Engine, request: VerificationRequest) -> None:
        way = {"ready": "ready", "fixed": "fixed", "good": "good", "x": "x", "end": "end"}
        met = next(each.transition for each in request.questions if each.transition in way)
        given = tuple(judgement(each.transition, Verdict.MET if each.transition == met else Verdict.NOT_MET) for each in request.questions)
        self.reported.setdefault(request.attempt, []).append(given)
        answered = engine.report(self.worker, request.attempt, VerifierAnswered(given))
        assert isinstance(answered, Answered)
        assert (answered.answer.transition, answered.late) == (met, False)
