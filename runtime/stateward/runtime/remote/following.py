"""Following the log of a Worker of a service, as server-sent events.

Invariants: every entry is given once, in order and without a gap, over as many connections as it takes; an entry is bounded before it is
looked at, is of the Worker that was asked for and stands on the entry before it by its digest, or it is a fault. Where a connection was
lost it goes on behind the last entry that came whole, a bounded number of times between two signs of life. The digest of a payload is not
looked at: that of one from which a secret was taken out is of what was there before.
"""

from collections.abc import Iterator, Sequence
from typing import Final, NoReturn
from urllib.parse import quote

from pydantic import ValidationError

from stateward.runtime.ports import EntryShown
from stateward.runtime.remote.credentials import Access
from stateward.runtime.remote.exchange import BUSY, AnswerLost, Asked, Exchange, Reply, Unreachable
from stateward.runtime.remote.forms import PREFIX
from stateward.runtime.remote.replies import Replies
from stateward.runtime.remote.work_forms import EntryForm, LogForm

EVENTS_TYPE: Final = "text/event-stream"
EVENT_BYTES_MAX: Final = 128 * 1024 * 1024
"""Of an event: one payload of the largest kind, every byte of it written as an escape."""
PAUSES: Final = (0.2, 1.0, 2.0, 5.0, 10.0, 15.0)
"""Seconds before each further connection, while nothing comes."""
_SEE: Final = "see whether that is the service, and what stands between"


class Following:
    """The entries of one Worker behind a number."""

    def __init__(self, access: Access, exchange: Exchange, worker: str, after: int, pauses: Sequence[float] = PAUSES) -> None:
        self._address, self._exchange, self._worker = access.address, exchange, worker
        self._replies = Replies(access)
        self._pauses = pauses
        self._after = after
        self._digest: str | None = None
        """That of the last entry; None before there is one."""
        self._quiet = 0
        """Connections since something came last."""

    def entries(self) -> Iterator[EntryShown]:
        """Give entries as they come, without an end. Raises Fault, once that goes on for longer than it tries again."""
        while True:
            try:
                yield from self._connected()
            except (Unreachable, AnswerLost) as fault:
                if not fault.passing or self._quiet >= len(self._pauses):
                    raise
            if self._quiet >= len(self._pauses):
                raise AnswerLost(f"{self._address} ends again and again what it tells of Worker {self._worker}", "see its log")
            self._exchange.pause(self._pauses[self._quiet])
            self._quiet += 1

    def _connected(self) -> Iterator[EntryShown]:
        path = f"{PREFIX}/workers/{quote(self._worker, safe='')}/events"
        headers = {"Accept": EVENTS_TYPE, "Last-Event-ID": str(self._after)}
        with self._exchange.stream(Asked("GET", path, headers), EVENTS_TYPE) as opened:
            if isinstance(opened, Reply):
                self._not_followed(opened)
            for event in events(self._lines(opened)):
                if not event:  # a beat: the service is there
                    self._quiet = 0
                    continue
                entry = self._entry(event)
                self._quiet, self._after, self._digest = 0, entry.seq, entry.digest
                yield entry.value()

    def _not_followed(self, reply: Reply) -> NoReturn:
        """Say why there are no events. Raises Fault."""
        if reply.status in BUSY:
            raise AnswerLost(f"{self._address} answered with status {reply.status}", "try again in a while", passing=True)
        problem = self._replies.form(reply, LogForm)
        if isinstance(problem, LogForm):
            raise AnswerLost(f"{self._address} answered with a page, where `{EVENTS_TYPE}` was asked for", _SEE)
        self._replies.unforeseen(problem)

    def _entry(self, data: bytes) -> EntryForm:
        try:
            entry = EntryForm.model_validate_json(data)
        except ValidationError:
            raise AnswerLost(f"{self._address} sent an event that is no entry of a log", _SEE) from None
        if entry.worker != self._worker:
            raise AnswerLost(f"{self._address} sent an entry of Worker `{entry.worker:.64}`, not `{self._worker}`", _SEE)
        if entry.seq != self._after + 1:
            raise AnswerLost(f"{self._address} sent entry {entry.seq} behind entry {self._after}", _SEE)
        if self._digest not in (None, entry.previous):
            raise AnswerLost(f"{self._address} sent entry {entry.seq}, which does not stand on the one before it", _SEE)
        return entry

    def _lines(self, pieces: Iterator[bytes]) -> Iterator[bytes]:
        """Give whole lines. Raises AnswerLost for one that is too long."""
        kept: list[bytes] = []
        size = 0
        for piece in pieces:
            first, *others = piece.replace(b"\r", b"").split(b"\n")
            kept.append(first)
            size += len(first)
            for each in others:
                yield b"".join(kept)
                kept, size = [each], len(each)
            if size > EVENT_BYTES_MAX:
                raise AnswerLost(f"{self._address} sent an event of more than {EVENT_BYTES_MAX} bytes", _SEE)


def events(lines: Iterator[bytes]) -> Iterator[bytes]:
    """Give the data of each entry that is whole, and an empty text for each comment; what is no entry is passed over."""
    kind, data = b"", b""
    for line in lines:
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if not line:
            if kind == b"entry" and data:
                yield data
            kind, data = b"", b""
        elif not name:
            if value != b"followed":
                yield b""
        elif name == b"event":
            kind = value
        elif name == b"data":
            data = value
