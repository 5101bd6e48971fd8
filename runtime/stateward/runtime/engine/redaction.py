"""Taking a secret that was learned of later out of what a log holds.

Invariants: each entry that held it is named, with what is there now, by an entry of kind `redacted`, in the same transaction; no digest
and no seal changes, so the chain verifies as before; what has no secret left is not touched, so that a call that was interrupted is gone
on with by the next.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from stateward.runtime.core.refusal import Refusal, RefusalCode
from stateward.runtime.engine.commit import Tries, contended, not_found
from stateward.runtime.engine.keys import INHERITED_WHOLE
from stateward.runtime.engine.means import Means
from stateward.runtime.engine.operating import Operation, operator_problem_of, standing_of
from stateward.runtime.ports import Committed, OutcomeUnknown
from stateward.runtime.session.chain import redaction_key
from stateward.runtime.session.entries import Entry, Kind, NewEntry, reference
from stateward.runtime.session.inherited import masked_part
from stateward.runtime.session.masking import Secrets
from stateward.runtime.session.payloads import OperatorAct, encode
from stateward.runtime.session.strict import Malformed

REDACT: Final = "redact"


@dataclass(frozen=True, slots=True)
class Redacted:
    """A log holds the secrets no more."""

    worker: str
    entries: tuple[str, ...]
    """Those that held one, by their references."""


def redact(means: Means, worker: str, secrets: Secrets, operation: Operation) -> Redacted | Refusal:
    """Take secrets out of every entry of a log of its own; what a fork reads from another log lies there."""
    loaded = means.folds.load(worker)
    if loaded is None:
        return not_found(worker)
    refused = means.problem(loaded) or operator_problem_of(means, loaded, operation.actor)
    if refused is not None:
        return refused
    done: list[str] = []
    try:
        for entry, left in _held(means, worker, secrets):
            refused = _redacted(means, entry, left, operation)
            if refused is not None:
                return refused
            done.append(entry.reference)
    except Malformed as problem:
        return Refusal(RefusalCode.NOT_REDACTED, str(problem), ("delete the Worker",))
    means.folds.forget(worker)
    return Redacted(worker, tuple(done))


def _held(means: Means, worker: str, secrets: Secrets) -> Iterator[tuple[Entry, bytes]]:
    """Give the entries that hold a secret, as they were when the reading began, and what is left of each."""
    for entry in means.sessions.entries(worker):
        if entry.kind == Kind.REDACTED:
            continue
        is_copy = entry.kind == Kind.INHERITED and entry.key != INHERITED_WHOLE
        left = masked_part(entry.payload, secrets.mask_bytes) if is_copy else secrets.mask_bytes(entry.payload)
        if left != entry.payload:
            yield entry, left


def _redacted(means: Means, entry: Entry, left: bytes, operation: Operation) -> Refusal | None:
    key = redaction_key(entry.seq, left)
    tries = Tries()
    for _ in tries:
        if means.sessions.find(entry.worker, key) is not None:  # by an earlier try whose answer was lost
            return None
        loaded = means.folds.load(entry.worker)
        if loaded is None:
            return not_found(entry.worker)
        refused = means.problem(loaded)
        if refused is not None:
            return refused
        standing = standing_of(loaded.flow)
        about = f"{reference(entry.seq)} {entry.payload_digest}"
        act = OperatorAct(operation.id, operation.fingerprint, REDACT, operation.reason, about, standing, standing)
        new = NewEntry(Kind.REDACTED, operation.actor, means.clock.now(), encode(act), key)
        try:
            if isinstance(means.sessions.redact(entry.worker, loaded.head, new, entry.seq, left), Committed):
                return None
        except OutcomeUnknown as problem:
            means.folds.forget(entry.worker)
            if means.sessions.find(entry.worker, key) is None:
                tries.lost(problem)
    return contended()
