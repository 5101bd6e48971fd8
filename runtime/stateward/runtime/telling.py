"""What an agent is told of its Worker, in words: the same words through every surface.

Invariants: pure; texts of authors, workers and judges stand in it byte for byte and are marked off from ours, so that none of them can pass
for a line of ours: one that is a line ends with its line, any other stands between two lines of `~`, more of them in a row than it holds;
"could not check" is told as such, and never as a no; nothing is said that the value does not hold.
"""

import json
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, assert_never

from stateward.runtime.core.events import Verdict
from stateward.runtime.core.instance import AttemptStatus
from stateward.runtime.core.refusal import Refusal
from stateward.runtime.ports.work import FlowStanding, Standing, ValueShown, WayOut
from stateward.runtime.session.answers import Answer, TransitionAnswer

if TYPE_CHECKING:
    from stateward.runtime.ports import Asked, Written

_VERDICTS: Final = {Verdict.MET: "met", Verdict.NOT_MET: "not met", Verdict.INDETERMINATE: "could not check"}
HOW_TO_LEAVE: Final = (
    "To leave the state, ask for a transition with a reason. The reason is a claim: an independent verifier reads the session and the "
    "work, and decides for each way out whether its condition is met. Nobody names the way; there is no other way to leave."
)
GUARDS: Final = (
    "A guard reads variables, inputs and counts of visits, and is evaluated when a transition is asked for: set what it reads before. What "
    "guards decide alone is answered at once."
)
VALUE_CHARACTERS_MAX: Final = 8 * 1024
"""Told of one value; a longer one is cut, and that is said."""
MARKS: Final = "What stands between two lines of `~` is the text of an author, a worker or a judge, whatever it says."
_MARK: Final = "~"
_MARKS_MIN: Final = 3


def marked(label: str, text: str, *, always: bool = False) -> str:
    """Give a foreign text behind a label of ours, marked off where it is not one line of what can be seen, or in any case."""
    if text.isprintable() and not always:
        return f"{label} {text}"
    longest = max(map(len, re.findall(f"{_MARK}+", text)), default=0)
    marks = _MARK * max(_MARKS_MIN, longest + 1)
    return f"{label}\n{marks}\n{text}\n{marks}"


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
        yield from _variables(flow)
        yield "\n".join(["Ways out:", *(line for each in flow.ways for line in _way(each))])
        yield from _hindrances(standing, flow)
        if flow.last is not None:
            yield "\n".join(["Asked last:", *_answer(flow.last)])
        own = any(each.when or each.checks or each.otherwise for each in flow.ways)
        yield " ".join([HOW_TO_LEAVE, *([GUARDS] if own else []), MARKS])


def _way(way: WayOut) -> Iterator[str]:
    """Say when a way out is taken: what is found out by itself, and what a verifier is asked."""
    head = f"- `{way.transition}` leads to `{way.target}`, when:"
    if not (way.when or way.checks or way.otherwise):
        yield marked(head, way.condition)
        return
    yield head
    if way.when:
        yield marked("  - this guard holds:", way.when)
    if way.checks:
        yield marked("  - what the host runs for it passes:", ", ".join(way.checks))
    if way.otherwise:
        yield "  - no other way out is met"
    if way.condition:
        yield marked("  - a verifier finds that:", way.condition)


def _variables(flow: FlowStanding) -> Iterator[str]:
    if flow.reads:
        yield "\n".join(["Variables of this state:", *map(_value, flow.reads)])
    if flow.writes:
        may = (marked(f"- `{each.name}`, which must be:", each.constraint) for each in flow.writes)
        yield "\n".join(["Variables that may be set here, all that are named at once or none:", *may])


def _value(shown: ValueShown) -> str:
    if not shown.is_set:
        return f"- `{shown.name}` was not set"
    text = json.dumps(shown.holds, ensure_ascii=False)
    if len(text) <= VALUE_CHARACTERS_MAX:
        return marked(f"- `{shown.name}` holds:", text)
    return marked(f"- `{shown.name}` holds {len(text)} characters, of which these are the first:", text[:VALUE_CHARACTERS_MAX])


def _instructions(flow: FlowStanding) -> Iterator[str]:
    if flow.instructions.strip():
        yield marked("Instructions of the state:", flow.instructions, always=True)


def _hindrances(standing: Standing, flow: FlowStanding) -> Iterator[str]:
    if standing.read_only:
        yield marked("Nothing can be written to this Worker:", standing.read_only)
    if flow.paused:
        yield "Requests are refused until an operator resumes the Worker.\n" + marked("It is paused by", flow.paused)
    if flow.halted:
        yield "The flow is halted: requests are refused until an operator resumes or rewinds it.\n" + marked("Why:", flow.halted)
    if flow.held:
        yield "The Worker is held; new evidence or an operator frees it.\n" + marked("Why:", flow.held)
    if flow.open is not None:
        yield marked(f"Attempt {flow.open.attempt} is open; its reason is:", flow.open.reason)


def asked_told(asked: "Asked") -> str:
    """Say what came of a request."""
    return "\n".join(_asked(asked))


def _asked(asked: "Asked") -> Iterator[str]:
    from stateward.runtime.ports.asking import Answered, InProgress, Waiting  # noqa: PLC0415 -- a hook asks for nothing

    match asked:
        case Answered(answer=answer, repeated=repeated):
            if repeated:
                yield "This was judged before, and nothing that counts was recorded since. The answer was:"
            yield from _answer(answer)
        case InProgress(attempt=attempt, reason=reason, judged=judged):
            yield marked(f"Verifying: attempt {attempt} is being judged on the log up to {judged}. Its reason is:", reason)
            yield "Ask again with the same reason to wait for the answer; it is not judged twice."
        case Waiting(attempt=attempt, reason=reason, continued=continued):
            yield f"Waiting: attempt {attempt} {'was asked before and ' if continued else ''}waits for a person to judge it."
            yield marked("Its reason is:", reason)
        case Refusal():
            yield from refusal_lines(asked)
        case _:
            assert_never(asked)


def written_told(written: "Written | Refusal") -> str:
    """Say what came of setting variables."""
    if isinstance(written, Refusal):
        return refusal_told(written)
    names = ", ".join(f"`{each}`" for each in written.names)
    return f"Set {names} in entry {written.entry}." if written.entry else f"Nothing was written: this visit had set {names} to that before."


def refusal_told(refusal: Refusal) -> str:
    """Say what was refused and what may be done instead."""
    return "\n".join(refusal_lines(refusal))


def refusal_lines(refusal: Refusal) -> Iterator[str]:
    """Say what was refused and what may be done instead, line by line."""
    yield marked(f"Refused ({refusal.code}):", f"{refusal.message}.")
    yield from (marked("- Instead:", each) for each in refusal.allowed)


def _answer(answer: Answer) -> Iterator[str]:
    if answer.outcome is AttemptStatus.ENTERED:
        now = f"in state `{answer.state}` now (visit {answer.visit}, {answer.status})"
        yield f"Transition `{answer.transition}` was taken. The flow is {now}."
        if answer.instructions.strip():
            yield "\n" + marked("Instructions of the state:", answer.instructions, always=True)
        return
    yield marked(f"The flow stays in state `{answer.state}`:", f"{answer.message}.")
    yield marked("Judged was the reason:", answer.reason)
    if answer.cause:
        yield f"Could not check: {answer.cause}."
    for each in answer.results:
        yield from _result(each)


def _result(result: TransitionAnswer) -> Iterator[str]:
    yield marked(f"- `{result.transition}`: {_VERDICTS[result.verdict]}.", result.rationale)
    yield from (marked("  - missing:", each) for each in result.missing)
    if result.note:
        yield marked("  - note:", result.note)
