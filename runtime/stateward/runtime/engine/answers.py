"""What a worker is told, made of the state that the events of its answer lead to; and what a verifier is asked.

Invariants: made before the commit and stored with it, so that what is told later is what was told first; instructions, conditions and
reasons are byte for byte those of the pinned definition and of the worker.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, assert_never

from stateward.runtime.core.events import Assigned, Judgement, Part, PartKind, RejectionCode, Verdict
from stateward.runtime.core.flow import Flow, State, Transition, is_plain
from stateward.runtime.core.instance import Aside, Attempt, AttemptStatus, Instance, Resolution, hold_message
from stateward.runtime.core.selecting import Ask, Run, next_of, settled_parts, together
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
        judged=reference(last.attempt.shown),
        state=instance.state,
        visit=instance.visit,
        status=instance.status,
        instructions=definition.state(instance.state).instructions if entered else "",
        transition=last.transition,
        results=() if entered else results_of(definition.state(last.attempt.state), last),
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


def results_of(here: State, last: Resolution) -> tuple[TransitionAnswer, ...]:
    """Say for each way out of a state what came of a request to leave it; nothing where nothing was found or judged."""
    judged = {each.transition: each for each in last.judgements}
    if is_plain(here):
        return tuple(map(_result, last.judgements))
    if last.status not in {AttemptStatus.REJECTED, AttemptStatus.FAILED}:
        return ()
    settled = settled_parts(here, last.attempt.parts)
    return tuple(
        _parts_result(each, last.attempt.parts, settled.get(each.id, Verdict.MET), judged.get(each.id))
        for each in here.transitions
        if not each.synthetic or each.id in judged
    )


def _result(judgement: Judgement) -> TransitionAnswer:
    return TransitionAnswer(judgement.transition, judgement.checked, judgement.rationale, judgement.missing, judgement.note)


def _parts_result(way: Transition, parts: Sequence[Part], settled: Verdict, judged: Judgement | None) -> TransitionAnswer:
    """Put together what the runtime found of a way out and what a verifier says of it."""
    said: list[str] = []
    missing: list[str] = []
    notes: list[str] = []
    for part in parts:
        if part.transition == way.id:
            said.append(_part_said(part))
            missing += _part_missing(way, part)
            notes += [f"check `{part.name}`: see {reference(part.entry)}"] if part.entry else []
    if way.otherwise:
        said.append(_OTHERWISE_SAID[settled])
        missing += [] if settled is Verdict.MET else ["no other transition is met"]
    verdict = settled
    if judged is not None:
        verdict = together((settled, judged.checked))
        said.append(judged.rationale)
        missing += judged.missing
        notes += [judged.note] if judged.note else []
    elif way.condition and settled is Verdict.MET:
        verdict = Verdict.INDETERMINATE
        said.append("its condition was not judged")
    return TransitionAnswer(way.id, verdict, "; ".join(said) or "it was not looked at", tuple(missing), "; ".join(notes))


_OTHERWISE_SAID: Final = {
    Verdict.MET: "no other transition is met",
    Verdict.NOT_MET: "another transition may be met",
    Verdict.INDETERMINATE: "it cannot be told that no other transition is met",
}
_GUARD_SAID: Final = {
    Verdict.MET: "its guard holds",
    Verdict.NOT_MET: "its guard does not hold",
    Verdict.INDETERMINATE: "its guard cannot be told",
}
_CHECK_SAID: Final = {Verdict.MET: "passed", Verdict.NOT_MET: "failed", Verdict.INDETERMINATE: "could not be run to an answer"}


def _part_said(part: Part) -> str:
    return _GUARD_SAID[part.verdict] if part.kind is PartKind.WHEN else f"check `{part.name}` {_CHECK_SAID[part.verdict]}"


def _part_missing(way: Transition, part: Part) -> Iterator[str]:
    """Say what would turn a part into one that is met."""
    if part.verdict is Verdict.MET:
        return
    if part.kind is PartKind.CHECK:
        yield "\n".join((f"check `{part.name}`: {part.missing[0] if part.missing else part.verdict}", *part.missing[1:]))
    elif part.verdict is Verdict.INDETERMINATE:
        yield from (f"`{each}` is not known" for each in part.missing)
    elif way.guard is not None:
        from stateward.compiler.predicates.text import guard_text  # noqa: PLC0415 - most flows have no guards

        yield f"`{guard_text(way.guard)}`"


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
