"""Judgements for tests."""

from collections.abc import Mapping

from stateward.compiler.flow.definition import CompiledFlowDefinition
from stateward.runtime.core.events import Citation, Judgement, Verdict

MET, NOT_MET, INDETERMINATE = Verdict.MET, Verdict.NOT_MET, Verdict.INDETERMINATE


def judgement(transition: str, verdict: Verdict, *, citations: tuple[Citation, ...] = ()) -> Judgement:
    """Make a consistent judgement."""
    missing = ("a record of it",) if verdict is Verdict.NOT_MET else ()
    return Judgement(transition, verdict, verdict, f"It is {verdict}.", missing, citations)


def judgements(definition: CompiledFlowDefinition, state: str, given: Mapping[str, Verdict]) -> tuple[Judgement, ...]:
    """Judge every transition of a state; those not given are `not_met`."""
    return tuple(judgement(each.id, given.get(each.id, NOT_MET)) for each in definition.state(state).transitions)
