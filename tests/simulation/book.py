"""What a world knows of one Worker, and the laws that its log is held against after every act.

The laws say nothing of how the engine works: they know the stored entries, what was handed in, and what anybody was told.

- what is stored folds, entry by entry, to what each engine shows, and to what an engine that remembers nothing restores;
- the chain is unbroken, and no entry that anybody was told of is gone or changed;
- no id and no key is used twice; at most one attempt is open;
- a state is entered only on verdicts that somebody reported for that attempt, of which exactly one was `met`, or by a person's act;
- where a model judges, that verdict cites an entry that counts as evidence, and a visit costs no more tokens than it may;
- weakening one verdict of a rejected attempt, one citation, or what counts as evidence lets nothing through;
- all who ask about one attempt are told the same, and it is what is stored; one submission has one entry;
- a fork begins as its parent stood, but for a new instance and no open attempt; made whole, it reads the same without its parent.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from random import Random

from stateward.compiler.flow.definition import CompiledFlowDefinition
from stateward.runtime.core.events import (
    EntryCitation,
    EventId,
    InstanceCancelled,
    InstanceRewound,
    Judgement,
    LateResultIgnored,
    Recorded,
    StateEntered,
    TransitionCheckPassed,
    TransitionCheckRejected,
    TransitionRequested,
    Verdict,
)
from stateward.runtime.core.instance import NOTHING_YET, FlowState
from stateward.runtime.core.judging import Passed, rule
from stateward.runtime.core.replay import advance, new_ids
from stateward.runtime.engine.worker import Engine
from stateward.runtime.ports import SessionStore, Submitted, VerificationRequest
from stateward.runtime.profile import Profile, VerifierKind
from stateward.runtime.session.answers import Answer
from stateward.runtime.session.chain import check
from stateward.runtime.session.entries import GENESIS, ActorClass, Entry, Head, reference
from stateward.runtime.session.evidence import is_admissible
from stateward.runtime.session.payloads import Checkpoint, Payload, SessionStarted, ToolResult, UserInput, decode, flow_events


@dataclass
class Book:
    """What is known of one Worker."""

    worker: str
    definitions: Mapping[str, CompiledFlowDefinition]
    used: set[str]
    """Ids that any Worker of the world used."""
    random: Random
    profile: Profile
    parent: "Book | None" = None
    verifications: list[VerificationRequest] = field(default_factory=list)
    """Handed out to verifiers; each may be answered any number of times, or never."""
    leases: list[tuple[VerificationRequest, int]] = field(default_factory=list)
    """Claims that were granted: each may be used at any time later."""
    reported: dict[str, list[tuple[Judgement, ...]]] = field(default_factory=dict)
    tried: set[str] = field(default_factory=set)
    """Attempts that a report was made on, whatever became of it."""
    told: dict[str, Answer] = field(default_factory=dict)
    acknowledged: dict[int, str] = field(default_factory=dict)
    """Digests of entries that somebody was told of."""
    submissions: dict[str, Submitted] = field(default_factory=dict)
    head: Head = GENESIS
    flow: FlowState = NOTHING_YET
    flows: dict[int, FlowState] = field(default_factory=dict)
    """What the log came to after each entry."""
    digests: dict[int, str] = field(default_factory=dict)
    evidence: set[int] = field(default_factory=set)
    """Entries of a class that counts."""
    _keys: set[str] = field(default_factory=set)
    _stored: dict[str, Answer] = field(default_factory=dict)
    _submitted: set[str] = field(default_factory=set)
    _late: set[str] = field(default_factory=set)

    # --- the laws -------------------------------------------------------------------------------------------------------------------

    def check(self, sessions: SessionStore, engines: list[Engine]) -> None:
        """Check every law on what was written since the last check."""
        for entry in sessions.entries(self.worker, self.head.seq):
            self._take(entry)
        assert sessions.head(self.worker) == self.head
        assert self.acknowledged.items() <= self.digests.items()
        assert {attempt: self._stored.get(attempt) for attempt in self.told} == self.told
        assert self.submissions.keys() <= self._submitted
        for engine in engines:
            loaded = engine._means.folds.load(self.worker)
            assert loaded is not None
            assert (self.head, self.flow) == (loaded.head, loaded.flow)
        instance = self.flow.instance
        assert instance is None or instance.tokens_here <= self.profile.visit_tokens_max

    def check_whole(self, sessions: SessionStore) -> None:
        """Check that nothing that was ever there is changed or gone."""
        assert self.digests == {entry.seq: entry.digest for entry in sessions.entries(self.worker)}

    def _take(self, entry: Entry) -> None:
        payload = decode(entry)
        if self.head == GENESIS and isinstance(payload, SessionStarted) and payload.forked_from is not None:
            self.head = Head(payload.forked_from.seq, payload.forked_from.digest)
            assert self.parent is not None
            assert self.parent.digests[self.head.seq] == self.head.digest
        assert check(entry, self.head) is None
        if entry.key is not None:
            assert entry.key not in self._keys
            self._keys.add(entry.key)
        if isinstance(payload, Checkpoint):
            self._take_checkpoint(entry, payload)
        if is_admissible(entry):
            self.evidence.add(entry.seq)
        self._take_events(entry, payload)
        self._take_words(payload)
        self.head = Head(entry.seq, entry.digest)
        self.digests[entry.seq] = entry.digest
        self.flows[entry.seq] = self.flow

    def _take_checkpoint(self, entry: Entry, payload: Checkpoint) -> None:
        assert entry.actor.actor_class is ActorClass.ENGINE
        if self.parent is None or len(self.digests) != 1:
            assert payload.flow == self.flow
            return
        before = self.parent.flows[self.head.seq - 1]
        assert before.instance is not None
        assert payload.flow.instance is not None
        fresh = payload.flow.instance.id
        assert fresh not in self.used
        self.used.add(fresh)
        assert payload.flow == replace(before, instance=replace(before.instance, id=fresh, attempt=None, last=None))
        self.flow = payload.flow

    def _take_events(self, entry: Entry, payload: Payload) -> None:
        record = tuple(Recorded(EventId(entry.seq, index), event) for index, event in enumerate(flow_events(payload)))
        for index, recorded in enumerate(record):
            event, before = recorded.event, record[index - 1].event if index else None
            match event:
                case StateEntered(attempt=None, visit=visit) if visit > 1:
                    assert isinstance(before, InstanceRewound | InstanceCancelled)
                    assert entry.actor.actor_class is ActorClass.PERSON
                case StateEntered(attempt=attempt) if attempt is not None:
                    assert isinstance(before, TransitionCheckPassed)
                    assert before.attempt == attempt
                case TransitionCheckPassed(attempt=attempt, transition=transition):
                    assert any(
                        _met(given) == {transition} and self._shows(given, transition, entry.seq)
                        for given in self.reported.get(attempt, [])
                    )
                case TransitionCheckRejected(attempt=attempt):
                    self._check_weakened(attempt)
                case LateResultIgnored(attempt=attempt):
                    assert attempt not in self._late
                    self._late.add(attempt)
                case TransitionRequested():
                    assert self.flow.instance is not None
                case _:
                    pass
        self.flow = advance(self.flow, record, self.definitions, self.used)
        self.used |= new_ids(record)

    def _shows(self, given: tuple[Judgement, ...], transition: str, before: int) -> bool:
        """Tell whether a verdict cites evidence that was there, where the judge has to."""
        if self.profile.verifier is not VerifierKind.MODEL:
            return True
        cited = {each for one in given if one.transition == transition for each in one.citations if isinstance(each, EntryCitation)}
        return any(each == EntryCitation(reference(seq)) for each in cited for seq in self._all_evidence() if seq < before)

    def _all_evidence(self) -> set[int]:
        before = set() if self.parent is None else {seq for seq in self.parent._all_evidence() if seq < min(self.digests, default=0)}
        return self.evidence | before

    def _take_words(self, payload: Payload) -> None:
        match payload:
            case ToolResult(content=answer):
                assert answer.attempt not in self._stored
                self._stored[answer.attempt] = answer
            case UserInput(submission=submission):
                assert submission not in self._submitted
                self._submitted.add(submission)
            case _:
                pass

    def _check_weakened(self, attempt: str) -> None:
        """Weakening one verdict of what was rejected, or breaking one citation, lets nothing through."""
        instance = self.flow.instance
        assert instance is not None
        state = self.definitions[instance.pin.definition_digest].state(instance.state)
        for given in self.reported.get(attempt, []):
            if isinstance(rule(state, given, _broken(given)), Passed) or not given:
                continue  # somebody else's report was the one that counted
            place = self.random.randrange(len(given))
            weaker = Verdict.INDETERMINATE if given[place].verdict is Verdict.MET else given[place].verdict
            changed = replace(given[place], verdict=weaker, checked=weaker)
            assert (
                not isinstance(rule(state, (*given[:place], changed, *given[place + 1 :]), _broken(given)), Passed) or len(_met(given)) > 1
            )
            assert not isinstance(rule(state, given, frozenset(each for one in given for each in one.citations)), Passed)
            assert not isinstance(rule(state, given, _broken(given), frozenset()), Passed)


def _met(given: tuple[Judgement, ...]) -> set[str]:
    return {each.transition for each in given if each.verdict is Verdict.MET}


def _broken(given: tuple[Judgement, ...]) -> frozenset[EntryCitation]:
    """Give the citations of a world's verdicts that name nothing."""
    return frozenset(
        each for one in given for each in one.citations if each == EntryCitation("E99999999") and isinstance(each, EntryCitation)
    )
