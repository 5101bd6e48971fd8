"""What a worker is told about its request. Stored as it was told, so that a repeated request is told the same."""

from typing import Final

from stateward.runtime.core.events import Status, Verdict
from stateward.runtime.core.instance import AttemptStatus
from stateward.runtime.core.values import value
from stateward.runtime.session.strict import COUNT, FLAG, TEXT, Form, choice, optional, record, sequence


@value
class TransitionAnswer:
    """What came of one condition."""

    transition: str
    verdict: Verdict
    """After the check; `indeterminate` is "could not check"."""
    rationale: str
    missing: tuple[str, ...]
    note: str
    """What the runtime has to add: a citation that does not resolve."""


@value
class Answer:
    """What came of a request: the new state and its instructions, or for each transition the verdict and what is missing."""

    attempt: str
    outcome: AttemptStatus
    """`entered`, `rejected`, `cancelled` or `failed`."""
    code: str
    """Why nothing moved: a rejection code, `verifier_cancelled` or `verifier_failed`; empty after a move."""
    cause: str
    """Of `verifier_cancelled` and `verifier_failed`, and of `indeterminate` where the check weakened a verdict; else empty."""
    message: str
    reason: str
    """The reason that was judged."""
    judged: str
    """The last entry of the log that was judged, by its reference."""
    state: str
    visit: int
    status: Status
    """Where the instance is now."""
    instructions: str
    """Of the state that was entered; empty when none was."""
    transition: str | None
    """The one taken."""
    results: tuple[TransitionAnswer, ...]
    """In order of declaration; empty after a move and when there were no verdicts to tell."""
    self_judged: bool
    """Whether the person who judged is the one who asked."""


_RESULT: Final = record(TransitionAnswer, transition=TEXT, verdict=choice(Verdict), rationale=TEXT, missing=sequence(TEXT), note=TEXT)
ANSWER: Final[Form[Answer]] = record(
    Answer,
    attempt=TEXT,
    outcome=choice(AttemptStatus),
    code=TEXT,
    cause=TEXT,
    message=TEXT,
    reason=TEXT,
    judged=TEXT,
    state=TEXT,
    visit=COUNT,
    status=choice(Status),
    instructions=TEXT,
    transition=optional(TEXT),
    results=sequence(_RESULT),
    self_judged=FLAG,
)
