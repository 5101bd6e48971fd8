"""Recording what happened in the worker's agent: messages, tool calls and their results, notes, runs.

Invariants: what is recorded is kept as the bytes that came and never looked into; one record has one entry, however often its host sends
it; whose channel may record what is a table. How far a transcript was taken in is committed with what was taken in, as a record of the
domain `host.transcript.v1`, of which the last is found by its number, in as many looks as that number has digits.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

from stateward.runtime.core.refusal import Refusal, RefusalCode
from stateward.runtime.core.texts import cut, shown, size_of
from stateward.runtime.engine.commit import Append
from stateward.runtime.engine.folding import Loaded, damaged
from stateward.runtime.engine.host_means import HostMeans
from stateward.runtime.engine.keys import cursor_key, is_id, record_key, run_key
from stateward.runtime.engine.limits import CURSOR_PATH_BYTES_MAX, CURSORS_MAX, RECORDS_BYTES_MAX, RUN_MESSAGE_BYTES_MAX
from stateward.runtime.ports.records import RECORDS_MAX, Cursor, HostRecord, Recorded, RecordedEntry, RecordKey
from stateward.runtime.session.acts import RunEnded, RunOutcome, RunStarted, WorkerStopped
from stateward.runtime.session.chain import HEADER_TEXT_BYTES_MAX, digest_of
from stateward.runtime.session.entries import PAYLOAD_BYTES_MAX, Actor, ActorClass, Entry, Head, Kind, NewEntry
from stateward.runtime.session.payloads import PAYLOAD_VERSION, encode
from stateward.runtime.session.strict import COUNT, TEXT, Form, Malformed, members, parse, render
from stateward.runtime.session.strict import record as form_of

if TYPE_CHECKING:
    from stateward.runtime.ports import SessionStore

TRANSCRIPT_DOMAIN: Final = "host.transcript.v1"
"""Of the record that says how far a transcript was taken in."""


class NewRecord(NamedTuple):
    """What is to be recorded."""

    kind: str
    payload: bytes
    actor: Actor
    key: RecordKey


_RECORDERS: Final = {
    Kind.ASSISTANT_MESSAGE: frozenset({ActorClass.HOST, ActorClass.AGENT}),
    Kind.TOOL_CALL: frozenset({ActorClass.HOST, ActorClass.AGENT}),
    Kind.TOOL_RESULT: frozenset({ActorClass.HOST, ActorClass.AGENT}),
    Kind.NOTE: frozenset({ActorClass.HOST, ActorClass.AGENT, ActorClass.PERSON}),
}


def record(means: HostMeans, worker: str, given: NewRecord) -> RecordedEntry | Refusal:
    """Record what a host or an agent says happened."""
    key = record_key(given.key.digest)
    problem = _problem(given)
    if problem is not None:
        return problem
    given = given._replace(payload=means.secrets.mask_bytes(given.payload))  # which may have made it longer
    return _problem(given) or _written(means, worker, lambda: NewEntry(given.kind, given.actor, means.clock.now(), given.payload, key))


def record_all(
    means: HostMeans, worker: str, given: Sequence[HostRecord], actor: Actor, cursor: Cursor | None = None
) -> Recorded | Refusal:
    """Record what a host says happened, up to RECORDS_MAX records in one commit, and with it how far a transcript was taken in.

    What is there already under its key is left out, whatever it holds: a host tells of one call in several forms, and the first counts.
    """
    problem = _batch_problem(given, actor, cursor)
    if problem is not None:
        return problem
    new = tuple(_new_record(each, actor, means.secrets.mask_bytes(each.payload)) for each in given)
    problem = next(filter(None, map(_problem, new)), None)  # masking may have made them longer
    if problem is not None:
        return problem
    return means.commit(worker, lambda _: _all_written(means, worker, new, actor, cursor))


def cursor_of(sessions: "SessionStore", worker: str, host: str, session: str) -> Cursor | None:
    """Give how far the transcript of a host's session was taken in; None when nothing was. Raises Damaged."""
    found, _ = _last_cursor(sessions, worker, _session_digest(host, session))
    return None if found is None else _read_cursor(found)


def start_run(means: HostMeans, worker: str, run: str, actor: Actor) -> RecordedEntry | Refusal:
    """Record that a run of the worker's agent began."""
    problem = _run_problem(run)
    payload = encode(RunStarted(run))
    return problem or _written(
        means, worker, lambda: NewEntry(Kind.RUN_STARTED, actor, means.clock.now(), payload, run_key(run, "started"))
    )


def end_run(means: HostMeans, worker: str, run: str, actor: Actor, *, outcome: RunOutcome, message: str) -> RecordedEntry | Refusal:
    """Record how a run ended; the flow stays where it is."""
    problem = _run_problem(run)
    payload = encode(RunEnded(run, outcome, cut(means.secrets.mask(message), RUN_MESSAGE_BYTES_MAX)))
    return problem or _written(means, worker, lambda: NewEntry(Kind.RUN_ENDED, actor, means.clock.now(), payload, run_key(run, "ended")))


def stop(means: HostMeans, worker: str, stopping: str, reason: str, actor: Actor) -> RecordedEntry | Refusal:
    """Record that the Worker was stopped; everything is kept. `stopping` is the id of this act."""
    problem = _run_problem(stopping)
    payload = encode(WorkerStopped(cut(means.secrets.mask(reason), RUN_MESSAGE_BYTES_MAX)))
    key = run_key(stopping, "stopped")
    return problem or _written(means, worker, lambda: NewEntry(Kind.WORKER_STOPPED, actor, means.clock.now(), payload, key))


def _written(means: HostMeans, worker: str, make: Callable[[], NewEntry]) -> RecordedEntry | Refusal:
    def plan(_: Loaded) -> Append[RecordedEntry | Refusal] | RecordedEntry | Refusal:
        new = make()
        assert new.key is not None  # by which it is recorded once
        earlier = means.sessions.find(worker, new.key)
        if earlier is None:
            return Append((new,), lambda head: RecordedEntry(worker, head))
        # One that was redacted since holds something else, and its header still says what was written.
        same = earlier.payload == new.payload or earlier.payload_digest == digest_of(new.payload)
        if earlier.kind != new.kind or not same:
            message = f"entry {earlier.reference} was recorded under the same key and holds something else"
            return Refusal(RefusalCode.RECORD_CONFLICT, message, ("record it under another key",))
        return RecordedEntry(worker, Head(earlier.seq, earlier.digest), repeated=True)

    return means.commit(worker, plan)


# --- several at a time, and how far a transcript was taken in ---------------------------------------------------------------------


def _new_record(given: HostRecord, actor: Actor, payload: bytes) -> NewRecord:
    return NewRecord(given.kind, payload, replace(actor, principal=given.by) if given.by else actor, given.key)


def _batch_problem(given: Sequence[HostRecord], actor: Actor, cursor: Cursor | None) -> Refusal | None:
    if len(given) > RECORDS_MAX:
        return Refusal(RefusalCode.RECORD_TOO_LARGE, f"{len(given)} records are given at once", (f"give at most {RECORDS_MAX}",))
    if sum(len(each.payload) for each in given) > RECORDS_BYTES_MAX:
        return Refusal(RefusalCode.RECORD_TOO_LARGE, "the records are too large together", (f"give at most {RECORDS_BYTES_MAX} bytes",))
    if any(size_of(each.by) > HEADER_TEXT_BYTES_MAX for each in given):
        allowed = (f"name it in at most {HEADER_TEXT_BYTES_MAX} bytes",)
        return Refusal(RefusalCode.RECORD_MALFORMED, "the id of the sub-agent of a record is too long", allowed)
    problem = None if cursor is None else _cursor_problem(cursor, actor)
    return problem or next(filter(None, (_problem(_new_record(each, actor, each.payload)) for each in given)), None)


def _cursor_problem(cursor: Cursor, actor: Actor) -> Refusal | None:
    if actor.actor_class is not ActorClass.HOST:
        message = f"an actor of class `{actor.actor_class}` takes in no transcript"
        return Refusal(RefusalCode.RECORD_NOT_ALLOWED, message, (f"record as `{ActorClass.HOST}`",))
    is_long = any(size_of(each) > HEADER_TEXT_BYTES_MAX for each in (cursor.host, cursor.session, cursor.last))
    if is_long or size_of(cursor.path) > CURSOR_PATH_BYTES_MAX or cursor.offset < 0:
        limits = f"{HEADER_TEXT_BYTES_MAX} bytes each for host, session and line, {CURSOR_PATH_BYTES_MAX} for the path"
        message = "what says how far a transcript was taken in is too long, or names no place in it"
        return Refusal(RefusalCode.RECORD_MALFORMED, message, (f"give at most {limits}",))
    return None


def _all_written(
    means: HostMeans, worker: str, given: Sequence[NewRecord], actor: Actor, cursor: Cursor | None
) -> Append[Recorded | Refusal] | Recorded | Refusal:
    new = tuple(_entries_missing(means, worker, given))
    moved = () if cursor is None else tuple(_cursor_entry(means, worker, actor, cursor))
    if not new and not moved:
        head = means.sessions.head(worker)
        assert head is not None, "it was loaded"
        return Recorded(worker, head, 0)
    return Append((*new, *moved), lambda head: Recorded(worker, head, len(new)))


def _entries_missing(means: HostMeans, worker: str, given: Sequence[NewRecord]) -> Iterator[NewEntry]:
    """Give the entries of the records that are not there, each key once."""
    by_key = {record_key(each.key.digest): each for each in reversed(given)}  # the first of those with one key
    for each in given:
        key = record_key(each.key.digest)
        if by_key.get(key) is each and means.sessions.find(worker, key) is None:
            yield NewEntry(each.kind, each.actor, means.clock.now(), each.payload, key)


def _cursor_entry(means: HostMeans, worker: str, actor: Actor, cursor: Cursor) -> Iterator[NewEntry]:
    """Give the entry that says how far a transcript was taken in, where the last one does not say so already."""
    session = _session_digest(cursor.host, cursor.session)
    masked = replace(cursor, path=means.secrets.mask(cursor.path))
    last, number = _last_cursor(means.sessions, worker, session)
    payload = _write_cursor(masked)
    if last is None or last.payload != payload:
        yield NewEntry(Kind.EXTENSION, actor, means.clock.now(), payload, cursor_key(session, number + 1))


def _last_cursor(sessions: "SessionStore", worker: str, session: str) -> tuple[Entry | None, int]:
    """Find the last of the numbered entries of a session, and its number: 0 where there is none."""
    last, number, beyond = None, 0, 1
    while beyond <= CURSORS_MAX and (found := sessions.find(worker, cursor_key(session, beyond))) is not None:
        last, number, beyond = found, beyond, beyond * 2
    while beyond - number > 1:
        middle = (number + beyond) // 2
        found = sessions.find(worker, cursor_key(session, middle))
        if found is None:
            beyond = middle
        else:
            last, number = found, middle
    return last, number


def _session_digest(host: str, session: str) -> str:
    return digest_of(render([host, session]))


_CURSOR: Final[Form[Cursor]] = form_of(Cursor, host=TEXT, session=TEXT, path=TEXT, offset=COUNT, last=TEXT)


def _write_cursor(cursor: Cursor) -> bytes:
    written = _CURSOR.write(cursor)
    assert isinstance(written, dict), "a record is written as an object"
    return render({"v": PAYLOAD_VERSION, "record": {"domain": TRANSCRIPT_DOMAIN, **written}})


def _read_cursor(entry: Entry) -> Cursor:
    try:
        written = _written_record(members(parse(entry.payload), ("v", "record"))["record"])
        return _CURSOR.read(written)
    except Malformed as problem:
        raise damaged(entry.worker, entry.seq, str(problem)) from problem


def _written_record(value: object) -> dict[str, object]:
    if not isinstance(value, dict) or value.get("domain") != TRANSCRIPT_DOMAIN:
        raise Malformed(f"it holds no record of the domain `{TRANSCRIPT_DOMAIN}`")
    return {name: member for name, member in value.items() if name != "domain"}


# --- what may be recorded ----------------------------------------------------------------------------------------------------------


def _problem(given: NewRecord) -> Refusal | None:
    kind, payload, actor, key = given.kind, given.payload, given.actor, given.key
    recorders = {str(each): who for each, who in _RECORDERS.items()}.get(kind)
    if recorders is None:
        return Refusal(
            RefusalCode.RECORD_NOT_ALLOWED,
            f"kind {shown(kind)} is not recorded by a host",
            tuple(f"record a `{each}`" for each in _RECORDERS),
        )
    if actor.actor_class not in recorders:
        allowed = tuple(f"record as `{each}`" for each in ActorClass if each in recorders)
        return Refusal(RefusalCode.RECORD_NOT_ALLOWED, f"an actor of class `{actor.actor_class}` records no `{kind}`", allowed)
    if len(payload) > PAYLOAD_BYTES_MAX:
        return Refusal(RefusalCode.RECORD_TOO_LARGE, f"the record has {len(payload)} bytes", (f"give at most {PAYLOAD_BYTES_MAX} bytes",))
    texts = (key.host, key.session, key.use, key.part)
    if not key.use or any(size_of(each) > HEADER_TEXT_BYTES_MAX for each in texts):
        allowed = (f"name host, session, use and part in at most {HEADER_TEXT_BYTES_MAX} bytes each, the use not empty",)
        return Refusal(RefusalCode.RECORD_MALFORMED, "the key of the record names no use, or is too long", allowed)
    return None


def _run_problem(run: str) -> Refusal | None:
    if is_id(run):
        return None
    return Refusal(
        RefusalCode.RECORD_MALFORMED, f"{shown(run)} cannot be the id of a run", ("give a short id of printable ASCII characters",)
    )
