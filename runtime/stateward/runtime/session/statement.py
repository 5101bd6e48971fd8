"""A statement about a session: what was run, on which verdicts it moved, and how far the record of it can be relied on.

Its form is an in-toto Statement, version 1: the subjects are the log, by its head, and the definitions that it pins; the predicate is
documented in docs/reference/statement.md. Invariants: pure; everything said follows from the entries and from what was verified of
them; what is not known is null and never left out.
"""

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from stateward.runtime.core.events import (
    Account,
    ChecksRun,
    Event,
    InstanceCancelled,
    InstanceRewound,
    InstanceStarted,
    Judgement,
    Part,
    StateEntered,
    TransitionCheckPassed,
    TransitionCheckRejected,
    TransitionRequested,
    TransitionVerificationCancelled,
    TransitionVerificationFailed,
    Usage,
)
from stateward.runtime.core.instance import Pin
from stateward.runtime.session.chain import time_text
from stateward.runtime.session.entries import Entry, Head, Kind, reference
from stateward.runtime.session.event_codec import event_name
from stateward.runtime.session.evidence import EvidenceClass, evidence_class
from stateward.runtime.session.payloads import Checkpoint, OperatorAct, PinnedProfile, decode, flow_events
from stateward.runtime.session.strict import Newer
from stateward.runtime.session.verification import Verification

STATEMENT_TYPE: Final = "https://in-toto.io/Statement/v1"
PREDICATE_TYPE: Final = "urn:stateward:session:v1"
STEPS_MAX: Final = 10_000
"""States entered that one statement tells of, the first ones; how many more there were is said."""
ACTS_MAX: Final = 1_000
JUDGES_MAX: Final = 100
"""Pairs of a model and a prompt that one statement tells of."""
_ALGORITHM: Final = "sha256:"


class StatementProblem(ValueError):
    """The bytes are no statement about a session; the text says why."""


@dataclass(frozen=True, slots=True)
class About:
    """What a statement says that its entries do not tell one by one."""

    worker: str
    workspace: str
    head: Head
    profile: PinnedProfile
    verifier: str
    isolation: str
    self_judged: bool
    made: datetime
    made_by: str
    """The program and its version."""


def make_statement(about: About, verified: Verification, entries: Iterable[Entry]) -> bytes:
    """Make the statement about a log that was verified, of its entries up to the head. Raises Malformed for entries that cannot be read."""
    told = _Told()
    for entry in entries:
        told.take(entry)
    subjects = [_subject(f"session {about.worker}", about.head.digest)]
    pins = {flow["definition_digest"]: flow["selector"] for flow in told.flows}
    subjects += [_subject(f"flow {selector}", digest) for digest, selector in pins.items()]
    members = {
        "_type": STATEMENT_TYPE,
        "subject": subjects,
        "predicateType": PREDICATE_TYPE,
        "predicate": _predicate(about, verified, told),
    }
    return json.dumps(members, ensure_ascii=True, allow_nan=False, separators=(",", ":")).encode("ascii")


def read_statement(data: bytes) -> dict[str, Any]:
    """Read a statement whose signature was checked; give its predicate. Raises StatementProblem."""
    try:
        members = json.loads(data)
        kinds, predicate = (members["_type"], members["predicateType"]), members["predicate"]
    except (ValueError, KeyError, TypeError, RecursionError) as problem:
        raise StatementProblem("what is signed is no statement") from problem
    if kinds != (STATEMENT_TYPE, PREDICATE_TYPE) or not isinstance(predicate, dict):
        raise StatementProblem(f"what is signed is a statement of another kind, `{kinds[1]!s:.80}`")
    return predicate


def _subject(name: str, digest: str) -> dict[str, Any]:
    return {"name": name, "digest": {"sha256": digest.removeprefix(_ALGORITHM)}}


def _predicate(about: About, verified: Verification, told: "_Told") -> dict[str, Any]:
    return {
        "worker": about.worker,
        "workspace": about.workspace,
        "made": time_text(about.made),
        "made_by": about.made_by,
        "isolation": about.isolation,
        "profile": about.profile.name,
        "demonstration": about.profile.demonstration,
        "forked_from": told.forked_from,
        "verifier": {
            "kind": about.verifier,
            **told.judge(),
            "self_judged": about.self_judged,
            "usage": {"requests": told.usage.requests, "input_tokens": told.usage.input_tokens, "output_tokens": told.usage.output_tokens},
        },
        "flows": told.flows,
        "steps_left_out": told.steps_left_out,
        "operator_acts": told.acts,
        "operator_acts_left_out": told.acts_left_out,
        "log": {
            "head": {"seq": about.head.seq, "digest": about.head.digest},
            "entries": verified.entries,
            "evidence": {str(each): told.evidence[each] for each in EvidenceClass},
            "unread": told.unread,
            "rollbacks_accepted": told.rollbacks,
            "intact": str(verified.intact),
            "complete": str(verified.complete),
            "anchored": str(verified.anchored),
            "anchors": [{"source": each.source, "seq": each.head.seq, "digest": each.head.digest} for each in verified.anchors],
            "sealed": verified.sealed,
            "unsealed": verified.unsealed,
        },
    }


class _Told:
    """What the entries told so far."""

    def __init__(self) -> None:
        self.flows: list[dict[str, Any]] = []
        self.acts: list[dict[str, Any]] = []
        self.forked_from: dict[str, Any] | None = None
        self.evidence: Counter[EvidenceClass] = Counter()
        self.usage = Usage(0, 0, 0)
        self._judges: dict[tuple[str, str], None] = {}
        """The models that judged, and the prompts that they were given, in order, each pair once."""
        self.rollbacks = 0
        self.unread = 0
        """Entries that only a newer program reads."""
        self.steps_left_out = 0
        self.acts_left_out = 0
        self._steps = 0
        self._asked: TransitionRequested | None = None
        self._checked: tuple[Part, ...] = ()
        """What came of the checks that were run for that request."""
        self._judged: tuple[Judgement, ...] = ()
        self._account: Account | None = None
        self._act: InstanceCancelled | InstanceRewound | None = None

    def take(self, entry: Entry) -> None:
        self.evidence[evidence_class(entry.kind, entry.actor.actor_class)] += 1
        try:
            payload = decode(entry)
        except Newer:
            self.unread += 1
            return
        if isinstance(payload, OperatorAct):
            self._take_act(entry, payload)
        if isinstance(payload, Checkpoint):
            self._take_checkpoint(payload)
        for event in flow_events(payload):
            self._take_event(entry, event)

    def _take_act(self, entry: Entry, act: OperatorAct) -> None:
        self.rollbacks += entry.kind == Kind.ROLLBACK_ACCEPTED
        if len(self.acts) >= ACTS_MAX:
            self.acts_left_out += 1
            return
        actor = {"class": str(entry.actor.actor_class), "principal": entry.actor.principal, "assurance": str(entry.actor.assurance)}
        self.acts.append(
            {
                "entry": entry.reference,
                "time": time_text(entry.time),
                "verb": act.verb,
                "about": act.about,
                "reason": act.reason,
                "by": actor,
            }
        )

    def _take_checkpoint(self, checkpoint: Checkpoint) -> None:
        """Take up the flow that was running where a fork begins."""
        origin, instance = checkpoint.session.forked_from, checkpoint.flow.instance
        if origin is None or self.forked_from is not None:
            return
        self.forked_from = {"worker": origin.worker, "seq": origin.seq, "digest": origin.digest}
        if instance is not None:
            here = {"state": instance.state, "status": str(instance.status), "entered_before_fork": instance.visit}
            self.flows.append({**_flow(instance.id, instance.pin), **here})

    def _take_event(self, entry: Entry, event: Event) -> None:
        match event:
            case InstanceStarted():
                self.flows.append(_flow(event.instance, event))
            case TransitionRequested():
                self._asked, self._checked = event, ()
                self._count("requested")
            case ChecksRun(parts=parts):
                self._checked += parts
            case TransitionCheckPassed(judgements=judgements, account=account):
                self._judged, self._account = judgements, account
                self._charge(account)
            case InstanceCancelled() | InstanceRewound():
                self._act = event
            case StateEntered():
                self._enter(entry, event)
            case TransitionCheckRejected(code=code, account=account):
                self._count(str(code))
                self._charge(account)
            case TransitionVerificationFailed(cause=cause, account=account):
                self._count(f"could not check: {cause}")
                self._charge(account)
            case TransitionVerificationCancelled(cause=cancelled, account=account):
                self._count(f"cancelled: {cancelled}")
                self._charge(account)
            case _:
                return  # what moves nothing and asks for nothing

    def judge(self) -> dict[str, Any]:
        """Say which model judged on which prompt: the one that did, else none, and all of them."""
        models, prompts = (
            tuple(dict.fromkeys(filter(None, each))) for each in (zip(*self._judges, strict=True) if self._judges else ((), ()))
        )
        return {
            "model": models[0] if len(models) == 1 else None,
            "prompt_digest": prompts[0] if len(prompts) == 1 else None,
            "judges": [{"model": model or None, "prompt_digest": prompt or None} for model, prompt in self._judges],
        }

    def _charge(self, account: Account | None) -> None:
        if account is None:
            return
        if len(self._judges) < JUDGES_MAX and (account.model or account.prompt_digest):
            self._judges[account.model, account.prompt_digest] = None
        if account.usage is not None:
            before, added = self.usage, account.usage
            self.usage = Usage(
                before.requests + added.requests, before.input_tokens + added.input_tokens, before.output_tokens + added.output_tokens
            )

    def _count(self, what: str) -> None:
        attempts = self.flows[-1]["attempts"]
        attempts[what] = attempts.get(what, 0) + 1

    def _enter(self, entry: Entry, entered: StateEntered) -> None:
        flow = self.flows[-1]
        flow["state"], flow["status"] = entered.state, str(entered.status)
        if entered.transition is not None:
            self._count("entered")
        self._steps += 1
        if self._steps > STEPS_MAX:
            self.steps_left_out += 1
        else:
            flow["path"].append({"visit": entered.visit, "state": entered.state, "entry": entry.reference, **self._why(entered)})
        self._judged, self._account, self._act = (), None, None

    def _why(self, entered: StateEntered) -> dict[str, Any]:
        if self._act is not None:
            return {"act": event_name(self._act), "by": self._act.by}
        if entered.transition is None:
            return {}
        verdicts = [{"transition": each.transition, "verdict": str(each.verdict), "checked": str(each.checked)} for each in self._judged]
        asked = self._asked if self._asked is not None and self._asked.attempt == entered.attempt else None
        found = () if asked is None else (*asked.parts, *self._checked)
        account = self._account
        return {
            "transition": entered.transition,
            "attempt": entered.attempt,
            "reason": None if asked is None else asked.reason,
            "verdicts": verdicts,
            **({"parts": list(map(_part, found))} if found else {}),
            "model": None if account is None else account.model or None,
            "transcript_digest": None if account is None else account.transcript_digest or None,
        }


def _part(part: Part) -> dict[str, Any]:
    """Give what the runtime found of a transition by itself."""
    about = {"transition": part.transition, "kind": str(part.kind), "verdict": str(part.verdict)}
    return {**about, "check": part.name, "entry": reference(part.entry)} if part.name else about


def _flow(instance: str, pin: InstanceStarted | Pin) -> dict[str, Any]:
    return {
        "instance": instance,
        "selector": pin.selector,
        "flow_id": pin.flow_id,
        "flow_revision": pin.flow_revision,
        "content_digest": pin.content_digest,
        "definition_digest": pin.definition_digest,
        "chosen_by": pin.chosen_by,
        "state": "",
        "status": "",
        "entered_before_fork": 0,
        "attempts": {},
        "path": [],
    }


def named(head: Head) -> str:
    """Name a head for people."""
    return f"{reference(head.seq)} {head.digest}"
