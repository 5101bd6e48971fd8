"""What comes in, without the secrets that are known: before anything is decided on it, digested, sealed, stored or told.

Invariant: citations and what a judge was shown are masked alike, so what resolved still resolves.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import assert_never

from stateward.runtime.core.events import Citation, EntryCitation, FileCitation, Judgement
from stateward.runtime.ports import VerifierAnswered, VerifierCancelled, VerifierFailed, VerifierOutcome
from stateward.runtime.session.masking import Secrets
from stateward.runtime.session.segments import FlowSegment, Segment, TextSegment


def segments_without(secrets: Secrets, segments: Iterable[Segment]) -> tuple[Segment, ...]:
    """Give the segments of an input without secrets."""
    return tuple(_segment(secrets, each) for each in segments)


def _segment(secrets: Secrets, segment: Segment) -> Segment:
    match segment:
        case TextSegment(content):
            return TextSegment(secrets.mask(content))
        case FlowSegment():
            return segment


def outcome_without(secrets: Secrets, outcome: VerifierOutcome) -> VerifierOutcome:
    """Give what a verification came to without secrets."""
    match outcome:
        case VerifierAnswered(judgements=judgements, shown=shown):
            seen = None if shown is None else frozenset(_citation(secrets, each) for each in shown)
            return replace(outcome, judgements=_judgements(secrets, judgements), shown=seen)
        case VerifierFailed(message=message):
            return replace(outcome, message=secrets.mask(message))
        case VerifierCancelled():
            return outcome
    assert_never(outcome)


def _judgements(secrets: Secrets, judgements: Sequence[Judgement]) -> tuple[Judgement, ...]:
    return tuple(
        replace(
            each,
            transition=secrets.mask(each.transition),
            rationale=secrets.mask(each.rationale),
            missing=tuple(map(secrets.mask, each.missing)),
            citations=tuple(_citation(secrets, cited) for cited in each.citations),
        )
        for each in judgements
    )


def _citation(secrets: Secrets, citation: Citation) -> Citation:
    match citation:
        case EntryCitation(entry):
            return EntryCitation(secrets.mask(entry))
        case FileCitation(path=path, quote=quote):
            return replace(citation, path=secrets.mask(path), quote=secrets.mask(quote))
