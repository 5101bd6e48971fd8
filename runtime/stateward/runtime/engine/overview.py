"""Workers in rows, and why one stands where it stands: computed from the logs, a page at a time.

Invariants: a row costs a bounded number of reads, however long the log; a log that cannot be read is a row that says so, and no reason to
show none.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from stateward.runtime.core.events import Status
from stateward.runtime.core.instance import AttemptStatus, Instance, halt_message, hold_message
from stateward.runtime.core.refusal import Refusal
from stateward.runtime.engine.commit import not_found
from stateward.runtime.engine.explaining import WayFound, ways_of
from stateward.runtime.engine.folding import Loaded, payload_of
from stateward.runtime.engine.leasing import in_progress
from stateward.runtime.engine.limits import WORKERS_PAGE_MAX
from stateward.runtime.engine.means import Means
from stateward.runtime.engine.rights import rights_of
from stateward.runtime.engine.told import stored_answer
from stateward.runtime.engine.view import WorkerView
from stateward.runtime.ports import Damaged, InProgress, StoreNewer, WorkerRow
from stateward.runtime.profile import Rights, VerifierKind
from stateward.runtime.session.acts import WorkerStopped
from stateward.runtime.session.answers import Answer
from stateward.runtime.session.entries import Head, Kind


@dataclass(frozen=True, slots=True)
class FlowRow:
    """Where the latest flow of a Worker stands."""

    selector: str
    state: str
    visit: int
    status: Status
    since: datetime | None
    """When the state was entered; None where that lies in the log that this one was forked off."""
    attempts: int
    attempt: str | None
    """The open attempt."""
    asked: datetime | None
    """When it was begun."""
    verified_by: str
    """Who verifies it now; empty when nobody does."""
    paused: str
    """By whom and why; empty when it is not."""
    held: str
    """Why; empty when it is not."""
    stuck: str
    """Why it does not go on by itself; empty when it does."""


@dataclass(frozen=True, slots=True)
class OverviewRow:
    """A Worker in a list."""

    worker: str
    created: datetime
    head: Head
    workdir: str
    flow: FlowRow | None
    problem: str
    """Why the log cannot be read, or only in part; empty when it can."""


@dataclass(frozen=True, slots=True)
class Why:
    """Why a Worker stands where it stands."""

    view: WorkerView
    answer: Answer | None
    """What was told of the last request."""
    verified: InProgress | None
    """Who verifies the open request."""
    stuck: str
    """Why it does not go on by itself; empty when it does."""
    ways: tuple[WayFound, ...]
    """The ways out, part by part; none where no flow is active."""


UNATTENDED: Final = "a request is open and nobody verifies it"


def overview(means: Means, workspace: str, limit: int, after: str = "") -> tuple[OverviewRow, ...]:
    """Give a page of a Workspace's Workers, oldest first, those after `after`."""
    rows = means.sessions.workers(workspace, min(limit, WORKERS_PAGE_MAX), after)
    return tuple(_row(means, each) for each in rows)


def why(means: Means, worker: str) -> Why | Refusal:
    """Say why a Worker stands where it stands."""
    loaded = means.folds.load(worker)
    if loaded is None:
        return not_found(worker)
    instance = loaded.flow.instance
    last = None if instance is None else instance.last
    answer = None if last is None else stored_answer(means.sessions, worker, last.attempt.id)
    stuck = "" if instance is None else _stuck(means, loaded, instance)
    definition = loaded.definition
    is_active = instance is not None and instance.status is Status.ACTIVE
    ways = ways_of(definition, instance) if is_active and definition is not None and instance is not None else ()
    return Why(means.view(loaded), answer, _verified(means, loaded), stuck, ways)


def _row(means: Means, row: WorkerRow) -> OverviewRow:
    try:
        loaded = means.folds.load(row.worker)
    except (Damaged, StoreNewer) as problem:
        return OverviewRow(row.worker, row.created, row.head, "", None, problem.message)
    if loaded is None:  # deleted since it was listed
        return OverviewRow(row.worker, row.created, row.head, "", None, "it is not there any more")
    instance = loaded.flow.instance
    flow = None if instance is None else _flow(means, loaded, instance)
    return OverviewRow(row.worker, loaded.created, loaded.head, loaded.session.workdir, flow, means.view(loaded).read_only)


def _flow(means: Means, loaded: Loaded, instance: Instance) -> FlowRow:
    verified = _verified(means, loaded)
    attempt = instance.attempt
    return FlowRow(
        selector=instance.pin.selector,
        state=instance.state,
        visit=instance.visit,
        status=instance.status,
        since=_time(means, loaded.worker, instance.entered.get(instance.state, 0)),
        attempts=instance.attempts,
        attempt=None if attempt is None else attempt.id,
        asked=None if attempt is None else _time(means, loaded.worker, attempt.requested.seq),
        verified_by="" if verified is None else verified.holder,
        paused="" if instance.paused is None else f"{instance.paused.by}: {instance.paused.reason}",
        held="" if instance.held is None else hold_message(instance.held),
        stuck=_stuck(means, loaded, instance),
    )


def _verified(means: Means, loaded: Loaded) -> InProgress | None:
    attempt = None if loaded.flow.instance is None else loaded.flow.instance.attempt
    if attempt is None:
        return None
    held = means.leases.holder(loaded.worker, attempt.id, means.clock.now())
    return None if held is None else in_progress(loaded.worker, attempt, held)


def _stuck(means: Means, loaded: Loaded, instance: Instance) -> str:
    if instance.status is not Status.ACTIVE:
        return ""
    if instance.paused is not None:
        return f"paused by {instance.paused.by}: {instance.paused.reason}"
    if instance.halted is not None:
        return f"halted: {halt_message(instance.halted)}"
    if instance.held is not None and loaded.evidence <= instance.held.evidence:
        return f"held: {hold_message(instance.held)}"
    stopped = _stopped(means, loaded)
    if stopped is not None:
        return f"stopped: {stopped}" if stopped else "stopped"
    bounds = rights_of(means, loaded.session.profile).bounds
    if instance.attempt is None and instance.attempts_here >= bounds.visit_verifications_max:
        return f"{instance.attempts_here} of {bounds.visit_verifications_max} verifications of this visit are spent"
    if instance.attempt is None and instance.attempts >= bounds.instance_verifications_max:
        return f"{instance.attempts} of {bounds.instance_verifications_max} verifications are spent"
    if instance.attempt is None and loaded.session.verifier == VerifierKind.MODEL:
        spent = _tokens_spent(rights_of(means, loaded.session.profile), instance)
        if spent:
            return spent
    if instance.attempt is not None:
        return "" if _verified(means, loaded) is not None else UNATTENDED
    last = instance.last
    if last is not None and last.status is AttemptStatus.FAILED and last.attempt.visit == instance.visit:
        return f"could not check: {last.failure}"
    return ""


def _stopped(means: Means, loaded: Loaded) -> str | None:
    """Say why the agent stopped, where nobody went on since; None where it did not. The end of its run, and words, are no going on."""
    entry = means.sessions.latest(loaded.worker, Kind.WORKER_STOPPED)
    if entry is None:
        return None
    later = (means.sessions.latest(loaded.worker, each) for each in _GOING_ON)
    asked = loaded.flow.instance.attempt if loaded.flow.instance is not None else None
    if (asked is not None and asked.requested.seq > entry.seq) or any(each is not None and each.seq > entry.seq for each in later):
        return None
    payload = payload_of(entry)
    return payload.reason if isinstance(payload, WorkerStopped) else ""


_GOING_ON: Final = (Kind.RUN_STARTED, Kind.TOOL_CALL, Kind.TOOL_RESULT, Kind.USER_INPUT, Kind.NOTE)
"""What is recorded of an agent that goes on."""


def _tokens_spent(rights: Rights, instance: Instance) -> str:
    reserve = rights.verification.tokens
    if instance.tokens_here + reserve > rights.visit_tokens_max:
        return f"{instance.tokens_here} of {rights.visit_tokens_max} tokens of this visit are spent"
    if instance.tokens + reserve > rights.instance_tokens_max:
        return f"{instance.tokens} of {rights.instance_tokens_max} tokens are spent"
    return ""


def _time(means: Means, worker: str, seq: int) -> datetime | None:
    entry = next(means.sessions.entries(worker, seq - 1, seq), None) if seq else None
    return None if entry is None else entry.time
