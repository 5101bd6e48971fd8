"""What an operator did, and what a run of the worker's agent came to, as entries keep it."""

from enum import StrEnum
from typing import Final

from stateward.runtime.core.events import Status
from stateward.runtime.core.values import value
from stateward.runtime.session.entries import Actor, Head
from stateward.runtime.session.strict import COUNT, FLAG, TEXT, Form, choice, optional, record


@value
class Standing:
    """Where a flow instance stood, in short."""

    state: str
    visit: int
    status: Status
    attempt: str | None
    """The open attempt."""
    paused: bool
    held: bool


@value
class ForkOrigin:
    """Where a log was forked off another."""

    worker: str
    seq: int
    digest: str
    """Of the last entry of the other log that is also one of this."""


@value
class Rollback:
    """An operator let a log go on that had gone back: a restored backup."""

    entry: int
    """The number of the entry that says so."""
    lost: Head
    """The last entry that is known to have been there, and is given up with those before it that are not in the log."""
    by: str
    reason: str


class RunOutcome(StrEnum):
    """How a run of the worker's agent ended."""

    COMPLETED = "completed"
    CANCELLED = "cancelled"
    FAILED = "failed"


@value
class RunStarted:
    """A run of the worker's agent began."""

    run: str


@value
class RunEnded:
    """A run of the worker's agent ended; the flow stays where it is."""

    run: str
    outcome: RunOutcome
    message: str


@value
class WorkerStopped:
    """Somebody stopped the Worker; everything is kept, and it may go on at any time."""

    reason: str


def named(actor: Actor) -> str:
    """Name an operator, and how sure the runtime is of them."""
    return f"{actor.actor_class} {actor.principal or actor.channel} (assurance {actor.assurance})"


def head_text(head: Head) -> str:
    """Write a head in one word."""
    return f"{head.seq}:{head.digest}"


def read_head(text: str) -> Head:
    """Read a head. Raises ValueError for anything but a number and a digest."""
    seq, _, digest = text.partition(":")
    digits = digest.removeprefix(_ALGORITHM)
    if not (seq.isascii() and seq.isdigit() and len(seq) <= 18) or len(digits) != 64 or not set(digits) <= set("0123456789abcdef"):
        raise ValueError("a head is the number of an entry, a colon and its digest")
    return Head(int(seq), f"{_ALGORITHM}{digits}")


_ALGORITHM: Final = "sha256:"
STANDING: Final[Form[Standing]] = record(
    Standing, state=TEXT, visit=COUNT, status=choice(Status), attempt=optional(TEXT), paused=FLAG, held=FLAG
)
ORIGIN: Final[Form[ForkOrigin]] = record(ForkOrigin, worker=TEXT, seq=COUNT, digest=TEXT)
ROLLBACK: Final[Form[Rollback]] = record(Rollback, entry=COUNT, lost=record(Head, seq=COUNT, digest=TEXT), by=TEXT, reason=TEXT)
RUN_STARTED: Final[Form[RunStarted]] = record(RunStarted, run=TEXT)
RUN_ENDED: Final[Form[RunEnded]] = record(RunEnded, run=TEXT, outcome=choice(RunOutcome), message=TEXT)
WORKER_STOPPED: Final[Form[WorkerStopped]] = record(WorkerStopped, reason=TEXT)
