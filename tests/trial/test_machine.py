"""A trial moves where a Worker would."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateward.compiler.flow.definition import CompiledFlowDefinition
from stateward.compiler.pipeline import compile_source
from stateward.runtime.core.events import RejectionCode, Status, Verdict
from stateward.runtime.core.judging import Passed, Rejected, rule
from stateward.runtime.core.refusal import Refusal
from stateward.runtime.trial.machine import Moved, Stayed, Trial, begin
from tests.compiler.drawing.test_covering_walks import whole_flows
from tests.runtime.flows import REVIEW
from tests.runtime.guarded import NEEDS, REFINE
from tests.runtime.judgements import judgement


def begun(definition: CompiledFlowDefinition, **inputs: object) -> Trial:
    trial = begin(definition, inputs)
    assert isinstance(trial, Trial), trial
    return trial


@given(whole_flows(), st.data())
def test_what_comes_of_verdicts_is_what_the_runtime_rules(definition: CompiledFlowDefinition, data: st.DataObject) -> None:
    trial = begun(definition)
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
    trial = begun(REVIEW)
    for _ in range(20):
        trial, outcome = trial.ask({})
        assert Stayed(RejectionCode.NO_CONDITION_MET, "no condition is met") == outcome


def test_an_older_trial_can_be_gone_on_from() -> None:
    first = begun(REVIEW)
    checked, _ = first.ask({"ready": Verdict.MET})
    fixing, _ = checked.ask({"bad": Verdict.MET})
    done, _ = checked.ask({"good": Verdict.MET})
    assert ("implement", "check", "fix", "done") == tuple(each.state.id for each in (first, checked, fixing, done))
    assert Status.COMPLETED is done.instance.status


def test_what_is_no_transition_of_the_state_and_what_comes_after_the_end_is_refused() -> None:
    first = begun(REVIEW)
    with pytest.raises(ValueError, match="state `implement` has no transition `good`"):
        first.ask({"good": Verdict.MET})
    cancelled, _ = first.ask({"$cancel": Verdict.MET})
    assert Status.CANCELLED is cancelled.instance.status
    with pytest.raises(ValueError, match="`\\$cancelled`"):
        cancelled.ask({})


# --- variables, guards, checks, limits ------------------------------------------------------------------------------------------------


def written(trial: Trial, **values: object) -> Trial:
    after = trial.set(values)
    assert isinstance(after, Trial), after
    return after


def test_a_trial_begins_with_inputs_as_a_worker_does() -> None:
    lacking = begin(REFINE)
    assert isinstance(lacking, Refusal)
    assert "input_missing" == lacking.code
    trial = begun(REFINE, **NEEDS)
    assert {"attempts": 0, "findings": [], "topic": "owls"} == {name: each.value for name, each in trial.instance.variables.items()}


def test_what_guards_decide_needs_no_verdict() -> None:
    look, moved = begun(REFINE, **NEEDS).ask({})
    assert Moved("checked", "look") == moved
    assert Moved("good", "done") == written(look, bugs=False).ask({})[1]
    assert Moved("again", "work") == written(look, bugs=True).ask({"judged": Verdict.MET})[1]


def test_what_a_state_does_not_write_is_refused() -> None:
    refused = begun(REFINE, **NEEDS).set({"topic": "cats"})
    assert isinstance(refused, Refusal)
    assert "variable_not_writable" == refused.code


def test_a_limit_of_visits_halts_a_trial_for_good() -> None:
    trial = begun(REFINE, **NEEDS)
    outcome: Moved | Stayed = Stayed(RejectionCode.INDETERMINATE, "")
    for _ in range(2):
        trial, _moved = trial.ask({})
        trial, outcome = written(trial, bugs=True).ask({})
    assert isinstance(outcome, Stayed)
    assert (RejectionCode.LIMIT_REACHED, "look") == (outcome.code, trial.state.id)
    again, outcome = trial.ask({})
    assert isinstance(outcome, Stayed)
    assert (RejectionCode.LIMIT_REACHED, trial) == (outcome.code, again)


CHECKED = """schema_version = 2; name = "checked"; initial = "work";
checks = { tests = { command = ["pytest"]; timeout = "10m"; }; };
states = {
    work = { instructions = "Work."; transitions = {
        ship = { target = "done"; checks = ["tests"]; condition = "It is liked."; };
        mend = { target = "work"; condition = "It is broken."; };
    }; };
    done = { instructions = ""; terminal = true; };
};
"""


@pytest.mark.parametrize(
    ("checks", "verdicts", "came"),
    [
        ({"tests": Verdict.MET}, {"ship": Verdict.MET}, "done"),
        ({"tests": Verdict.NOT_MET}, {"ship": Verdict.MET}, RejectionCode.NO_CONDITION_MET),
        ({}, {"ship": Verdict.MET}, RejectionCode.NO_CONDITION_MET),
        ({"tests": Verdict.INDETERMINATE}, {"ship": Verdict.MET}, RejectionCode.INDETERMINATE),
        ({"tests": Verdict.NOT_MET}, {"mend": Verdict.MET}, "work"),
    ],
)
def test_no_check_is_run_and_what_it_comes_to_is_said(checks: dict[str, Verdict], verdicts: dict[str, Verdict], came: str) -> None:
    definition = compile_source(CHECKED.encode(), name="checked.dcdl", slug="checked").definition
    assert definition is not None
    trial = begun(definition)
    _, outcome = trial.ask(verdicts, checks=checks)
    assert came == (outcome.state if isinstance(outcome, Moved) else outcome.code)
    with pytest.raises(ValueError, match="state `work` has no check `lint`"):
        trial.ask({}, checks={"lint": Verdict.MET})
