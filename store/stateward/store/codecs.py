"""The border between rows and the domain's values: the only place where one becomes the other.

Invariants: writing a value and reading it gives the same value; a row that none of our values ever made raises NotWritten and never
becomes a value. Whether an entry is the one that was written is not asked here: its digests say that (`session.chain`).
"""

from datetime import datetime
from typing import TypeVar

from stateward.runtime.ports import Revision, WorkerRow, Workspace
from stateward.runtime.session.chain import time_text
from stateward.runtime.session.entries import Actor, ActorClass, Assurance, Entry, Head
from stateward.store.connection import SqlValue
from stateward.store.prepared import NotWritten, Row

T = TypeVar("T")


def _as(kind: type[T], row: Row, name: str) -> T:
    value = row[name]
    if not isinstance(value, kind):
        raise NotWritten(f"its `{name}` is no {kind.__name__}")
    return value


def _maybe(kind: type[T], row: Row, name: str) -> T | None:
    return None if row[name] is None else _as(kind, row, name)


def entry_parameters(entry: Entry, *, beside: bool = False) -> tuple[SqlValue, ...]:
    """Give an entry as the parameters of its insert, in the order of the table's columns; without its payload when that lies beside."""
    actor = entry.actor
    return (
        entry.worker,
        entry.seq,
        entry.version,
        time_text(entry.time),
        actor.actor_class.value,
        actor.channel,
        actor.principal,
        actor.assurance.value,
        actor.host_session,
        str(entry.kind),
        entry.key,
        entry.payload_digest,
        entry.previous,
        entry.digest,
        None if beside else entry.payload,
        entry.key_id,
        entry.seal,
    )


def entry_of(row: Row) -> Entry:
    """Read an entry."""
    try:
        actor_class, assurance = ActorClass(row["actor_class"]), Assurance(row["assurance"])
    except ValueError as problem:
        raise NotWritten(f"its actor is none that this program knows: {problem}") from problem
    return Entry(
        worker=_as(str, row, "worker"),
        seq=_as(int, row, "seq"),
        version=_as(int, row, "version"),
        time=_as(datetime, row, "time"),
        actor=Actor(actor_class, _as(str, row, "channel"), _as(str, row, "principal"), assurance, _maybe(str, row, "host_session")),
        kind=_as(str, row, "kind"),
        payload_digest=_as(str, row, "payload_digest"),
        previous=_as(str, row, "previous"),
        digest=_as(str, row, "digest"),
        payload=_as(bytes, row, "payload"),
        key=_maybe(str, row, "key"),
        key_id=_maybe(str, row, "key_id"),
        seal=_maybe(bytes, row, "seal"),
    )


def head_of(row: Row) -> Head:
    """Read a head."""
    return Head(_as(int, row, "seq"), _as(str, row, "digest"))


def worker_of(row: Row) -> WorkerRow:
    """Read a Worker as it is listed."""
    return WorkerRow(_as(str, row, "id"), _as(str, row, "workspace"), _as(datetime, row, "created"), head_of(row))


def workspace_of(row: Row) -> Workspace:
    """Read a Workspace."""
    return Workspace(_as(str, row, "id"), _as(str, row, "name"), _as(datetime, row, "created"))


def revision_values(revision: Revision) -> Row:
    """Give a revision as a row; its slug lies in the row of its flow."""
    return {
        "workspace": revision.workspace,
        "flow_id": revision.flow_id,
        "revision": revision.revision,
        "content": revision.content,
        "content_digest": revision.content_digest,
        "definition_digest": revision.definition_digest,
        "compiler": revision.compiler,
        "author": revision.author,
        "note": revision.note,
        "created": revision.created,
    }


def revision_of(row: Row) -> Revision:
    """Read a revision together with the slug of its flow."""
    return Revision(
        workspace=_as(str, row, "workspace"),
        flow_id=_as(str, row, "flow_id"),
        slug=_as(str, row, "slug"),
        revision=_as(int, row, "revision"),
        content=_as(bytes, row, "content"),
        content_digest=_as(str, row, "content_digest"),
        definition_digest=_as(str, row, "definition_digest"),
        compiler=_as(str, row, "compiler"),
        author=_as(str, row, "author"),
        note=_as(str, row, "note"),
        created=_as(datetime, row, "created"),
    )
