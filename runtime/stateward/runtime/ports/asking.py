"""One Worker as its agent reaches it, and whoever follows it: asking to leave a state, what came of it, and the log.

Apart from what a harness needs (`ports.work`), which is loaded at every hook. Two adapters: in process over a store (`wiring`), and over
HTTP to a service that holds the store (`remote`). Who acts is fixed when an adapter is made. Refusals are values; failures of the
environment are raised as `Fault`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias

from stateward.runtime.core.refusal import Refusal
from stateward.runtime.ports.records import RecordedEntry
from stateward.runtime.ports.work import Standing
from stateward.runtime.session.answers import Answer
from stateward.runtime.session.entries import Head
from stateward.runtime.session.segments import Segment

if TYPE_CHECKING:
    from stateward.compiler.flow.definition import CompiledFlowDefinition

LOG_PAGE_MAX: Final = 200
"""Entries of a log that are given at a time."""


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


@dataclass(frozen=True, slots=True)
class Written:
    """Variables hold what was set."""

    worker: str
    names: tuple[str, ...]
    entry: str
    """The entry that wrote them, by its reference; empty when they held these values already."""


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

    def set_variables(self, values: Mapping[str, object]) -> Written | Refusal:
        """Set variables that the current state writes: plain JSON by name; all of them or none."""

    def cancel(self) -> bool:
        """Stop verifying what this channel asked; the attempt stays open, and the next request goes on with it.

        That it was stopped is recorded. False when nothing of this channel was being verified; what had come of it by then counts as not
        told, for whoever asked gave up, and is told by the next request.
        """

    @property
    def is_verifying(self) -> bool:
        """Whether something is being verified here."""

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
