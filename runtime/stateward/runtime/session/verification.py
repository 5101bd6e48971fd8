"""Verifying a whole log: is it intact, is it complete, is it anchored. Three answers, since each can be yes while another is no.

*Intact*: no entry was altered, moved, taken out from inside, put in, or sealed by somebody without the key. *Complete*: the entries reach
the stored head, and no further. *Anchored*: the log holds the head that a witness outside the store knows.

Invariants: pure; an entry is looked at once and forgotten, so memory does not grow with the log; damage ends nothing, the entries after
it are looked at too; what was not looked into is never said to be well.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import islice
from typing import Final, TypeAlias

from stateward.runtime.session.chain import canonical_header, digest_of, redaction_key
from stateward.runtime.session.entries import ENTRY_VERSION, Entry, Head, Kind, Unreadable, reference

FINDINGS_MAX: Final = 100
"""Findings that are given in full; of further ones there is a count."""
KEYS_MAX: Final = 256
"""Keys of one log that are told apart."""
NEIGHBOURS_MAX: Final = 256
"""How far from its place an entry is recognised."""
ORIGINS_MAX: Final = 256
"""Other Workers among whose entries a foreign one is looked for."""
SEARCHES_MAX: Final = 16
"""Entries of one log of which it is asked where they are from."""

DOUBTED_MAX: Final = 100_000
"""Payloads that are other ones now of which it is asked whether a later entry says why."""
_ALTERED: Final = "its payload is not what was written"

SealCheck: TypeAlias = Callable[[str, str, bytes], bool | None]
"""Checks key id, digest and seal; None when that key is not known."""


class Code(StrEnum):
    """What is wrong with a log."""

    ALTERED = "altered"
    MOVED = "moved"
    FOREIGN = "foreign"
    MISSING = "missing"
    NOT_FOLLOWING = "not_following"
    UNREADABLE = "unreadable"
    SEAL_MISMATCH = "seal_mismatch"
    SEAL_MISSING = "seal_missing"
    WRONG_KEY = "wrong_key"
    TAIL_MISSING = "tail_missing"
    BEYOND_HEAD = "beyond_head"
    HEAD_MISSING = "head_missing"
    HEAD_DIFFERS = "head_differs"
    ROLLED_BACK = "rolled_back"


_OF_COMPLETENESS: Final = frozenset({Code.TAIL_MISSING, Code.BEYOND_HEAD, Code.HEAD_MISSING, Code.HEAD_DIFFERS})


class Answer(StrEnum):
    """An answer to one of the three questions."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong."""

    code: Code
    seq: int
    """The entry it is about."""
    message: str

    @property
    def reference(self) -> str:
        """How people name the entry."""
        return reference(self.seq)


@dataclass(frozen=True, slots=True)
class Anchor:
    """A head that somebody outside the store knows."""

    head: Head
    source: str
    """Who knows it: `witness`, `expected`."""


@dataclass(frozen=True, slots=True)
class Ends:
    """Where a log begins and ends, by what is stored and unchecked."""

    base: Head
    """What the first entry follows on: the beginning, or the head that a fork goes on from."""
    head: Head | None
    """None when it is missing."""
    last: int
    """The number of the last entry; that of the base when there is none."""


@dataclass(frozen=True, slots=True)
class Verification:
    """The answers about one log."""

    worker: str
    entries: int
    """How many were looked at."""
    head: Head | None
    """As the store says."""
    intact: Answer
    """Unknown when nothing is wrong and a seal is under a key that is not here."""
    complete: Answer
    anchored: Answer
    """Unknown without a witness."""
    rolled_back: bool
    """Whether the log is shorter, or another one, where a witness saw it."""
    anchors: tuple[Anchor, ...]
    sealed: int
    """Entries with a seal that checks."""
    unsealed: int
    """Entries without a seal: they can be written anew by whoever writes the store."""
    redacted: int
    """Entries out of which a secret was taken since, as a later one says."""
    unknown_keys: tuple[str, ...]
    """Keys that are not here; their seals were not checked."""
    findings: tuple[Finding, ...]
    further_findings: int

    @property
    def is_well(self) -> bool:
        """Whether nothing is wrong; what is unknown is not wrong."""
        return Answer.NO not in (self.intact, self.complete, self.anchored)


def verify(
    worker: str,
    ends: Ends,
    entries: Iterable[Entry | Unreadable],
    check_seal: SealCheck,
    *,
    anchors: Sequence[Anchor] = (),
    origins: Iterable[str] = (),
) -> Verification:
    """Verify a log as it lies. `origins` are other Workers that an entry may have been taken from."""
    seen = _Seen(worker, ends, check_seal, tuple(anchors), tuple(islice(origins, ORIGINS_MAX)))
    for each in entries:
        seen.take(each)
    seen.end()
    return seen.answer()


def gone(worker: str, anchors: Sequence[Anchor]) -> Verification:
    """Answer for a log of which the store holds nothing while a witness knows it."""
    anchor = anchors[0]
    message = f"the {anchor.source} knows {reference(anchor.head.seq)}, and the store has no such Worker"
    finding = Finding(Code.ROLLED_BACK, anchor.head.seq, message)
    return Verification(
        worker=worker,
        entries=0,
        head=None,
        intact=Answer.UNKNOWN,
        complete=Answer.NO,
        anchored=Answer.NO,
        rolled_back=True,
        anchors=tuple(anchors),
        sealed=0,
        unsealed=0,
        redacted=0,
        unknown_keys=(),
        findings=(finding,),
        further_findings=0,
    )


@dataclass(slots=True)
class _Key:
    """The seals under one key, so far."""

    checked: int = 0
    failed: int = 0
    first: int = 0
    held: list[Finding] = field(default_factory=list)
    """Seals that did not check, while none did: the key may be another one."""


@dataclass(slots=True)
class _Seen:
    """What was seen of a log so far."""

    worker: str
    ends: Ends
    check_seal: SealCheck
    anchors: tuple[Anchor, ...]
    origins: tuple[str, ...]
    previous: Head = field(init=False)
    entries: int = 0
    sealed: int = 0
    unsealed: int = 0
    after_sealed: bool = False
    unknown: dict[str, None] = field(default_factory=dict)
    keys: dict[str, _Key] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    further: int = 0
    codes: set[Code] = field(default_factory=set)
    searches: int = 0
    redacted: int = 0
    doubted: dict[str, int] = field(default_factory=dict)
    """The payloads that are other ones now, by the key of the entry that would say why."""
    at_anchor: dict[int, str] = field(default_factory=dict)
    """The digests that lie where the anchors are."""
    skip_link: bool = False
    """Whether the entry before is gone or unreadable, so that nothing can be said of the link to it."""

    def __post_init__(self) -> None:
        self.previous = self.ends.base

    # --- entries --------------------------------------------------------------------------------------------------------------------

    def take(self, given: Entry | Unreadable) -> None:
        self.entries += 1
        expected = self.previous.seq + 1
        if given.seq != expected:
            self._find(Code.MISSING, expected, _missing(expected, given.seq - 1))
            self.skip_link = True
        if isinstance(given, Unreadable):
            self._find(Code.UNREADABLE, given.seq, f"what lies there was never written by this program: {given.problem}")
            self.previous, self.skip_link = Head(given.seq, ""), True
            return
        in_place = self._look_at(given)
        if given.kind == Kind.REDACTED and given.key is not None and self.doubted.pop(given.key, None) is not None:
            self.redacted += 1
        self.previous, self.skip_link = Head(given.seq, given.digest), not in_place
        if any(anchor.head.seq == given.seq for anchor in self.anchors):
            self.at_anchor[given.seq] = given.digest
        if self.ends.head is not None and given.seq > self.ends.head.seq:
            self._find(Code.BEYOND_HEAD, given.seq, "it lies beyond the head of the log")

    def _look_at(self, entry: Entry) -> bool:
        """Look at one entry; tell whether it is one of this place, so that the next one follows on it."""
        code = self._look_at_content(entry)
        self._look_at_seal(entry)
        return code not in {Code.MOVED, Code.FOREIGN}

    def _look_at_content(self, entry: Entry) -> Code | None:
        problem = _header_problem(entry)
        if problem is not None:
            code, message = self._origin(entry, problem)
        elif entry.payload_digest != digest_of(entry.payload):
            self._doubt(entry)
            return None
        elif not self.skip_link and entry.previous != self.previous.digest:
            code, message = Code.NOT_FOLLOWING, "it does not follow the entry before it, which is another one now"
        else:
            return None
        self._find(code, entry.seq, message)
        return code

    def _origin(self, entry: Entry, problem: str) -> tuple[Code, str]:
        self.searches += 1
        if self.searches <= SEARCHES_MAX:
            place = next((seq for seq in _around(entry.seq) if _fits(entry, entry.worker, seq)), None)
            if place is not None:
                return Code.MOVED, f"it is entry {reference(place)}, put in another place"
            found = next(((other, seq) for other in self.origins for seq in _places(entry.seq) if _fits(entry, other, seq)), None)
            if found is not None:
                return Code.FOREIGN, f"it is entry {reference(found[1])} of Worker {found[0]}"
        return Code.ALTERED, problem

    def _doubt(self, entry: Entry) -> None:
        """Keep in mind a payload that is another one now: an entry that comes later may say that a secret was taken out of it."""
        if len(self.doubted) < DOUBTED_MAX:
            self.doubted[redaction_key(entry.seq, entry.payload)] = entry.seq
        else:
            self._find(Code.ALTERED, entry.seq, _ALTERED)

    # --- seals ----------------------------------------------------------------------------------------------------------------------

    def _look_at_seal(self, entry: Entry) -> None:
        if entry.key_id is None or entry.seal is None:
            self.unsealed += 1
            if self.after_sealed or entry.key_id is not None or entry.seal is not None:
                self._find(Code.SEAL_MISSING, entry.seq, "its seal is missing, and entries before it are sealed")
            return
        self.after_sealed = True
        holds = self.check_seal(entry.key_id, entry.digest, entry.seal)
        if holds is None:
            if len(self.unknown) < KEYS_MAX:
                self.unknown[entry.key_id] = None
            return
        key = self.keys.setdefault(entry.key_id if entry.key_id in self.keys or len(self.keys) < KEYS_MAX else "", _Key())
        key.first = key.first or entry.seq
        if holds:
            self.sealed += 1
            key.checked += 1
            self._release(key)
        else:
            key.failed += 1
            self._hold(key, Finding(Code.SEAL_MISMATCH, entry.seq, f"its seal is not one of key `{entry.key_id:.80}`"))

    def _hold(self, key: _Key, finding: Finding) -> None:
        if key.checked:
            self._add(finding)
        elif len(key.held) < FINDINGS_MAX:
            key.held.append(finding)

    def _release(self, key: _Key) -> None:
        for finding in key.held:
            self._add(finding)
        self.further += key.failed - len(key.held) if key.held else 0
        key.held = []

    # --- the end --------------------------------------------------------------------------------------------------------------------

    def end(self) -> None:
        for seq in self.doubted.values():
            self._find(Code.ALTERED, seq, _ALTERED)
        for key_id, key in self.keys.items():
            if key.failed and not key.checked:
                self._find(Code.WRONG_KEY, key.first, _wrong_key(key_id, key.failed))
        self._look_at_head()
        for anchor in self.anchors:
            self._look_at_anchor(anchor)

    def _look_at_head(self) -> None:
        head, last = self.ends.head, self.previous
        if head is None:
            self._find(Code.HEAD_MISSING, last.seq, "the head of the log is missing")
        elif head.seq > last.seq:
            self._find(Code.TAIL_MISSING, last.seq + 1, _missing(last.seq + 1, head.seq))
        elif head.seq == last.seq and head.digest != last.digest:
            self._find(Code.HEAD_DIFFERS, last.seq, "the head of the log is another entry under its number")

    def _look_at_anchor(self, anchor: Anchor) -> None:
        there = self._digest_at(anchor.head.seq)
        if there == anchor.head.digest:
            return
        seen = f"the {anchor.source} knows {reference(anchor.head.seq)}"
        if anchor.head.seq > self.previous.seq:
            message = f"{seen}, and the log ends at {reference(self.previous.seq)}"
        else:
            message = f"{seen} with another digest"
        self._find(Code.ROLLED_BACK, anchor.head.seq, message)

    def _digest_at(self, seq: int) -> str | None:
        return self.ends.base.digest if seq == self.ends.base.seq else self.at_anchor.get(seq)

    # --- findings -------------------------------------------------------------------------------------------------------------------

    def _find(self, code: Code, seq: int, message: str) -> None:
        self._add(Finding(code, seq, message))

    def _add(self, finding: Finding) -> None:
        self.codes.add(finding.code)
        if len(self.findings) < FINDINGS_MAX:
            self.findings.append(finding)
        else:
            self.further += 1

    def answer(self) -> Verification:
        rolled_back = Code.ROLLED_BACK in self.codes
        broken = self.codes - _OF_COMPLETENESS - {Code.ROLLED_BACK}
        intact = Answer.NO if broken else Answer.UNKNOWN if self.unknown else Answer.YES
        anchored = Answer.NO if rolled_back else Answer.YES if self.anchors else Answer.UNKNOWN
        return Verification(
            worker=self.worker,
            entries=self.entries,
            head=self.ends.head,
            intact=intact,
            complete=Answer.NO if self.codes & _OF_COMPLETENESS else Answer.YES,
            anchored=anchored,
            rolled_back=rolled_back,
            anchors=self.anchors,
            sealed=self.sealed,
            unsealed=self.unsealed,
            redacted=self.redacted,
            unknown_keys=tuple(self.unknown),
            findings=tuple(sorted(self.findings, key=lambda each: each.seq)),
            further_findings=self.further,
        )


def _header_problem(entry: Entry) -> str | None:
    if entry.version != ENTRY_VERSION:
        return f"its version is {entry.version}, this program knows version {ENTRY_VERSION}"
    return None if _fits(entry, entry.worker, entry.seq) else "its header is not what was written"


def _fits(entry: Entry, worker: str, seq: int) -> bool:
    try:
        return digest_of(canonical_header(replace(entry, worker=worker, seq=seq))) == entry.digest
    except ValueError:  # a text that no header holds
        return False


def _around(seq: int) -> Iterator[int]:
    for distance in range(1, NEIGHBOURS_MAX + 1):
        yield seq + distance
        if seq > distance:
            yield seq - distance


def _places(seq: int) -> Iterator[int]:
    """Give the places a foreign entry may be from: the same one first."""
    yield seq
    yield from islice(_around(seq), NEIGHBOURS_MAX // 4)


def _missing(first: int, last: int) -> str:
    return "it is missing" if first >= last else f"it is missing, and so are the ones up to {reference(last)}"


def _wrong_key(key_id: str, count: int) -> str:
    seals = "the seal" if count == 1 else f"none of the {count} seals"
    checks = "does not check" if count == 1 else "checks"
    return f"{seals} under key `{key_id:.80}` {checks}: that key is another one now, or the entries were written anew without it"
