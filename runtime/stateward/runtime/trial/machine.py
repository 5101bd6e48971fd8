"""A flow that is walked without a Worker: the pure core decides, and nothing is stored.

Invariants: what comes of verdicts, of checks and of variables is what the core decides of them, so that a trial moves exactly where a
Worker would; each request counts as made on new evidence, so that no trial is held. A trial is a value: asking gives another one, and the
old one can be gone on from.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final, Self

from stateward.compiler.flow.canonical import canonical_bytes
from stateward.compiler.flow.definition import CompiledFlowDefinition, CompiledState
from stateward.runtime.core.decide import Command, Decided, Judged, Ran, Report, Request, Start, decide
from stateward.runtime.core.events import (
    Event,
    EventId,
    Judgement,
    Part,
    PartKind,
    Recorded,
    RejectionCode,
    Status,
    TransitionCheckPassed,
    TransitionCheckRejected,
    Verdict,
)
from stateward.runtime.core.instance import NOTHING_YET, FlowState, Instance, Pin
from stateward.runtime.core.refusal import Refusal
from stateward.runtime.core.replay import advance
from stateward.runtime.core.selecting import Ask, Run, next_of
from stateward.runtime.core.writing import Write, taken_inputs
from stateward.runtime.session.chain import digest_of

NONE: Final[Mapping[str, Verdict]] = MappingProxyType({})
NO_INPUTS: Final[Mapping[str, object]] = MappingProxyType({})
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

    def set(self, values: Mapping[str, object]) -> Self | Refusal:
        """Set variables that the state writes, all of them or none."""
        decided = decide(self.definition, self.flow, Write(values))
        if isinstance(decided, Refusal):
            return decided
        return self._recorded(decided.events) if isinstance(decided, Decided) else self

    def ask(self, verdicts: Mapping[str, Verdict], reason: str = "", checks: Mapping[str, Verdict] = NONE) -> tuple[Self, Moved | Stayed]:
        """Request to leave the state; these are the verdicts on its conditions, by transition, and what its checks come to, by name.

        What is left out is `not_met`, and what nobody is asked about counts for nothing. A flow that is halted stays where it is. Raises
        ValueError for a transition or a check that the state does not have, or when the flow has ended.
        """
        unknown = verdicts.keys() - {each.id for each in self.state.transitions}
        if unknown or self.is_over:
            raise ValueError(f"state `{self.state.id}` has no transition `{min(unknown, default='')}`")
        strange = checks.keys() - {name for each in self.state.transitions for name in each.checks}
        if strange:
            raise ValueError(f"state `{self.state.id}` has no check `{min(strange)}`")
        command: Command = Request(f"attempt-{self.seq}", reason.strip() or f"request {self.seq}", evidence=self.seq)
        trial = self
        while True:
            decided = decide(self.definition, trial.flow, command)
            if isinstance(decided, Refusal):
                return trial, Stayed(RejectionCode.LIMIT_REACHED, decided.message)
            assert isinstance(decided, Decided), decided  # each request is another one
            trial = trial._recorded(decided.events)
            outcome = trial._outcome(decided.events)  # noqa: SLF001 -- of this class
            if outcome is not None:
                return trial, outcome
            command = trial._answer(verdicts, checks)  # noqa: SLF001 -- as above

    def _outcome(self, events: tuple[Event, ...]) -> Moved | Stayed | None:
        """Give what a request came to; None while it is open."""
        for event in events:
            match event:
                case TransitionCheckPassed(transition=transition):
                    return Moved(transition, self.instance.state)
                case TransitionCheckRejected(code=code, message=message):
                    return Stayed(code, message)
                case _:
                    pass
        return None

    def _answer(self, verdicts: Mapping[str, Verdict], checks: Mapping[str, Verdict]) -> Command:
        """Give what the open request waits for."""
        attempt = self.instance.attempt
        assert attempt is not None  # it is open
        step = next_of(self.state, attempt.parts)
        if isinstance(step, Run):
            needed = [(each.id, name) for each in self.state.transitions for name in each.checks if name in step.checks]
            parts = tuple(Part(way, PartKind.CHECK, checks.get(name, Verdict.NOT_MET), name) for way, name in needed)
            return Ran(attempt.id, parts)
        assert isinstance(step, Ask)  # what the runtime decides by itself is decided
        judgements = tuple(_judgement(each, verdicts.get(each, Verdict.NOT_MET)) for each in step.transitions)
        return Report(attempt.id, Judged(judgements), evidence=self.seq)

    def _recorded(self, events: tuple[Event, ...]) -> Self:
        seq = self.seq + 1
        record = tuple(Recorded(EventId(seq, index), event) for index, event in enumerate(events))
        return replace(self, flow=advance(self.flow, record, {self._digest: self.definition}, frozenset()), seq=seq)

    @property
    def _digest(self) -> str:
        return _digest_of(self.definition) if self.flow.instance is None else self.instance.pin.definition_digest


def begin(definition: CompiledFlowDefinition, inputs: Mapping[str, object] = NO_INPUTS) -> Trial | Refusal:
    """Begin a flow in its initial state. Refused where its inputs are missing, unknown or do not fit."""
    taken = taken_inputs(definition, inputs)
    if isinstance(taken, Refusal):
        return taken
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
    decided = decide(definition, NOTHING_YET, Start(_INSTANCE, pin, taken))
    assert isinstance(decided, Decided), decided  # nothing else goes on
    return Trial(definition, NOTHING_YET)._recorded(decided.events)  # noqa: SLF001 -- this module's own


def _digest_of(definition: CompiledFlowDefinition) -> str:
    return digest_of(canonical_bytes(definition))


def _judgement(transition: str, verdict: Verdict) -> Judgement:
    missing = (_MISSING,) if verdict is Verdict.NOT_MET else ()
    return Judgement(transition, verdict, verdict, _RATIONALE, missing)
