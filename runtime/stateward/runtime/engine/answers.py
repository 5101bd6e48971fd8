"""What a worker is told, made of the state that the events of its answer lead to; and what a verifier is asked.

Invariants: made before the commit and stored with it, so that what is told later is what was told first; instructions, conditions and
reasons are byte for byte those of the pinned definition and of the worker.
"""

from dataclasses import dataclass
from typing import Final, assert_never

from stateward.runtime.core.events import Assigned, Judgement, RejectionCode
from stateward.runtime.core.flow import Flow
from stateward.runtime.core.instance import Aside, Attempt, AttemptStatus, Instance, Resolution, hold_message
from stateward.runtime.core.selecting import Ask, Run, next_of
from stateward.runtime.ports import Question, VerificationRequest
from stateward.runtime.session.answers import Answer, TransitionAnswer
from stateward.runtime.session.captured import CapturedLog
from stateward.runtime.session.entries import reference

VERIFIER_CANCELLED: Final = "verifier_cancelled"
VERIFIER_FAILED: Final = "verifier_failed"


@dataclass(frozen=True, slots=True)
class Begun:
    """A request is to be verified; what comes of it is to be reported."""

    request: VerificationRequest
    continued: bool = False
    """Whether an earlier call began it. Then its reason and its capture are the earlier ones."""


def answer_of(definition: Flow, instance: Instance, *, self_judged: bool) -> Answer:
    """Give the answer to the request that the instance resolved last."""
    last = instance.last
    assert last is not None  # it has just been resolved
    code, cause = _why(last)
    entered = last.status is AttemptStatus.ENTERED
    return Answer(
        attempt=last.attempt.id,
        outcome=last.status,
        code=code,
        cause=cause,
        message=last.message if instance.held is None else f"{last.message}; held: {hold_message(instance.held)}",
        reason=last.attempt.reason,
        judged=reference(last.attempt.requested.seq),
        state=instance.state,
        visit=instance.visit,
        status=instance.status,
        instructions=definition.state(instance.state).instructions if entered else "",
        transition=last.transition,
        results=() if entered else tuple(map(_result, last.judgements)),
        self_judged=self_judged,
    )


def _why(last: Resolution) -> tuple[str, str]:
    match last.status:
        case AttemptStatus.ENTERED:
            return "", ""
        case AttemptStatus.REJECTED:
            return str(last.rejection), _doubt(last)
        case AttemptStatus.CANCELLED:
            return VERIFIER_CANCELLED, str(last.cancellation)
        case AttemptStatus.FAILED:
            return VERIFIER_FAILED, str(last.failure)
        case AttemptStatus.VERIFYING:
            raise AssertionError("an open attempt has no answer")
    assert_never(last.status)


def _doubt(last: Resolution) -> str:
    """Say why it could not be checked, where that is not the judge's own doubt."""
    if last.rejection is not RejectionCode.INDETERMINATE:
        return ""
    return next((str(each.cause) for each in last.judgements if each.cause is not None), "")


def _result(judgement: Judgement) -> TransitionAnswer:
    return TransitionAnswer(judgement.transition, judgement.checked, judgement.rationale, judgement.missing, judgement.note)


def question_for(
    worker: str, definition: Flow, instance: Instance, attempt: Attempt, captured: CapturedLog, *, number: int, aside: tuple[Aside, ...]
) -> VerificationRequest:
    """Give what a verifier is asked about an attempt."""
    here = definition.state(attempt.state)
    step = next_of(here, attempt.parts)
    asked = step.transitions if isinstance(step, Ask) else ()
    return VerificationRequest(
        worker=worker,
        attempt=attempt.id,
        attempt_number=number,
        flow=definition.name,
        state=here.id,
        visit=attempt.visit,
        instructions=here.instructions,
        reason=attempt.reason,
        questions=tuple(Question(each.id, each.target, each.condition, each.synthetic) for each in here.transitions if each.id in asked),
        captured=captured,
        aside=aside,
        inputs=tuple(Assigned(name, value) for name, value in instance.inputs.items()),
        variables=tuple(instance.variables.values()),
        parts=attempt.parts,
        checks=step.checks if isinstance(step, Run) else (),
    )
