"""The transcript of an attempt: every request to the model and what came of it, in the order in which it happened.

Invariants: a request is recorded before it is made, and what came of it before anything follows from it, so a process that was killed
leaves at most one request without an end, and what the model did answer is never asked again; records are written once, and whoever
finds another's record under the next number goes no further; the digest covers every record. Of a request only what is new in it is
recorded, besides a digest of the whole.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, TypeAlias

from stateward.runtime.core.events import Usage
from stateward.runtime.ports import Damaged, Transcripts
from stateward.runtime.session.chain import digest_of
from stateward.runtime.session.strict import (
    COUNT,
    FLAG,
    TEXT,
    Form,
    JsonValue,
    Malformed,
    choice,
    optional,
    parse,
    record,
    render,
    sequence,
)

RECORDS_MAX: Final = 512
"""Records of one attempt: requests, replies and failures."""
_VERSION: Final = 1


class Ending(StrEnum):
    """Why the model stopped writing."""

    DONE = "done"
    LENGTH = "length"
    """It ran into the limit on its output."""
    FILTERED = "filtered"
    """Its provider held the rest back."""


class Mishap(StrEnum):
    """Why a request got no reply."""

    BUSY = "busy"
    """The provider turned it away for now."""
    LOST = "lost"
    """The connection was not made, or broke."""
    SLOW = "slow"
    """It took longer than one request may."""
    REFUSED = "refused"
    """The provider turned it away for good: the key, the model, or what was asked."""
    TOO_LONG = "too_long"
    """The conversation no longer fits the model."""
    TOO_MUCH = "too_much"
    """The reply is over its limit of bytes."""
    NONSENSE = "nonsense"
    """What came back is no reply."""

    @property
    def may_pass(self) -> bool:
        """Whether asking again may help."""
        return self in {Mishap.BUSY, Mishap.LOST, Mishap.SLOW}

    @property
    def may_have_cost(self) -> bool:
        """Whether the model may have worked all the same."""
        return self not in {Mishap.BUSY, Mishap.REFUSED, Mishap.TOO_LONG}


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call that the model made."""

    id: str
    name: str
    arguments: str
    """JSON, as the model wrote it; it may be none."""


@dataclass(frozen=True, slots=True)
class ToolReturn:
    """What a call came to, as the model is told."""

    id: str
    name: str
    text: str
    refused: bool = False


@dataclass(frozen=True, slots=True)
class Reply:
    """What the model said."""

    calls: tuple[ToolCall, ...]
    prose: str
    ending: Ending
    input_tokens: int | None
    """As its provider counted; None when it did not say."""
    output_tokens: int | None
    layer: str
    """The whole reply as the model layer keeps it, from which a conversation is gone on with."""
    wire: str
    """The body of the provider's response, as it came."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A request is about to be made."""

    run: str
    """Which run of a verifier makes it."""
    at: str
    """RFC 3339, UTC."""
    model: str
    settings: str
    """What else the model is told to keep to, as JSON."""
    prompt: str
    """The digest of the prompt."""
    whole: str
    """The digest of the whole conversation as far as it goes."""
    opening: tuple[str, ...]
    """In the first request: the system's text, the user's text, and the tools as JSON; later nothing."""
    returned: tuple[ToolReturn, ...]
    """What the calls of the last reply came to."""
    reserved: int
    """Tokens that it may cost."""


@dataclass(frozen=True, slots=True)
class Replied:
    """The request before it was answered."""

    reply: Reply


@dataclass(frozen=True, slots=True)
class Missed:
    """The request before it got no reply."""

    mishap: Mishap
    message: str


Record: TypeAlias = Asked | Replied | Missed

_CALL: Final = record(ToolCall, id=TEXT, name=TEXT, arguments=TEXT)
_RETURN: Final = record(ToolReturn, id=TEXT, name=TEXT, text=TEXT, refused=FLAG)
_REPLY: Final = record(
    Reply,
    calls=sequence(_CALL),
    prose=TEXT,
    ending=choice(Ending),
    input_tokens=optional(COUNT),
    output_tokens=optional(COUNT),
    layer=TEXT,
    wire=TEXT,
)
_FORMS: Final[dict[str, tuple[type[Record], Form[Any]]]] = {
    "asked": (
        Asked,
        record(
            Asked,
            run=TEXT,
            at=TEXT,
            model=TEXT,
            settings=TEXT,
            prompt=TEXT,
            whole=TEXT,
            opening=sequence(TEXT),
            returned=sequence(_RETURN),
            reserved=COUNT,
        ),
    ),
    "replied": (Replied, record(Replied, reply=_REPLY)),
    "missed": (Missed, record(Missed, mishap=choice(Mishap), message=TEXT)),
}


def encode(given: Record) -> bytes:
    """Write a record as bytes."""
    kind, form = next((kind, form) for kind, (made, form) in _FORMS.items() if isinstance(given, made))
    written: JsonValue = form.write(given)
    return render({"v": _VERSION, "kind": kind, "record": written})


def decode(data: bytes) -> Record:
    """Read a record. Raises Malformed."""
    value = parse(data)
    if not isinstance(value, dict) or value.keys() != {"v", "kind", "record"} or value["v"] != _VERSION or value["kind"] not in _FORMS:
        raise Malformed("it is no record of a transcript that this program knows")
    read: Record = _FORMS[value["kind"]][1].read(value["record"])
    return read


class TakenOver(Exception):
    """Somebody else went on with the attempt."""


class Transcript:
    """The transcript of one attempt: what is there, and what is added."""

    def __init__(self, kept: Transcripts, worker: str, attempt: str) -> None:
        """Read what is there. Raises Damaged when it is none that this program writes."""
        self._kept, self._worker, self._attempt = kept, worker, attempt
        self._digests: list[str] = []
        self._records: list[Record] = []
        for number, content in enumerate(kept.records(worker, attempt), start=1):
            try:
                self._note(content, decode(content))
            except Malformed as problem:
                raise Damaged(
                    f"record {number} of the transcript of attempt {attempt} cannot be read: {problem}", "withdraw the attempt"
                ) from problem

    @property
    def records(self) -> Sequence[Record]:
        """Every record, in order."""
        return self._records

    @property
    def digest(self) -> str:
        """The digest of every record, in order; empty where there is none."""
        return _digest(self._digests)

    @property
    def is_full(self) -> bool:
        """Whether it leaves no room for one more request and its end."""
        return len(self._records) > RECORDS_MAX - 2

    def add(self, given: Record) -> None:
        """Keep a record. Raises TakenOver when somebody else wrote the next one."""
        content = encode(given)
        if not self._kept.append(self._worker, self._attempt, len(self._records) + 1, content):
            raise TakenOver
        self._note(content, given)

    def _note(self, content: bytes, given: Record) -> None:
        self._digests.append(digest_of(content))
        self._records.append(given)

    def usage(self) -> Usage:
        """Say what the requests so far cost; one of which that is not known counts as what was reserved for it."""
        requests = inputs = outputs = 0
        for place, asked in enumerate(self._records):
            if isinstance(asked, Asked):
                requests += 1
                cost = _cost(asked, self._records[place + 1] if place + 1 < len(self._records) else None)
                inputs, outputs = inputs + cost[0], outputs + cost[1]
        return Usage(requests, inputs, outputs)

    def replies(self) -> Sequence[tuple[Asked, Reply]]:
        """Give the requests that were answered, with their replies."""
        pairs = zip(self._records, self._records[1:], strict=False)
        return [(asked, ended.reply) for asked, ended in pairs if isinstance(asked, Asked) and isinstance(ended, Replied)]


def transcript_digest(records: Sequence[bytes]) -> str:
    """Give the digest of every record, in order; empty where there is none."""
    return _digest(tuple(map(digest_of, records)))


def _digest(digests: Sequence[str]) -> str:
    return digest_of("\n".join(digests).encode()) if digests else ""


def _cost(asked: Asked, ended: Record | None) -> tuple[int, int]:
    match ended:
        case Replied(reply=Reply(input_tokens=int() as given, output_tokens=int() as made)):
            return given, made
        case Missed(mishap=mishap) if not mishap.may_have_cost:
            return 0, 0
    return asked.reserved, 0
