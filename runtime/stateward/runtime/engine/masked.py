"""What comes in, without the secrets that are known: before anything is decided on it, digested, sealed, stored or told.

Invariant: citations and what a judge was shown are masked alike, so what resolved still resolves.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import assert_never

from stateward.compiler.predicates.schema import DEPTH_MAX
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
        case FlowSegment(inputs=inputs):
            return replace(segment, inputs=values_without(secrets, inputs)) if inputs else segment


def values_without(secrets: Secrets, values: Mapping[str, object]) -> dict[str, object]:
    """Give values of inputs or variables without secrets; names of fields are masked too."""
    return {secrets.mask(name): _value(secrets, value, DEPTH_MAX + 1) for name, value in values.items()}


def _value(secrets: Secrets, value: object, depth: int) -> object:
    """Mask the texts of a value; what is nested deeper than any value may be is left out, and refused for that."""
    match value:
        case str():
            return secrets.mask(value)
        case list() if depth:
            return [_value(secrets, each, depth - 1) for each in value]
        case dict() if depth:
            return {secrets.mask(str(name)): _value(secrets, each, depth - 1) for name, each in value.items()}
        case list() | dict():
            return None
        case _:
            return value


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
