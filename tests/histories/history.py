"""A recorded history as a file: JSON Lines, the definitions first, then each entry with its header and its payload in base64.

A file is never changed: it is what some version of the program wrote, and every later one has to fold it to the same state.
"""

import json
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from stateward.runtime.engine.view import FlowView, WorkerView
from stateward.runtime.session.chain import time_text
from stateward.runtime.session.entries import Actor, ActorClass, Assurance, Entry, Head
from stateward.store.memory_sessions import MemorySessionStore

FOLDER = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class History:
    """What a file holds."""

    definitions: Mapping[str, bytes]
    entries: tuple[Entry, ...]
    state: Mapping[str, Any]
    """What it folds to."""


def write(path: Path, history: History) -> None:
    """Write a history to a new file."""
    definitions = {digest: canonical.decode() for digest, canonical in history.definitions.items()}
    lines: list[Mapping[str, Any]] = [{"definitions": definitions, "state": history.state}, *map(_entry_line, history.entries)]
    with path.open("x", encoding="utf-8") as file:
        file.writelines(f"{json.dumps(line, ensure_ascii=True)}\n" for line in lines)


def read(path: Path) -> History:
    """Read a history."""
    first, *rest = map(json.loads, path.read_text("utf-8").splitlines())
    definitions = {digest: canonical.encode() for digest, canonical in first["definitions"].items()}
    return History(definitions, tuple(map(_entry, rest)), first["state"])


def _entry_line(entry: Entry) -> Mapping[str, Any]:
    return {
        "worker": entry.worker,
        "seq": entry.seq,
        "version": entry.version,
        "time": time_text(entry.time),
        "actor": {
            "class": entry.actor.actor_class,
            "channel": entry.actor.channel,
            "principal": entry.actor.principal,
            "assurance": entry.actor.assurance,
            "host_session": entry.actor.host_session,
        },
        "kind": entry.kind,
        "key": entry.key,
        "payload_digest": entry.payload_digest,
        "previous": entry.previous,
        "digest": entry.digest,
        "payload": b64encode(entry.payload).decode(),
    }


def _entry(line: Mapping[str, Any]) -> Entry:
    actor = line["actor"]
    return Entry(
        worker=line["worker"],
        seq=line["seq"],
        version=line["version"],
        time=datetime.fromisoformat(line["time"]),
        actor=Actor(ActorClass(actor["class"]), actor["channel"], actor["principal"], Assurance(actor["assurance"]), actor["host_session"]),
        kind=line["kind"],
        payload_digest=line["payload_digest"],
        previous=line["previous"],
        digest=line["digest"],
        payload=b64decode(line["payload"]),
        key=line["key"],
    )


class RecordedStore(MemorySessionStore):
    """A store that holds exactly what a file holds, entry for entry."""

    def __init__(self, history: History) -> None:
        super().__init__()
        self._recorded = history.entries
        self._kept = history.definitions

    def head(self, worker: str) -> Head | None:
        """Give the head of the recorded log."""
        last = self._recorded[-1]
        return Head(last.seq, last.digest) if worker == last.worker else None

    def entries(self, worker: str, after: int = 0, upto: int | None = None) -> Iterator[Entry]:
        """Read the recorded entries."""
        return iter([each for each in self._recorded if after < each.seq <= (upto or len(self._recorded))])

    def latest(self, worker: str, kind: str) -> Entry | None:
        """Give the last recorded entry of a kind."""
        return next((each for each in reversed(self._recorded) if each.kind == kind), None)

    def definition(self, digest: str) -> bytes | None:
        """Give a recorded definition."""
        return self._kept.get(digest)


def state_of(view: WorkerView, events: Sequence[str]) -> Mapping[str, Any]:
    """Give what a history folds to, as plain data."""
    flow = view.flow
    assert flow is not None
    last = flow.last
    return {
        "worker": view.worker,
        "verifier": view.verifier,
        "self_judged": view.self_judged,
        "instances": flow.number,
        "instance": flow.instance,
        "selector": flow.pin.selector,
        "definition_digest": flow.pin.definition_digest,
        "state": flow.state,
        "visit": flow.visit,
        "visits": dict(flow.visits),
        "status": str(flow.status),
        "attempts": flow.attempts,
        **({"variables": {name: each.value for name, each in flow.variables.items()}} if flow.variables else {}),
        "open": None if flow.attempt is None else flow.attempt.id,
        "last": None if last is None else [last.attempt.id, str(last.status), str(last.rejection), str(last.transition)],
        "events": list(events),
        **_later(view, flow),
    }


def _later(view: WorkerView, flow: FlowView) -> Mapping[str, Any]:
    """Give what earlier versions had no word for, where there is any."""
    later = {
        "tokens": [flow.tokens, flow.tokens_here],
        "tree": None if flow.attempt is None else [flow.attempt.tree, flow.attempt.reserved],
        "rollbacks": [[each.entry, each.lost.seq, each.by, each.reason] for each in view.rollbacks],
    }
    nothing = {"tokens": [0, 0], "tree": ["", 0], "rollbacks": []}
    return {name: value for name, value in later.items() if value not in (None, nothing[name])}
