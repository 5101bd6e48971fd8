"""A flow that is walked without a Worker: the pure core decides, and nothing is stored.

Invariants: what comes of verdicts is what the core decides of them, so that a trial moves exactly where a Worker would; each request
counts as made on new evidence, so that no trial is held. A trial is a value: asking gives another one, and the old one can be gone on from.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, Self

from stateward.compiler.flow.canonical import canonical_bytes
from stateward.compiler.flow.definition import CompiledFlowDefinition, CompiledState
from stateward.runtime.core.decide import Decided, Judged, Report, Request, Start, decide
from stateward.runtime.core.events import (
    EventId,
    Judgement,
    Recorded,
    RejectionCode,
    Status,
    TransitionCheckPassed,
    TransitionCheckRejected,
    Verdict,
)
from stateward.runtime.core.instance import NOTHING_YET, FlowState, Instance, Pin
from stateward.runtime.core.replay import advance
from stateward.runtime.session.chain import digest_of

_RATIONALE: Final = "as the trial says"
_MISSING: Final = "what the trial does not say"
_INSTANCE: Final = "trial"


@dataclass(frozen=True, slots=True)
class Moved:
    """A transition was taken."""

    transition: str
    state: str
    """The state that was entered."""


@dataclass(frozen=True, slots=True)
class Stayed:
    """No transition was taken."""

    code: RejectionCode
    message: str


@dataclass(frozen=True, slots=True)
class Trial:
    """A flow somewhere on its way."""

    definition: CompiledFlowDefinition
    flow: FlowState
    seq: int = 1
    """The number of the last entry, had there been a log."""

    @property
    def instance(self) -> Instance:
        """Give the instance that is walked."""
        assert self.flow.instance is not None  # a trial begins with one
        return self.flow.instance

    @property
    def state(self) -> CompiledState:
        """Give the state it is in."""
        return self.definition.state(self.instance.state)

    @property
    def is_over(self) -> bool:
        """Whether an end was entered."""
        return self.instance.status is not Status.ACTIVE

    def ask(self, verdicts: Mapping[str, Verdict], reason: str = "") -> tuple[Self, Moved | Stayed]:
        """Request to leave the state, and let these be the verdicts; a transition that is left out is `not_met`.

        Raises ValueError for the id of a transition that the state does not have, or when the flow has ended.
        """
        unknown = verdicts.keys() - {each.id for each in self.state.transitions}
        if unknown or self.is_over:
            raise ValueError(f"state `{self.state.id}` has no transition `{min(unknown, default='')}`")
        attempt = f"attempt-{self.seq}"
        asked = self._after(Request(attempt, reason.strip() or f"request {self.seq}", evidence=self.seq))
        judgements = tuple(_judgement(each.id, verdicts.get(each.id, Verdict.NOT_MET)) for each in self.state.transitions)
        decided = decide(self.definition, asked.flow, Report(attempt, Judged(judgements), evidence=self.seq))
        assert isinstance(decided, Decided)  # the attempt was opened just now
        after = asked._recorded(decided)  # noqa: SLF001 -- of this class
        for event in decided.events:
            match event:
                case TransitionCheckPassed(transition=transition):
                    return after, Moved(transition, after.instance.state)
                case TransitionCheckRejected(code=code, message=message):
                    return after, Stayed(code, message)
                case _:
                    pass
        raise AssertionError("a report is ruled on")

    def _after(self, command: Request | Start) -> Self:
        decided = decide(self.definition, self.flow, command)
        assert isinstance(decided, Decided), decided  # nothing else asks
        return self._recorded(decided)

    def _recorded(self, decided: Decided) -> Self:
        seq = self.seq + 1
        record = tuple(Recorded(EventId(seq, index), event) for index, event in enumerate(decided.events))
        return replace(self, flow=advance(self.flow, record, {self._digest: self.definition}, frozenset()), seq=seq)

    @property
    def _digest(self) -> str:
        return _digest_of(self.definition) if self.flow.instance is None else self.instance.pin.definition_digest


def begin(definition: CompiledFlowDefinition) -> Trial:
    """Begin a flow in its initial state."""
    digest = _digest_of(definition)
    pin = Pin(
        workspace="",
        selector=definition.name,
        flow_id=definition.name,
        flow_revision=1,
        content_digest=digest,
        definition_digest=digest,
        chosen_by="person",
    )
    return Trial(definition, NOTHING_YET)._after(Start(_INSTANCE, pin))  # noqa: SLF001 -- this module's own


def _digest_of(definition: CompiledFlowDefinition) -> str:
    return digest_of(canonical_bytes(definition))


def _judgement(transition: str, verdict: Verdict) -> Judgement:
    missing = (_MISSING,) if verdict is Verdict.NOT_MET else ()
    return Judgement(transition, verdict, verdict, _RATIONALE, missing)
