"""Requesting a transition and reporting what a verifier made of it.

Invariants: an attempt is begun by one entry and resolved by one other, each under a key made of its id, so that neither happens twice;
what the worker is told lies in the entry that resolves it and is told again from there; a late result changes nothing and is noted
once.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final, assert_never

from stateward.runtime.core.decide import Continue, Decided, GivenUp, Repeat, Report, Request, decide
from stateward.runtime.core.events import (
    CancelCause,
    Event,
    EventId,
    LateResultIgnored,
    ProgressHoldCleared,
    Status,
    TransitionRequested,
    TransitionVerificationCancelled,
)
from stateward.runtime.core.flow import Flow
from stateward.runtime.core.instance import Attempt, Instance
from stateward.runtime.core.refusal import Refusal, RefusalCode
from stateward.runtime.core.selecting import Blocked, Taken, guard_parts, next_of
from stateward.runtime.core.texts import shown
from stateward.runtime.core.writing import Unchanged
from stateward.runtime.engine import records
from stateward.runtime.engine.answers import Begun, question_for
from stateward.runtime.engine.checking import captured_for
from stateward.runtime.engine.citations import Checked, facts_of
from stateward.runtime.engine.commit import Append
from stateward.runtime.engine.folding import INSPECT, Loaded
from stateward.runtime.engine.keys import is_id, late_key, request_key
from stateward.runtime.engine.leasing import in_progress, lease_problem
from stateward.runtime.engine.lineage import reader
from stateward.runtime.engine.masked import outcome_without
from stateward.runtime.engine.means import Means
from stateward.runtime.engine.rights import request_problem, rights_of
from stateward.runtime.engine.told import stored_answer
from stateward.runtime.engine.view import Seen
from stateward.runtime.ports import Answered, Damaged, InProgress, TreeFacts, VerifierOutcome
from stateward.runtime.profile import Rights, VerifierKind
from stateward.runtime.session.captured import CapturedLog, Reader
from stateward.runtime.session.entries import Actor, ActorClass, Head, NewEntry

_NO_FACTS: Final = TreeFacts("", b"")
"""Of a Workdir that is none, or of which there are none."""
_ASK_IN_THE_STATE: Final = ("read the state that is entered, then request a transition",)


class Beginning:
    """One request for a transition. Its attempt id is made once, however often it has to be decided."""

    def __init__(self, means: Means, reason: str, actor: Actor, seen: Seen | None = None) -> None:
        self._means = means
        self._reason = means.secrets.mask(reason)
        self._actor = actor
        self._seen = seen
        self._attempt = means.ids.new()
        self._asked_at: tuple[str, int] | None = None
        """The instance and visit that the caller asked to leave: those of the first look."""
        self._facts: TreeFacts | None = None
        """Of the Workdir, taken once."""

    def plan(self, loaded: Loaded) -> Append[Begun | Answered | InProgress | Refusal] | Begun | Answered | InProgress | Refusal:
        """Decide on the request."""
        rights = rights_of(self._means, loaded.session.profile)
        problem = request_problem(self._means, loaded.session, rights)
        if problem is not None:
            return problem
        instance, definition = loaded.flow.instance, loaded.definition
        if instance is None or definition is None:
            return Refusal(RefusalCode.NO_ACTIVE_INSTANCE, "no flow was started", ("submit input with one flow segment",))
        decision = decide(definition, loaded.flow, self._request(loaded, instance, rights))
        if isinstance(decision, Repeat):
            return self._repeated(loaded, decision.resolution.attempt.id)
        if isinstance(decision, Refusal):
            return decision
        moved = self._moved(instance)
        if moved is not None:
            return moved
        if instance.attempt is not None:
            held = self._means.leases.holder(loaded.worker, instance.attempt.id, self._means.clock.now())
            if held is not None:
                return in_progress(loaded.worker, instance.attempt, held)
        match decision:
            case Continue(attempt):
                return self._continued(loaded, definition, instance, attempt)
            case Decided(events):
                return self._begun(loaded, definition, instance, events)
            case Unchanged():
                raise AssertionError("a request writes no variables")
        assert_never(decision)

    def _request(self, loaded: Loaded, instance: Instance, rights: Rights) -> Request:
        if self._facts is None and instance.status is Status.ACTIVE and not _is_decided(loaded.definition, instance):
            self._facts = facts_of(self._means, loaded) or _NO_FACTS
        tree = "" if self._facts is None else self._facts.digest
        bounds = replace(rights.bounds, visit_tokens_max=rights.visit_tokens_max, instance_tokens_max=rights.instance_tokens_max)
        reserve = rights.verification.tokens if loaded.session.verifier == VerifierKind.MODEL else 0
        return Request(self._attempt, self._reason, loaded.evidence, bounds, tree, reserve)

    def _moved(self, instance: Instance) -> Refusal | None:
        """Refuse a request whose state was left between the first look and this one: the caller did not ask to leave the next state.

        A caller that said where it saw the instance is refused, too, when another request was begun or resolved since.
        """
        opened = None if instance.attempt is None else instance.attempt.id
        if self._seen not in {None, Seen(instance.id, instance.visit, instance.attempts, opened)} and opened != self._attempt:
            message = f"the flow is in state `{instance.state}` at visit {instance.visit}, and others asked since it was looked at"
            return Refusal(RefusalCode.STATE_CHANGED, message, _ASK_IN_THE_STATE)
        here = (instance.id, instance.visit)
        self._asked_at = self._asked_at or here
        if self._asked_at == here:
            return None
        return Refusal(RefusalCode.STATE_CHANGED, f"the state changed and is now `{instance.state}`", _ASK_IN_THE_STATE)

    def _repeated(self, loaded: Loaded, attempt: str) -> Answered:
        answer = stored_answer(self._means.sessions, loaded.worker, attempt)
        if answer is None:
            raise Damaged(f"the answer to attempt {attempt} of Worker {loaded.worker} is not found by its key", INSPECT)
        return Answered(answer, repeated=True)

    def _continued(self, loaded: Loaded, definition: Flow, instance: Instance, attempt: Attempt) -> Begun:
        if self._means.sessions.find(loaded.worker, request_key(attempt.id)) is None:
            raise Damaged(f"the request of attempt {attempt.id} of Worker {loaded.worker} is not found by its key", INSPECT)
        captured = captured_for(self._means, loaded.worker, attempt)
        request = question_for(loaded.worker, definition, instance, attempt, captured, number=instance.attempts, aside=loaded.flow.aside)
        return Begun(request, continued=attempt.id != self._attempt)

    def _begun(
        self, loaded: Loaded, definition: Flow, instance: Instance, events: Sequence[Event]
    ) -> Append[Begun | Answered | InProgress | Refusal]:
        time = self._means.clock.now()
        at = next(at for at, each in enumerate(events) if isinstance(each, TransitionRequested))
        requested = events[at]
        assert isinstance(requested, TransitionRequested)
        superseding = [each for each in events[:at] if isinstance(each, TransitionVerificationCancelled)]
        clearing = tuple(each for each in events[:at] if isinstance(each, ProgressHoldCleared))
        self_judged = is_self_judged(loaded)
        flow, seq = loaded.flow, loaded.head.seq
        entries: list[NewEntry] = []
        if superseding:
            seq += 1
            closed = records.resolution(definition, flow, superseding, seq, time, self_judged=self_judged)
            entries, flow = [closed.entry], closed.flow
        if self._facts is not None and self._facts.stated:
            seq += 1
            entries.append(records.facts(self._means.secrets.mask_bytes(self._facts.stated), self._attempt, time))
        seq += 1
        entries.append(records.request((*clearing, requested), self._actor, time))
        if at + 1 < len(events):
            flow = records.folded(flow, (*clearing, requested), seq)
            alone = records.resolution(definition, flow, events[at + 1 :], seq + 1, time, self_judged=False)
            return Append((*entries, alone.entry), lambda _: Answered(alone.answer))

        def done(head: Head) -> Begun:
            attempt = Attempt(
                id=requested.attempt,
                state=requested.state,
                visit=requested.visit,
                reason=requested.reason,
                requested=EventId(head.seq, len(clearing)),
                tree=requested.tree,
                reserved=requested.reserved,
                parts=requested.parts,
            )
            captured = CapturedLog(head, self._reader(loaded.worker))
            number = instance.attempts + 1
            return Begun(question_for(loaded.worker, definition, instance, attempt, captured, number=number, aside=loaded.flow.aside))

        return Append(tuple(entries), done)

    def _reader(self, worker: str) -> Reader:
        return reader(self._means.sessions, worker)


def _is_decided(definition: Flow | None, instance: Instance) -> bool:
    """Tell whether the runtime decides by itself, so that nobody looks at the Workdir."""
    if definition is None:
        return False
    step = next_of(definition.state(instance.state), guard_parts(definition, instance))
    return isinstance(step, Taken | Blocked)


class Reporting:
    """The end of one verification. The Workdir is looked at again once, however often it has to be decided."""

    def __init__(self, means: Means, attempt: str, outcome: VerifierOutcome, token: int | None) -> None:
        self._means = means
        self._attempt = attempt
        self._outcome = outcome_without(means.secrets, outcome)
        self._token = token
        self._looked = False
        self._changed: str | None = None

    def plan(self, loaded: Loaded) -> Append[Answered | Refusal] | Answered | Refusal:
        """Decide on the outcome, unless the attempt is resolved already."""
        means, attempt = self._means, self._attempt
        instance, definition = loaded.flow.instance, loaded.definition
        if instance is None or definition is None or not is_id(attempt):
            return _unknown(attempt)
        opened = instance.attempt
        if opened is None or opened.id != attempt:
            return _late(means, loaded, definition, attempt)
        problem = lease_problem(means, loaded.worker, attempt, self._token)
        if problem is not None:
            return problem
        checked = Checked(means, loaded, opened)
        if not self._looked:
            self._looked, self._changed = True, checked.workdir_change(self._outcome)
        given = checked.outcome(self._outcome, self._changed)
        hold_after = rights_of(means, loaded.session.profile).bounds.hold_after
        decided = decide(definition, loaded.flow, Report(attempt, given, loaded.evidence, hold_after))
        assert isinstance(decided, Decided)  # the attempt is open
        seq = loaded.head.seq + 1
        resolved = records.resolution(definition, loaded.flow, decided.events, seq, means.clock.now(), self_judged=is_self_judged(loaded))
        return Append((resolved.entry,), lambda _: Answered(resolved.answer))


def report(means: Means, worker: str, attempt: str, outcome: VerifierOutcome, token: int | None) -> Answered | Refusal:
    """Commit what a verification came to, unless its attempt is resolved already."""
    return means.commit(worker, Reporting(means, attempt, outcome, token).plan)


def _late(means: Means, loaded: Loaded, definition: Flow, attempt: str) -> Append[Answered | Refusal] | Answered | Refusal:
    """Answer a result that comes too late with what the attempt came to; note it the first time."""
    answer = stored_answer(means.sessions, loaded.worker, attempt)
    if answer is None:
        return _unknown(attempt)
    answered = Answered(answer, late=True)
    if means.sessions.find(loaded.worker, late_key(attempt)) is not None:
        return answered
    decided = decide(definition, loaded.flow, Report(attempt, GivenUp(CancelCause.CANCELLED)))
    assert isinstance(decided, Decided)  # an attempt that is not open is only noted
    (ignored,) = decided.events
    assert isinstance(ignored, LateResultIgnored)
    return Append((records.late(ignored, means.clock.now()),), lambda _: answered)


def _unknown(attempt: str) -> Refusal:
    return Refusal(RefusalCode.ATTEMPT_UNKNOWN, f"this Worker has no attempt {shown(attempt)}", ("request a transition",))


def is_self_judged(loaded: Loaded) -> bool:
    """Tell whether who asked last is also the one who judges."""
    return loaded.session.verifier == VerifierKind.PERSON and loaded.asked_by is ActorClass.PERSON
