"""The class of evidence of an entry: a pure function of its kind and of who it is from, never of what it says."""

from enum import StrEnum
from typing import Final

from stateward.runtime.session.entries import ActorClass, Entry, Kind


class EvidenceClass(StrEnum):
    """How much an entry can show."""

    ENGINE = "engine"
    """What the runtime itself did or saw."""
    HOST = "host"
    """What the worker's harness recorded."""
    WORKDIR = "workdir"
    """Lines of a file that the verifier read itself; the class of no entry."""
    OPERATOR = "operator"
    """What a person did or said, other than as a worker."""
    CLAIM = "claim"
    """Somebody's words: reasons, notes, earlier verdicts. Context, never counted."""
    DIAGNOSTIC = "diagnostic"
    """Anything whose producer could be fooled, and what is not known here. Never counted."""


ADMISSIBLE: Final = frozenset({EvidenceClass.ENGINE, EvidenceClass.WORKDIR, EvidenceClass.HOST, EvidenceClass.OPERATOR})
"""The classes that count. What stateward itself answers is a claim: an earlier verdict proves nothing about the next."""

OPERATORS_ACTS: Final = frozenset({Kind.OPERATOR_ACT, Kind.REWOUND, Kind.ROLLBACK_ACCEPTED, Kind.REDACTED})
"""What operators did."""
_TABLE: Final[dict[tuple[str, ActorClass], EvidenceClass]] = {
    # Whoever judges finds it in every log, and it says nothing of the work.
    (Kind.SESSION_STARTED, ActorClass.ENGINE): EvidenceClass.DIAGNOSTIC,
    (Kind.USER_INPUT, ActorClass.PERSON): EvidenceClass.OPERATOR,
    (Kind.USER_INPUT, ActorClass.HOST): EvidenceClass.HOST,
    (Kind.USER_INPUT, ActorClass.AGENT): EvidenceClass.CLAIM,
    (Kind.EXTENSION, ActorClass.ENGINE): EvidenceClass.ENGINE,
    (Kind.EXTENSION, ActorClass.AGENT): EvidenceClass.CLAIM,
    (Kind.EXTENSION, ActorClass.PERSON): EvidenceClass.CLAIM,
    (Kind.EXTENSION, ActorClass.VERIFIER): EvidenceClass.CLAIM,
    (Kind.TOOL_RESULT, ActorClass.ENGINE): EvidenceClass.CLAIM,
    (Kind.TOOL_RESULT, ActorClass.AGENT): EvidenceClass.CLAIM,
    (Kind.TOOL_RESULT, ActorClass.HOST): EvidenceClass.HOST,
    (Kind.ASSISTANT_MESSAGE, ActorClass.AGENT): EvidenceClass.CLAIM,
    (Kind.ASSISTANT_MESSAGE, ActorClass.HOST): EvidenceClass.CLAIM,
    (Kind.TOOL_CALL, ActorClass.AGENT): EvidenceClass.CLAIM,
    (Kind.TOOL_CALL, ActorClass.HOST): EvidenceClass.CLAIM,
    (Kind.NOTE, ActorClass.AGENT): EvidenceClass.CLAIM,
    (Kind.NOTE, ActorClass.HOST): EvidenceClass.CLAIM,
    (Kind.NOTE, ActorClass.PERSON): EvidenceClass.CLAIM,
    (Kind.OPERATOR_ACT, ActorClass.PERSON): EvidenceClass.OPERATOR,
    (Kind.REWOUND, ActorClass.PERSON): EvidenceClass.OPERATOR,
    (Kind.ROLLBACK_ACCEPTED, ActorClass.PERSON): EvidenceClass.OPERATOR,
    (Kind.REDACTED, ActorClass.PERSON): EvidenceClass.OPERATOR,
}


def evidence_class(kind: str, actor_class: ActorClass) -> EvidenceClass:
    """Give the class of evidence of an entry of this kind from such an actor; what is not in the table counts for nothing."""
    return _TABLE.get((kind, actor_class), EvidenceClass.DIAGNOSTIC)


def is_admissible(entry: Entry) -> bool:
    """Tell whether an entry is evidence that counts."""
    return evidence_class(entry.kind, entry.actor.actor_class) in ADMISSIBLE


def is_news(entry: Entry) -> bool:
    """Tell whether an entry makes a judgement worth repeating: it counts, and is not what stateward and its operators did themselves."""
    return is_admissible(entry) and entry.actor.actor_class is not ActorClass.ENGINE and entry.kind not in OPERATORS_ACTS
