"""A Worker as people and programs are shown it: one value, computed from the log and bounded by the flow, never a second truth."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from stateward.runtime.core.events import Event, EventId, Status, Variable
from stateward.runtime.core.flow import Flow, Transition
from stateward.runtime.core.instance import Aside, Attempt, Flag, Halt, Hold, Instance, Pin, Resolution
from stateward.runtime.engine.folding import Loaded
from stateward.runtime.session.acts import ForkOrigin, Rollback
from stateward.runtime.session.entries import ActorClass, Entry, Head
from stateward.runtime.session.evidence import EvidenceClass
from stateward.runtime.session.payloads import Payload, PinnedProfile

if TYPE_CHECKING:
    from stateward.compiler.predicates.schema import Plain


@dataclass(frozen=True, slots=True)
class Seen:
    """Where a caller saw an instance stand when it made up its mind to ask."""

    instance: str
    visit: int
    attempts: int
    attempt: str | None
    """The open attempt."""


@dataclass(frozen=True, slots=True)
class FlowView:
    """Where a flow instance stands."""

    instance: str
    number: int
    """How many instances this Worker has had, this one included."""
    pin: Pin
    """Selector, flow id, revision, digests, and who chose it."""
    name: str
    definition: Flow
    state: str
    instructions: str
    transitions: tuple[Transition, ...]
    """The ways out, in order of declaration, the synthetic one last; none in a terminal state."""
    visit: int
    visits: Mapping[str, int]
    status: Status
    attempts: int
    """How many requests were begun."""
    tokens: int
    """What those that are resolved cost."""
    tokens_here: int
    """What those of this visit cost."""
    attempt: Attempt | None
    """The one that is open."""
    last: Resolution | None
    """How the last one ended."""
    paused: Flag | None
    held: Hold | None
    rewindable: Mapping[str, int]
    """The states that can be gone back to, with the entry that entered each."""
    inputs: "Mapping[str, Plain]"
    """What the flow was given when it started."""
    variables: Mapping[str, Variable]
    """Those that hold something."""
    halted: Halt | None

    @property
    def seen(self) -> Seen:
        """Where it stands, for a request that is to be made only while it stands there."""
        return Seen(self.instance, self.visit, self.attempts, None if self.attempt is None else self.attempt.id)


@dataclass(frozen=True, slots=True)
class WorkerView:
    """A Worker."""

    worker: str
    workspace: str
    workdir: str
    created: datetime
    head: Head
    profile: PinnedProfile
    verifier: str
    isolation: str
    worked_by: ActorClass
    self_judged: bool
    read_only: str
    """Why nothing can be written to it; empty when it can."""
    rolled_back: bool
    """Whether that is because its log went back: an operator may accept that."""
    rollbacks: tuple[Rollback, ...]
    """How its log went back before and was let go on, the last few."""
    flow: FlowView | None
    """None when no flow was started."""
    aside: tuple[Aside, ...]
    """The parts of the log that an operator set aside."""
    forked_from: ForkOrigin | None


@dataclass(frozen=True, slots=True)
class LoggedEvent:
    """An event and the entry that holds it."""

    id: EventId
    event: Event
    entry: Entry


@dataclass(frozen=True, slots=True)
class LoggedEntry:
    """An entry as it is shown."""

    entry: Entry
    evidence: EvidenceClass
    payload: Payload
    """`Opaque` where it is not ours to read."""
    newer: str
    """What of it a newer program wrote; empty when nothing."""
    events: tuple[LoggedEvent, ...]
    set_aside: bool
    """Whether an operator set it aside: it is no evidence any more."""


def view_of(loaded: Loaded, rolled_back: str = "") -> WorkerView:
    """Give the view of a Worker; `rolled_back` says how its log went back, if it did."""
    session = loaded.session
    return WorkerView(
        worker=loaded.worker,
        workspace=session.workspace,
        workdir=session.workdir,
        created=loaded.created,
        head=loaded.head,
        profile=session.profile,
        verifier=session.verifier,
        isolation=session.isolation,
        worked_by=session.worked_by,
        self_judged=loaded.is_self_judged,
        read_only=loaded.newer or rolled_back,
        rolled_back=bool(rolled_back),
        rollbacks=loaded.rollbacks,
        flow=_flow(loaded),
        aside=loaded.flow.aside,
        forked_from=session.forked_from,
    )


def _flow(loaded: Loaded) -> FlowView | None:
    instance, definition = loaded.flow.instance, loaded.definition
    if instance is None or definition is None:
        return None
    return _flow_of(instance, definition, loaded.flow.instances)


def _flow_of(instance: Instance, definition: Flow, number: int) -> FlowView:
    here = definition.state(instance.state)
    return FlowView(
        instance=instance.id,
        number=number,
        pin=instance.pin,
        name=definition.name,
        definition=definition,
        state=here.id,
        instructions=here.instructions,
        transitions=here.transitions,
        visit=instance.visit,
        visits=instance.visits,
        status=instance.status,
        attempts=instance.attempts,
        tokens=instance.tokens,
        tokens_here=instance.tokens_here,
        attempt=instance.attempt,
        last=instance.last,
        paused=instance.paused,
        held=instance.held,
        rewindable=instance.entered,
        inputs=instance.inputs,
        variables=instance.variables,
        halted=instance.halted,
    )
