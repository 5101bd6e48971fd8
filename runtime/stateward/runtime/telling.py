"""What an agent is told of its Worker, in words: the same words through every surface.

Invariants: pure; texts of authors, workers and judges stand in it byte for byte and are marked off from ours; "could not check" is told as
such, and never as a no; nothing is said that the value does not hold.
"""

from collections.abc import Iterator
from typing import Final, assert_never

from stateward.runtime.core.events import Verdict
from stateward.runtime.core.instance import AttemptStatus
from stateward.runtime.core.refusal import Refusal
from stateward.runtime.ports import Answered, Asked, FlowStanding, InProgress, Standing, Waiting
from stateward.runtime.session.answers import Answer, TransitionAnswer

_VERDICTS: Final = {Verdict.MET: "met", Verdict.NOT_MET: "not met", Verdict.INDETERMINATE: "could not check"}
HOW_TO_LEAVE: Final = (
    "To leave the state, ask for a transition with a reason. The reason is a claim: an independent verifier reads the session and the "
    "work, and decides for each way out whether its condition is met. Nobody names the way; there is no other way to leave."
)


def standing_told(standing: Standing) -> str:
    """Say where a Worker stands, what is to be done there and how it is left."""
    return "\n\n".join(_standing(standing))


def _standing(standing: Standing) -> Iterator[str]:
    flow = standing.flow
    if flow is None:
        yield f"Worker {standing.worker} runs no flow."
    elif not standing.is_active:
        yield f"The flow `{flow.name}` is {flow.status}: it ended in state `{flow.state}`. There is nothing left to ask for."
        yield from _instructions(flow)
    else:
        yield f"Worker {standing.worker} is in state `{flow.state}` (visit {flow.visit}) of flow `{flow.name}`."
        yield from _instructions(flow)
        yield "\n".join(["Ways out:", *(f"- `{each.transition}` leads to `{each.target}`, when: {each.condition}" for each in flow.ways)])
        yield from _hindrances(standing, flow)
        if flow.last is not None:
            yield "\n".join(["Asked last:", *_answer(flow.last)])
        yield HOW_TO_LEAVE


def _instructions(flow: FlowStanding) -> Iterator[str]:
    if flow.instructions.strip():
        yield f"Instructions of the state:\n{flow.instructions}"


def _hindrances(standing: Standing, flow: FlowStanding) -> Iterator[str]:
    if standing.read_only:
        yield f"Nothing can be written to this Worker: {standing.read_only}"
    if flow.paused:
        yield f"The Worker is paused by {flow.paused}; requests are refused until an operator resumes it."
    if flow.held:
        yield f"The Worker is held: {flow.held}. New evidence or an operator frees it."
    if flow.open is not None:
        yield f"Attempt {flow.open.attempt} is open; its reason is: {flow.open.reason}"


def asked_told(asked: Asked) -> str:
    """Say what came of a request."""
    return "\n".join(_asked(asked))


def _asked(asked: Asked) -> Iterator[str]:
    match asked:
        case Answered(answer=answer, repeated=repeated):
            if repeated:
                yield "This was judged before, and nothing that counts was recorded since. The answer was:"
            yield from _answer(answer)
        case InProgress(attempt=attempt, reason=reason, judged=judged):
            yield f"Verifying: attempt {attempt} is being judged on the log up to {judged}. Its reason is: {reason}"
            yield "Ask again with the same reason to wait for the answer; it is not judged twice."
        case Waiting(attempt=attempt, reason=reason, continued=continued):
            yield f"Waiting: attempt {attempt} {'was asked before and ' if continued else ''}waits for a person to judge it."
            yield f"Its reason is: {reason}"
        case Refusal():
            yield from refusal_lines(asked)
        case _:
            assert_never(asked)


def refusal_told(refusal: Refusal) -> str:
    """Say what was refused and what may be done instead."""
    return "\n".join(refusal_lines(refusal))


def refusal_lines(refusal: Refusal) -> Iterator[str]:
    """Say what was refused and what may be done instead, line by line."""
    yield f"Refused ({refusal.code}): {refusal.message}."
    yield from (f"- Instead: {each}" for each in refusal.allowed)


def _answer(answer: Answer) -> Iterator[str]:
    if answer.outcome is AttemptStatus.ENTERED:
        now = f"in state `{answer.state}` now (visit {answer.visit}, {answer.status})"
        yield f"Transition `{answer.transition}` was taken. The flow is {now}."
        if answer.instructions.strip():
            yield f"\nInstructions of the state:\n{answer.instructions}"
        return
    yield f"The flow stays in state `{answer.state}`: {answer.message}."
    yield f"Judged was the reason: {answer.reason}"
    if answer.cause:
        yield f"Could not check: {answer.cause}."
    for each in answer.results:
        yield from _result(each)


def _result(result: TransitionAnswer) -> Iterator[str]:
    yield f"- `{result.transition}`: {_VERDICTS[result.verdict]}. {result.rationale}"
    yield from (f"  - missing: {each}" for each in result.missing)
    if result.note:
        yield f"  - note: {result.note}"
