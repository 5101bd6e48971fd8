"""A Worker as its log folds to: the only way in which the engine knows one.

Invariants: nothing is known of a Worker but what its committed entries say; what is remembered between calls is only ever extended by
entries that follow on it, and is forgotten when anything about it is in doubt; a log that a newer program wrote to is folded up to
there and marked; a log that cannot be is Damaged, naming the entry.
"""

from collections import OrderedDict
from datetime import datetime
from itertools import chain
from threading import Lock
from typing import Final, NamedTuple

from stateward.runtime.core.events import EventId, InstanceRewound, InstanceStarted, Recorded, TransitionRequested
from stateward.runtime.core.evolve import HistoryBroken
from stateward.runtime.core.flow import Flow
from stateward.runtime.core.instance import NOTHING_YET, FlowState
from stateward.runtime.core.replay import advance, new_ids
from stateward.runtime.engine.keys import is_id
from stateward.runtime.engine.limits import DEFINITIONS_MAX, FOLDS_MAX, ROLLBACKS_MAX
from stateward.runtime.ports import Damaged, SessionStore, StoreNewer
from stateward.runtime.session.acts import Rollback, named, read_head
from stateward.runtime.session.chain import time_text
from stateward.runtime.session.entries import GENESIS, GENESIS_DIGEST, ActorClass, Entry, Head, Kind, reference
from stateward.runtime.session.evidence import is_news
from stateward.runtime.session.payloads import OPAQUE, Checkpoint, OperatorAct, Payload, SessionStarted, decode, flow_events
from stateward.runtime.session.pinned import read_pinned
from stateward.runtime.session.strict import Malformed, Newer

PERSON: Final = "person"
"""`VerifierKind.PERSON`, whose module is loaded for nothing else here."""
INSPECT: Final = "inspect the log; a session that is not intact cannot go on"
UPGRADE: Final = "use the newer program"


class Loaded(NamedTuple):
    """A Worker at a head of its log."""

    worker: str
    head: Head
    created: datetime
    session: SessionStarted
    flow: FlowState
    definition: Flow | None
    """What the latest instance pins; None when there was none."""
    evidence: int
    """No entry after this one makes judging again worthwhile, but for what was set aside."""
    asked_by: ActorClass | None
    """Who made the latest request for a transition."""
    asked_by_a_person: bool
    """Whether any request came from a person."""
    newer: str
    """What a newer program wrote, because of which the Worker is read-only; empty when nothing."""
    rollbacks: tuple[Rollback, ...]
    """How the log went back and was let go on, the last few."""
    checkpoint: int
    """The number of the last checkpoint, or of the entry before the first of this log."""

    @property
    def is_self_judged(self) -> bool:
        """Whether the person who judges is also the one who works."""
        worked = self.session.worked_by is ActorClass.PERSON or self.asked_by_a_person
        return self.session.verifier == PERSON and worked


def checkpoint_of(loaded: Loaded) -> Checkpoint:
    """Give what a checkpoint of a Worker holds."""
    return Checkpoint(
        created=time_text(loaded.created),
        session=loaded.session,
        flow=loaded.flow,
        evidence=loaded.evidence,
        asked_by=loaded.asked_by,
        asked_by_a_person=loaded.asked_by_a_person,
        rollbacks=loaded.rollbacks,
    )


def payload_of(entry: Entry) -> Payload:
    """Read an entry's payload. Raises Damaged, or StoreNewer for what only a newer program reads."""
    try:
        return decode(entry)
    except Malformed as problem:
        raise damaged(entry.worker, entry.seq, str(problem)) from problem
    except Newer as problem:
        raise StoreNewer(f"entry {entry.reference} of Worker {entry.worker} is a newer program's ({problem})", UPGRADE) from problem


def damaged(worker: str, seq: int, problem: str) -> Damaged:
    """Say that an entry is not what was written."""
    return Damaged(f"entry {reference(seq)} of Worker {worker} is damaged: {problem}", INSPECT)


class Definitions:
    """The definitions that logs pin, read once each."""

    def __init__(self, sessions: SessionStore) -> None:
        self._sessions = sessions
        self._known: OrderedDict[str, Flow] = OrderedDict()
        self._lock = Lock()

    def get(self, digest: str) -> Flow | None:
        """Give a definition by its digest; None when it is not stored. Raises Damaged when it is not what was stored."""
        with self._lock:
            known = self._known.get(digest)
        if known is not None:
            return known
        canonical = self._sessions.definition(digest)
        return None if canonical is None else self._remember(digest, canonical)

    def _remember(self, digest: str, canonical: bytes) -> Flow:
        try:
            definition = read_pinned(canonical)
        except Malformed as problem:
            raise Damaged(f"definition {digest} is none that this program knows", INSPECT) from problem
        with self._lock:
            self._known[digest] = definition
            while len(self._known) > DEFINITIONS_MAX:
                self._known.popitem(last=False)
        return definition


class WorkerFold:
    """The fold of one Worker's log, extended as the log grows."""

    def __init__(self, worker: str, sessions: SessionStore, definitions: Definitions) -> None:
        self._worker = worker
        self._sessions = sessions
        self._known = definitions
        self._lock = Lock()
        self._reset()

    def _reset(self) -> None:
        self._head = GENESIS
        self._checkpoint = 0
        self._created: datetime | None = None
        self._session: SessionStarted | None = None
        self._flow: FlowState = NOTHING_YET
        self._used: set[str] = set()
        self._definitions: dict[str, Flow] = {}
        self._evidence = 0
        self._asked_by: ActorClass | None = None
        self._asked_by_a_person = False
        self._rollbacks: tuple[Rollback, ...] = ()
        self._newer = ""

    def catch_up(self) -> Loaded | None:
        """Read what was appended since; None when there is no such Worker."""
        with self._lock:
            head = self._sessions.head(self._worker)
            if head is None:
                return None
            if head != self._head:
                self._read(head)
            return self._loaded()

    def as_of(self, seq: int) -> Loaded | None:
        """Give the Worker as it was right after an entry of its own log; for a fold that is used for nothing else."""
        with self._lock:
            for entry in self._sessions.entries(self._worker, 0, seq):
                self._take(entry)
            return None if self._session is None else self._loaded()

    def _read(self, head: Head) -> None:
        """Read up to a head, from where the fold is by now or from the last checkpoint."""
        folded = head.seq if self._session is None else self._head.seq
        if self._session is None:
            self._restore(head)
        new = self._sessions.entries(self._worker, self._head.seq, head.seq)
        first = next(new, None)
        if self._session is not None and self._head != head and (first is None or first.previous != self._head.digest):
            self._reset()  # it is another log than the one that was folded
            folded, new = head.seq, self._sessions.entries(self._worker, 0, head.seq)
            first = next(new, None)
        for entry in () if first is None else chain((first,), new):
            if entry.kind == Kind.REDACTED and entry.seq > folded:  # what was folded before is another text now
                self._reset()
                self._read(head)
                return
            self._take(entry)
        if self._head != head:
            raise damaged(self._worker, head.seq, "it is missing")

    def _restore(self, head: Head) -> None:
        """Begin from the last checkpoint, if there is one."""
        entry = self._sessions.latest(self._worker, Kind.CHECKPOINT)
        if entry is None or entry.seq > head.seq:
            return
        try:
            payload = payload_of(entry)
        except StoreNewer:
            return
        if not isinstance(payload, Checkpoint):
            return
        if payload.session.worker != self._worker:
            raise damaged(self._worker, entry.seq, "it is of another Worker")
        self._set(payload, entry)

    def _set(self, payload: Checkpoint, entry: Entry) -> None:
        self._created, self._session = datetime.fromisoformat(payload.created), payload.session
        self._flow, self._evidence = payload.flow, payload.evidence
        self._asked_by, self._asked_by_a_person = payload.asked_by, payload.asked_by_a_person
        self._rollbacks = payload.rollbacks
        instance = payload.flow.instance
        if instance is not None:
            self._pin(instance.pin.definition_digest)
            if instance.pin.definition_digest not in self._definitions:
                raise damaged(self._worker, entry.seq, f"definition {instance.pin.definition_digest} is not there")
        self._checkpoint, self._head = entry.seq, Head(entry.seq, entry.digest)

    def _pin(self, digest: str) -> None:
        definition = self._known.get(digest)
        if definition is not None:
            self._definitions[digest] = definition

    def _take(self, entry: Entry) -> None:
        if self._session is None and entry.seq > 1:  # a fork goes on where its parent was
            self._head = Head(entry.seq - 1, entry.previous)
        if (entry.seq, entry.previous) != (self._head.seq + 1, self._head.digest):
            raise damaged(self._worker, entry.seq, "it does not follow the entry before it")
        payload = self._payload(entry)
        if self._session is None:
            self._begin(entry, payload)
        elif not self._newer:
            self._fold(entry, payload)
        if is_news(entry):
            self._evidence = entry.seq
        self._head = Head(entry.seq, entry.digest)

    def _payload(self, entry: Entry) -> Payload:
        try:
            return payload_of(entry)
        except StoreNewer as problem:
            if self._session is None:  # without its session nothing of the Worker can be shown
                raise
            self._newer = self._newer or problem.message
            return OPAQUE

    def _begin(self, entry: Entry, payload: Payload) -> None:
        if not isinstance(payload, SessionStarted) or payload.worker != self._worker:
            raise damaged(self._worker, entry.seq, "the log does not begin with this Worker's session")
        base = (0, GENESIS_DIGEST) if payload.forked_from is None else (payload.forked_from.seq, payload.forked_from.digest)
        if base != (entry.seq - 1, entry.previous):
            raise damaged(self._worker, entry.seq, "the log does not begin where it says")
        self._created, self._session, self._checkpoint = entry.time, payload, entry.seq - 1

    def _fold(self, entry: Entry, payload: Payload) -> None:
        if isinstance(payload, Checkpoint):
            return self._check_point(entry, payload)
        if entry.kind == Kind.ROLLBACK_ACCEPTED and isinstance(payload, OperatorAct):
            self._rollbacks = (*self._rollbacks, _rollback(entry, payload))[-ROLLBACKS_MAX:]
        record = tuple(Recorded(EventId(entry.seq, index), event) for index, event in enumerate(flow_events(payload)))
        for each in record:
            self._note(each, entry)
        try:
            self._flow = advance(self._flow, record, self._definitions, self._used)
        except HistoryBroken as problem:
            raise damaged(self._worker, entry.seq, str(problem)) from problem
        self._used |= new_ids(record)
        return None

    def _check_point(self, entry: Entry, payload: Checkpoint) -> None:
        """Hold a checkpoint against the fold; the one that a fork begins with is where its fold begins."""
        assert self._session is not None  # the first entry was taken
        forked = self._session.forked_from
        if forked is not None and entry.seq == forked.seq + 2:
            if payload.session != self._session:
                raise damaged(self._worker, entry.seq, "the fork begins with another session")
            return self._set(payload, entry)
        if payload != checkpoint_of(self._loaded()):
            raise damaged(self._worker, entry.seq, "it is not what the log before it comes to")
        self._checkpoint = entry.seq
        self._used.clear()  # the store's keys keep every id from being used again
        return None

    def _note(self, recorded: Recorded, entry: Entry) -> None:
        match recorded.event:
            case InstanceStarted(definition_digest=digest):
                self._pin(digest)
            case InstanceRewound(after=after):
                self._evidence = min(self._evidence, after)
            case TransitionRequested():
                self._asked_by = entry.actor.actor_class
                self._asked_by_a_person |= self._asked_by is ActorClass.PERSON
            case _:
                pass

    def _loaded(self) -> Loaded:
        assert self._session is not None  # the first entry was taken
        assert self._created is not None
        instance = self._flow.instance
        return Loaded(
            worker=self._worker,
            head=self._head,
            created=self._created,
            session=self._session,
            flow=self._flow,
            definition=None if instance is None else self._definitions[instance.pin.definition_digest],
            evidence=self._evidence,
            asked_by=self._asked_by,
            asked_by_a_person=self._asked_by_a_person,
            newer=self._newer,
            rollbacks=self._rollbacks,
            checkpoint=self._checkpoint,
        )


def _rollback(entry: Entry, act: OperatorAct) -> Rollback:
    try:
        lost = read_head(act.about)
    except ValueError as problem:
        raise damaged(entry.worker, entry.seq, str(problem)) from problem
    return Rollback(entry.seq, lost, named(entry.actor), act.reason)


class Folds:
    """The folds of the Workers that were asked for lately."""

    def __init__(self, sessions: SessionStore) -> None:
        self._sessions = sessions
        self.definitions = Definitions(sessions)
        self._folds: OrderedDict[str, WorkerFold] = OrderedDict()
        self._lock = Lock()

    def load(self, worker: str) -> Loaded | None:
        """Give a Worker as its log says now; None when there is none. Raises Damaged and what the store raises."""
        if not is_id(worker):
            return None
        fold = self._fold(worker)
        whole = False
        try:
            loaded = fold.catch_up()
            whole = loaded is not None
        finally:
            if not whole:  # half a fold is worth nothing
                self.forget(worker)
        return loaded

    def forget(self, worker: str) -> None:
        """Drop what is remembered of a Worker."""
        with self._lock:
            self._folds.pop(worker, None)

    def _fold(self, worker: str) -> WorkerFold:
        with self._lock:
            fold = self._folds.setdefault(worker, WorkerFold(worker, self._sessions, self.definitions))
            self._folds.move_to_end(worker)
            while len(self._folds) > FOLDS_MAX:
                self._folds.popitem(last=False)
            return fold
