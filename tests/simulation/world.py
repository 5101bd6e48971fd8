"""A world that comes from a seed: two engines race on a few Workers, processes die, answers are lost, results come late and twice.

Somebody submits, asks, verifies under a lease or without, stalls, withdraws, pauses, rewinds, cancels, forks, stops, records; engines
are restarted and restore from checkpoints; around every write a process may die before or after it, the answer may be lost, and others
may write first. What everybody was told lies in a book for each Worker, and is held against the laws after each act.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import pairwise
from random import Random

from stateward.compiler.flow.definition import CompiledFlowDefinition
from stateward.runtime.core.bounds import Bounds
from stateward.runtime.core.events import Account, EntryCitation, FailureCause, Judgement, Status, Usage, Verdict
from stateward.runtime.core.instance import JUDGED_CODES, AttemptStatus, Instance
from stateward.runtime.core.operating import Verb
from stateward.runtime.core.refusal import Refusal, RefusalCode
from stateward.runtime.engine.answers import Begun
from stateward.runtime.engine.forking import Forked
from stateward.runtime.engine.operating import Operated
from stateward.runtime.engine.redaction import Redacted
from stateward.runtime.engine.worker import Engine
from stateward.runtime.ports import (
    Answered,
    Deleted,
    Ids,
    InProgress,
    Lease,
    RecordedEntry,
    RecordKey,
    SessionStore,
    Submitted,
    VerificationRequest,
    VerifierAnswered,
    VerifierCancelled,
    VerifierFailed,
    VerifierOutcome,
)
from stateward.runtime.profile import DEMONSTRATION, VerifierBounds
from stateward.runtime.session.entries import Kind
from stateward.runtime.session.evidence import is_news
from stateward.runtime.session.masking import Secrets
from stateward.runtime.session.segments import TextSegment
from stateward.store.memory_leases import MemoryLeaseStore
from stateward.store.memory_sessions import MemorySessionStore
from tests.runtime.engines import AGENT, HOST, MODEL, NOON, PERSON, WORKSPACE, Catalog, Judge, input_for, snapshot_of
from tests.runtime.flows import FORK, NOTHING_TO_DO, REVIEW
from tests.runtime.judgements import judgement
from tests.runtime.workdirs import ROOT, TextsWorkdir
from tests.simulation.book import Book
from tests.simulation.faults import Crash, FaultyStore, Point

DEFINITIONS: Mapping[str, CompiledFlowDefinition] = {snapshot_of(each).definition_digest: each for each in (FORK, REVIEW, NOTHING_TO_DO)}
RACES_MAX = 2
"""How deep one write is overtaken by others."""
SETTLING_MAX = 200
"""Acts after which a flow that nothing disturbs has ended."""
FORKS_MAX = 2
"""Forks of one history."""
CHECKPOINT_ENTRIES = 7
PROFILE = replace(DEMONSTRATION, bounds=Bounds(hold_after=2))
JUDGED_BY_A_MODEL = replace(MODEL, bounds=Bounds(hold_after=2), verification=VerifierBounds(tokens=400), visit_tokens_max=1600)
"""Under it a `met` needs evidence, and what verifications cost is capped."""
WAYS = {"ready", "fixed", "good", "x", "end"}
"""The transitions that lead each flow to its end."""
REFUSALS = {
    RefusalCode.NO_ACTIVE_INSTANCE,
    RefusalCode.REASON_BLANK,
    RefusalCode.STATE_CHANGED,
    RefusalCode.INSTANCE_HELD,
    RefusalCode.INSTANCE_PAUSED,
    RefusalCode.LEASE_LOST,
    RefusalCode.BUDGET_EXHAUSTED,
}
NOTHING_TO_CHANGE = {
    RefusalCode.NO_ACTIVE_INSTANCE,
    RefusalCode.ALREADY_PAUSED,
    RefusalCode.NOT_PAUSED,
    RefusalCode.NOT_HELD,
    RefusalCode.NO_OPEN_ATTEMPT,
    RefusalCode.STATE_NOT_ENTERED,
    RefusalCode.OPERATION_CONFLICT,
}


class SeededIds:
    """Ids out of the seed."""

    def __init__(self, random: Random) -> None:
        self._random = random

    def new(self) -> str:
        """Give an id."""
        return f"{self._random.getrandbits(64):016x}"


class WorldClock:
    """Each look at it is a microsecond later; time passes when the world says so."""

    def __init__(self) -> None:
        self._present = NOON

    def now(self) -> datetime:
        """Give the present."""
        self._present += timedelta(microseconds=1)
        return self._present

    def pass_time(self, seconds: float) -> None:
        """Let time pass."""
        self._present += timedelta(seconds=seconds)


class World:
    """One history."""

    def __init__(self, seed: int, store: SessionStore | None = None, ids: Ids | None = None) -> None:
        self.random = Random(seed)  # noqa: S311 -- everything in a world comes from its seed; nothing in it is secret
        self.store = FaultyStore(store or MemorySessionStore())
        self.ids = ids or SeededIds(self.random)
        self.clock = WorldClock()
        self.leases = MemoryLeaseStore()
        self.catalog = Catalog()
        self.profile = JUDGED_BY_A_MODEL if seed % 3 == 0 else PROFILE
        self.workdir = TextsWorkdir(a="0")
        self.engines = [self._engine(), self._engine()]
        self.books: dict[str, Book] = {}
        self.story: list[str] = []
        self._used: set[str] = set()
        self._chance = Random(seed + 1)  # noqa: S311 -- apart, so that a law that looks elsewhere tells another story no less
        self._overtakes = 0
        self._depth = 0
        self._faults = True

    def _engine(self) -> Engine:
        return Engine(
            self.store,
            self.catalog,
            self.clock,
            self.ids,
            self.profile,
            leases=self.leases,
            checkpoint_entries=CHECKPOINT_ENTRIES,
            workdirs=self.workdir,
        )

    # --- acting ---------------------------------------------------------------------------------------------------------------------

    def begin(self) -> None:
        """Create the first Worker, however often that fails."""
        self.store.draw, self.store.overtake = self._point, self._overtake
        while not self.books:
            self._acting(self._create)
            self._discover()

    def act(self) -> None:
        """Let somebody do something."""
        acts: list[tuple[int, Callable[[Engine, Book], None]]] = [
            (5, self._request),
            (5, self._report),
            (2, self._report_again),
            (2, self._claim),
            (3, self._use_lease),
            (7, self._work),
            (2, self._ask_again),
            (1, self._say),
            (2, self._start_flow),
            (2, self._record),
            (3, self._operate),
            (1, self._fork),
            (1, self._make_whole),
            (1, self._redact),
            (1, self._run),
            (1, self._wait),
            (1, self._change_tree),
            (1, self._create),
            (1, self._restart),
        ]
        (chosen,) = self.random.choices([act for _, act in acts], [weight for weight, _ in acts])
        self._acting(chosen)

    def _acting(self, act: Callable[[Engine, Book], None]) -> None:
        place = self.random.randrange(len(self.engines))
        self.story.append(f"{'  ' * self._depth}{place}: {act.__name__}")
        book = (
            self.random.choice(list(self.books.values())) if self.books else Book("", DEFINITIONS, self._used, self._chance, self.profile)
        )
        try:
            act(self.engines[place], book)
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
        if self.books:
            self._overtakes += 1
            self._depth += 1
            try:
                for _ in range(self.random.randint(1, 2)):
                    self.act()
            finally:
                self._depth -= 1

    def _create(self, engine: Engine, book: Book) -> None:
        submitted = engine.start_worker(WORKSPACE, input_for("review", "Ticket 41"), PERSON, "first", workdir=ROOT)
        assert isinstance(submitted, Submitted), submitted
        self._discover()
        self._acknowledge(self.books[submitted.worker], "first", submitted)

    def _discover(self) -> None:
        """Open a book for each Worker that is there; nobody need have been told of it."""
        for row in self.store.sound.workers(WORKSPACE, 100):
            if row.worker not in self.books:
                origin = self.engines[0]._means.folds.load(row.worker)
                assert origin is not None
                forked = origin.session.forked_from
                parent = None if forked is None else self.books[forked.worker]
                self.books[row.worker] = Book(row.worker, DEFINITIONS, self._used, self._chance, self.profile, parent)

    def _restart(self, engine: Engine, book: Book) -> None:
        """A process ends and another begins; nothing but the store is left."""
        self.engines[self.engines.index(engine)] = self._engine()

    def _wait(self, engine: Engine, book: Book) -> None:
        self.clock.pass_time(self.random.choice([0.5, 30.0]))

    def _change_tree(self, engine: Engine, book: Book) -> None:
        """Somebody works in the Workdir; now and then it is as it was before."""
        self.workdir.texts["a"] = str(self.random.randrange(3))

    # --- requests and verifications -------------------------------------------------------------------------------------------------

    def _request(self, engine: Engine, book: Book) -> None:
        reason = self.random.choice(["done", "done ", "tested and done", "stuck", " "])
        before = self._mark(book)
        answer = engine.begin(book.worker, reason, self.random.choice([PERSON, AGENT]))
        if isinstance(answer, Begun):
            book.verifications.append(answer.request)
            captured = answer.request.captured
            book.acknowledged[len(captured)] = captured[-1].digest
        else:
            self._heard(book, answer, before)

    def _work(self, engine: Engine, book: Book) -> None:
        """A worker asks and waits until it is told; while the verifier works, others may act."""

        def verify(request: VerificationRequest) -> VerifierOutcome:
            if self._faults and self._depth < RACES_MAX and self.random.random() < 0.2:
                self._overtake()
            outcome = self._outcome(request)
            if isinstance(outcome, VerifierAnswered):
                book.reported.setdefault(request.attempt, []).append(outcome.judgements)
            return outcome

        before = self._mark(book)
        reason = f"done {self.random.randrange(6)}"
        answer = engine.request_transition(book.worker, reason, AGENT, Judge(verify, str(self.profile.verifier)))
        if isinstance(answer, Answered):
            book.tried.add(answer.answer.attempt)
            self._heard(book, answer, before)
        elif isinstance(answer, Refusal):
            assert answer.code in REFUSALS, answer

    def _claim(self, engine: Engine, book: Book) -> None:
        """Everybody claims under the same name, so that only the token tells them apart."""
        if book.verifications:
            request = self.random.choice(book.verifications[-3:])
            before = self._mark(book)
            answer = engine.claim(book.worker, request.attempt, "D")
            if isinstance(answer, Lease):
                assert all(answer.token > token for _, token in book.leases)
                book.leases.append((request, answer.token))
            self._refused(book, before)

    def _use_lease(self, engine: Engine, book: Book) -> None:
        if not book.leases:
            return
        request, token = self.random.choice(book.leases[-4:])
        use = self.random.choice(["renew", "release", "report"])
        current = self._is_current(book, request, token)
        if use == "renew":
            assert current is isinstance(engine.renew(book.worker, request.attempt, token), Lease)
        elif use == "release":
            engine.release(book.worker, request.attempt, token)
        else:
            self._answer(engine, book, request, token)

    def _is_current(self, book: Book, request: VerificationRequest, token: int) -> bool:
        return self.leases.renew(book.worker, request.attempt, token, self.clock.now(), 1.0) is not None

    def _report(self, engine: Engine, book: Book) -> None:
        if book.verifications:
            self._answer(engine, book, book.verifications[-1], None)

    def _report_again(self, engine: Engine, book: Book) -> None:
        if book.verifications:
            self._answer(engine, book, self.random.choice(book.verifications), None)

    def _answer(self, engine: Engine, book: Book, request: VerificationRequest, token: int | None) -> None:
        outcome = self._outcome(request)
        allowed = self._may_report(book, request, token)
        opened = self._is_open(book, request.attempt)
        if isinstance(outcome, VerifierAnswered) and (allowed or not opened):
            book.reported.setdefault(request.attempt, []).append(outcome.judgements)
        before, alone = self._mark(book), opened and request.attempt not in book.tried
        book.tried.add(request.attempt)
        answer = engine.report(book.worker, request.attempt, outcome, token)
        self._heard(book, answer, before)
        if before[1] != self._overtakes:
            return
        if opened and not allowed:
            assert isinstance(answer, Refusal)
            assert answer.code is RefusalCode.LEASE_LOST
        elif alone:
            assert isinstance(answer, Answered)
            assert not answer.late

    def _may_report(self, book: Book, request: VerificationRequest, token: int | None) -> bool:
        if token is None:
            return self.leases.holder(book.worker, request.attempt, self.clock.now()) is None
        return self._is_current(book, request, token)

    def _instance(self, book: Book) -> Instance:
        loaded = self._engine()._means.folds.load(book.worker)
        assert loaded is not None
        assert loaded.flow.instance is not None
        return loaded.flow.instance

    def _is_open(self, book: Book, attempt: str) -> bool:
        opened = self._instance(book).attempt
        return opened is not None and opened.id == attempt

    def _ask_again(self, engine: Engine, book: Book) -> None:
        """Whoever lost an answer asks again: as long as nothing new was recorded, it is told once more and not judged."""
        instance = self._instance(book)
        last = instance.last
        if last is None or last.status not in {AttemptStatus.ENTERED, AttemptStatus.REJECTED}:
            return
        entered = last.status is AttemptStatus.ENTERED
        since = last.resolved.seq if entered else last.attempt.requested.seq
        known = any(map(is_news, self.store.entries(book.worker, since)))
        facts = self.workdir.facts(ROOT)
        assert facts is not None
        known = known or (not entered and facts.digest != last.attempt.tree)
        same = instance.visit == last.attempt.visit + entered and instance.paused is None and instance.held is None
        before = self._mark(book)
        answer = engine.begin(book.worker, f" {last.attempt.reason}", PERSON)
        if isinstance(answer, Begun):
            book.verifications.append(answer.request)
        elif not isinstance(answer, InProgress):
            self._heard(book, answer, before)
        judged = entered or last.rejection in JUDGED_CODES
        if judged and same and not known and before[1] == self._overtakes:
            assert isinstance(answer, Answered)
            assert (answer.repeated, answer.answer.attempt, before) == (True, last.attempt.id, self._mark(book))

    def _outcome(self, request: VerificationRequest) -> VerifierOutcome:
        """Answer well or badly; of what it cost, nothing is counted now and then."""
        outcome = self._answered(request)
        if self.profile is PROFILE or self.random.random() < 0.2:
            return outcome
        return replace(outcome, account=Account(Usage(1, self.random.randrange(self.profile.verification.tokens), 0), "some-model"))

    def _answered(self, request: VerificationRequest) -> VerifierOutcome:
        kind = self.random.choice(["move", "move", "move", "any", "doubtful", "none", "none", "nonsense", "fail", "give up"])
        ways = [each.transition for each in request.questions]
        match kind:
            case "fail":
                return VerifierFailed(self.random.choice(list(FailureCause)), "it broke")
            case "give up":
                return VerifierCancelled()
            case "nonsense":
                return VerifierAnswered((judgement("nowhere", Verdict.MET),))
            case "move":
                met = self.random.choice(ways[:-1] if self.random.random() < 0.95 else ways)
                return VerifierAnswered(tuple(self._judged(each, Verdict.MET if each == met else Verdict.NOT_MET) for each in ways))
            case "doubtful":
                met, doubted = self.random.sample(ways, 2)
                unresolved = judgement(doubted, Verdict.MET, citations=(EntryCitation("E99999999"),))
                others = (judgement(each, Verdict.MET if each == met else Verdict.NOT_MET) for each in ways if each != doubted)
                return VerifierAnswered((unresolved, *others))
            case "none":
                return VerifierAnswered(tuple(self._judged(each, Verdict.NOT_MET) for each in ways))
            case _:
                return VerifierAnswered(tuple(self._judged(each, self.random.choice(list(Verdict))) for each in ways))

    def _judged(self, transition: str, verdict: Verdict) -> Judgement:
        sound = () if self.profile is PROFILE else ("E00000002",)
        cited = self.random.choice([(), sound, sound, ("E00000002",), ("E99999999",)])
        return judgement(transition, verdict, citations=tuple(map(EntryCitation, cited)))

    # --- input, records, operators --------------------------------------------------------------------------------------------------

    def _say(self, engine: Engine, book: Book) -> None:
        name = f"note {self.random.randrange(8)}"
        before = self._mark(book)
        answer = engine.submit(book.worker, (TextSegment(name),), self.random.choice([PERSON, AGENT]), name)
        self._submitted(book, name, answer, before)

    def _start_flow(self, engine: Engine, book: Book) -> None:
        name = f"flow {self.random.randrange(6)}"
        flow = ["review", "fork", "nothing"][int(name[-1]) % 3]
        before = self._mark(book)
        self._submitted(book, name, engine.submit(book.worker, input_for(flow), PERSON, name), before)

    def _submitted(self, book: Book, name: str, answer: Submitted | Refusal, before: tuple[int, int]) -> None:
        if isinstance(answer, Submitted):
            self._acknowledge(book, name, answer)
        else:
            assert answer.code is RefusalCode.INSTANCE_ACTIVE, answer
            self._refused(book, before)

    def _record(self, engine: Engine, book: Book) -> None:
        """A host reports what a tool gave, now and then the same once more."""
        number = self.random.randrange(40)
        kind = Kind.TOOL_RESULT if number % 3 else Kind.NOTE
        answer = engine.record(book.worker, kind, f"exit code {number}".encode(), HOST, RecordKey("host", "s", f"use-{number}"))
        assert isinstance(answer, RecordedEntry), answer
        self._acknowledge_entry(book, answer)

    def _run(self, engine: Engine, book: Book) -> None:
        starts = self.random.random() < 0.5
        answer = engine.start_run(book.worker, "run", HOST) if starts else engine.stop(book.worker, "for now", PERSON)
        assert isinstance(answer, RecordedEntry), answer
        self._acknowledge_entry(book, answer)

    def _operate(self, engine: Engine, book: Book) -> None:
        verbs = [*Verb, Verb.RESUME, Verb.RESUME, Verb.REWIND]
        verb = self.random.choice(verbs if self.random.random() < 0.2 else [each for each in verbs if each is not Verb.CANCEL])
        if self._instance(book).paused is not None and self.random.random() < 0.5:
            verb = Verb.RESUME
        state = self.random.choice([*self._instance(book).entered, "nowhere"]) if verb is Verb.REWIND else ""
        operation = f"op {self.random.randrange(30)}"
        before = self._mark(book)
        answer = engine.operate(book.worker, verb, "because", PERSON, operation, state=state)
        if isinstance(answer, Operated):
            assert not answer.repeated or before[1] != self._overtakes or before == self._mark(book) or self._depth
        else:
            assert answer.code in NOTHING_TO_CHANGE, answer
            self._refused(book, before)

    def _fork(self, engine: Engine, book: Book) -> None:
        self._discover()
        if len(self.books) > FORKS_MAX:
            return
        answer = engine.fork(book.worker, "try another way", PERSON, f"fork {len(self.books)}")
        self._discover()
        if isinstance(answer, Forked):
            forked = self.books[answer.worker]
            assert (forked.parent, answer.origin.worker) == (book, book.worker)
        else:
            assert answer.code is RefusalCode.OPERATION_CONFLICT, answer

    def _make_whole(self, engine: Engine, book: Book) -> None:
        before = self._mark(book)
        answer = engine.make_whole(book.worker, "the parent has to go", PERSON, f"whole {self.random.randrange(3)}")
        if isinstance(answer, Operated):
            assert book.parent is not None
            assert answer.about == book.parent.worker
        else:
            expected = RefusalCode.NOT_A_FORK if book.parent is None else RefusalCode.ALREADY_WHOLE
            assert answer.code is expected, answer
            self._refused(book, before)

    def _redact(self, engine: Engine, book: Book) -> None:
        """What hosts record is found to hold a secret."""
        value = f"exit code {self.random.randrange(40)}"
        answer = engine.redact(book.worker, Secrets({"CODE": value}), "leaked", PERSON)
        assert isinstance(answer, Redacted), answer
        assert self._faults or not any(value.encode() in each.payload for each in self.store.entries(book.worker))

    # --- what was said --------------------------------------------------------------------------------------------------------------

    def _heard(self, book: Book, answer: Answered | InProgress | Refusal, before: tuple[int, int]) -> None:
        match answer:
            case Refusal():
                assert answer.code in REFUSALS, answer
                self._refused(book, before)
            case InProgress():
                self._refused(book, before)
            case Answered():
                assert book.told.setdefault(answer.answer.attempt, answer.answer) == answer.answer

    def _refused(self, book: Book, before: tuple[int, int]) -> None:
        """Nothing was written, unless by somebody else."""
        assert before[1] != self._overtakes or before == self._mark(book)

    def _acknowledge(self, book: Book, name: str, submitted: Submitted) -> None:
        first = book.submissions.setdefault(name, submitted)
        assert (first.worker, first.head, first.instance) == (submitted.worker, submitted.head, submitted.instance)
        book.acknowledged[submitted.head.seq] = submitted.head.digest

    def _acknowledge_entry(self, book: Book, answer: RecordedEntry) -> None:
        assert book.acknowledged.setdefault(answer.head.seq, answer.head.digest) == answer.head.digest

    def _mark(self, book: Book) -> tuple[int, int]:
        """Give the length of the log, and how often somebody was overtaken: then another may have written."""
        head = self.store.sound.head(book.worker)
        return 0 if head is None else head.seq, self._overtakes

    # --- the laws, and the end ------------------------------------------------------------------------------------------------------

    def check(self) -> None:
        """Check every law."""
        self._discover()
        for book in self.books.values():
            book.check(self.store.sound, [*self.engines, self._engine()])

    def settle(self) -> None:
        """Let nothing go wrong any more: whatever is open is verified and every flow walks to its end."""
        self._faults = False
        self._discover()
        for book in self.books.values():
            self._settle(self.engines[0], book)
            self._tell_all(self.engines[0], book)
            book.check(self.store.sound, self.engines)
            book.check_whole(self.store.sound)
        self._bury_parents(self.engines[0])

    def _bury_parents(self, engine: Engine) -> None:
        """Make every fork whole and delete what it was forked off; it reads on as if nothing had happened."""
        forks = [book for book in self.books.values() if book.parent is not None]
        before = {book.worker: list(engine.log(book.worker)) for book in forks}
        for book in forks:
            made = engine.make_whole(book.worker, "settling", PERSON)
            assert isinstance(made, Operated) or made.code is RefusalCode.ALREADY_WHOLE, made
        for parent in {book.parent.worker for book in forks if book.parent is not None}:
            assert isinstance(engine.delete(parent, PERSON), Deleted)
        for book in forks:
            if self.store.head(book.worker) is not None:
                read = list(self._engine().log(book.worker))
                assert before[book.worker] == read[: len(before[book.worker])]

    def _settle(self, engine: Engine, book: Book) -> None:
        if self._instance(book).paused is not None and self._instance(book).status is Status.ACTIVE:
            assert isinstance(engine.operate(book.worker, Verb.RESUME, "settling", PERSON), Operated)
        self.clock.pass_time(60)
        for step in range(SETTLING_MAX):
            assert isinstance(engine.record(book.worker, Kind.TOOL_RESULT, b"", HOST, RecordKey("settling", "", str(step))), RecordedEntry)
            answer = engine.begin(book.worker, f"settling {step}", PERSON)
            if isinstance(answer, Refusal):
                if answer.code is RefusalCode.BUDGET_EXHAUSTED:
                    assert isinstance(engine.operate(book.worker, Verb.CANCEL, "spent", PERSON), Operated)
                    continue
                assert answer.code is RefusalCode.NO_ACTIVE_INSTANCE, answer
                return
            if isinstance(answer, Begun):
                self._move(engine, book, answer.request)
        raise AssertionError(f"not settled after {SETTLING_MAX} steps")

    def _move(self, engine: Engine, book: Book, request: VerificationRequest) -> None:
        met = next(each.transition for each in request.questions if each.transition in WAYS)
        sound = (EntryCitation("E00000002"),)
        given = tuple(
            judgement(each.transition, Verdict.MET if each.transition == met else Verdict.NOT_MET, citations=sound)
            for each in request.questions
        )
        book.reported.setdefault(request.attempt, []).append(given)
        answered = engine.report(book.worker, request.attempt, VerifierAnswered(given))
        assert isinstance(answered, Answered)
        assert (answered.answer.transition, answered.late) == (met, False)

    def _tell_all(self, engine: Engine, book: Book) -> None:
        """Whoever still verifies is told what became of it, and tokens only grew."""
        for request in book.verifications:
            answered = engine.report(book.worker, request.attempt, VerifierCancelled())
            assert isinstance(answered, Answered)
            assert (answered.late, book.told.get(request.attempt, answered.answer)) == (True, answered.answer)
        assert all(earlier < later for (_, earlier), (_, later) in pairwise(book.leases))


def lived(world: World, acts: int = 30) -> World:
    """Live a history, checking after each act."""
    world.begin()
    for _ in range(acts):
        world.act()
        world.check()
    world.settle()
    return world
