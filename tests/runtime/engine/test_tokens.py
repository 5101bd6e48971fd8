"""What verifications may cost: capped for a visit and for an instance, and charged what was reserved where nobody counted."""

from dataclasses import replace

import pytest

from stateward.runtime.core.events import Account, FailureCause, Usage
from stateward.runtime.core.refusal import Refusal, RefusalCode
from stateward.runtime.ports import VerificationRequest, VerifierAnswered, VerifierFailed, VerifierOutcome
from stateward.runtime.profile import Profile, VerifierBounds
from stateward.runtime.session.event_codec import event_name
from tests.runtime.engines import AGENT, MODEL, WORKSPACE, Desk, Judge, saying, verdicts
from tests.runtime.judgements import MET

CAPPED = replace(MODEL, verification=VerifierBounds(tokens=400), visit_tokens_max=1000, instance_tokens_max=1500)


def costing(tokens: int | None) -> Judge:
    def answer(request: VerificationRequest) -> VerifierOutcome:
        given = verdicts(request, {})
        assert isinstance(given, VerifierAnswered)
        return replace(given, account=None if tokens is None else Account(Usage(1, tokens, 0), "some-model", "sha256:p", "sha256:t"))

    return Judge(answer, "model")


def refused(desk: Desk, reason: str) -> Refusal:
    answer = desk.engine.begin(desk.worker, reason, AGENT)
    assert isinstance(answer, Refusal), answer
    return answer


def test_a_visit_costs_no_more_than_its_cap_and_an_operator_leads_on() -> None:
    desk = Desk(profile=CAPPED, actor=AGENT)
    desk.request("one", costing(300))
    desk.request("two", costing(301))
    answer = refused(desk, "three")
    expected = "601 of 1000 tokens of this visit of state `a` are spent, and a verification may cost 400"
    assert (RefusalCode.BUDGET_EXHAUSTED, expected) == (answer.code, answer.message)
    (row,) = desk.engine.workers(WORKSPACE, 10)
    assert row.flow is not None
    assert "601 of 1000 tokens of this visit are spent" == row.flow.stuck


def test_a_verification_that_nobody_counted_costs_what_was_reserved() -> None:
    desk = Desk(profile=CAPPED, actor=AGENT)
    desk.request("one", costing(None))
    desk.request("two", Judge(lambda _: VerifierFailed(FailureCause.TIMEOUT, "slow"), "model"))
    assert "800 of 1000 tokens" in refused(desk, "three").message


def test_what_was_spent_is_restored() -> None:
    desk = Desk(profile=CAPPED, actor=AGENT, checkpoint_entries=2)
    for number in range(2):
        desk.request(f"look {number}", costing(350))
    before = (desk.flow.tokens, desk.flow.tokens_here)
    desk.restart(CAPPED)
    assert (700, 700) == before == (desk.flow.tokens, desk.flow.tokens_here)
    assert RefusalCode.BUDGET_EXHAUSTED is refused(desk, "three").code


def test_a_judge_who_costs_no_tokens_is_not_capped_by_them() -> None:
    desk = Desk(actor=AGENT)
    desk.restart(replace(desk.engine._means.profile, visit_tokens_max=1))
    assert "b" == desk.request("done", {"x": MET}).answer.state
    assert 0 == desk.flow.tokens


def test_events_of_a_judge_who_costs_nothing_are_written_as_they_always_were() -> None:
    desk = Desk(actor=AGENT)
    desk.request("no", {})
    desk.request("yes", {"x": MET})
    desk.begin("open")
    assert all(b'"version":2' not in each.payload for each in desk.log())


def test_what_judged_and_what_it_cost_lies_with_the_event_that_resolves() -> None:
    desk = Desk(profile=CAPPED, actor=AGENT)
    desk.request("one", costing(300))
    last = desk.flow.last
    assert last is not None
    assert Account(Usage(1, 300, 0), "some-model", "sha256:p", "sha256:t") == last.account
    (event,) = [each.event for each in desk.engine.events(desk.worker) if event_name(each.event) == "transition_check_rejected"]
    assert last.account == getattr(event, "account", None)


@pytest.mark.parametrize("profile", [CAPPED, MODEL])
def test_a_worker_whose_tokens_are_capped_asks_as_ever(profile: Profile) -> None:
    desk = Desk(profile=profile, actor=AGENT)
    assert "no_condition_met" == desk.request("one", Judge(saying({}), "model")).answer.code
