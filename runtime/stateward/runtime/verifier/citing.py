"""Whether what a judge cites bears its verdict: every citation of a `met` resolves, and one at least is evidence that counts.

Invariants: only a `met` can be at fault here, for citations are optional elsewhere; nothing makes a verdict stronger. The exit status of
a command that may hide a failure is no evidence for a condition that asks for an exit status, and evidence like any other elsewhere.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from stateward.runtime.core.events import Citation, EntryCitation, FileCitation, Judgement, Verdict
from stateward.runtime.core.texts import shown
from stateward.runtime.ports import Question
from stateward.runtime.session.evidence import ADMISSIBLE, EvidenceClass
from stateward.runtime.verifier.ledger import Ledger, Resolution, Resolved, Unresolvable

_ASKS_FOR_STATUS: Final = re.compile(
    r"\b(?:exit|return)(?:s|ed|ing)?[ -](?:status|code|value|with|0|zero)\b|\b(?:status|code)(?: of)? (?:0|zero)\b", re.IGNORECASE
)


def citing_faults(judgements: Sequence[Judgement], questions: Sequence[Question], ledger: Ledger) -> tuple[str, ...]:
    """Say what is wrong with the citations of each `met`, in order."""
    conditions = {each.transition: each.condition for each in questions}
    met = (each for each in judgements if each.verdict is Verdict.MET)
    return tuple(fault for each in met for fault in _faults(each, conditions.get(each.transition, ""), ledger))


def resolved(judgements: Sequence[Judgement], questions: Sequence[Question], ledger: Ledger) -> frozenset[Citation]:
    """Give the citations that name what was shown, but for statuses on which a `met` rests and cannot."""
    conditions = {each.transition: each.condition for each in questions}
    cited = {each for judgement in judgements for each in judgement.citations if isinstance(ledger.resolve(each), Resolved)}
    return frozenset(cited - {each for judgement in judgements for each in _masked(judgement, conditions, ledger)})


def asks_for_status(condition: str) -> bool:
    """Tell whether a condition asks for the exit status of a command."""
    return _ASKS_FOR_STATUS.search(condition) is not None


def _masked(judgement: Judgement, conditions: dict[str, str], ledger: Ledger) -> Iterator[Citation]:
    """Give the citations of a `met` that rests on masked statuses alone, and so cannot stand."""
    condition = conditions.get(judgement.transition, "")
    found = [(each, ledger.resolve(each)) for each in judgement.citations]
    if judgement.verdict is Verdict.MET and not any(_counts(why, condition) for _, why in found):
        yield from (each for each, why in found if isinstance(why, Resolved) and why.masked)


def _faults(judgement: Judgement, condition: str, ledger: Ledger) -> Iterator[str]:
    subject = f"the result for `{judgement.transition}` is `met` and"
    found = [(each, ledger.resolve(each)) for each in judgement.citations]
    broken = [(each, why) for each, why in found if isinstance(why, Unresolvable)]
    yield from (f"{subject} cites {_named(each)}, but {why.reason}{_help(why)}" for each, why in broken)
    if not found:
        yield f"{subject} cites nothing"
    elif not broken and not any(_counts(why, condition) for _, why in found):
        yield f"{subject} cites nothing that counts: {'; '.join(_why_not(each, why) for each, why in found)}"


def _help(why: Unresolvable) -> str:
    return f" ({why.help})" if why.help else ""


def _counts(found: Resolution, condition: str) -> bool:
    return isinstance(found, Resolved) and found.evidence in ADMISSIBLE and not (found.masked and asks_for_status(condition))


def _why_not(citation: Citation, found: Resolution) -> str:
    assert isinstance(found, Resolved)  # what does not resolve is told before
    if found.evidence is EvidenceClass.CLAIM:
        return f"{_named(citation)} is a claim"
    if found.evidence in ADMISSIBLE:
        return f"the exit status in {_named(citation)} may be masked, for {found.masked}"
    return f"{_named(citation)} is of class `{found.evidence}`"


def _named(citation: Citation) -> str:
    match citation:
        case EntryCitation(entry):
            return shown(entry)
        case FileCitation(path=path, first_line=first, last_line=last):
            return f"{shown(path)}, lines {first} to {last}"
