"""What may happen next: (definition, state, command) -> events, or why there are none. The only place with the rules.

Invariants: total for every state and command; decides nothing from clock, ids, randomness or I/O; a refusal, a repeat and a
continuation change nothing. Every event it gives is one that `evolve` accepts.
"""

from collections.abc import Set
from dataclasses import dataclass, field
from typing import TypeAlias, assert_never

from stateward.runtime.core import limits
from stateward.runtime.core.bounds import Bounds
from stateward.runtime.core.events import (
    Account,
    CancelCause,
    Citation,
    Event,
    FailureCause,
    InstanceStarted,
    Judgement,
    LateResultIgnored,
    ProgressHoldCleared,
    ProgressHoldSet,
    RejectionCode,
    StateEntered,
    Status,
    TransitionCheckPassed,
    TransitionCheckRejected,
    TransitionRequested,
    TransitionVerificationCancelled,
    TransitionVerificationFailed,
)
from stateward.runtime.core.flow import Flow
from stateward.runtime.core.instance import (
    JUDGED_CODES,
    Attempt,
    AttemptStatus,
    FlowState,
    Instance,
    Pin,
    Resolution,
    hold_message,
    status_in,
)
from stateward.runtime.core.judging import Passed, Rejected, Ruling, rule
from stateward.runtime.core.operating import Act, act, reason_problem
from stateward.runtime.core.refusal import Refusal, RefusalCode
from stateward.runtime.core.texts import cut

# --- what may be asked --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Start:
    """Begin an instance of a pinned definition."""

    instance: str
    """A fresh id."""
    pin: Pin


@dataclass(frozen=True, slots=True)
class Request:
    """Ask to leave the current state."""

    attempt: str
    """A fresh id."""
    reason: str
    evidence: int = 0
    """The number of the newest admissible entry of the log; 0 when there is none."""
    bounds: Bounds = field(default_factory=Bounds)
    tree: str = ""
    """The digest of the Workdir's facts now; empty where there are none, or they cannot be found out."""
    reserve: int = 0
    """Tokens that one verification may cost; 0 where it costs none."""


@dataclass(frozen=True, slots=True)
class Judged:
    """The verifier gave results."""

    judgements: tuple[Judgement, ...]
    unresolved: Set[Citation] = frozenset()
    """The citations among them that name nothing that was captured."""
    counting: Set[Citation] | None = None
    """Those that name evidence that counts; None where a `met` needs none."""
    account: Account | None = None


@dataclass(frozen=True, slots=True)
class Failed:
    """The verifier came to no results."""

    cause: FailureCause
    message: str
    account: Account | None = None


@dataclass(frozen=True, slots=True)
class GivenUp:
    """The verification was given up on purpose."""

    cause: CancelCause
    account: Account | None = None


Outcome: TypeAlias = Judged | Failed | GivenUp


@dataclass(frozen=True, slots=True)
class Report:
    """Hand in how the verification of an attempt ended."""

    attempt: str
    outcome: Outcome
    evidence: int = 0
    """As in a request: what was recorded while the verifier worked, it did not see."""
    hold_after: int = Bounds().hold_after


Command: TypeAlias = Start | Request | Report | Act

# --- what comes of it ---------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Decided:
    """These events are to be recorded, in one commit."""

    events: tuple[Event, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """The request was judged already; its answer stands."""

    resolution: Resolution


@dataclass(frozen=True, slots=True)
class Continue:
    """The open attempt is to be verified (on); nothing is recorded."""

    attempt: Attempt


Decision: TypeAlias = Decided | Repeat | Continue | Refusal


def decide(definition: Flow, state: FlowState, command: Command) -> Decision:
    """Decide on a command; `definition` is the one the instance pins, or is to pin."""
    match command:
        case Start():
            return _start(definition, state, command)
        case Request():
            return _request(state, command)
        case Report():
            return _report(definition, state, command)
        case Act():
            return _act(state, command)
    assert_never(command)


def _start(definition: Flow, state: FlowState, command: Start) -> Decision:
    problem = active_problem(state)
    if problem is not None:
        return problem
    pin = command.pin
    started = InstanceStarted(
        instance=command.instance,
        visit=0,
        workspace=pin.workspace,
        selector=pin.selector,
        flow_id=pin.flow_id,
        flow_revision=pin.flow_revision,
        content_digest=pin.content_digest,
        definition_digest=pin.definition_digest,
        chosen_by=pin.chosen_by,
    )
    status = status_in(definition, definition.initial)
    return Decided((started, StateEntered(instance=command.instance, visit=1, state=definition.initial, status=status)))


def active_problem(state: FlowState) -> Refusal | None:
    """Refuse to begin an instance while one is active."""
    instance = state.instance
    if instance is None or instance.status is not Status.ACTIVE:
        return None
    return Refusal(
        RefusalCode.INSTANCE_ACTIVE,
        f"flow `{instance.pin.selector}` is active in state `{instance.state}`",
        ("submit input without a flow segment", "request a transition"),
    )


def _request(state: FlowState, command: Request) -> Decision:
    reason = command.reason.strip()
    problem = reason_problem(reason)
    if problem is not None:
        return problem
    instance = state.instance
    if instance is None:
        return _not_active("no flow was started")
    stopped = _stopped(instance, command)
    if stopped is not None:
        return stopped
    if instance.last is not None and _is_answered(instance, instance.last, command, reason):
        return Repeat(instance.last)
    if instance.status is not Status.ACTIVE:
        return _not_active(f"the flow ended as `{instance.status}` in state `{instance.state}`")
    opened = instance.attempt
    if opened is not None and (opened.id == command.attempt or _saw_all(opened, command)):
        return Continue(opened)
    spent = _spent(instance, command.bounds) or _tokens_spent(instance, command)
    if spent is not None:
        return spent
    requested = TransitionRequested(
        instance=instance.id,
        visit=instance.visit,
        attempt=command.attempt,
        state=instance.state,
        reason=reason,
        tree=command.tree,
        reserved=command.reserve,
    )
    if opened is None:
        return Decided((*_freed(instance, command), requested))
    superseded = TransitionVerificationCancelled(
        instance=instance.id, visit=instance.visit, attempt=opened.id, cause=CancelCause.SUPERSEDED
    )
    return Decided((superseded, requested))


def _not_active(message: str) -> Refusal:
    return Refusal(RefusalCode.NO_ACTIVE_INSTANCE, message, ("submit input with one flow segment",))


def _stopped(instance: Instance, command: Request) -> Refusal | None:
    """Refuse what is asked of an instance that is paused or held; once it has ended it is neither."""
    if instance.status is not Status.ACTIVE:
        return None
    if instance.paused is not None:
        message = f"the flow was paused by {instance.paused.by}: {instance.paused.reason}"
        return Refusal(RefusalCode.INSTANCE_PAUSED, message, ("wait until an operator resumes it",))
    if instance.held is not None and command.evidence <= instance.held.evidence and command.tree == instance.judged_tree:
        return Refusal(RefusalCode.INSTANCE_HELD, hold_message(instance.held), ("record new evidence", "ask an operator to clear the hold"))
    return None


def _spent(instance: Instance, bounds: Bounds) -> Refusal | None:
    """Refuse a verification over one of the caps."""
    for spent, most, what in (
        (instance.attempts_here, bounds.visit_verifications_max, f"this visit of state `{instance.state}`"),
        (instance.attempts, bounds.instance_verifications_max, "this flow instance"),
    ):
        if spent >= most:
            message = f"{spent} of {most} verifications of {what} are spent"
            return Refusal(RefusalCode.BUDGET_EXHAUSTED, message, ("ask an operator to rewind or cancel the flow",))
    return None


def _tokens_spent(instance: Instance, command: Request) -> Refusal | None:
    """Refuse a verification that could take the tokens spent over one of the caps."""
    if command.reserve == 0:
        return None
    opened = 0 if instance.attempt is None else instance.attempt.reserved
    bounds = command.bounds
    for spent, most, what in (
        (instance.tokens_here + opened, bounds.visit_tokens_max, f"this visit of state `{instance.state}`"),
        (instance.tokens + opened, bounds.instance_tokens_max, "this flow instance"),
    ):
        if spent + command.reserve > most:
            message = f"{spent} of {most} tokens of {what} are spent, and a verification may cost {command.reserve}"
            return Refusal(RefusalCode.BUDGET_EXHAUSTED, message, ("ask an operator to rewind or cancel the flow",))
    return None


def _saw_all(attempt: Attempt, command: Request) -> bool:
    """Tell whether an attempt was begun on all the evidence there is by now, and on the same tree."""
    return command.evidence <= attempt.requested.seq and command.tree == attempt.tree


def _freed(instance: Instance, command: Request) -> tuple[Event, ...]:
    """Note that new evidence ended a hold."""
    if instance.held is None:
        return ()
    recorded = command.evidence > instance.held.evidence
    why = f"entry {command.evidence} was recorded since" if recorded else "the Workdir changed since"
    return (ProgressHoldCleared(instance=instance.id, visit=instance.visit, by="new evidence", reason=why),)


def _is_answered(instance: Instance, last: Resolution, command: Request, reason: str) -> bool:
    """Tell whether a request is the last one over again.

    After a move only what was recorded since the move makes it a new request, for a lost answer must never be judged in the next
    state; after a rejection already what was recorded since the capture does, for the verifier did not see it. What came to no
    judgement is no answer: it is verified again.
    """
    if last.attempt.id == command.attempt:
        return True
    if last.attempt.reason != reason or instance.visit != last.attempt.visit + (last.status is AttemptStatus.ENTERED):
        return False  # another request, or an operator led elsewhere since
    if last.status is AttemptStatus.ENTERED:
        return command.evidence <= last.resolved.seq
    return last.rejection in JUDGED_CODES and _saw_all(last.attempt, command)


def _report(definition: Flow, state: FlowState, command: Report) -> Decision:
    instance = state.instance
    if instance is None:
        return Refusal(RefusalCode.ATTEMPT_UNKNOWN, "no transition was requested", ("request a transition",))
    opened = instance.attempt
    if opened is None or opened.id != command.attempt:
        return Decided((LateResultIgnored(instance=instance.id, visit=instance.visit, attempt=command.attempt),))
    if instance.status is not Status.ACTIVE or (opened.state, opened.visit) != (instance.state, instance.visit):
        stale = Rejected(RejectionCode.STALE_STATE, _stale_message(instance, opened))
        return Decided((_rejected(instance, opened, stale, command.outcome.account),))
    match command.outcome:
        case GivenUp(cause):
            cancelled = TransitionVerificationCancelled(
                instance=instance.id, visit=instance.visit, attempt=opened.id, cause=cause, account=command.outcome.account
            )
            return Decided((cancelled,))
        case Failed(cause, message):
            failed = TransitionVerificationFailed(
                instance=instance.id,
                visit=instance.visit,
                attempt=opened.id,
                cause=cause,
                message=cut(message, limits.MESSAGE_BYTES_MAX),
                account=command.outcome.account,
            )
            return Decided((failed,))
        case Judged(judgements, unresolved, counting):
            ruling = rule(definition.state(opened.state), judgements, unresolved, counting)
            return _ruled(definition, instance, opened, command, ruling)
    assert_never(command.outcome)


def _ruled(definition: Flow, instance: Instance, opened: Attempt, command: Report, ruling: Ruling) -> Decided:
    match ruling:
        case Rejected():
            rejected = _rejected(instance, opened, ruling, command.outcome.account)
            return Decided((rejected, *_held(instance, opened, command, ruling)))
        case Passed():
            return Decided(_moved(definition, instance, opened, ruling, command.outcome.account))
    assert_never(ruling)


def _held(instance: Instance, opened: Attempt, command: Report, ruling: Rejected) -> tuple[Event, ...]:
    """Hold an instance whose judgements, one after the other, saw the same evidence and moved nothing."""
    if ruling.code not in JUDGED_CODES or command.evidence > opened.requested.seq:
        return ()
    before = instance.rejections if opened.tree == instance.judged_tree else ()
    same = 1 + sum(seq > command.evidence for seq in before)
    if same < command.hold_after:
        return ()
    return (ProgressHoldSet(instance=instance.id, visit=instance.visit, judgements=same, evidence=command.evidence),)


def _moved(definition: Flow, instance: Instance, opened: Attempt, passed: Passed, account: Account | None) -> tuple[Event, ...]:
    taken = definition.state(opened.state).transition(passed.transition)
    assert taken is not None  # a ruling names only transitions of the state
    check = TransitionCheckPassed(
        instance=instance.id,
        visit=instance.visit,
        attempt=opened.id,
        transition=taken.id,
        judgements=passed.judgements,
        account=account,
    )
    entered = StateEntered(
        instance=instance.id,
        visit=instance.visit + 1,
        state=taken.target,
        status=status_in(definition, taken.target),
        transition=taken.id,
        attempt=opened.id,
    )
    return (check, entered)


def _rejected(instance: Instance, opened: Attempt, rejected: Rejected, account: Account | None) -> TransitionCheckRejected:
    return TransitionCheckRejected(
        instance=instance.id,
        visit=instance.visit,
        attempt=opened.id,
        code=rejected.code,
        message=rejected.message,
        judgements=rejected.judgements,
        account=account,
    )


def _stale_message(instance: Instance, opened: Attempt) -> str:
    if instance.status is not Status.ACTIVE:
        return f"the flow ended as `{instance.status}` in state `{instance.state}`"
    return f"asked in state `{opened.state}` at visit {opened.visit}; the state is `{instance.state}` at visit {instance.visit}"


def _act(state: FlowState, command: Act) -> Decision:
    acting = act(state, command)
    return acting if isinstance(acting, Refusal) else Decided(acting.events)
