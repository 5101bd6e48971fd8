"""What the runtime makes of a verifier's results: the one place that says which transition, if any, is taken.

Invariants: exactly one result for each transition of the state, or none counts; ambiguity is judged on the verdicts as they were
given, so that weakening one of them never lets another through; a citation that does not resolve can only weaken, and where evidence is
asked for, a `met` that cites none that counts is weakened, too.
"""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import TypeAlias

from stateward.runtime.core import limits
from stateward.runtime.core.events import Citation, EntryCitation, FailureCause, FileCitation, Judgement, Part, RejectionCode, Verdict
from stateward.runtime.core.flow import State, Transition
from stateward.runtime.core.selecting import FIRST, Ask, multiple_message, next_of, settled_parts, together
from stateward.runtime.core.texts import is_blank, listed, shown, size_of


@dataclass(frozen=True, slots=True)
class Passed:
    """Exactly one condition is met."""

    transition: str
    judgements: tuple[Judgement, ...]
    """In order of declaration, checked."""


@dataclass(frozen=True, slots=True)
class Rejected:
    """No transition is taken."""

    code: RejectionCode
    message: str
    judgements: tuple[Judgement, ...] = ()
    """In order of declaration, checked; none when the output itself is at fault."""


Ruling: TypeAlias = Passed | Rejected


def rule(
    state: State,
    given: Sequence[Judgement],
    unresolved: Set[Citation],
    counting: Set[Citation] | None = None,
    parts: Sequence[Part] = (),
) -> Ruling:
    """Rule on the results of one verification.

    `unresolved` are the citations that name nothing that was captured, `counting` those that name evidence that counts, of which a `met`
    needs one; None where it needs none, since a person's answer is evidence itself. `parts` are what the runtime found by itself.
    """
    fault = output_fault(asked_of(state, parts), given)
    if fault is not None:
        return Rejected(RejectionCode.INVALID_VERIFIER_OUTPUT, fault)
    return _ruled(state, tuple(_checked(each, unresolved, counting) for each in given), parts)


def rule_again(state: State, checked: Sequence[Judgement], parts: Sequence[Part] = ()) -> Ruling:
    """Rule on results that were checked when they were recorded."""
    fault = output_fault(asked_of(state, parts), checked)
    return _ruled(state, checked, parts) if fault is None else Rejected(RejectionCode.INVALID_VERIFIER_OUTPUT, fault)


def asked_of(state: State, parts: Sequence[Part]) -> tuple[str, ...]:
    """Give the transitions of which a verifier is asked; none where the runtime decides by itself."""
    step = next_of(state, parts)
    return step.transitions if isinstance(step, Ask) else ()


def _ruled(state: State, checked: Sequence[Judgement], parts: Sequence[Part]) -> Ruling:
    by_id = {each.transition: each for each in checked}
    judgements = tuple(by_id[each.id] for each in state.transitions if each.id in by_id)
    settled = settled_parts(state, parts)
    looks = tuple(_seen(each, by_id.get(each.id), settled) for each in state.transitions)
    return _first(looks, judgements) if state.select == FIRST else _exclusive(looks, judgements)


@dataclass(frozen=True, slots=True)
class _Seen:
    """All that is known of a transition."""

    id: str
    given: Verdict
    """With the verdict as it was given."""
    checked: Verdict
    """With the verdict after its citations were checked."""


def _seen(transition: Transition, judged: Judgement | None, found: Mapping[str, Verdict]) -> _Seen:
    """Put together what the runtime found and what a verifier says; nobody is asked of the synthetic one where it cannot be taken."""
    settled = found.get(transition.id, Verdict.MET if judged is not None else Verdict.NOT_MET)
    if judged is None:
        return _Seen(transition.id, settled, settled)
    return _Seen(transition.id, together((settled, judged.verdict)), together((settled, judged.checked)))


def _exclusive(looks: Sequence[_Seen], judgements: tuple[Judgement, ...]) -> Ruling:
    met = [each for each in looks if each.given is Verdict.MET]
    if len(met) > 1:
        return Rejected(RejectionCode.MULTIPLE_CONDITIONS_MET, multiple_message(tuple(each.id for each in met)), judgements)
    if met and met[0].checked is Verdict.MET:
        return Passed(met[0].id, judgements)
    return _none_met(looks, judgements)


def _first(looks: Sequence[_Seen], judgements: tuple[Judgement, ...]) -> Ruling:
    """Take the first that is met, where all before it are certainly not."""
    for each in looks:
        if each.checked is Verdict.MET:
            return Passed(each.id, judgements)
        if each.checked is Verdict.INDETERMINATE:
            return Rejected(RejectionCode.INDETERMINATE, f"could not check {listed((each.id,))}", judgements)
    return _none_met(looks, judgements)


def _none_met(looks: Sequence[_Seen], judgements: tuple[Judgement, ...]) -> Rejected:
    unclear = tuple(each.id for each in looks if each.checked is Verdict.INDETERMINATE)
    if unclear:
        return Rejected(RejectionCode.INDETERMINATE, f"no condition is met; could not check {listed(unclear)}", judgements)
    return Rejected(RejectionCode.NO_CONDITION_MET, "no condition is met", judgements)


def output_fault(transitions: Sequence[str], given: Sequence[Judgement]) -> str | None:
    """Say what is wrong with a verifier's results for these transitions; None when they can be ruled on."""
    if len(given) > limits.RESULTS_MAX:
        return f"{len(given)} results are over the limit of {limits.RESULTS_MAX}"
    unknown = next((each.transition for each in given if each.transition not in transitions), None)
    if unknown is not None:
        return f"a result names {shown(unknown)}, which is none of {listed(tuple(transitions))}"
    answered = [each.transition for each in given]
    for transition in transitions:
        count = answered.count(transition)
        if count != 1:
            return f"there are {count} results for `{transition}`" if count else f"there is no result for `{transition}`"
    if sum(map(_size_of, given)) > limits.RESULTS_BYTES_MAX:
        return f"the results are over the limit of {limits.RESULTS_BYTES_MAX} bytes"
    return next((f"the result for `{each.transition}` {fault}" for each in given if (fault := result_fault(each))), None)


def result_fault(given: Judgement) -> str | None:
    """Say what is wrong with one result by itself, as what follows "the result …"; None when nothing is."""
    if is_blank(given.rationale):
        return "has a blank rationale"
    if any(map(is_blank, given.missing)):
        return "names a blank thing as missing"
    if given.verdict is Verdict.MET and given.missing:
        return "says `met` and that something is missing"
    if given.verdict is Verdict.NOT_MET and not given.missing:
        return "says `not_met` and names nothing that is missing"
    return _over_a_limit(given)


def _over_a_limit(given: Judgement) -> str | None:
    if size_of(given.rationale) > limits.RATIONALE_BYTES_MAX:
        return f"has a rationale over the limit of {limits.RATIONALE_BYTES_MAX} bytes"
    if len(given.missing) > limits.MISSING_MAX:
        return f"names more than {limits.MISSING_MAX} missing things"
    if any(size_of(each) > limits.MISSING_BYTES_MAX for each in given.missing):
        return f"names a missing thing over the limit of {limits.MISSING_BYTES_MAX} bytes"
    if len(given.citations) > limits.CITATIONS_MAX:
        return f"has more than {limits.CITATIONS_MAX} citations"
    return next((fault for each in given.citations if (fault := _citation_fault(each))), None)


def _citation_fault(citation: Citation) -> str | None:
    match citation:
        case EntryCitation(entry):
            over = size_of(entry) > limits.REFERENCE_BYTES_MAX
        case FileCitation(path=path, first_line=first, last_line=last, quote=quote):
            if not 1 <= first <= last <= limits.LINES_MAX:
                return "has a citation whose lines are none"
            over = size_of(path) > limits.PATH_BYTES_MAX or size_of(quote) > limits.QUOTE_BYTES_MAX
    return "has a citation over its limit" if over else None


def _size_of(given: Judgement) -> int:
    texts = (given.rationale, *given.missing, *(text for each in given.citations for text in _texts_of(each)))
    return sum(map(size_of, texts))


def _texts_of(citation: Citation) -> tuple[str, ...]:
    match citation:
        case EntryCitation(entry):
            return (entry,)
        case FileCitation(path=path, quote=quote):
            return (path, quote)


def _checked(given: Judgement, unresolved: Set[Citation], counting: Set[Citation] | None) -> Judgement:
    note = _doubt(given, unresolved, counting)
    if not note or given.verdict is not Verdict.MET:
        return replace(given, checked=given.verdict, note=note, cause=None)
    return replace(given, checked=Verdict.INDETERMINATE, note=note, cause=FailureCause.UNVERIFIABLE)


def _doubt(given: Judgement, unresolved: Set[Citation], counting: Set[Citation] | None) -> str:
    broken = next((each for each in given.citations if each in unresolved), None)
    if broken is not None:
        return f"cites {_named(broken)}, which does not resolve"
    if given.verdict is not Verdict.MET or counting is None or any(each in counting for each in given.citations):
        return ""
    return "cites no evidence that counts" if given.citations else "cites no evidence"


def _named(citation: Citation) -> str:
    match citation:
        case EntryCitation(entry):
            return shown(entry)
        case FileCitation(path=path):
            return shown(path)
