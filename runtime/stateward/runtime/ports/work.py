"""One Worker as those who work inside it reach it: its own agent, and the harness that agent runs in.

Two adapters: in process over a store (`wiring`), and over HTTP to a service that holds the store (`remote`). Who acts is fixed when an
adapter is made. Refusals are values; failures of the environment are raised as `Fault`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias

from stateward.runtime.core.refusal import Refusal
from stateward.runtime.session.acts import RunOutcome
from stateward.runtime.session.answers import Answer
from stateward.runtime.session.chain import HEADER_TEXT_BYTES_MAX, digest_of
from stateward.runtime.session.entries import Head
from stateward.runtime.session.segments import Segment
from stateward.runtime.session.strict import render

if TYPE_CHECKING:
    from stateward.compiler.flow.definition import CompiledFlowDefinition

LOG_PAGE_MAX: Final = 200
"""Entries of a log that are given at a time."""
RECORDS_MAX: Final = 500
"""Records that are committed at a time."""
KEY_TEXT_BYTES_MAX: Final = HEADER_TEXT_BYTES_MAX
"""Of each text of a record's key."""


# --- where a Worker stands ----------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class WayOut:
    """A transition that leaves the current state."""

    transition: str
    target: str
    condition: str
    synthetic: bool
    """Whether it is the one that gives the flow up, which every flow has."""


@dataclass(frozen=True, slots=True)
class OpenAttempt:
    """A request that is not resolved yet."""

    attempt: str
    reason: str
    requested: int
    """The entry that holds it."""


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
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


# --- asking to leave a state --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Answered:
    """A request has its answer."""

    answer: Answer
    repeated: bool = False
    """Whether it was given before, to the same request."""
    late: bool = False
    """Whether it was given before, and the result that came now was ignored."""


@dataclass(frozen=True, slots=True)
class InProgress:
    """Somebody verifies the open attempt; what comes of it is the answer to the same request, asked again."""

    worker: str
    attempt: str
    reason: str
    """The reason that is judged."""
    judged: str
    """The last entry of the log that is judged, by its reference."""
    holder: str
    expires: datetime
    """When the attempt is free to be gone on with, unless its holder renews."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """The request is open and waits for somebody who judges elsewhere: a person, with `stateward verify`."""

    worker: str
    attempt: str
    reason: str
    judged: str
    continued: bool
    """Whether an earlier call began it. Then its reason is the earlier one."""


Asked: TypeAlias = Answered | InProgress | Waiting | Refusal


@dataclass(frozen=True, slots=True)
class AttemptShown:
    """An attempt, and what came of it."""

    attempt: str
    state: str
    visit: int
    reason: str
    requested: int
    """The entry that holds the request."""
    status: str
    """`verifying`, `entered`, `rejected`, `cancelled` or `failed`."""
    answer: Answer | None
    """None while it is open, and where an operator closed it."""


# --- what happened ------------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Submitted:
    """An input was committed."""

    worker: str
    submission: str
    head: Head
    """Of its entry."""
    instance: str | None
    """The flow instance that it started."""
    repeated: bool = False
    """Whether it was committed by an earlier call with the same id."""


@dataclass(frozen=True, slots=True)
class RecordKey:
    """Where in a host a record comes from: by it, it is recorded once."""

    host: str
    session: str
    use: str
    """The id of the tool's use, or of the message."""
    part: str = ""
    """Which part of it, where there are several."""

    @property
    def digest(self) -> str:
        """The digest that stands for it in the log."""
        return digest_of(render([self.host, self.session, self.use, self.part]))


@dataclass(frozen=True, slots=True)
class HostRecord:
    """What a host or an agent says happened."""

    kind: str
    """`assistant_message`, `tool_call`, `tool_result` or `note`."""
    payload: bytes
    """As it came; masked before it is stored."""
    key: RecordKey
    by: str = ""
    """The id of the sub-agent that it is of; empty for the agent itself."""


@dataclass(frozen=True, slots=True)
class Cursor:
    """How far the transcript of a host's session was taken in. Committed with what was taken in, so that nothing comes in twice."""

    host: str
    session: str
    path: str
    """Of the transcript, as the host names it."""
    offset: int
    """Bytes that were read, up to the end of a line."""
    last: str
    """The id of the last line that was taken in, by which a rewritten file is known."""


@dataclass(frozen=True, slots=True)
class RecordedEntry:
    """A record was committed."""

    worker: str
    head: Head
    """Of its entry."""
    repeated: bool = False
    """Whether it was committed before."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """Records were committed, in one commit."""

    worker: str
    head: Head
    """Of the log after it."""
    new: int
    """How many of them were not there before."""


@dataclass(frozen=True, slots=True)
class EntryShown:
    """An entry of a log as programs are shown it."""

    worker: str
    seq: int
    reference: str
    time: datetime
    actor_class: str
    channel: str
    principal: str
    kind: str
    evidence: str
    payload_digest: str
    previous: str
    digest: str
    payload: str
    """Bytes that are no UTF-8 are replaced."""
    newer: str
    """What of it a newer program wrote; empty when nothing."""
    events: tuple[Mapping[str, Any], ...]
    """As the log holds them."""
    set_aside: bool


@dataclass(frozen=True, slots=True)
class LogPage:
    """Entries of a log, in order."""

    entries: tuple[EntryShown, ...]
    head: Head
    """Of the log when they were read: where its number is that of the last entry, there was nothing more."""


# --- the ports ----------------------------------------------------------------------------------------------------------------------------


class HostChannel(Protocol):
    """One Worker as the harness of its agent reaches it."""

    @property
    def worker(self) -> str:
        """The id of the Worker."""

    def standing(self) -> Standing | Refusal:
        """Say where it stands now."""

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


class WorkerChannel(Protocol):
    """One Worker as its agent reaches it, and whoever follows it."""

    @property
    def worker(self) -> str:
        """The id of the Worker."""

    def standing(self) -> Standing | Refusal:
        """Say where it stands now."""

    def submit(self, segments: Sequence[Segment], submission: str | None = None) -> Submitted | Refusal:
        """Commit an input, with one flow segment at most, and with one only when no instance is active."""

    def ask(self, reason: str, wait_seconds: float) -> Asked:
        """Ask to leave the current state, and wait so long at most for the answer.

        Verifying goes on after that: the same request, asked again, waits for the same attempt. InProgress when there is no answer yet.
        """

    def cancel(self) -> bool:
        """Stop verifying what this channel asked; the attempt stays open, and the next request goes on with it.

        That it was stopped is recorded. False when nothing of this channel was being verified; what had come of it by then counts as not
        told, for whoever asked gave up, and is told by the next request.
        """

    @property
    def is_busy(self) -> bool:
        """Whether something is being verified here, or its answer was not told yet."""

    def attempt(self, attempt: str) -> AttemptShown | None:
        """Give an attempt of this Worker and what came of it; None when it has none of that id."""

    def note(self, text: str, use: str | None = None) -> RecordedEntry | Refusal:
        """Record what the agent says, as a claim; once for `use`, the id of this call, if it has one."""

    def log(self, after: int = 0, limit: int = LOG_PAGE_MAX) -> LogPage | Refusal:
        """Read entries with numbers behind `after`, LOG_PAGE_MAX at most."""

    def source(self) -> str | None:
        """Give the source of the flow it runs, of the revision that is pinned; None where no flow was started or it is not kept here."""

    def definition(self) -> "CompiledFlowDefinition | None":
        """Give the definition that is pinned; None where no flow was started."""
