"""One Worker as those who work inside it reach it: its own agent, and the harness that agent runs in.

Two adapters: in process over a store (`wiring`), and over HTTP to a service that holds the store (`remote`). Who acts is fixed when an
adapter is made. Refusals are values; failures of the environment are raised as `Fault`.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from stateward.runtime.core.refusal import Refusal
from stateward.runtime.core.values import value
from stateward.runtime.ports.records import Cursor, HostRecord, Recorded, RecordedEntry
from stateward.runtime.session.acts import RunOutcome
from stateward.runtime.session.answers import Answer
from stateward.runtime.session.entries import Head

# --- where a Worker stands ----------------------------------------------------------------------------------------------------------------


@value
class WayOut:
    """A transition that leaves the current state."""

    transition: str
    target: str
    condition: str
    synthetic: bool
    """Whether it is the one that gives the flow up, which every flow has."""
    when: str = ""
    """Its guard, as an expression; empty where it has none."""
    checks: tuple[str, ...] = ()
    """The checks that the host runs for it."""
    otherwise: bool = False
    """Whether it is taken where no other is."""


@value
class ValueShown:
    """A variable that the worker is shown."""

    name: str
    is_set: bool
    holds: Any = None
    """As JSON; None where it was not set."""


@value
class Writable:
    """A variable that the worker may set."""

    name: str
    constraint: str
    """In the notation of the language."""
    form: Mapping[str, Any]
    """As JSON Schema."""


@value
class OpenAttempt:
    """A request that is not resolved yet."""

    attempt: str
    reason: str
    requested: int
    """The entry that holds it."""


@value
class FlowStanding:
    """Where a flow instance stands."""

    instance: str
    name: str
    selector: str
    revision: int
    definition_digest: str
    state: str
    instructions: str
    """Of the state, byte for byte."""
    ways: tuple[WayOut, ...]
    visit: int
    status: str
    """`active`, `completed` or `cancelled`."""
    attempts: int
    open: OpenAttempt | None
    last: Answer | None
    """What the worker was told last, where that was in this visit."""
    paused: str
    """By whom and why an operator paused it; empty where nobody did."""
    held: str
    """Why it is held and what would free it; empty where it is not."""
    halted: str = ""
    """Which limit is reached; empty where none is."""
    reads: tuple[ValueShown, ...] = ()
    """What the state lets its worker see of the variables."""
    writes: tuple[Writable, ...] = ()
    """What it lets its worker set."""


@value
class Standing:
    """A Worker as it is now."""

    worker: str
    workspace: str
    workdir: str
    head: Head
    profile: str
    verifier: str
    isolation: str
    read_only: str
    """Why nothing can be written to it; empty when it can."""
    self_selectors: tuple[str, ...]
    """The flows that its agent may submit to itself."""
    flow: FlowStanding | None
    """None when no flow was started."""

    @property
    def is_active(self) -> bool:
        """Whether there is something to be done."""
        return self.flow is not None and self.flow.status == "active"


# --- the ports ----------------------------------------------------------------------------------------------------------------------------


class HostChannel(Protocol):
    """One Worker as the harness of its agent reaches it."""

    @property
    def worker(self) -> str:
        """The id of the Worker."""

    def standing(self) -> Standing | Refusal:
        """Say where it stands now."""

    def is_active(self) -> bool | Refusal:
        """Tell whether its flow is active: what most hooks ask, at less cost than where it stands."""

    def record(self, records: Sequence[HostRecord], cursor: Cursor | None = None) -> Recorded | Refusal:
        """Commit up to RECORDS_MAX records in one commit, each once for its key; those that are there already are left out.

        `cursor` says how far a transcript was taken in with them.
        """

    def cursor(self, host: str, session: str) -> Cursor | None:
        """Give how far the transcript of a session was taken in; None when nothing was."""

    def start_run(self, run: str) -> RecordedEntry | Refusal:
        """Record that a run of the worker's agent began, or goes on."""

    def end_run(self, run: str, outcome: RunOutcome, message: str = "") -> RecordedEntry | Refusal:
        """Record how a run ended; the flow stays where it is."""

    def stop(self, reason: str, operation: str | None = None) -> RecordedEntry | Refusal:
        """Record that the agent stopped; everything is kept, and it may go on at any time."""
