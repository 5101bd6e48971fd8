"""The right to verify: one at a time, and whoever stalled is refused by its token."""

from datetime import datetime, timedelta

import pytest

from stateward.runtime.core.instance import Attempt
from stateward.runtime.core.refusal import Refusal, RefusalCode
from stateward.runtime.ports import Answered, InProgress, Lease, VerificationRequest, VerifierOutcome
from tests.runtime.engines import AGENT, PERSON, Desk, Judge, verdicts
from tests.runtime.judgements import MET


class SetClock:
    """Stands still until it is moved."""

    def __init__(self, now: datetime) -> None:
        self.present = now

    def now(self) -> datetime:
        """Give the present."""
        return self.present


@pytest.fixture
def desk() -> Desk:
    desk = Desk(actor=AGENT)
    desk.clock = SetClock(desk.clock.now())  # type: ignore[assignment]
    desk.restart()
    return desk


def pass_time(desk: Desk, seconds: float) -> None:
    clock = desk.clock
    assert isinstance(clock, SetClock)
    clock.present += timedelta(seconds=seconds)


def claimed(desk: Desk, attempt: str, holder: str = "D") -> Lease:
    lease = desk.engine.claim(desk.worker, attempt, holder)
    assert isinstance(lease, Lease), lease
    return lease


def code(answer: object) -> RefusalCode:
    assert isinstance(answer, Refusal), answer
    return answer.code


def test_while_somebody_verifies_others_are_told_so_with_the_attempt(desk: Desk) -> None:
    request = desk.begin("done").request
    lease = claimed(desk, request.attempt)
    for answer in (desk.engine.begin(desk.worker, "other", AGENT), desk.engine.claim(desk.worker, request.attempt, "D")):
        expected = InProgress(desk.worker, request.attempt, "done", "E00000003", "D", lease.expires)
        assert expected == answer
    desk.record_evidence()
    assert isinstance(desk.engine.begin(desk.worker, "other", AGENT), InProgress)


def test_a_stalled_holder_is_refused_by_its_token_whatever_it_calls_itself(desk: Desk) -> None:
    request = desk.begin("done").request
    stalled = claimed(desk, request.attempt)
    pass_time(desk, 60)
    fresh = claimed(desk, request.attempt)
    assert fresh.token > stalled.token
    assert RefusalCode.LEASE_LOST is code(desk.engine.renew(desk.worker, request.attempt, stalled.token))
    assert not desk.engine.release(desk.worker, request.attempt, stalled.token)
    outcome = verdicts(request, {"x": MET})
    assert RefusalCode.LEASE_LOST is code(desk.engine.report(desk.worker, request.attempt, outcome, stalled.token))
    assert RefusalCode.LEASE_LOST is code(desk.engine.report(desk.worker, request.attempt, outcome))
    assert "a" == desk.flow.state
    answered = desk.engine.report(desk.worker, request.attempt, outcome, fresh.token)
    assert isinstance(answered, Answered)
    assert "b" == answered.answer.state


def test_after_the_attempt_is_resolved_a_stalled_holder_is_told_the_answer(desk: Desk) -> None:
    request = desk.begin("done").request
    stalled = claimed(desk, request.attempt)
    pass_time(desk, 60)
    desk.request("done", {"y": MET})
    late = desk.engine.report(desk.worker, request.attempt, verdicts(request, {"x": MET}), stalled.token)
    assert isinstance(late, Answered)
    assert (True, "c", "c") == (late.late, late.answer.state, desk.flow.state)


def test_an_attempt_whose_verifier_died_is_gone_on_with_when_the_lease_has_expired(desk: Desk) -> None:
    request = desk.begin("done").request
    claimed(desk, request.attempt)
    assert None is desk.engine.expire(desk.worker)
    pass_time(desk, 60)
    waiting = desk.engine.expire(desk.worker)
    assert isinstance(waiting, Attempt)
    assert (request.attempt, True) == (waiting.id, desk.begin("done").continued)


def test_a_recovery_sweep_leaves_an_attempt_alone_that_is_verified(desk: Desk) -> None:
    sweeps: list[object] = []

    def slow(request: VerificationRequest) -> VerifierOutcome:
        sweeps.extend(desk.engine.expire(desk.worker) for _ in range(1000))
        sweeps.extend(desk.engine.claim(desk.worker, request.attempt, "sweep") for _ in range(10))
        return verdicts(request, {"x": MET})

    judge = Judge(slow)
    assert "b" == desk.request("done", judge).answer.state
    assert (1, {type(None), InProgress}) == (len(judge.asked), {type(each) for each in sweeps})


def test_who_is_interrupted_drops_the_lease_and_the_attempt_stays(desk: Desk) -> None:
    def interrupted(request: VerificationRequest) -> VerifierOutcome:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        desk.request("done", Judge(interrupted))
    begun = desk.begin("done")
    assert begun.continued
    assert isinstance(desk.engine.claim(desk.worker, begun.request.attempt, "next"), Lease)


def test_a_lease_is_given_back_when_the_answer_is_there(desk: Desk) -> None:
    attempt = desk.request("done", {}).answer.attempt
    assert None is desk.leases.holder(desk.worker, attempt, desk.clock.now())


def test_only_the_open_attempt_can_be_claimed(desk: Desk) -> None:
    attempt = desk.request("done", {}).answer.attempt
    assert RefusalCode.ATTEMPT_UNKNOWN is code(desk.engine.claim(desk.worker, attempt, "D"))
    assert RefusalCode.WORKER_NOT_FOUND is code(desk.engine.claim("nobody", attempt, "D"))
    assert RefusalCode.WORKER_NOT_FOUND is code(desk.engine.expire("nobody"))


def test_a_request_made_while_another_is_verified_is_not_judged(desk: Desk) -> None:
    inner: list[object] = []

    def meddling(request: VerificationRequest) -> VerifierOutcome:
        inner.append(desk.engine.request_transition(desk.worker, "me too", PERSON, judge))
        return verdicts(request, {"x": MET})

    judge = Judge(meddling)
    desk.request("done", judge)
    assert (1, [InProgress]) == (len(judge.asked), [type(each) for each in inner])
