"""Histories for tests: a log in memory that records what is decided, as the engine does, without storing it."""

from collections.abc import Mapping, Sequence

from stateward.compiler.flow.definition import CompiledFlowDefinition
from stateward.runtime.core.decide import Command, Decided, Decision, Judged, Outcome, Report, Request, Start, decide
from stateward.runtime.core.events import Event, EventId, Recorded, Verdict
from stateward.runtime.core.instance import NOTHING_YET, FlowState, Instance, Pin
from stateward.runtime.core.replay import advance, new_ids
from tests.runtime.judgements import judgements


def pin_of(definition: CompiledFlowDefinition) -> Pin:
    """Pin a definition under its name for a digest."""
    return Pin(
        workspace="w",
        selector=f"workspace:{definition.name}",
        flow_id=f"id-{definition.name}",
        flow_revision=1,
        content_digest=f"sha256:content of {definition.name}",
        definition_digest=digest_of(definition),
        chosen_by="person",
    )


def digest_of(definition: CompiledFlowDefinition) -> str:
    """Stand in for a definition's digest."""
    return f"sha256:{definition.name}"


def recorded(seq: int, events: Sequence[Event]) -> tuple[Recorded, ...]:
    """Give events their identities in one entry."""
    return tuple(Recorded(EventId(seq, index), event) for index, event in enumerate(events))


class History:
    """One flow's history; entries are numbered from 1."""

    def __init__(self, definition: CompiledFlowDefinition) -> None:
        self.definition = definition
        self.definitions = {digest_of(definition): definition}
        self.log: list[Recorded] = []
        self.seq = 0
        self.state: FlowState = NOTHING_YET
        self.evidence = 0
        self._ids = 0

    @property
    def instance(self) -> Instance:
        """The latest instance."""
        assert self.state.instance is not None
        return self.state.instance

    def fresh(self, kind: str) -> str:
        """Make an id."""
        self._ids += 1
        return f"{kind}-{self._ids}"

    def do(self, command: Command) -> Decision:
        """Decide and record."""
        decision = decide(self.definition, self.state, command)
        if isinstance(decision, Decided):
            self.record(*decision.events)
        return decision

    def record(self, *events: Event) -> None:
        """Record events as the next entry."""
        record = recorded(self.seq + 1, events)
        used = new_ids(self.log)
        self.state = advance(self.state, record, self.definitions, used)
        self.seq += 1
        self.log += record

    def note_evidence(self) -> None:
        """Record an admissible entry that holds no event."""
        self.seq += 1
        self.evidence = self.seq

    def start(self) -> Decision:
        """Begin an instance."""
        return self.do(Start(self.fresh("instance"), pin_of(self.definition)))

    def request(self, reason: str) -> Decision:
        """Ask with a fresh attempt id."""
        return self.do(Request(self.fresh("attempt"), reason, self.evidence))

    def report(self, outcome: Outcome, attempt: str | None = None) -> Decision:
        """Report on an attempt, the open one if none is named."""
        opened = self.instance.attempt
        named = attempt if attempt is not None else opened.id if opened is not None else "none"
        return self.do(Report(named, outcome))

    def answer(self, given: Mapping[str, Verdict], attempt: str | None = None) -> Decision:
        """Report verdicts; transitions not given are `not_met`."""
        state = self.instance.state
        return self.report(Judged(judgements(self.definition, state, given)), attempt)


def begun(definition: CompiledFlowDefinition) -> History:
    """Give a history with an instance in its initial state."""
    history = History(definition)
    history.start()
    return history


def walked(definition: CompiledFlowDefinition, *transitions: str) -> History:
    """Give a history that took these transitions, one after the other."""
    history = begun(definition)
    for number, transition in enumerate(transitions):
        history.request(f"step {number}")
        history.answer({transition: Verdict.MET})
    return history
