"""Carrying out what an operator does: pause, resume, withdraw, cancel, clear, rewind.

Invariants: one act is one commit and one entry, which holds verb, reason, where the flow stood before and after, and the events; a
withdrawn attempt is told to the worker in the same commit; one operation id stands for one act for ever; only a person operates.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from stateward.runtime.core.decide import Decided, decide
from stateward.runtime.core.events import Event, TransitionVerificationCancelled, Variable
from stateward.runtime.core.instance import FlowState
from stateward.runtime.core.operating import Act, Verb
from stateward.runtime.core.refusal import Refusal, RefusalCode
from stateward.runtime.core.texts import shown
from stateward.runtime.engine import records
from stateward.runtime.engine.commit import Append
from stateward.runtime.engine.folding import Loaded, payload_of
from stateward.runtime.engine.keys import ID_BYTES_MAX, is_id, operation_key
from stateward.runtime.engine.means import Means
from stateward.runtime.engine.rights import rights_of
from stateward.runtime.engine.transition import is_self_judged
from stateward.runtime.engine.variables import variables_at
from stateward.runtime.ports import Damaged, StoreNewer
from stateward.runtime.session.acts import Standing, named
from stateward.runtime.session.chain import digest_of
from stateward.runtime.session.entries import Actor, ActorClass, Assurance, Kind, NewEntry, reference
from stateward.runtime.session.payloads import FlowRecord, OperatorAct, encode
from stateward.runtime.session.strict import render

_ASSURANCE: Final = (Assurance.NONE, Assurance.TTY, Assurance.TOKEN, Assurance.SEPARATED)
"""From the least sure to the surest."""
ACCEPT_ROLLBACK: Final = "accept-rollback"
_KINDS: Final = {str(Verb.REWIND): Kind.REWOUND, ACCEPT_ROLLBACK: Kind.ROLLBACK_ACCEPTED}
"""The acts that have a kind of entry of their own."""


@dataclass(frozen=True, slots=True)
class Operated:
    """An operator's act was committed."""

    worker: str
    operation: str
    entry: str
    """Its entry, by its reference."""
    verb: str
    about: str
    """The state rewound to, or the Worker forked off; else empty."""
    before: Standing | None
    after: Standing | None
    repeated: bool = False
    """Whether it was committed by an earlier call with the same id."""


@dataclass(frozen=True, slots=True)
class Operation:
    """What an operator asks for."""

    verb: str
    reason: str
    actor: Actor
    id: str
    about: str = ""

    @property
    def fingerprint(self) -> str:
        """The digest by which two acts under one id are told apart."""
        return digest_of(render([self.verb, self.reason.strip(), self.about]))


def operation_of(means: Means, verb: str, reason: str, actor: Actor, operation: str | None, *, about: str = "") -> Operation | Refusal:
    """Take an operation in, or refuse it for who asks or for its id."""
    problem = operator_problem(actor, means.profile.name, means.profile.operator_assurance)
    if problem is not None:
        return problem
    if operation is not None and not is_id(operation):
        allowed = (f"give 1 to {ID_BYTES_MAX} printable ASCII characters",)
        return Refusal(RefusalCode.OPERATION_ID_MALFORMED, f"{shown(operation)} cannot be an operation id", allowed)
    return Operation(verb, means.secrets.mask(reason).strip(), actor, means.ids.new() if operation is None else operation, about)


def operator_problem(actor: Actor, profile: str, assurance: Assurance) -> Refusal | None:
    """Refuse whoever is no operator under a profile of this name, which asks for this assurance."""
    if actor.actor_class is not ActorClass.PERSON:
        return Refusal(RefusalCode.OPERATOR_ONLY, f"an actor of class `{actor.actor_class}` is no operator", ("ask a person",))
    if _ASSURANCE.index(actor.assurance) < _ASSURANCE.index(assurance):
        message = f"profile `{profile}` takes acts of assurance `{assurance}`, not `{actor.assurance}`"
        return Refusal(RefusalCode.OPERATOR_ONLY, message, (f"act with assurance `{assurance}`",))
    return None


def deletion_problem(means: Means, worker: str, actor: Actor) -> Refusal | None:
    """Refuse whoever may not delete a Worker. Of one whose log cannot be read only the profile in force is asked."""
    problem = operator_problem(actor, means.profile.name, means.profile.operator_assurance)
    if problem is not None:
        return problem
    try:
        loaded = means.folds.load(worker)
    except (Damaged, StoreNewer):
        return None
    return None if loaded is None else operator_problem_of(means, loaded, actor)


def operator_problem_of(means: Means, loaded: Loaded, actor: Actor) -> Refusal | None:
    """Refuse whoever is no operator of a Worker, as the profile that its log pins and the one in force say."""
    pinned = loaded.session.profile
    return operator_problem(actor, pinned.name, rights_of(means, pinned).operator_assurance)


def operate(means: Means, worker: str, operation: Operation) -> Operated | Refusal:
    """Commit an act, unless this operation was committed before."""

    def plan(loaded: Loaded) -> Append[Operated | Refusal] | Operated | Refusal:
        answer = answered(means, loaded, operation)
        return answer or _planned(means, loaded, operation)

    return means.commit(worker, plan)


def answered(means: Means, loaded: Loaded, operation: Operation) -> Operated | Refusal | None:
    """Answer an operation that is not to be carried out.

    That is one whose id was used before, with the first answer or as a conflict, and one of somebody whom the profile that the log pins
    does not take for an operator.
    """
    entry = means.sessions.find(loaded.worker, operation_key(operation.id))
    if entry is None:
        return operator_problem_of(means, loaded, operation.actor)
    payload = payload_of(entry)
    assert isinstance(payload, OperatorAct)  # the key is given to nothing else
    if payload.fingerprint != operation.fingerprint:
        message = f"operation `{operation.id}` was another act, in entry {entry.reference}"
        return Refusal(RefusalCode.OPERATION_CONFLICT, message, ("act under another id",))
    return Operated(loaded.worker, operation.id, entry.reference, payload.verb, payload.about, payload.before, payload.after, repeated=True)


def _planned(means: Means, loaded: Loaded, operation: Operation) -> Append[Operated | Refusal] | Refusal:
    definition = loaded.definition
    if definition is None:
        return Refusal(RefusalCode.NO_ACTIVE_INSTANCE, "no flow was started", ("submit input with one flow segment",))
    act = Act(Verb(operation.verb), named(operation.actor), operation.reason, operation.about or None, _held(means, loaded, operation))
    decided = decide(definition, loaded.flow, act)
    if isinstance(decided, Refusal):
        return decided
    assert isinstance(decided, Decided)  # an act is neither repeated nor continued
    seq = loaded.head.seq + 1
    after = records.folded(loaded.flow, decided.events, seq)
    entries: tuple[NewEntry, ...] = (act_entry(means, operation, loaded.flow, after, decided.events),)
    if any(isinstance(each, TransitionVerificationCancelled) for each in decided.events):
        told = records.told(definition, after, means.clock.now(), self_judged=is_self_judged(loaded))
        entries = (*entries, told)
    before, afterwards = standing_of(loaded.flow), standing_of(after)
    done = Operated(loaded.worker, operation.id, reference(seq), operation.verb, operation.about, before, afterwards)
    return Append(entries, lambda _: done)


def _held(means: Means, loaded: Loaded, operation: Operation) -> tuple[Variable, ...]:
    """Give what a rewind makes the variables hold again."""
    instance = loaded.flow.instance
    entered = None if instance is None or not instance.variables else instance.entered.get(operation.about)
    return () if entered is None or operation.verb != Verb.REWIND else variables_at(means, loaded.worker, entered)


def act_entry(
    means: Means, operation: Operation, before: FlowState, after: FlowState, events: Sequence[Event] = (), *, about: str | None = None
) -> NewEntry:
    """Put an act into an entry; `about` where what came of it is more than was asked for."""
    payload = OperatorAct(
        operation=operation.id,
        fingerprint=operation.fingerprint,
        verb=operation.verb,
        reason=operation.reason,
        about=operation.about if about is None else about,
        before=standing_of(before),
        after=standing_of(after),
        records=(FlowRecord(tuple(events)),) if events else (),
    )
    kind = _KINDS.get(operation.verb, Kind.OPERATOR_ACT)
    return NewEntry(kind, operation.actor, means.clock.now(), encode(payload), operation_key(operation.id))


def standing_of(flow: FlowState) -> Standing | None:
    """Say in short where a flow stands; None when none was started."""
    instance = flow.instance
    if instance is None:
        return None
    return Standing(
        state=instance.state,
        visit=instance.visit,
        status=instance.status,
        attempt=None if instance.attempt is None else instance.attempt.id,
        paused=instance.paused is not None,
        held=instance.held is not None,
    )
