"""A log as a file that stands by itself: JSON Lines with every entry as it was stored, and the definitions that it pins.

Invariants: what is written holds everything that the digests and seals cover, so it can be verified and folded elsewhere; payload bytes
come back as they were, whatever they are; what is read is a whole log with one current state, or it is refused. Version 1 of a line is
read for ever; members are only added.
"""

import json
from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from typing import Any, Final

from stateward.runtime.core.events import EventId, InstanceStarted, Recorded
from stateward.runtime.core.evolve import HistoryBroken
from stateward.runtime.core.instance import NOTHING_YET, FlowState
from stateward.runtime.core.replay import advance, new_ids
from stateward.runtime.session.chain import check, digest_of, redaction_key, time_text
from stateward.runtime.session.entries import GENESIS, Actor, ActorClass, Assurance, Entry, Head, Kind, reference
from stateward.runtime.session.payloads import Checkpoint, decode, flow_events
from stateward.runtime.session.pinned import read_pinned
from stateward.runtime.session.strict import Malformed, Newer

VERSION: Final = 1
ENTRIES_MAX: Final = 1_000_000
"""Entries of one file that is read."""
LINE_CHARACTERS_MAX: Final = 64 * 1024 * 1024
"""Of one line that is read: a payload at its limit, every byte escaped."""


class ExportProblem(ValueError):
    """The file is no whole log of a Worker; the text says where and why."""


@dataclass(frozen=True, slots=True)
class Export:
    """A log that was read from a file."""

    worker: str
    workspace: str
    base: Head
    entries: tuple[Entry, ...]
    definitions: Mapping[str, bytes]
    state: FlowState
    """What its events fold to."""

    @property
    def head(self) -> Head:
        """The last entry."""
        return Head(self.entries[-1].seq, self.entries[-1].digest)


# --- writing ------------------------------------------------------------------------------------------------------------------------


def header_line(worker: str, workspace: str, base: Head, head: Head) -> str:
    """Give the first line of a file."""
    return _line({"type": "log", "version": VERSION, "worker": worker, "workspace": workspace, "base": _head(base), "head": _head(head)})


def entry_line(entry: Entry, *, named: bool = False) -> str:
    """Give the line of an entry; `named` where the lines around it are of several logs, so that it says of which one it is."""
    actor = entry.actor
    return _line(
        {
            "type": "entry",
            **({"worker": entry.worker} if named else {}),
            "v": entry.version,
            "seq": entry.seq,
            "time": time_text(entry.time),
            "actor": {
                "class": str(actor.actor_class),
                "channel": actor.channel,
                "principal": actor.principal,
                "assurance": str(actor.assurance),
                "host_session": actor.host_session,
            },
            "kind": str(entry.kind),
            "key": entry.key,
            "payload_digest": entry.payload_digest,
            "previous": entry.previous,
            "digest": entry.digest,
            "key_id": entry.key_id,
            "seal": None if entry.seal is None else b64encode(entry.seal).decode("ascii"),
            **({"redacted": True} if entry.redacted else {}),
            **_bytes(entry.payload),
        }
    )


def definition_line(digest: str, canonical: bytes) -> str:
    """Give the line of a definition."""
    return _line({"type": "definition", "digest": digest, **_bytes(canonical)})


def end_line(entries: int, definitions: int) -> str:
    """Give the last line: without it a file was cut."""
    return _line({"type": "end", "entries": entries, "definitions": definitions})


def pinned_by(entry: Entry) -> Iterator[str]:
    """Give the digests of the definitions that an entry pins; none for what is not ours to read."""
    try:
        payload = decode(entry)
    except (Malformed, Newer):
        return
    if isinstance(payload, Checkpoint) and payload.flow.instance is not None:
        yield payload.flow.instance.pin.definition_digest
    for event in flow_events(payload):
        if isinstance(event, InstanceStarted):
            yield event.definition_digest


def _head(head: Head) -> dict[str, Any]:
    return {"seq": head.seq, "digest": head.digest}


def _bytes(data: bytes) -> dict[str, str]:
    try:
        return {"text": data.decode("utf-8")}
    except UnicodeDecodeError:
        return {"base64": b64encode(data).decode("ascii")}


def _line(members: Mapping[str, Any]) -> str:
    return json.dumps(members, ensure_ascii=True, allow_nan=False, separators=(",", ":")) + "\n"


# --- reading ------------------------------------------------------------------------------------------------------------------------


def read_export(lines: Iterable[str]) -> Export:
    """Read a file line by line. Raises ExportProblem when it is not one whole log with one current state."""
    reading = _Reading()
    for number, line in enumerate(islice(lines, ENTRIES_MAX), start=1):
        if len(line) > LINE_CHARACTERS_MAX:
            raise ExportProblem(f"line {number} has more than {LINE_CHARACTERS_MAX} characters")
        try:
            reading.take(json.loads(line))
        except ExportProblem:
            raise
        except (ValueError, KeyError, TypeError, RecursionError) as problem:
            raise ExportProblem(f"line {number} is none of a log: {problem!r:.200}") from problem
    return reading.whole()


class _Reading:
    """What was read so far."""

    def __init__(self) -> None:
        self._header: Mapping[str, Any] | None = None
        self._previous = GENESIS
        self._entries: list[Entry] = []
        self._definitions: dict[str, bytes] = {}
        self._ended = False

    def take(self, members: Mapping[str, Any]) -> None:
        kind = members["type"]
        if self._ended or (kind == "log") != (self._header is None):
            raise ExportProblem("its lines are not those of one log in order")
        match kind:
            case "log":
                self._begin(members)
            case "entry":
                self._take_entry(members)
            case "definition":
                self._take_definition(members)
            case "end":
                if (members["entries"], members["definitions"]) != (len(self._entries), len(self._definitions)):
                    raise ExportProblem(f"it should hold {members['entries']} entries and holds {len(self._entries)}")
                self._ended = True
            case _:
                return  # a line that a newer program adds

    def _begin(self, members: Mapping[str, Any]) -> None:
        if members["version"] != VERSION:
            raise ExportProblem(f"its version is {members['version']!r:.20}, this program knows version {VERSION}")
        self._header = members
        self._previous = _read_head(members["base"])

    def _take_entry(self, members: Mapping[str, Any]) -> None:
        assert self._header is not None
        entry = _read_entry(self._header["worker"], members)
        problem = check(entry, self._previous)
        if problem is not None:
            raise ExportProblem(f"entry {reference(self._previous.seq + 1)} is damaged: {problem}")
        self._previous = Head(entry.seq, entry.digest)
        self._entries.append(entry)

    def _take_definition(self, members: Mapping[str, Any]) -> None:
        canonical = _read_bytes(members)
        if digest_of(canonical) != members["digest"]:
            raise ExportProblem(f"definition {members['digest']!r:.80} is not what was written")
        self._definitions[members["digest"]] = canonical

    def whole(self) -> Export:
        if self._header is None or not self._ended or not self._entries:
            raise ExportProblem("it ends before the log does")
        if self._previous != _read_head(self._header["head"]):
            raise ExportProblem("its last entry is not the head that it names")
        keys = {each.key for each in self._entries if each.kind == Kind.REDACTED}
        unsaid = next((each for each in self._entries if each.redacted and redaction_key(each.seq, each.payload) not in keys), None)
        if unsaid is not None:
            raise ExportProblem(f"entry {unsaid.reference} is damaged: its payload is not what was written, and no entry says why")
        base = _read_head(self._header["base"])
        worker, workspace = str(self._header["worker"]), str(self._header["workspace"])
        state = _folded(self._entries, self._definitions)
        if state.instance is None:
            raise ExportProblem("it holds no current state")
        return Export(worker, workspace, base, tuple(self._entries), dict(self._definitions), state)


def _folded(entries: Iterable[Entry], canonical: Mapping[str, bytes]) -> FlowState:
    state, used = NOTHING_YET, set[str]()
    try:
        definitions = {digest: read_pinned(each) for digest, each in canonical.items()}
        for entry in entries:
            payload = decode(entry)
            if isinstance(payload, Checkpoint) and state is NOTHING_YET:
                state = payload.flow  # a fork begins with what the log before it folds to
            record = tuple(Recorded(EventId(entry.seq, index), event) for index, event in enumerate(flow_events(payload)))
            state = advance(state, record, definitions, used)
            used |= new_ids(record)
    except (HistoryBroken, ValueError) as problem:
        raise ExportProblem(f"its events cannot be: {problem}") from problem
    return state


def _read_head(members: Mapping[str, Any]) -> Head:
    return Head(int(members["seq"]), str(members["digest"]))


def _read_bytes(members: Mapping[str, Any]) -> bytes:
    return b64decode(members["base64"], validate=True) if "base64" in members else str(members["text"]).encode("utf-8")


def read_entry_line(members: Mapping[str, Any]) -> Entry:
    """Read an entry from the members of a line that says of which log it is. Raises ValueError, KeyError or TypeError."""
    return _read_entry(str(members["worker"]), members)


def _read_entry(worker: str, members: Mapping[str, Any]) -> Entry:
    actor = members["actor"]
    return Entry(
        worker=worker,
        seq=members["seq"],
        version=members["v"],
        time=datetime.fromisoformat(members["time"]).astimezone(UTC),
        actor=Actor(ActorClass(actor["class"]), actor["channel"], actor["principal"], Assurance(actor["assurance"]), actor["host_session"]),
        kind=members["kind"],
        payload_digest=members["payload_digest"],
        previous=members["previous"],
        digest=members["digest"],
        payload=_read_bytes(members),
        key=members["key"],
        key_id=members["key_id"],
        seal=None if members["seal"] is None else b64decode(members["seal"], validate=True),
        redacted=bool(members.get("redacted", False)),
    )
