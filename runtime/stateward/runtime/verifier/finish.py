"""`FinishFlowVerification`: the one call by which a judge answers, and how it is read.

Invariants: exactly one result for each transition that was asked about, by its exact name; a verdict is one of three words; everything
that is wrong is told at once and nothing of such a call is kept; what is read passes the core's check of a verifier's output.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Literal, Self

from pydantic import model_validator

from stateward.runtime.core import limits
from stateward.runtime.core.events import Citation, EntryCitation, FailureCause, FileCitation, Judgement, Verdict
from stateward.runtime.core.judging import output_fault, result_fault
from stateward.runtime.core.texts import listed, shown
from stateward.runtime.ports import Question
from stateward.runtime.session.visible import says_nothing
from stateward.runtime.verifier.arguments import Closed, read_arguments, refused
from stateward.runtime.verifier.contract import judged
from stateward.runtime.verifier.declared import ToolDeclaration, closed_form

_TEXT: Final[Mapping[str, Any]] = {"type": "string"}
_COUNT: Final[Mapping[str, Any]] = {"type": "integer"}


_CITATION: Final = closed_form(
    {
        "entry": {**_TEXT, "description": "The reference of an entry that was read in full, such as E00000042; then nothing else."},
        "path": {**_TEXT, "description": "The path of a file, as it was shown; then with first_line, last_line and quote."},
        "first_line": _COUNT,
        "last_line": _COUNT,
        "quote": {**_TEXT, "description": "The whole text of those lines, exactly as it was shown, without the line numbers."},
    },
    (),
)
_MEMBERS: Final = {
    "transition_id": {**_TEXT, "description": "The name of the transition, exactly."},
    "verdict": {**_TEXT, "enum": [str(each) for each in Verdict]},
    "rationale": {**_TEXT, "description": "Why, in a few sentences, from what was read."},
    "missing": {
        "type": "array",
        "items": _TEXT,
        "description": "What would turn not_met into met, one thing each; at least one for not_met, none for met.",
    },
    "citations": {"type": "array", "items": _CITATION, "description": "What bears the verdict; met needs evidence that counts."},
}
_RESULTS: Final = {"results": {"type": "array", "items": closed_form(_MEMBERS, tuple(_MEMBERS))}}
FINISH: Final = ToolDeclaration(
    "FinishFlowVerification",
    "Give one result for each transition and end the verification. Call it alone, once everything that matters was read.",
    closed_form(_RESULTS, tuple(_RESULTS)),
)


class _Citation(Closed):
    entry: str | None = None
    path: str | None = None
    first_line: int | None = None
    last_line: int | None = None
    quote: str | None = None

    @model_validator(mode="after")
    def _is_one_of_two(self) -> Self:
        if self.entry and not (self.path or self.first_line or self.last_line or self.quote):
            return self
        if self.path and not self.entry and self.first_line and self.last_line and self.quote is not None:
            return self
        raise ValueError("a citation is an entry alone, or a path with first_line, last_line and quote")

    def value(self) -> Citation:
        """Give it as the core knows it."""
        if self.entry:
            return EntryCitation(self.entry)
        return FileCitation(self.path or "", self.first_line or 0, self.last_line or 0, self.quote or "")


class _Result(Closed):
    transition_id: str
    verdict: Literal["met", "not_met", "indeterminate"]
    rationale: str
    missing: list[str]
    citations: list[_Citation]

    def value(self) -> Judgement:
        """Give it as the core knows it."""
        citations = tuple(each.value() for each in self.citations)
        return judged(self.transition_id, Verdict(self.verdict), self.rationale, self.missing, citations)


class _Finish(Closed):
    results: list[_Result]


def parse_finish(arguments: object, questions: Sequence[Question]) -> tuple[Judgement, ...]:
    """Read the results of a call, in the order of the questions. Raises ToolRefused with everything that is wrong with them."""
    given = [each.value() for each in read_arguments(_Finish, arguments).results]
    asked = tuple(each.transition for each in questions)
    faults = (*_faults_of_names(asked, given), *_faults_of_results(given))
    if not faults and (whole := output_fault(asked, given)) is not None:
        faults = (whole,)
    if faults:
        contradicts = len(faults) == sum(map(_contradicts, given))
        raise refused(faults, FailureCause.INCONSISTENT if contradicts else FailureCause.MALFORMED)
    by_name = {each.transition: each for each in given}
    return tuple(by_name[each] for each in asked)


def _contradicts(given: Judgement) -> bool:
    """Tell whether what is wrong with a result is that its verdict and what is missing say two things."""
    if given.verdict is Verdict.INDETERMINATE or any(map(says_nothing, (given.rationale, *given.missing))):
        return False
    return (given.verdict is Verdict.MET) == bool(given.missing)


def _faults_of_names(asked: tuple[str, ...], given: Sequence[Judgement]) -> Iterator[str]:
    if len(given) > limits.RESULTS_MAX:
        yield f"{len(given)} results are over the limit of {limits.RESULTS_MAX}"
        return
    names = [each.transition for each in given]
    for unknown in dict.fromkeys(name for name in names if name not in asked):
        yield f"a result names {shown(unknown)}, which is none of {listed(asked)}"
    for name in asked:
        count = names.count(name)
        if count != 1:
            yield f"there are {count} results for `{name}`" if count else f"there is no result for `{name}`"


def _faults_of_results(given: Sequence[Judgement]) -> Iterator[str]:
    for each in given[: limits.RESULTS_MAX]:
        fault = result_fault(each)
        if fault is None and says_nothing(each.rationale):
            fault = "has a rationale in which nothing can be seen"
        if fault is None and any(map(says_nothing, each.missing)):
            fault = "names a missing thing in which nothing can be seen"
        if fault is not None:
            yield f"the result for {shown(each.transition)} {fault}"
