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
    Assigned,
    CancelCause,
    ChecksRun,
    Citation,
    Event,
    FailureCause,
    InstanceHalted,
    InstanceStarted,
    Judgement,
    LateResultIgnored,
    Part,
    PartKind,
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
    Usage,
    Verdict,
)
from stateward.runtime.core.flow import Flow, Transition
from stateward.runtime.core.instance import (
    JUDGED_CODES,
    Attempt,
    AttemptStatus,
    FlowState,
    Hold,
    Instance,
    Pin,
    Resolution,
    halt_message,
    hold_message,
    status_in,
)
from stateward.runtime.core.judging import Passed, Rejected, Ruling, rule
from stateward.runtime.core.operating import Act, act, reason_problem
from stateward.runtime.core.refusal import Refusal, RefusalCode
from stateward.runtime.core.selecting import Ask, Blocked, Next, Run, Taken, guard_parts, next_of, visits_left
from stateward.runtime.core.texts import cut
from stateward.runtime.core.writing import Unchanged, Write, Wrote, seeds, write

# --- what may be asked --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Start:
    """Begin an instance of a pinned definition."""

    instance: str
    """A fresh id."""
    pin: Pin
    inputs: tuple[Assigned, ...] = ()
    """What the flow is given."""


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


@dataclass(frozen=True, slots=True)
class Ran:
    """Hand in what came of the checks that the open attempt needs."""

    attempt: str
    parts: tuple[Part, ...]


Command: TypeAlias = Start | Request | Ran | Report | Write | Act

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


Decision: TypeAlias = Decided | Repeat | Continue | Unchanged | Refusal


def decide(definition: Flow, state: FlowState, command: Command) -> Decision:
    """Decide on a command; `definition` is the one the instance pins, or is to pin."""
    match command:
        case Start():
            return _start(definition, state, command)
        case Request():
            return _request(definition, state, command)
        case Ran():
            return _ran(definition, state, command)
        case Report():
            return _report(definition, state, command)
        case Write():
            wrote = write(definition, state, command)
            return Decided((wrote.event,)) if isinstance(wrote, Wrote) else wrote
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
        inputs=command.inputs,
    )
    status = status_in(definition, definition.initial)
    entered = StateEntered(instance=command.instance, visit=1, state=definition.initial, status=status)
    return Decided((started, entered, *seeds(definition, command.instance, command.inputs)))


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


def _request(definition: Flow, state: FlowState, command: Request) -> Decision:
    reason = command.reason.strip()
    problem = reason_problem(reason)
    if problem is not None:
        return problem
    instance = state.instance
    if instance is None:
        return _not_active("no flow was started")
    parts = guard_parts(definition, instance)
    step = next_of(definition.state(instance.state), parts)
    stopped = _stopped(instance, command, parts, step)
    if stopped is not None:
        return stopped
    if instance.last is not None and _is_answered(instance, instance.last, command, reason):
        return Repeat(instance.last)
    if instance.status is not Status.ACTIVE:
        return _not_active(f"the flow ended as `{instance.status}` in state `{instance.state}`")
    opened = instance.attempt
    if opened is not None and (opened.id == command.attempt or _saw_all(instance, opened, command)):
        return Continue(opened)
    needs_others = isinstance(step, Ask | Run)
    spent = (_spent(instance, command.bounds) or _tokens_spent(instance, command)) if needs_others else None
    if spent is not None:
        return spent
    return Decided((*_before(instance, command, parts, step), *_begun(definition, instance, command, parts, step)))


def _before(instance: Instance, command: Request, parts: tuple[Part, ...], step: Next) -> tuple[Event, ...]:
    """Close what a new request replaces."""
    if instance.attempt is None:
        return () if isinstance(step, Taken) else _freed(instance, command, parts)
    superseded = CancelCause.SUPERSEDED
    return (TransitionVerificationCancelled(instance=instance.id, visit=instance.visit, attempt=instance.attempt.id, cause=superseded),)


def _begun(definition: Flow, instance: Instance, command: Request, parts: tuple[Part, ...], step: Next) -> tuple[Event, ...]:
    """Begin an attempt; where the runtime decides by itself, what comes of it follows at once."""
    needs_others = isinstance(step, Ask | Run)
    requested = TransitionRequested(
        instance=instance.id,
        visit=instance.visit,
        attempt=command.attempt,
        state=instance.state,
        reason=command.reason.strip(),
        tree=command.tree,
        reserved=command.reserve if needs_others else 0,
        parts=parts,
    )
    return (requested, *_decided_alone(definition, instance, command.attempt, step))


def _decided_alone(definition: Flow, instance: Instance, attempt: str, step: Next, account: Account | None = None) -> tuple[Event, ...]:
    match step:
        case Taken(transition):
            return _moved(definition, instance, attempt, Passed(transition, ()), account)
        case Blocked(code, message):
            return (_rejected(instance, attempt, Rejected(code, message), account),)
        case Ask() | Run():
            return ()
    assert_never(step)


def _ran(definition: Flow, state: FlowState, command: Ran) -> Decision:
    instance = state.instance
    opened = None if instance is None else instance.attempt
    if instance is None or opened is None or opened.id != command.attempt:
        return Refusal(RefusalCode.ATTEMPT_UNKNOWN, "the attempt that needs these checks is not open", ("request a transition",))
    known = {(each.transition, each.kind, each.name) for each in opened.parts}
    fresh = tuple(each for each in command.parts if (each.transition, each.kind, each.name) not in known)
    run = ChecksRun(instance=instance.id, visit=instance.visit, attempt=opened.id, parts=fresh)
    account = Account(Usage(0, 0, 0)) if opened.reserved else None  # nobody was asked
    overtaken = _overtaken(instance, opened)
    if overtaken is not None:
        return Decided((run, _rejected(instance, opened.id, overtaken, account)))
    step = next_of(definition.state(opened.state), (*opened.parts, *fresh))
    return Decided((run, *_decided_alone(definition, instance, opened.id, step, account)))


def _not_active(message: str) -> Refusal:
    return Refusal(RefusalCode.NO_ACTIVE_INSTANCE, message, ("submit input with one flow segment",))


def _stopped(instance: Instance, command: Request, parts: tuple[Part, ...], step: Next) -> Refusal | None:
    """Refuse what is asked of an instance that is paused, halted or held; once it has ended it is none of them."""
    if instance.status is not Status.ACTIVE:
        return None
    if instance.paused is not None:
        message = f"the flow was paused by {instance.paused.by}: {instance.paused.reason}"
        return Refusal(RefusalCode.INSTANCE_PAUSED, message, ("wait until an operator resumes it",))
    if instance.halted is not None:
        return Refusal(RefusalCode.INSTANCE_HALTED, halt_message(instance.halted), ("wait until an operator resumes or rewinds it",))
    if instance.held is not None and not isinstance(step, Taken) and _news(instance, instance.held, command, parts) is None:
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


def _saw_all(instance: Instance, attempt: Attempt, command: Request) -> bool:
    """Tell whether an attempt was begun on all the evidence and all the variables there are by now, and on the same tree."""
    seen = attempt.requested.seq
    return command.evidence <= seen and instance.written <= seen and command.tree == attempt.tree


def _news(instance: Instance, held: Hold, command: Request, parts: tuple[Part, ...]) -> str | None:
    """Say what is new since an instance was held; None when nothing is. A variable counts where it changed what a guard comes to."""
    if command.evidence > held.evidence:
        return f"entry {command.evidence} was recorded since"
    if command.tree != instance.judged_tree:
        return "the Workdir changed since"
    before = () if instance.last is None else tuple(each for each in instance.last.attempt.parts if each.kind is PartKind.WHEN)
    return None if before == parts else "a guard comes to something else since"


def _freed(instance: Instance, command: Request, parts: tuple[Part, ...]) -> tuple[Event, ...]:
    """Note that something new ended a hold."""
    why = None if instance.held is None else _news(instance, instance.held, command, parts)
    return () if why is None else (ProgressHoldCleared(instance=instance.id, visit=instance.visit, by="new evidence", reason=why),)


def _is_answered(instance: Instance, last: Resolution, command: Request, reason: str) -> bool:
    """Tell whether a request is the last one over again.

    After a move only what was recorded since the move makes it a new request, for a lost answer must never be judged in the next
    state; after a rejection already what was recorded since the capture does, for the verifier did not see it. What came to no
    judgement is no answer: it is verified again, and so is what rests on a check that could not be run to an answer.
    """
    if last.attempt.id == command.attempt:
        return True
    if last.attempt.reason != reason or instance.visit != last.attempt.visit + (last.status is AttemptStatus.ENTERED):
        return False  # another request, or an operator led elsewhere since
    if last.status is AttemptStatus.ENTERED:
        return command.evidence <= last.resolved.seq and instance.written <= last.resolved.seq
    if any(each.kind is PartKind.CHECK and each.verdict is Verdict.INDETERMINATE for each in last.attempt.parts):
        return False
    return last.rejection in JUDGED_CODES and _saw_all(instance, last.attempt, command)


def _report(definition: Flow, state: FlowState, command: Report) -> Decision:
    instance = state.instance
    if instance is None:
        return Refusal(RefusalCode.ATTEMPT_UNKNOWN, "no transition was requested", ("request a transition",))
    opened = instance.attempt
    if opened is None or opened.id != command.attempt:
        return Decided((LateResultIgnored(instance=instance.id, visit=instance.visit, attempt=command.attempt),))
    if instance.status is not Status.ACTIVE or (opened.state, opened.visit) != (instance.state, instance.visit):
        stale = Rejected(RejectionCode.STALE_STATE, _stale_message(instance, opened))
        return Decided((_rejected(instance, opened.id, stale, command.outcome.account),))
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
            ruling = _overtaken(instance, opened) or rule(definition.state(opened.state), judgements, unresolved, counting, opened.parts)
            return _ruled(definition, instance, opened, command, ruling)
    assert_never(command.outcome)


def _overtaken(instance: Instance, opened: Attempt) -> Rejected | None:
    """Reject a request since which variables were set: what was judged, guards too, is not what would be taken along."""
    if instance.written <= opened.requested.seq:
        return None
    return Rejected(RejectionCode.STALE_STATE, f"variables were set after it was asked, in entry {instance.written}")


def _ruled(definition: Flow, instance: Instance, opened: Attempt, command: Report, ruling: Ruling) -> Decided:
    match ruling:
        case Rejected():
            rejected = _rejected(instance, opened.id, ruling, command.outcome.account)
            return Decided((rejected, *_held(instance, opened, command, ruling)))
        case Passed():
            return Decided(_moved(definition, instance, opened.id, ruling, command.outcome.account))
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


def _moved(definition: Flow, instance: Instance, attempt: str, passed: Passed, account: Account | None) -> tuple[Event, ...]:
    """Take a transition, or halt where the state that it leads to has no visit left."""
    taken = definition.state(instance.state).transition(passed.transition)
    assert taken is not None  # a ruling names only transitions of the state
    if visits_left(definition, instance, taken.target) == 0:
        return _halted(instance, attempt, taken, passed, account)
    check = TransitionCheckPassed(
        instance=instance.id,
        visit=instance.visit,
        attempt=attempt,
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
        attempt=attempt,
    )
    return (check, entered)


def _halted(instance: Instance, attempt: str, taken: Transition, passed: Passed, account: Account | None) -> tuple[Event, ...]:
    visits = instance.visits.get(taken.target, 0)
    message = f"`{taken.id}` leads to state `{taken.target}`, which was entered {visits} times, as often as it may be"
    rejected = Rejected(RejectionCode.LIMIT_REACHED, message, passed.judgements)
    halted = InstanceHalted(instance=instance.id, visit=instance.visit, state=taken.target, visits=visits)
    return (_rejected(instance, attempt, rejected, account), halted)


def _rejected(instance: Instance, attempt: str, rejected: Rejected, account: Account | None) -> TransitionCheckRejected:
    return TransitionCheckRejected(
        instance=instance.id,
        visit=instance.visit,
        attempt=attempt,
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
