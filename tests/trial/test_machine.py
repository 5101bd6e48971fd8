"""A trial moves where a Worker would."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateward.compiler.flow.definition import CompiledFlowDefinition
from stateward.runtime.core.events import RejectionCode, Status, Verdict
from stateward.runtime.core.judging import Passed, Rejected, rule
from stateward.runtime.trial.machine import Moved, Stayed, begin
from tests.compiler.drawing.test_covering_walks import whole_flows
from tests.runtime.flows import REVIEW
from tests.runtime.judgements import judgement


@given(whole_flows(), st.data())
def test_what_comes_of_verdicts_is_what_the_runtime_rules(definition: CompiledFlowDefinition, data: st.DataObject) -> None:
    trial = begin(definition)
    for _ in range(12):
        if trial.is_over:
            assert trial.state.terminal
            return
        verdicts = {each.id: data.draw(st.sampled_from(Verdict)) for each in trial.state.transitions}
        ruled = rule(trial.state, [judgement(name, verdict) for name, verdict in verdicts.items()], frozenset())
        after, outcome = trial.ask(verdicts)
        match ruled:
            case Passed(transition):
                target = next(each.target for each in trial.state.transitions if each.id == transition)
                assert Moved(transition, target) == outcome
                assert target == after.state.id
            case Rejected(code, message):
                assert Stayed(code, message) == outcome
                assert trial.state == after.state
        trial = after


def test_a_trial_is_never_held_however_often_nothing_is_met() -> None:
    trial = begin(REVIEW)
    for _ in range(20):
        trial, outcome = trial.ask({})
        assert Stayed(RejectionCode.NO_CONDITION_MET, "no condition is met") == outcome


def test_an_older_trial_can_be_gone_on_from() -> None:
    first = begin(REVIEW)
    checked, _ = first.ask({"ready": Verdict.MET})
    fixing, _ = checked.ask({"bad": Verdict.MET})
    done, _ = checked.ask({"good": Verdict.MET})
    assert ("implement", "check", "fix", "done") == tuple(each.state.id for each in (first, checked, fixing, done))
    assert Status.COMPLETED is done.instance.status


def test_what_is_no_transition_of_the_state_and_what_comes_after_the_end_is_refused() -> None:
    first = begin(REVIEW)
    with pytest.raises(ValueError, match="state `implement` has no transition `good`"):
        first.ask({"good": Verdict.MET})
    cancelled, _ = first.ask({"$cancel": Verdict.MET})
    assert Status.CANCELLED is cancelled.instance.status
    with pytest.raises(ValueError, match="`\\$cancelled`"):
        cancelled.ask({})
