"""The session as a verifier looks around in it: an overview, a literal search, and entries in full, over the captured log.

Invariants: an entry is named by its reference, whatever is left out; nothing after the capture is seen; pages are exact, so that what
follows one begins where it ends; every text is bounded and says where it was cut; what a rewind set aside is labelled everywhere; the
class of evidence follows from kind and actor, never from what an entry says. Entries are read when they are looked at and never kept.
Raises Damaged, as the log does, for an entry that is not what was written.
"""

from collections import Counter, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from stateward.runtime.core.instance import Aside, is_aside
from stateward.runtime.core.texts import cut
from stateward.runtime.session.browse_status import masked_by
from stateward.runtime.session.browse_text import EntryText, text_of
from stateward.runtime.session.checks import CheckRecord
from stateward.runtime.session.entries import ActorClass, Assurance, Entry, Kind, numbered, reference
from stateward.runtime.session.evidence import OPERATORS_ACTS, EvidenceClass, evidence_class
from stateward.runtime.session.payloads import CHECK_DOMAIN, Extension, decode
from stateward.runtime.session.visible import visible

READ_BYTES_MAX: Final = 1024 * 1024
"""Of the text of one entry that one call may show."""
PAGE_ENTRIES_MAX: Final = 200
"""Entries of one page."""
OFFSET_MAX: Final = 1_000_000_000
NEEDLE_CHARACTERS_MAX: Final = 1024
"""Of a text that is searched for."""
SEARCH_BYTES_MAX: Final = 16 * 1024 * 1024
"""Payloads that one search looks through; it says where it stopped."""
SURVEY_ENTRIES_MAX: Final = 100_000
"""The newest entries that an overview counts."""
CHANNELS_MAX: Final = 64
"""Channels that an overview tells apart."""
LATEST_ENTRIES: Final = 10
"""The newest entries, shown in an overview."""
ACTS_MAX: Final = 10
"""The newest acts of operators, shown in an overview however far back they lie."""
PREVIEW_CHARACTERS: Final = 160
CALL_DISTANCE_MAX: Final = 64
"""How many entries before a result its call is looked for."""
_CHUNK_ENTRIES: Final = 16
"""Read at once: as few as keep a chunk of the largest payloads small."""

_UNKNOWN_COMMAND: Final = "the command is not recorded"


@dataclass(frozen=True, slots=True)
class ViewBounds:
    """How much one call shows; a profile may narrow it."""

    read_bytes: int = 32 * 1024
    """Of the text of an entry."""
    page_entries: int = 50

    def __post_init__(self) -> None:
        """Refuse bounds that let nothing through, or more than any may."""
        if not (4 <= self.read_bytes <= READ_BYTES_MAX and 1 <= self.page_entries <= PAGE_ENTRIES_MAX):
            raise ValueError(f"a read has 4 to {READ_BYTES_MAX} bytes and a page 1 to {PAGE_ENTRIES_MAX} entries")


@dataclass(frozen=True, slots=True)
class SeenEntry:
    """What is said of an entry beside its text; all of it is the runtime's word but `tool` and `preview`."""

    seq: int
    time: datetime
    kind: str
    """Empty for one that is not known here."""
    actor_class: ActorClass
    assurance: Assurance
    evidence: EvidenceClass
    aside: bool
    """Whether a rewind set it aside: to be read, and no evidence."""
    tool: str
    preview: str
    masked: str
    """Why the exit status in it may hide a failure; empty when nothing is seen, or there is none."""
    notices: tuple[str, ...]
    withheld: str

    @property
    def reference(self) -> str:
        """How it is named and cited."""
        return reference(self.seq)


@dataclass(frozen=True, slots=True)
class Query:
    """Which entries are searched for: those for which all of it holds; what is empty holds for all."""

    text: str = ""
    """Literal, in any case of its letters, as the text is shown."""
    kind: str = ""
    tool: str = ""
    """The whole name of a tool, in any case."""
    part: str = ""
    """`given`, what a tool was given, or `result`, everything else: where the text is looked for."""
    first: int = 1
    last: int | None = None
    offset: int = 0
    """Matches that are passed over."""
    limit: int | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """What a search found, the oldest first."""

    entries: tuple[SeenEntry, ...]
    more: bool
    """Whether there are more matches after it."""
    stopped_at: int | None = None
    """The last entry that was looked at, where the search had looked through all it may before the end of its range."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of an entry's text: the characters from `start` to `end`, of `total`."""

    seen: SeenEntry
    text: str
    start: int
    end: int
    total: int


@dataclass(frozen=True, slots=True)
class ChannelSeen:
    """A channel by which entries came."""

    actor_class: ActorClass
    channel: str
    first: int
    """Its first entry."""
    since: datetime
    last: int
    entries: int


@dataclass(frozen=True, slots=True)
class Overview:
    """What the log holds."""

    entries: int
    counted_from: int
    """The first of the entries that are counted."""
    kinds: tuple[tuple[str, EvidenceClass, int], ...]
    """How many there are of each kind and class of evidence, by name; the kind is empty for those that are not known here."""
    channels: tuple[ChannelSeen, ...]
    aside: tuple[Aside, ...]
    acts: tuple[SeenEntry, ...]
    """What operators did."""
    latest: tuple[SeenEntry, ...]


class NotThere(Exception):
    """There is nothing to show; the text says why."""


class SessionView:
    """The captured log of one request."""

    def __init__(self, captured: Sequence[Entry], aside: Sequence[Aside] = (), bounds: ViewBounds | None = None) -> None:
        self._captured = captured
        self._aside = tuple(aside)
        self._bounds = bounds or ViewBounds()
        self._overview: Overview | None = None

    def overview(self) -> Overview:
        """Say what there is; looked up once."""
        self._overview = self._overview or self._surveyed()
        return self._overview

    def search(self, query: Query) -> Page:
        """Find entries. Raises NotThere for a query that can find nothing."""
        after, upto = self._range(query)
        limit = self._bounds.page_entries if query.limit is None else query.limit
        if not (1 <= limit <= self._bounds.page_entries and 0 <= query.offset <= OFFSET_MAX):
            raise NotThere(f"a page has 1 to {self._bounds.page_entries} entries, and an offset is 0 to {OFFSET_MAX}")
        needle = _needle(query.text)
        found: list[SeenEntry] = []
        passed = looked_through = 0
        for entry in self._between(after, upto):
            if looked_through + len(entry.payload) > SEARCH_BYTES_MAX and looked_through:
                return Page(tuple(found), more=False, stopped_at=entry.seq - 1)
            looked_through += len(entry.payload)
            match = _match(entry, query, needle)
            if match is None:
                continue
            passed += 1
            if passed <= query.offset:
                continue
            if len(found) == limit:
                return Page(tuple(found), more=True)
            found.append(self._seen(entry, *match))
        return Page(tuple(found), more=False)

    def read(self, named: str, offset: int = 0) -> Piece:
        """Show an entry's text from a character on, as much as one call shows. Raises NotThere."""
        entry = self._entry(named)
        read = text_of(entry)
        total = len(read.text)
        if not 0 <= offset <= total:
            raise NotThere(f"the text of `{named}` has {total} characters")
        text = cut(read.text[offset : offset + self._bounds.read_bytes], self._bounds.read_bytes)
        return Piece(self._seen(entry, read), text, offset, offset + len(text), total)

    # --- entries ----------------------------------------------------------------------------------------------------------------

    def _entry(self, named: str) -> Entry:
        seq = numbered(named)
        if seq is None or not 1 <= seq <= len(self._captured):
            raise NotThere(self._names_none())
        return self._captured[seq - 1]

    def _names_none(self) -> str:
        if not self._captured:
            return "the session has no entries"
        return f"entries are named `{reference(1)}` to `{reference(len(self._captured))}`"

    def _between(self, after: int, upto: int) -> Iterator[Entry]:
        for start in range(after, upto, _CHUNK_ENTRIES):
            yield from self._captured[start : min(start + _CHUNK_ENTRIES, upto)]

    def _range(self, query: Query) -> tuple[int, int]:
        last = len(self._captured) if query.last is None else min(query.last, len(self._captured))
        if not 1 <= query.first <= max(last, 1):
            raise NotThere(self._names_none())
        return query.first - 1, last

    def _seen(self, entry: Entry, read: EntryText, preview: str = "") -> SeenEntry:
        return SeenEntry(
            seq=entry.seq,
            time=entry.time,
            kind=entry.kind if entry.kind in _KINDS else "",
            actor_class=entry.actor.actor_class,
            assurance=entry.actor.assurance,
            evidence=evidence_class(entry.kind, entry.actor.actor_class),
            aside=is_aside(self._aside, entry.seq),
            tool=visible(read.tool),
            preview=preview or _excerpt(read.text, 0),
            masked=self._masked(entry, read),
            notices=read.notices,
            withheld=read.withheld,
        )

    def _masked(self, entry: Entry, read: EntryText) -> str:
        """Say why the status of a tool's result, or of a check, may be masked; the command is that of the result, or else of its call."""
        if entry.actor.actor_class is ActorClass.ENGINE:
            return _doubt_of_check(entry) if entry.kind == Kind.EXTENSION else ""
        if entry.kind != Kind.TOOL_RESULT:
            return ""
        command = read.command or self._command_of_call(entry, read.use)
        if command is None:
            return _UNKNOWN_COMMAND if read.has_status else ""
        return masked_by(command) or ""

    def _command_of_call(self, entry: Entry, use: str) -> str | Sequence[str] | None:
        if not use:
            return None
        for seq in range(entry.seq - 1, max(entry.seq - 1 - CALL_DISTANCE_MAX, 0), -1):
            earlier = self._captured[seq - 1]
            if earlier.kind == Kind.TOOL_CALL and earlier.actor.actor_class is entry.actor.actor_class:
                call = text_of(earlier)
                if call.use == use:
                    return call.command
        return None

    # --- the overview -----------------------------------------------------------------------------------------------------------

    def _surveyed(self) -> Overview:
        count = len(self._captured)
        start = max(count - SURVEY_ENTRIES_MAX, 0)
        kinds: Counter[tuple[str, EvidenceClass]] = Counter()
        channels: dict[tuple[ActorClass, str], ChannelSeen] = {}
        acts: deque[Entry] = deque(maxlen=ACTS_MAX)
        for entry in self._between(start, count):
            kind = entry.kind if entry.kind in _KINDS else ""
            kinds[kind, evidence_class(entry.kind, entry.actor.actor_class)] += 1
            _note_channel(channels, entry)
            if entry.kind in OPERATORS_ACTS:
                acts.append(entry)
        return Overview(
            entries=count,
            counted_from=start + 1,
            kinds=tuple((kind, evidence, number) for (kind, evidence), number in sorted(kinds.items())),
            channels=tuple(channels[each] for each in sorted(channels)),
            aside=self._aside,
            acts=tuple(self._seen(each, text_of(each)) for each in acts),
            latest=tuple(self._seen(each, text_of(each)) for each in self._between(max(count - LATEST_ENTRIES, 0), count)),
        )


_KINDS: Final = frozenset(map(str, Kind))


def _doubt_of_check(entry: Entry) -> str:
    """Say why the exit status of a check that the host ran says nothing; empty where it does, or the entry holds none."""
    if CHECK_DOMAIN.encode() not in entry.payload:
        return ""
    payload = decode(entry)
    if not isinstance(payload, Extension) or not isinstance(payload.record, CheckRecord) or payload.record.exit_status is None:
        return ""
    return payload.record.problem


def _note_channel(channels: dict[tuple[ActorClass, str], ChannelSeen], entry: Entry) -> None:
    key = (entry.actor.actor_class, entry.actor.channel)
    known = channels.get(key)
    if known is None and len(channels) >= CHANNELS_MAX:
        return
    first, since, number = (entry.seq, entry.time, 1) if known is None else (known.first, known.since, known.entries + 1)
    channels[key] = ChannelSeen(*key, first, since, entry.seq, number)


# --- searching ----------------------------------------------------------------------------------------------------------------------


def _needle(text: str) -> str:
    if len(text) > NEEDLE_CHARACTERS_MAX:
        raise NotThere(f"a text that is searched for has at most {NEEDLE_CHARACTERS_MAX} characters")
    return visible(text).casefold()


def _match(entry: Entry, query: Query, needle: str) -> tuple[EntryText, str] | None:
    """Read an entry that is searched for, with an excerpt of what matches; None for another."""
    if query.kind and entry.kind != query.kind:
        return None
    read = text_of(entry)
    if read.withheld or (query.tool and read.tool.casefold() != query.tool.casefold()):
        return None
    text = {"given": read.given, "result": read.result}.get(query.part, read.text)
    if query.part and not text:
        return None
    folded = text.casefold()
    at = folded.find(needle)  # in time that grows with the text alone, whatever both hold
    return None if at < 0 else (read, _excerpt(text, _place(text, at, len(folded))))


def _place(text: str, at: int, length: int) -> int:
    """Give where in a text a place lies that was found in what it folds to, of such a length."""
    if length == len(text):
        return at
    folded = 0
    for place, char in enumerate(text):
        if folded >= at:
            return place
        folded += len(char.casefold())
    return len(text)


def _excerpt(text: str, at: int) -> str:
    """Give one line around a place in a text."""
    start = 0 if at < PREVIEW_CHARACTERS // 2 else at - PREVIEW_CHARACTERS // 4
    part = text[start : start + PREVIEW_CHARACTERS].replace("\n", " ⏎ ").replace("\t", " ")
    return f"{'…' if start else ''}{part}{'…' if start + PREVIEW_CHARACTERS < len(text) else ''}"
