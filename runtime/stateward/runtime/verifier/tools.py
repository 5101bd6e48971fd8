"""The tools by which a judge looks around: three over the captured log, and three over the Workdir where there is one. They only read.

Invariants: a tool that is not there is not declared; the same call on the same log gives the same text; foreign text stands in a block,
and what is outside of one is the runtime's own word; everything that is shown is noted in the ledger, and nothing else is.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, Literal, Protocol

from stateward.runtime.core.texts import shown
from stateward.runtime.ports import VerificationRequest
from stateward.runtime.session.browse import NotThere, Overview, Page, Piece, Query, SeenEntry, SessionView
from stateward.runtime.session.chain import time_text
from stateward.runtime.session.entries import Kind, numbered, reference
from stateward.runtime.session.evidence import ADMISSIBLE
from stateward.runtime.session.visible import visible
from stateward.runtime.verifier.arguments import Closed, read_arguments
from stateward.runtime.verifier.blocks import block
from stateward.runtime.verifier.declared import ToolDeclaration, ToolRefused, closed_form
from stateward.runtime.verifier.ledger import Ledger
from stateward.runtime.workdir.shown import Globbed, Grepped, Refused, Shown, path_text

__all__ = ["ToolDeclaration", "ToolRefused", "VerifierTools", "WorkdirReader", "channel_lines"]


class WorkdirReader(Protocol):
    """What is read of a Workdir: bounded, confined to it, and never written to."""

    def read(self, path: str, first_line: int = 1, limit: int | None = None) -> Shown | Refused:
        """Show lines of a file."""

    def glob(self, pattern: str, under: str = "") -> Globbed | Refused:
        """Find paths."""

    def grep(self, pattern: str, under: str = "", paths: str = "", *, ignore_case: bool = False) -> Grepped | Refused:
        """Find lines."""


# --- declarations -------------------------------------------------------------------------------------------------------------------


def _declared(name: str, description: str, required: Sequence[str] = (), **properties: tuple[str, str]) -> ToolDeclaration:
    members: dict[str, dict[str, Any]] = {each: {"type": kind, "description": text} for each, (kind, text) in properties.items()}
    for each, words in _WORDS.items():
        if each in members:
            members[each]["enum"] = list(words)
    return ToolDeclaration(name, description, closed_form(members, required))


_WORDS: Final = {"kind": sorted(map(str, Kind)), "part": ["given", "result"]}
"""The words that members of a closed choice may have."""

SHOW_OVERVIEW: Final = _declared(
    "ShowOverview",
    "Say what the captured session log holds: how many entries of which kind and class of evidence, the channels that recorded them and"
    " since when, what was set aside, and the newest entries.",
)
SEARCH_ENTRIES: Final = _declared(
    "SearchEntries",
    "Find entries of the captured log, the oldest first. Without a text it lists them. It shows the beginning of what it finds;"
    " ReadEntry shows the whole, and only what was shown whole can be cited.",
    text=("string", "What to look for, literally, in any case of the letters."),
    kind=("string", "Only entries of this kind."),
    tool=("string", "Only entries of the tool of this name."),
    part=("string", "Look only in what a tool was given, or only in its result."),
    first=("string", "The first entry to look at, such as E00000001."),
    last=("string", "The last entry to look at."),
    offset=("integer", "How many matches to pass over."),
    limit=("integer", "How many matches to show."),
)
READ_ENTRY: Final = _declared(
    "ReadEntry",
    "Show the text of one entry, from a character on. A long one is shown in parts; it can be cited once all of it was shown.",
    ("entry",),
    entry=("string", "Its reference, such as E00000042."),
    offset=("integer", "The character to begin with; 0 for the first."),
)
READ: Final = _declared(
    "Read",
    "Show lines of a file of the Workdir, each behind its number and a tab. Whole lines that were shown can be cited.",
    ("path",),
    path=("string", "The path, from the root of the Workdir."),
    first_line=("integer", "The first line to show, from 1."),
    limit=("integer", "How many lines to show."),
)
GLOB: Final = _declared(
    "Glob",
    "Find files and folders of the Workdir by a pattern for the whole path: * and ? within a name, ** through folders, [abc], {a,b}.",
    ("pattern",),
    pattern=("string", "The pattern, such as src/**/*.py."),
    under=("string", "The folder to look in; the root when left out."),
)
GREP: Final = _declared(
    "Grep",
    "Find lines in files of the Workdir by a regular expression without backreferences. Lines that are shown whole can be cited.",
    ("pattern",),
    pattern=("string", "The regular expression."),
    under=("string", "The file or folder to look in; the root when left out."),
    paths=("string", "A pattern for which files, such as *.py."),
    ignore_case=("boolean", "Whether the case of letters makes no difference."),
)


class _Overview(Closed):
    pass


class _Search(Closed):
    text: str = ""
    kind: str = ""
    tool: str = ""
    part: Literal["given", "result", ""] = ""
    first: str = ""
    last: str = ""
    offset: int = 0
    limit: int | None = None


class _ReadEntry(Closed):
    entry: str
    offset: int = 0


class _Read(Closed):
    path: str
    first_line: int = 1
    limit: int | None = None


class _Glob(Closed):
    pattern: str
    under: str = ""


class _Grep(Closed):
    pattern: str
    under: str = ""
    paths: str = ""
    ignore_case: bool = False


class VerifierTools:
    """The tools of one attempt."""

    def __init__(self, request: VerificationRequest, session: SessionView, workdir: WorkdirReader | None, ledger: Ledger) -> None:
        self._attempt, self._session, self._ledger = request.attempt, session, ledger
        self._calls: dict[str, tuple[ToolDeclaration, Callable[[object], str]]] = {
            SHOW_OVERVIEW.name: (SHOW_OVERVIEW, self._show_overview),
            SEARCH_ENTRIES.name: (SEARCH_ENTRIES, self._search_entries),
            READ_ENTRY.name: (READ_ENTRY, self._read_entry),
        }
        if workdir is not None:
            files = _FileTools(self._attempt, workdir, ledger)
            self._calls |= {READ.name: (READ, files.read), GLOB.name: (GLOB, files.glob), GREP.name: (GREP, files.grep)}

    @property
    def declarations(self) -> tuple[ToolDeclaration, ...]:
        """The tools that are there."""
        return tuple(declared for declared, _ in self._calls.values())

    def call(self, name: str, arguments: object) -> str:
        """Give what a call shows. Raises ToolRefused with what to say to the model, and Damaged as the log does."""
        if name not in self._calls:
            raise ToolRefused(f"there is no tool {shown(name)}")
        try:
            return self._calls[name][1](arguments)
        except NotThere as nothing:
            raise ToolRefused(str(nothing)) from None

    def _show_overview(self, arguments: object) -> str:
        read_arguments(_Overview, arguments)
        overview = self._session.overview()
        lists = {"The newest acts of operators:": overview.acts, "The newest entries:": overview.latest}
        told = [line for title, entries in lists.items() if entries for line in (title, *self._listed(entries))]
        return "\n".join([*_overview_lines(overview), *told])

    def _search_entries(self, arguments: object) -> str:
        given = read_arguments(_Search, arguments)
        if given.kind and given.kind not in set(Kind):
            raise ToolRefused(f"{shown(given.kind)} is no kind of entry")
        first = _number_of(given.first) if given.first else 1
        last = _number_of(given.last) if given.last else None
        query = Query(given.text, given.kind, given.tool, given.part, first, last, given.offset, given.limit)
        page = self._session.search(query)
        return "\n".join([*self._listed(page.entries), *_page_end(page, given.offset)])

    def _read_entry(self, arguments: object) -> str:
        given = read_arguments(_ReadEntry, arguments)
        piece = self._session.read(given.entry, given.offset)
        self._ledger.note_entry(piece)
        lines = [_entry_line(piece.seen), *_piece_lines(piece)]
        return "\n".join(lines if piece.seen.withheld else [*lines, block(self._attempt, piece.text)])

    def _listed(self, entries: Sequence[SeenEntry]) -> Iterator[str]:
        """List entries: what the runtime says of each, then how each begins."""
        yield from map(_entry_line, entries)
        if entries:
            yield block(self._attempt, "\n".join(map(_preview_line, entries)))


# --- what is said of entries --------------------------------------------------------------------------------------------------------


def _number_of(named: str) -> int:
    """Read a reference."""
    seq = numbered(named)
    if seq is None:
        raise ToolRefused(f"{shown(named)} is no reference of an entry, such as `{reference(1)}`")
    return seq


def _entry_line(seen: SeenEntry) -> str:
    facts = [
        f"{seen.reference} {time_text(seen.time)} {seen.kind or 'of a kind that is unknown here'}, by {seen.actor_class}",
        f"assurance {seen.assurance}",
        f"evidence {seen.evidence} ({'counts' if seen.evidence in ADMISSIBLE and not seen.aside else 'does not count'})",
    ]
    if seen.aside:
        facts.append("set aside by an operator")
    if seen.masked:
        facts.append(f"exit status may be masked: {seen.masked}")
    if seen.withheld:
        facts.append(seen.withheld)
    return "; ".join([*facts, *seen.notices])


def _preview_line(seen: SeenEntry) -> str:
    tool = f"{_one_line(seen.tool)}: " if seen.tool else ""
    return f"{seen.reference} | {tool}{seen.preview}"


def _one_line(text: str) -> str:
    return shown(text.replace("\n", " "))


def _piece_lines(piece: Piece) -> Iterator[str]:
    if piece.seen.withheld:
        return
    if piece.start == 0 and piece.end == piece.total:
        yield f"The whole text, {piece.total} characters:"
        return
    yield f"Characters {piece.start} to {piece.end} of {piece.total}:"
    if piece.end < piece.total:
        yield f"(cut here; go on with offset {piece.end})"


def _page_end(page: Page, offset: int) -> Iterator[str]:
    if page.more:
        yield f"More entries match; go on with offset {offset + len(page.entries)}."
    elif page.stopped_at is not None:
        following = reference(page.stopped_at + 1)
        yield f"The search looked no further than {reference(page.stopped_at)}; go on with first {following} and offset 0."
    else:
        yield "No more entries match." if page.entries else "No entry matches."


def _overview_lines(overview: Overview) -> Iterator[str]:
    if not overview.entries:
        yield "The log holds no entries."
        return
    yield f"The log holds {_entries(overview.entries)}, {reference(1)} to {reference(overview.entries)}."
    if overview.counted_from > 1:
        yield f"Counted from {reference(overview.counted_from)} on:"
    for kind, evidence, number in overview.kinds:
        yield f"  {number} {kind or 'of kinds that are unknown here'}, evidence {evidence}"
    yield from channel_lines(overview)
    for each in overview.aside:
        yield f"Set aside by an operator, no evidence: {reference(each.after + 1)} to {reference(each.before - 1)}"


def _entries(count: int) -> str:
    return f"{count} {'entry' if count == 1 else 'entries'}"


def channel_lines(overview: Overview) -> Iterator[str]:
    """Say by which channels entries came, one a line."""
    for each in overview.channels:
        channel = each.channel if each.channel.isidentifier() else "a channel that is unknown here"
        yield (
            f"By {each.actor_class} through {channel}: {_entries(each.entries)},"
            f" {reference(each.first)} (since {time_text(each.since)}) to {reference(each.last)}"
        )


# --- files --------------------------------------------------------------------------------------------------------------------------


class _FileTools:
    """The tools over the Workdir."""

    def __init__(self, attempt: str, workdir: WorkdirReader, ledger: Ledger) -> None:
        self._attempt, self._workdir, self._ledger = attempt, workdir, ledger

    def read(self, arguments: object) -> str:
        given = read_arguments(_Read, arguments)
        found = self._workdir.read(given.path, given.first_line, given.limit)
        if isinstance(found, Refused):
            raise _refusal(found)
        self._ledger.note_lines(found)
        lines = [f"{number}\t{visible(text)}" for number, text in enumerate(found.lines, start=found.first_line)]
        return self._answer(found.notices, [path_text(found.path), *lines])

    def glob(self, arguments: object) -> str:
        given = read_arguments(_Glob, arguments)
        found = self._workdir.glob(given.pattern, given.under)
        if isinstance(found, Refused):
            raise _refusal(found)
        return self._answer(found.notices, found.text.split("\n")) if found.entries else self._nothing(found.notices)

    def grep(self, arguments: object) -> str:
        given = read_arguments(_Grep, arguments)
        found = self._workdir.grep(given.pattern, given.under, given.paths, ignore_case=given.ignore_case)
        if isinstance(found, Refused):
            raise _refusal(found)
        self._ledger.note_hits(found)
        lines = [f"{path_text(each.path)}:{each.line}\t{visible(each.text)}{' (cut)' if each.cut else ''}" for each in found.hits]
        return self._answer(found.notices, lines) if lines else self._nothing(found.notices)

    def _answer(self, notices: Sequence[str], lines: Sequence[str]) -> str:
        return "\n".join([*notices, block(self._attempt, "\n".join(lines))])

    def _nothing(self, notices: Sequence[str]) -> str:
        return "\n".join([*notices, "Nothing was found."])


def _refusal(found: Refused) -> ToolRefused:
    return ToolRefused(f"{found.message}{f' ({found.help})' if found.help else ''}")
