"""Taking the transcript of a session into the log of its Worker, from where that ended last, each thing once.

Invariants: how far it was taken in is committed with what was taken in; what a hook told already is left out, whatever form it has here;
neither calls nor results of stateward's own tools are taken in, for the engine records those; where such a call has no result yet, the next
import begins with it again, so that its result is known for what it is.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from stateward.runtime.core.refusal import Refusal
from stateward.runtime.ports.bindings import Binding
from stateward.runtime.ports.records import RECORDS_MAX, Cursor, HostRecord
from stateward.runtime.ports.work import HostChannel
from stateward.runtime.session.masking import Secrets
from stateward.runtime.surfaces.hooks.calls import Host, Part, own_tool
from stateward.runtime.surfaces.hooks.records import records_of
from stateward.runtime.surfaces.hooks.scanning import Unreadable
from stateward.runtime.surfaces.hooks.transcripts import Transcript, opened

COMMITS_MAX: Final = 16
"""Of one import; the rest is taken in the next time."""
COMMIT_BYTES: Final = 8 * 1024 * 1024
"""Payloads after which is committed."""
HELD_BYTES_MAX: Final = 1024 * 1024
"""How far behind the last line the next import begins for the sake of a call that has no result."""


class Imported(NamedTuple):
    """What an import came to."""

    acts: int = 0
    """How many new things were done, not only said."""
    head: int = 0
    """The number of the last entry after it; 0 where nothing was committed."""
    refused: Refusal | None = None


def take_in(channel: HostChannel, host: Host, binding: Binding, path: str, secrets: Secrets) -> Imported:
    """Take in what a transcript holds since the last time. Raises TranscriptUnusable, FileNotFoundError, and what the channel raises."""
    with opened(path) as transcript:
        known, named = channel.cursor(host.name, binding.session), secrets.mask(path)
        place = _beginning(transcript, known, named, binding)
        taking = _Taking(channel, host, binding, named, secrets, transcript)
        for line in transcript.lines(place):
            if not taking.takes(line.start, line.end, _parts(host, line.text)):
                break
        else:
            taking.finish()
        return taking.imported


def _beginning(transcript: Transcript, known: Cursor | None, path: str, binding: Binding) -> int:
    """Say where to go on: where it was left; from the beginning where another file lies there, as the ids tell what is new in it."""
    if known is not None and known.path == path and known.offset <= transcript.size and transcript.mark(known.offset) == known.last:
        return known.offset
    return binding.after if binding.after <= transcript.size and (known is None or known.path == path) else 0


def _parts(host: Host, text: str) -> tuple[Part, ...]:
    if not text:
        return ()
    try:
        return host.line(text)
    except (Unreadable, ValueError):  # a line that is cut, or another program's
        return ()


@dataclass(slots=True)
class _Taking:
    """One import while it goes on."""

    channel: HostChannel
    host: Host
    binding: Binding
    path: str
    secrets: Secrets
    transcript: Transcript
    imported: Imported = field(default_factory=Imported)
    waiting: list[HostRecord] = field(default_factory=list)
    size: int = 0
    words: int = 0
    end: int = -1
    commits: int = 0
    own: dict[str, int] = field(default_factory=dict)
    """Calls of stateward's own tools that have no result yet, and the lines where they are made."""

    def takes(self, start: int, end: int, parts: tuple[Part, ...]) -> bool:
        """Take a line; false when this import has taken enough, or nothing more can be written."""
        records = list(records_of(self._foreign(start, parts), self.host.name, self.binding.origin, self.secrets))
        if self.waiting and (len(self.waiting) + len(records) > RECORDS_MAX or self.size > COMMIT_BYTES) and not self._commit():
            return False
        while len(records) > RECORDS_MAX:  # more than one commit takes, out of one line
            self.waiting, records = records[:RECORDS_MAX], records[RECORDS_MAX:]
            if not self._commit():
                return False
        self.waiting += records
        self.size += sum(len(each.payload) for each in records)
        self.words += sum(not each.is_act for each in parts)
        self.end = end
        return True

    def finish(self) -> None:
        """Commit what is left."""
        if self.end >= 0:
            self._commit()

    def _foreign(self, start: int, parts: tuple[Part, ...]) -> Iterator[Part]:
        """Leave out what is of stateward's own tools."""
        for each in parts:
            if each.kind == "tool_call" and own_tool(each.tool) is not None:
                self.own[each.use] = start
            elif each.kind != "tool_result" or self.own.pop(each.use, None) is None:
                yield each

    def _commit(self) -> bool:
        cursor = None
        if self.end >= 0:
            held = min(self.own.values(), default=self.end)
            place = held if self.end - held <= HELD_BYTES_MAX else self.end
            cursor = Cursor(self.host.name, self.binding.session, self.path, place, self.transcript.mark(place))
        answer = self.channel.record(self.waiting, cursor)
        if isinstance(answer, Refusal):
            self.imported = Imported(self.imported.acts, self.imported.head, answer)
            return False
        self.imported = Imported(self.imported.acts + max(0, answer.new - self.words), answer.head.seq)
        self.waiting, self.size, self.words = [], 0, 0
        self.commits += 1
        return self.commits < COMMITS_MAX
