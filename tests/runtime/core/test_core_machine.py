"""Any sequence of commands: replay equals live, a refusal changes nothing, nothing is entered without its passed check."""

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from stateward.compiler.flow.definition import CompiledFlowDefinition
from stateward.runtime.core.decide import Decided, Decision, Failed, GivenUp, Judged, Outcome
from stateward.runtime.core.events import (
    CancelCause,
    EntryCitation,
    FailureCause,
    InstanceCancelled,
    InstanceRewound,
    InstanceStarted,
    Judgement,
    StateEntered,
    Status,
    TransitionCheckPassed,
    TransitionCheckRejected,
    TransitionRequested,
    TransitionVerificationCancelled,
    TransitionVerificationFailed,
    Verdict,
)
from stateward.runtime.core.operating import Act, Verb
from stateward.runtime.core.replay import replay
from tests.runtime.flows import FORK, NOTHING_TO_DO, REVIEW
from tests.runtime.histories import History
from tests.runtime.judgements import judgement

RESOLVING = (TransitionCheckPassed, TransitionCheckRejected, TransitionVerificationCancelled, TransitionVerificationFailed)
CITATION = EntryCitation("E00000099")
NAMES = ["x", "y", "z", "end", "ready", "good", "bad", "fixed", "$cancel", "nowhere"]


@st.composite
def outcomes(draw: st.DrawFn, expected: list[str]) -> Outcome:
    """Draw what a verifier may say: mostly sense about `expected`, sometimes none."""
    kind = draw(st.sampled_from(["sense", "sense", "sense", "nonsense", "failed", "given up"]))
    if kind == "failed":
        return Failed(draw(st.sampled_from(FailureCause)), draw(st.text(max_size=5)))
    if kind == "given up":
        return GivenUp(draw(st.sampled_from(CancelCause)))
    names = expected if kind == "sense" else draw(st.lists(st.sampled_from(NAMES), max_size=6))
    given = tuple(_judged(draw, name) for name in names)
    return Judged(given, frozenset(draw(st.sets(st.just(CITATION)))))


def _judged(draw: st.DrawFn, name: str) -> Judgement:
    cited = (CITATION,) if draw(st.booleans()) else ()
    return judgement(name, draw(st.sampled_from([Verdict.MET, Verdict.NOT_MET, Verdict.NOT_MET, Verdict.INDETERMINATE])), citations=cited)


class Flow(RuleBasedStateMachine):
    """One flow, driven at random."""

    @initialize(definition=st.sampled_from([REVIEW, FORK, NOTHING_TO_DO]))
    def begin(self, definition: CompiledFlowDefinition) -> None:
        self.history = History(definition)

    def done(self, before: object, decision: Decision) -> None:
        if not isinstance(decision, Decided):
            assert before == self.history.state

    @rule()
    def start(self) -> None:
        before = self.history.state
        self.done(before, self.history.start())

    @rule(reason=st.sampled_from(["done", "done ", "more", "", "x" * 20000]))
    def request(self, reason: str) -> None:
        before = self.history.state
        self.done(before, self.history.request(reason))

    @rule(data=st.data(), which=st.sampled_from(["open", "open", "open", "last", "other"]))
    def report(self, data: st.DataObject, which: str) -> None:
        before = self.history.state
        instance = before.instance
        if instance is None:
            return
        expected = [each.id for each in self.history.definition.state(instance.state).transitions]
        last = None if instance.last is None else instance.last.attempt.id
        attempt = {"open": None, "last": last, "other": "attempt-0"}[which]
        self.done(before, self.history.report(data.draw(outcomes(expected)), attempt))

    @rule(verb=st.sampled_from(Verb), state=st.sampled_from(["a", "b", "implement", "check", "nowhere"]))
    def operate(self, verb: Verb, state: str) -> None:
        before = self.history.state
        self.done(before, self.history.do(Act(verb, "person ada", "because", state)))

    @rule()
    def record_evidence(self) -> None:
        self.history.note_evidence()

    @invariant()
    def replay_equals_live(self) -> None:
        if hasattr(self, "history"):
            assert self.history.state == replay(self.history.log, self.history.definitions)

    @invariant()
    def events_keep_their_laws(self) -> None:
        if not hasattr(self, "history"):
            return
        events = [each.event for each in self.history.log]
        begun = [each.attempt for each in events if isinstance(each, TransitionRequested)]
        ended = [each.attempt for each in events if isinstance(each, RESOLVING)]
        instance = self.history.state.instance
        opened = [instance.attempt.id] if instance is not None and instance.attempt is not None else []
        assert len(begun) == len(set(begun))
        assert sorted(begun) == sorted(ended + opened)
        entered = [each for each in events if isinstance(each, StateEntered)]
        passed = [each.attempt for each in events if isinstance(each, TransitionCheckPassed)]
        started = [each for each in events if isinstance(each, InstanceStarted)]
        assert passed == [each.attempt for each in entered if each.attempt is not None]
        led = [each for each in events if isinstance(each, InstanceCancelled | InstanceRewound)]
        assert len(started) + len(led) == sum(each.attempt is None for each in entered)
        assert len(started) == self.history.state.instances
        assert opened == [] or (instance is not None and instance.status is Status.ACTIVE)


TestFlow = Flow.TestCase
TestFlow.settings = settings(max_examples=60, stateful_step_count=30)
