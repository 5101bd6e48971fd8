"""What a changed Workdir and spent tokens mean for requests."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateward.runtime.core.bounds import Bounds
from stateward.runtime.core.decide import Continue, Decided, Decision, Failed, GivenUp, Judged, Outcome, Repeat, Request
from stateward.runtime.core.events import (
    Account,
    CancelCause,
    FailureCause,
    ProgressHoldCleared,
    TransitionRequested,
    TransitionVerificationCancelled,
    Usage,
    Verdict,
)
from stateward.runtime.core.refusal import Refusal, RefusalCode
from tests.runtime.flows import FORK
from tests.runtime.histories import History, begun
from tests.runtime.judgements import MET, judgements

BOUNDS = Bounds()


def asked(history: History, reason: str, tree: str = "", reserve: int = 0, bounds: Bounds = BOUNDS) -> Decision:
    return history.do(Request(history.fresh("attempt"), reason, history.evidence, bounds, tree, reserve))


def test_a_rejected_request_is_judged_again_on_another_tree() -> None:
    history = begun(FORK)
    asked(history, "done", "tree-1")
    history.answer({})
    assert isinstance(asked(history, "done", "tree-1"), Repeat)
    assert isinstance(asked(history, "done", "tree-2"), Decided)


def test_a_move_whose_answer_was_lost_is_not_judged_in_the_next_state_though_the_tree_changed() -> None:
    history = begun(FORK)
    asked(history, "done", "tree-1")
    history.answer({"x": MET})
    assert isinstance(asked(history, "done", "tree-2"), Repeat)


def test_an_open_attempt_is_gone_on_with_on_its_own_tree_and_superseded_on_another() -> None:
    history = begun(FORK)
    asked(history, "done", "tree-1")
    assert isinstance(asked(history, "done", "tree-1"), Continue)
    decided = asked(history, "done", "tree-2")
    assert isinstance(decided, Decided)
    assert [TransitionVerificationCancelled, TransitionRequested] == [type(each) for each in decided.events]
    assert history.instance.attempt is not None
    assert "tree-2" == history.instance.attempt.tree


def test_judgements_of_different_trees_hold_nothing_and_a_changed_tree_frees_what_is_held() -> None:
    history = begun(FORK)
    for number in range(6):
        asked(history, f"reason {number}", f"tree-{number % 2}")
        history.answer({})
    assert history.instance.held is None
    for number in range(2):
        asked(history, f"again {number}", "tree-1")
        history.answer({})
    assert history.instance.held is not None
    refused = asked(history, "once more", "tree-1")
    assert isinstance(refused, Refusal)
    assert RefusalCode.INSTANCE_HELD is refused.code
    freed = asked(history, "once more", "tree-2")
    assert isinstance(freed, Decided)
    cleared = freed.events[0]
    assert isinstance(cleared, ProgressHoldCleared)
    assert ("new evidence", "the Workdir changed since") == (cleared.by, cleared.reason)


# --- tokens -----------------------------------------------------------------------------------------------------------------------------


def spending(history: History, tokens: int | None, given: dict[str, Verdict] | None = None) -> None:
    account = None if tokens is None else Account(Usage(1, tokens - 1, 1))
    history.report(Judged(judgements(history.definition, history.instance.state, given or {}), account=account))


def test_an_attempt_costs_what_was_counted_and_without_a_count_what_was_reserved() -> None:
    history = begun(FORK)
    asked(history, "one", reserve=500)
    spending(history, 120)
    asked(history, "two", reserve=500)
    spending(history, None)
    asked(history, "three", reserve=500)
    history.report(Failed(FailureCause.TIMEOUT, "slow", Account(None, "some-model")))
    asked(history, "four", reserve=500)
    history.report(GivenUp(CancelCause.WITHDRAWN, Account(Usage(1, 7, 0))))
    assert (1127, 1127) == (history.instance.tokens, history.instance.tokens_here)


def test_tokens_of_a_visit_begin_anew_with_the_next_and_those_of_the_instance_go_on() -> None:
    history = begun(FORK)
    asked(history, "one", reserve=500)
    spending(history, 120, {"x": MET})
    assert (120, 0) == (history.instance.tokens, history.instance.tokens_here)


CAPS = {
    "visit": (Bounds(visit_tokens_max=1000), "300 of 1000 tokens of this visit of state `a` are spent, and a verification may cost 701"),
    "instance": (Bounds(instance_tokens_max=1000), "300 of 1000 tokens of this flow instance are spent, and a verification may cost 701"),
}


@pytest.mark.parametrize(("bounds", "message"), CAPS.values(), ids=CAPS.keys())
def test_a_verification_that_could_pass_a_cap_is_not_begun(bounds: Bounds, message: str) -> None:
    history = begun(FORK)
    asked(history, "one", reserve=1000, bounds=bounds)
    spending(history, 300)
    before = history.state
    refused = asked(history, "two", reserve=701, bounds=bounds)
    assert isinstance(refused, Refusal)
    assert (RefusalCode.BUDGET_EXHAUSTED, message, before) == (refused.code, refused.message, history.state)
    assert isinstance(asked(history, "two", reserve=700, bounds=bounds), Decided)


def test_what_an_open_attempt_may_cost_is_spent_where_another_would_supersede_it() -> None:
    history = begun(FORK)
    bounds = Bounds(visit_tokens_max=1000)
    asked(history, "one", reserve=600, bounds=bounds)
    assert isinstance(asked(history, "one", reserve=600, bounds=bounds), Continue)
    history.note_evidence()
    refused = asked(history, "two", reserve=600, bounds=bounds)
    assert isinstance(refused, Refusal)
    assert RefusalCode.BUDGET_EXHAUSTED is refused.code


def test_a_verification_that_costs_no_tokens_is_begun_whatever_was_spent() -> None:
    history = begun(FORK)
    bounds = Bounds(visit_tokens_max=1000)
    asked(history, "one", reserve=1000, bounds=bounds)
    spending(history, 5000)
    assert isinstance(asked(history, "two", bounds=bounds), Decided)


@given(st.lists(st.tuples(st.one_of(st.none(), st.integers(1, 400)), st.integers(1, 400)), max_size=12))
def test_what_is_counted_within_its_reserve_never_passes_the_cap(spends: list[tuple[int | None, int]]) -> None:
    history = begun(FORK)
    bounds = Bounds(hold_after=64, visit_tokens_max=1000)
    for number, (counted, reserve) in enumerate(spends):
        if isinstance(asked(history, f"reason {number}", reserve=reserve, bounds=bounds), Decided):
            spending(history, None if counted is None else min(counted, reserve))
        assert history.instance.tokens_here <= 1000
        history.note_evidence()


@pytest.mark.parametrize("outcome", ["judged", "failed", "given up"])
def test_what_judged_an_attempt_and_at_what_cost_is_kept_with_its_end(outcome: str) -> None:
    account = Account(Usage(2, 30, 4), "some-model", "sha256:p", "sha256:t")
    ends: dict[str, Outcome] = {
        "judged": Judged(judgements(FORK, "a", {}), account=account),
        "failed": Failed(FailureCause.TIMEOUT, "slow", account),
        "given up": GivenUp(CancelCause.CANCELLED, account),
    }
    history = begun(FORK)
    asked(history, "one", reserve=500)
    history.report(ends[outcome])
    assert history.instance.last is not None
    assert (account, 34) == (history.instance.last.account, history.instance.tokens)
