"""The ledger of one verification: what was shown to the judge, and so what it can cite.

Invariants: a citation resolves only against what was shown in full: every character of an entry, every character of the cited lines;
what was shown cut, or differently at two times, resolves nothing; the class of evidence is the runtime's, never the judge's. What is no
longer noted because of a limit cannot be cited.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias, assert_never

from stateward.runtime.core.events import Citation, EntryCitation, FileCitation
from stateward.runtime.core.texts import shown
from stateward.runtime.session.browse import Piece, SeenEntry
from stateward.runtime.session.entries import numbered, reference
from stateward.runtime.session.evidence import EvidenceClass
from stateward.runtime.session.visible import is_quote
from stateward.runtime.workdir.shown import Grepped, Shown

LINES_NOTED_MAX: Final = 500_000
"""Lines of files that one verification may cite from."""


@dataclass(frozen=True, slots=True)
class Resolved:
    """A citation names what was shown."""

    evidence: EvidenceClass
    masked: str = ""
    """Why the exit status in it may hide a failure; empty when nothing is seen."""


@dataclass(frozen=True, slots=True)
class Unresolvable:
    """A citation names nothing that was shown in full; `reason` says why, `help` what would change it, or nothing."""

    reason: str
    help: str = ""


Resolution: TypeAlias = Resolved | Unresolvable


@dataclass(slots=True)
class _EntryNoted:
    seen: SeenEntry
    total: int
    spans: list[tuple[int, int]] = field(default_factory=list)
    """What was shown of it, in order, none touching another."""

    def add(self, start: int, end: int) -> None:
        """Note that a span was shown."""
        apart = [each for each in self.spans if each[1] < start or end < each[0]]
        joined = [each for each in self.spans if each not in apart]
        span = (min(start, *(each[0] for each in joined)), max(end, *(each[1] for each in joined))) if joined else (start, end)
        self.spans = sorted([*apart, span])

    @property
    def is_whole(self) -> bool:
        """Whether all of it was shown."""
        return self.spans == [(0, self.total)]


class Ledger:
    """What was shown so far of a captured log with so many entries, and of the Workdir."""

    def __init__(self, entries: int) -> None:
        self._entries = entries
        self._noted: dict[int, _EntryNoted] = {}
        self._files: dict[str, dict[int, str | None]] = {}
        """Lines by path and number; None for one that was shown cut, or in two ways."""
        self._lines = 0

    def note_entry(self, piece: Piece) -> None:
        """Note that a part of an entry was shown."""
        noted = self._noted.setdefault(piece.seen.seq, _EntryNoted(piece.seen, piece.total))
        noted.add(piece.start, piece.end)

    def note_lines(self, given: Shown) -> None:
        """Note that lines of a file were shown."""
        for number, text in enumerate(given.lines, start=given.first_line):
            self._note_line(given.path, number, None if number in given.cut else text)

    def note_hits(self, given: Grepped) -> None:
        """Note that lines were shown because they match. One that is shown cut takes nothing from a whole one."""
        for hit in given.hits:
            if not hit.cut:
                self._note_line(hit.path, hit.line, hit.text)

    def _note_line(self, path: str, number: int, text: str | None) -> None:
        lines = self._files.setdefault(path, {})
        if number in lines:
            lines[number] = text if lines[number] == text else None
        elif self._lines < LINES_NOTED_MAX:
            lines[number] = text
            self._lines += 1

    def resolve(self, citation: Citation) -> Resolution:
        """Say whether a citation names what was shown, and of what class that is."""
        match citation:
            case EntryCitation(entry):
                return self._entry(entry)
            case FileCitation(path=path, first_line=first, last_line=last, quote=quote):
                return self._file(path, first, last, quote)
        assert_never(citation)

    def _entry(self, named: str) -> Resolution:
        seq = numbered(named)
        if seq is None:
            return Unresolvable("it names no entry", f"name it like `{reference(1)}`")
        if not 1 <= seq <= self._entries:
            return Unresolvable("no such entry was captured")
        noted = self._noted.get(seq)
        if noted is None:
            return Unresolvable("it was not read", "read it with `ReadEntry`")
        if noted.seen.withheld:
            return Unresolvable(noted.seen.withheld)
        if noted.seen.aside:
            return Unresolvable("it was set aside by an operator and is no evidence")
        if not noted.is_whole:
            return Unresolvable("only a part of it was shown", "read the rest of it")
        return Resolved(noted.seen.evidence, noted.seen.masked)

    def _file(self, path: str, first: int, last: int, quote: str) -> Resolution:
        lines = self._files.get(path)
        if lines is None:
            return Unresolvable("nothing of that path was shown", "read it with `Read`, and cite the path that is shown there")
        if not 1 <= first <= last or last - first >= LINES_NOTED_MAX:
            return Unresolvable("its lines are none")
        cited: list[str] = []
        for number in range(first, last + 1):
            if number not in lines:
                return Unresolvable(f"line {number} was not shown", "cite lines that were shown")
            text = lines[number]
            if text is None:
                return Unresolvable(f"line {number} was shown cut, or differently at two times")
            cited.append(text)
        if not is_quote(quote, cited):
            return Unresolvable(f"the quote is not lines {first} to {last} as they were shown", _difference(quote, cited))
        return Resolved(EvidenceClass.WORKDIR)


def _difference(quote: str, lines: Sequence[str]) -> str:
    """Point at the first line that differs."""
    quoted = quote.removesuffix("\n").split("\n")
    if len(quoted) != len(lines):
        return f"quote exactly {len(lines)} lines, whole, without their numbers"
    differing = next((each for each, line in zip(quoted, lines, strict=True) if not is_quote(each, (line,))), quote)
    return f"quote whole lines, without their numbers; {shown(differing)} is none of them"
