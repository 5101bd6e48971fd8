"""What an operator did, and what a run of the worker's agent came to, as entries keep it."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from stateward.runtime.core.events import Status
from stateward.runtime.session.strict import COUNT, FLAG, TEXT, Form, choice, optional, record


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a flow instance stood, in short."""

    state: str
    visit: int
    status: Status
    attempt: str | None
    """The open attempt."""
    paused: bool
    held: bool


@dataclass(frozen=True, slots=True)
class ForkOrigin:
    """Where a log was forked off another."""

    worker: str
    seq: int
    digest: str
    """Of the last entry of the other log that is also one of this."""


class RunOutcome(StrEnum):
    """How a run of the worker's agent ended."""

    COMPLETED = "completed"
    CANCELLED = "cancelled"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class RunStarted:
    """A run of the worker's agent began."""

    run: str


@dataclass(frozen=True, slots=True)
class RunEnded:
    """A run of the worker's agent ended; the flow stays where it is."""

    run: str
    outcome: RunOutcome
    message: str


@dataclass(frozen=True, slots=True)
class WorkerStopped:
    """Somebody stopped the Worker; everything is kept, and it may go on at any time."""

    reason: str


STANDING: Final[Form[Standing]] = record(
    Standing, state=TEXT, visit=COUNT, status=choice(Status), attempt=optional(TEXT), paused=FLAG, held=FLAG
)
ORIGIN: Final[Form[ForkOrigin]] = record(ForkOrigin, worker=TEXT, seq=COUNT, digest=TEXT)
RUN_STARTED: Final[Form[RunStarted]] = record(RunStarted, run=TEXT)
RUN_ENDED: Final[Form[RunEnded]] = record(RunEnded, run=TEXT, outcome=choice(RunOutcome), message=TEXT)
WORKER_STOPPED: Final[Form[WorkerStopped]] = record(WorkerStopped, reason=TEXT)
