"""Flows with variables and guards, from their first entry on: what is recorded, what it folds to, what is refused."""

from dataclasses import dataclass, field
from typing import Any

import pytest

from stateward.compiler.flow.definition import CompiledFlowDefinition
from stateward.runtime.core.decide import Continue, Decided, Decision, Judged, Repeat, Report, Request, Start, decide
from stateward.runtime.core.events import (
    Assigned,
    Event,
    EventId,
    InstanceHalted,
    Judgement,
    Part,
    PartKind,
    Recorded,
    RejectionCode,
    Source,
    StateEntered,
    TransitionCheckPassed,
    TransitionCheckRejected,
    TransitionRequested,
    Variable,
    VariablesSet,
    Verdict,
)
from stateward.runtime.core.evolve import HistoryBroken
from stateward.runtime.core.instance import NOTHING_YET, FlowState, Instance, Pin
from stateward.runtime.core.operating import Act, Verb
from stateward.runtime.core.refusal import Refusal, RefusalCode
from stateward.runtime.core.replay import advance, replay
from stateward.runtime.core.writing import Unchanged, Write, taken_inputs
from tests.runtime.guarded import NEEDS, REFINE

DIGEST = "sha256:d"
PIN = Pin("w", "builtin:refine", "builtin:refine", 1, "sha256:c", DIGEST, "person")


@dataclass
class Log:
    """A log of flow events: what is decided is recorded, and folded as a stored history is."""

    definition: CompiledFlowDefinition
    state: FlowState = NOTHING_YET
    recorded: list[Recorded] = field(default_factory=list)
    seq: int = 0

    @property
    def here(self) -> Instance:
        assert self.state.instance is not None
        return self.state.instance

    @property
    def values(self) -> dict[str, object]:
        return {name: each.value for name, each in self.here.variables.items()}

    def do(self, command: Any) -> Decision:
        """Decide, and record what is decided: what resolves a request as an entry of its own, as the engine does."""
        decision = decide(self.definition, self.state, command)
        if isinstance(decision, Decided):
            at = next((at for at, each in enumerate(decision.events) if isinstance(each, TransitionRequested)), -1) + 1
            for events in filter(None, (decision.events[:at], decision.events[at:])):
                self.record(events)
        return decision

    def record(self, events: tuple[Event, ...]) -> None:
        self.seq += 1
        entry = [Recorded(EventId(self.seq, index), event) for index, event in enumerate(events)]
        self.state = advance(self.state, entry, {DIGEST: self.definition}, set())
        self.recorded += entry

    def ask(self, reason: str = "") -> Decision:
        """Ask to leave the state, by default with a reason that was not given before."""
        return self.do(Request(f"a{self.seq}", reason or f"so, at {self.seq}"))


def started(**inputs: object) -> Log:
    taken = taken_inputs(REFINE, {**NEEDS, **inputs})
    assert not isinstance(taken, Refusal)
    log = Log(REFINE)
    log.do(Start("i", PIN, taken))
    return log


def kinds(decision: Decision) -> list[type]:
    assert isinstance(decision, Decided)
    return [type(each) for each in decision.events]


def refused(decision: Decision) -> RefusalCode:
    assert isinstance(decision, Refusal)
    return decision.code


# --- seeding ------------------------------------------------------------------------------------------------------------------------


def test_a_flow_begins_with_its_defaults_and_the_inputs_of_its_variables() -> None:
    log = started()
    assert {"attempts": 0, "findings": [], "topic": "owls"} == log.values
    assert {"topic": "owls", "limit": 3} == dict(log.here.inputs)
    assert {"attempts": Source.DEFINITION, "findings": Source.DEFINITION, "topic": Source.INPUT} == {
        name: each.source for name, each in log.here.variables.items()
    }


@pytest.mark.parametrize(
    ("inputs", "code"),
    [
        ({}, RefusalCode.INPUT_MISSING),
        ({"topic": 1}, RefusalCode.INPUT_MISFIT),
        ({"topic": None}, RefusalCode.INPUT_MISFIT),
        ({"topic": "x", "limit": -1}, RefusalCode.INPUT_MISFIT),
        ({"topic": "x", "more": 1}, RefusalCode.INPUT_UNKNOWN),
    ],
)
def test_inputs_that_do_not_fit_are_refused(inputs: dict[str, object], code: RefusalCode) -> None:
    taken = taken_inputs(REFINE, inputs)
    assert isinstance(taken, Refusal)
    assert code is taken.code


# --- writing ------------------------------------------------------------------------------------------------------------------------


def test_a_write_is_a_fact_with_who_wrote_it_where() -> None:
    log = started()
    log.do(Write({"attempts": 2, "bugs": True}))
    written = log.here.variables["attempts"]
    assert (2, Source.WORKER, "work", 1, 2) == (written.value, written.source, written.state, written.visit, written.entry)


@pytest.mark.parametrize(
    ("values", "code"),
    [
        ({}, RefusalCode.VARIABLES_EMPTY),
        ({"attempts": 1, "topic": "x"}, RefusalCode.VARIABLE_NOT_WRITABLE),
        ({"attempts": 1, "nothing": 1}, RefusalCode.VARIABLE_UNKNOWN),
        ({"attempts": -1}, RefusalCode.VARIABLE_MISFIT),
        ({"attempts": True}, RefusalCode.VARIABLE_MISFIT),
        ({"attempts": 1.0}, RefusalCode.VARIABLE_MISFIT),
        ({"attempts": "1"}, RefusalCode.VARIABLE_MISFIT),
        ({"attempts": 2**53}, RefusalCode.VARIABLE_MISFIT),
        ({"attempts": 10**400}, RefusalCode.VARIABLE_MISFIT),
        ({"bugs": 0}, RefusalCode.VARIABLE_MISFIT),
        ({"bugs": None}, RefusalCode.VARIABLE_MISFIT),
        ({"bugs": "false"}, RefusalCode.VARIABLE_MISFIT),
        ({"bugs": True, "findings": [{"file": "a"}]}, RefusalCode.VARIABLE_MISFIT),
        ({"findings": [{"file": "a", "severity": "x" * 70_000}]}, RefusalCode.VARIABLES_TOO_LARGE),
    ],
    ids=str,
)
def test_a_write_that_is_not_as_declared_writes_nothing_at_all(values: dict[str, object], code: RefusalCode) -> None:
    log = started()
    before = log.values
    assert code is refused(log.do(Write(values)))
    assert before == log.values


def test_the_same_write_again_is_recorded_once() -> None:
    log = started()
    log.do(Write({"attempts": 1}))
    assert isinstance(log.do(Write({"attempts": 1})), Unchanged)
    assert kinds(log.do(Write({"attempts": 2}))) == [VariablesSet]


def test_a_flow_that_ended_or_is_paused_takes_no_write() -> None:
    log = started()
    log.do(Act(Verb.PAUSE, "person ada", "wait"))
    assert RefusalCode.INSTANCE_PAUSED is refused(log.do(Write({"attempts": 1})))
    log.do(Act(Verb.RESUME, "person ada", "go on"))
    log.do(Act(Verb.CANCEL, "person ada", "enough"))
    assert RefusalCode.NO_ACTIVE_INSTANCE is refused(log.do(Write({"attempts": 1})))


@pytest.mark.parametrize(
    "event",
    [
        VariablesSet(instance="i", visit=1, source=Source.WORKER, state="work", values=(Assigned("topic", "x"),)),
        VariablesSet(instance="i", visit=1, source=Source.WORKER, state="work", values=(Assigned("attempts", "x"),)),
        VariablesSet(instance="i", visit=1, source=Source.WORKER, state="look", values=(Assigned("bugs", True),)),
        VariablesSet(instance="i", visit=1, source=Source.INPUT, state="work", values=(Assigned("nothing", True),)),
    ],
)
def test_a_history_with_a_write_that_no_decision_gave_is_broken(event: Event) -> None:
    log = started()
    with pytest.raises(HistoryBroken):
        log.record((event,))


@pytest.mark.parametrize(
    "held",
    [
        Variable("nothing", 1, Source.WORKER, "work", 1, 1),
        Variable("attempts", -1, Source.WORKER, "work", 1, 1),
        Variable("attempts", 1, Source.WORKER, "work", 1, 99),
    ],
)
def test_a_rewind_to_what_no_variable_can_have_held_is_broken(held: Variable) -> None:
    log = at_look()
    with pytest.raises(HistoryBroken):
        log.do(Act(Verb.REWIND, "person ada", "begin again", "work", (held,)))


# --- moving -------------------------------------------------------------------------------------------------------------------------


def at_look(**values: object) -> Log:
    log = started()
    if values:
        log.do(Write(values))
    log.ask()
    assert "look" == log.here.state
    return log


def test_guards_that_decide_move_at_once_and_nobody_is_asked() -> None:
    log = started()
    assert kinds(log.ask()) == [TransitionRequested, TransitionCheckPassed, StateEntered]
    assert ("look", None) == (log.here.state, log.here.attempt)
    log.do(Write({"bugs": False}))
    log.ask("done")
    assert ("done", "completed") == (log.here.state, log.here.status)
    assert log.state == replay(log.recorded, {DIGEST: REFINE})


def test_a_variable_that_nobody_wrote_is_no_false() -> None:
    log = at_look()
    decision = log.ask()
    assert kinds(decision) == [TransitionRequested, TransitionCheckRejected]
    assert RejectionCode.INDETERMINATE is log.here.last.rejection  # type: ignore[union-attr]  # it was just rejected
    assert Part("good", PartKind.WHEN, Verdict.INDETERMINATE, missing=("vars.bugs",)) in log.here.last.attempt.parts  # type: ignore[union-attr]


def test_what_guards_leave_open_is_judged_and_what_they_closed_is_not_asked() -> None:
    log = at_look(bugs=False, attempts=9)
    assert kinds(log.ask()) == [TransitionRequested]
    asked = (
        Judgement("judged", Verdict.MET, Verdict.MET, "yes"),
        Judgement("$cancel", Verdict.NOT_MET, Verdict.NOT_MET, "no", ("a reason",)),
    )
    attempt = log.here.attempt
    assert attempt is not None
    decision = log.do(Report(attempt.id, Judged(asked)))
    assert kinds(decision) == [TransitionCheckPassed, StateEntered]
    assert "done" == log.here.state


def test_a_request_after_a_write_is_another_request() -> None:
    log = at_look(bugs=False, attempts=9)
    log.ask()
    opened = log.here.attempt
    assert opened is not None
    assert Continue(opened) == log.ask()
    log.do(Write({"bugs": True}))
    log.ask()
    assert ("work", 2) == (log.here.state, log.here.visits["work"])


def test_what_is_written_while_it_is_judged_does_not_travel_with_the_move() -> None:
    log = at_look(attempts=9)
    log.do(Write({"bugs": False}))
    log.ask()
    opened = log.here.attempt
    assert opened is not None
    log.do(Write({"bugs": True}))
    no = Judgement("$cancel", Verdict.NOT_MET, Verdict.NOT_MET, "no", ("a reason",))
    decision = log.do(Report(opened.id, Judged((Judgement("judged", Verdict.MET, Verdict.MET, "yes"), no))))
    assert kinds(decision) == [TransitionCheckRejected]
    last = log.here.last
    assert last is not None
    assert ("look", RejectionCode.STALE_STATE) == (log.here.state, last.rejection)


# --- limits -------------------------------------------------------------------------------------------------------------------------


def at_limit() -> Log:
    log = at_look(bugs=True)
    log.ask("once more")
    log.ask("and look")
    assert ("look", 2) == (log.here.state, log.here.visits["work"])
    return log


def test_a_state_is_not_entered_more_often_than_it_may_be() -> None:
    log = at_limit()
    assert kinds(log.ask("again")) == [TransitionRequested, TransitionCheckRejected, InstanceHalted]
    assert ("look", RejectionCode.LIMIT_REACHED) == (log.here.state, log.here.last.rejection)  # type: ignore[union-attr]
    assert RefusalCode.INSTANCE_HALTED is refused(log.ask("please"))


def test_an_operator_lets_a_halted_flow_enter_the_state_once_more() -> None:
    log = at_limit()
    log.ask("again")
    log.do(Act(Verb.RESUME, "person ada", "one more"))
    log.ask("again")
    assert ("work", 3) == (log.here.state, log.here.visits["work"])
    log.ask("look")
    log.ask("again")
    assert log.here.halted is not None
    assert log.state == replay(log.recorded, {DIGEST: REFINE})


def test_a_halted_flow_is_rewound_and_holds_what_it_held_there() -> None:
    log = at_limit()
    log.ask("again")
    at_entry = tuple(each for each in log.here.variables.values() if each.name != "bugs")
    log.do(Act(Verb.REWIND, "person ada", "begin again", "work", at_entry))
    assert (None, "work") == (log.here.halted, log.here.state)
    assert {"attempts": 0, "findings": [], "topic": "owls"} == log.values


def test_a_request_that_was_moved_by_guards_is_answered_again_and_not_judged_in_the_next_state() -> None:
    log = started()
    log.ask("it is checked")
    assert isinstance(log.ask("it is checked"), Repeat)
    log.do(Write({"bugs": False}))
    log.ask("it is checked")
    assert "done" == log.here.state
