"""The answers file of a scripted run: what is asked, and what the judge is to say to it.

    {"requests": [{"reason": "…", "set": {"bugs": false},
                   "verdicts": {"ready": "met", "bad": {"verdict": "not_met", "rationale": "…", "missing": ["…"]}}}]}

Invariants: the k-th request answers the instance's k-th attempt, so that a run that is resumed needs no cursor beside the log; a member
that is not known is refused; the file is bounded. It is data: nothing in it is looked up or expanded.
"""

from itertools import pairwise
from pathlib import Path
from typing import Annotated, Final, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, JsonValue, ValidationError, model_validator

from stateward.runtime.core import limits
from stateward.runtime.core.events import Verdict
from stateward.runtime.core.texts import is_blank, shown, size_of
from stateward.runtime.session.strict import Malformed, parse

ANSWERS_BYTES_MAX: Final = 1024 * 1024
REQUESTS_MAX: Final = 1000
UNSAID: Final = "what the answers file does not say"
"""Is missing where a verdict is `not_met` and nothing more."""
_WORDING: Final = {
    "dict_type": "it should be an object",
    "enum": "it should be `met`, `not_met` or `indeterminate`",
    "extra_forbidden": "no such member is known",
    "missing": "it is not there",
    "model_type": "it should be an object",
    "string_type": "it should be a text",
    "tuple_type": "it should be a list",
}
"""What pydantic calls by the names of its own and our types."""


class AnswersProblem(ValueError):
    """An answers file that cannot be used. `message` is one line, `remedy` the one thing to do."""

    def __init__(self, message: str, remedy: str) -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy


class _Closed(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ScriptedVerdict(_Closed):
    """A verdict in full."""

    verdict: Verdict
    rationale: str = "as scripted"
    missing: tuple[str, ...] = ()
    citations: tuple[str, ...] = ()
    """References of entries: `E00000042`."""


def _in_full(value: object) -> object:
    """Read a verdict that is given as one word."""
    if not isinstance(value, str):
        return value
    return {"verdict": value, "missing": [UNSAID] if value == Verdict.NOT_MET else []}


class ScriptedRequest(_Closed):
    """A reason to give, and the verdicts to give on it; a transition that is left out is `not_met`."""

    reason: str
    set: dict[str, JsonValue] = Field(default_factory=dict)
    """The variables that are set before the request."""
    verdicts: dict[str, Annotated[ScriptedVerdict, BeforeValidator(_in_full)]] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _has_a_reason(self) -> Self:
        if is_blank(self.reason):
            raise ValueError("the reason is blank")
        if size_of(self.reason.strip()) > limits.REASON_BYTES_MAX:
            raise ValueError(f"the reason is over the limit of {limits.REASON_BYTES_MAX} bytes")
        return self


class AnswersFile(_Closed):
    """The whole file."""

    requests: Annotated[tuple[ScriptedRequest, ...], Field(max_length=REQUESTS_MAX)]

    @model_validator(mode="after")
    def _asks_anew_each_time(self) -> Self:
        reasons = [each.reason.strip() for each in self.requests]
        for number, (one, other) in enumerate(pairwise(reasons), start=1):
            if one == other:
                raise ValueError(f"requests {number} and {number + 1} have the same reason, so the second would repeat the first's answer")
        return self


def read_answers(path: Path) -> AnswersFile:
    """Read an answers file. Raises AnswersProblem."""
    named = shown(str(path), limits.PATH_BYTES_MAX)
    try:
        with path.open("rb") as file:
            data = file.read(ANSWERS_BYTES_MAX + 1)
    except OSError as problem:
        raise AnswersProblem(f"answers file {named} cannot be read: {problem.strerror}", "name a file that can be read") from problem
    if len(data) > ANSWERS_BYTES_MAX:
        raise AnswersProblem(f"answers file {named} is over the limit of {ANSWERS_BYTES_MAX} bytes", "split the run")
    return parse_answers(data, named)


def parse_answers(data: bytes, named: str) -> AnswersFile:
    """Read the bytes of an answers file; `named` is how messages call it. Raises AnswersProblem."""
    try:
        return AnswersFile.model_validate(parse(data))
    except Malformed as problem:
        raise AnswersProblem(f"answers file {named} is not usable: {problem}", "write it as one JSON object") from problem
    except ValidationError as problem:
        first = problem.errors(include_url=False, include_input=False)[0]
        what = _WORDING.get(first["type"]) or first["msg"].removeprefix("Value error, ")
        where = shown(".".join(map(str, first["loc"]))) if first["loc"] else "its root"
        message = f"answers file {named} is not usable at {where}: {what[:1].lower()}{what[1:]}"
        raise AnswersProblem(message, "mend that place in the file") from problem
