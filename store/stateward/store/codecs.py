"""The border between rows and the domain's values: the only place where one becomes the other.

Invariants: writing a value and reading it gives the same value; a row that none of our values ever made raises NotWritten and never
becomes a value. Whether an entry is the one that was written is not asked here: its digests say that (`session.chain`). Rows of other
tables that are written once hold a digest of all their values, and it is checked wherever such a row is read.
"""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Final, TypeAlias, TypeVar

from stateward.runtime.ports import ActKind, FlowAct, Revision, RevisionFacts, StoredToken, WorkerRow, Workspace
from stateward.runtime.session.chain import digest_of, time_text
from stateward.runtime.session.entries import Actor, ActorClass, Assurance, Entry, Head
from stateward.store.connection import SqlValue
from stateward.store.prepared import NotWritten, Row
from stateward.store.texts import COLUMNS

T = TypeVar("T")

_Value: TypeAlias = str | int | None
_ENCODER: Final = json.JSONEncoder(separators=(",", ":"))
ROW_DIGEST: Final = "row_digest"
_COVERED: Final[Mapping[str, tuple[str, ...]]] = {
    # Of a source its own digest is covered, which is checked besides; and a token is revoked long after it was written.
    table: tuple(name for name in columns if name not in {ROW_DIGEST, "content", "revoked_at"})
    for table, columns in COLUMNS.items()
    if ROW_DIGEST in columns
}


def with_digest(table: str, values: Row) -> Row:
    """Give the values of a row of a table whose rows hold a digest of themselves together with it."""
    return {**values, ROW_DIGEST: _row_digest(table, values)}


def require_as_written(table: str, row: Row) -> None:
    """Raise NotWritten for a row of such a table that is not the one that was written."""
    try:
        holds = row[ROW_DIGEST] == _row_digest(table, row)
    except TypeError:  # a value of a kind that none of its columns holds
        holds = False
    if not holds:
        raise NotWritten(f"a row of `{table}` does not have its digest")


def _row_digest(table: str, row: Row) -> str:
    values = [table, *(_covered(row[name]) for name in _COVERED[table])]
    return digest_of(_ENCODER.encode(values).encode("ascii"))


def _covered(value: _Value | datetime) -> _Value:
    return time_text(value) if isinstance(value, datetime) else value


def _as(kind: type[T], row: Row, name: str) -> T:
    value = row[name]
    if not isinstance(value, kind):
        raise NotWritten(f"its `{name}` is no {kind.__name__}")
    return value


def text_of(row: Row, name: str) -> str:
    """Read a text. Raises NotWritten when it is none."""
    return _as(str, row, name)


def number_of(row: Row, name: str) -> int:
    """Read a number. Raises NotWritten when it is none."""
    return _as(int, row, name)


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


def head_of(row: Row, prefix: str = "") -> Head:
    """Read a head, or where a log goes on from, by its two columns."""
    return Head(_as(int, row, f"{prefix}seq"), _as(str, row, f"{prefix}digest"))


def worker_of(row: Row, head: Head, problem: str = "") -> WorkerRow:
    """Read a Worker as it is listed, with its head and what is wrong with its log."""
    require_as_written("workers", row)
    return WorkerRow(_as(str, row, "id"), _as(str, row, "workspace"), _as(datetime, row, "created"), head, problem)


def workspace_of(row: Row) -> Workspace:
    """Read a Workspace."""
    require_as_written("workspaces", row)
    return Workspace(_as(str, row, "id"), _as(str, row, "name"), _as(datetime, row, "created"))


def workspace_values(workspace: Workspace) -> Row:
    """Give a Workspace as a row."""
    return with_digest("workspaces", {"id": workspace.id, "name": workspace.name, "created": workspace.created})


def revision_values(revision: Revision) -> Row:
    """Give a revision as a row; its slug lies in the row of its flow."""
    values = {
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
    return with_digest("flow_source_revisions", values)


def facts_of(row: Row, slug: str) -> RevisionFacts:
    """Read a revision of the flow that has that slug, without its source."""
    require_as_written("flow_source_revisions", row)
    return RevisionFacts(
        workspace=_as(str, row, "workspace"),
        flow_id=_as(str, row, "flow_id"),
        slug=slug,
        revision=_as(int, row, "revision"),
        content_digest=_as(str, row, "content_digest"),
        definition_digest=_as(str, row, "definition_digest"),
        compiler=_as(str, row, "compiler"),
        author=_as(str, row, "author"),
        note=_as(str, row, "note"),
        created=_as(datetime, row, "created"),
    )


def revision_of(row: Row, slug: str) -> Revision:
    """Read a revision of the flow that has that slug."""
    facts, content = facts_of(row, slug), _as(bytes, row, "content")
    if facts.content_digest != digest_of(content):
        raise NotWritten("a source does not have its digest")
    return Revision(
        facts.workspace,
        facts.flow_id,
        facts.slug,
        facts.revision,
        facts.content_digest,
        facts.definition_digest,
        facts.compiler,
        facts.author,
        facts.note,
        facts.created,
        content,
    )


def act_values(act: FlowAct) -> Row:
    """Give an act as a row."""
    values = {
        "workspace": act.workspace,
        "flow_id": act.flow_id,
        "number": act.number,
        "kind": act.kind.value,
        "revision": act.revision,
        "first": act.first,
        "author": act.author,
        "note": act.note,
        "created": act.created,
        "bundle": act.bundle,
        "origin": act.origin,
    }
    return with_digest("flow_acts", values)


def act_of(row: Row) -> FlowAct:
    """Read an act."""
    require_as_written("flow_acts", row)
    return FlowAct(
        workspace=_as(str, row, "workspace"),
        flow_id=_as(str, row, "flow_id"),
        number=_as(int, row, "number"),
        kind=_kind_of(_as(str, row, "kind")),
        revision=_as(int, row, "revision"),
        first=_as(int, row, "first"),
        author=_as(str, row, "author"),
        note=_as(str, row, "note"),
        created=_as(datetime, row, "created"),
        bundle=_as(str, row, "bundle"),
        origin=_as(str, row, "origin"),
    )


def _kind_of(name: str) -> ActKind:
    try:
        return ActKind(name)
    except ValueError as problem:
        raise NotWritten(f"its kind is none that this program knows: {problem}") from problem


def token_values(token: StoredToken) -> Row:
    """Give a new token as a row."""
    values = {
        "workspace": token.workspace,
        "id": token.id,
        "digest": token.digest,
        "name": token.name,
        "scopes": " ".join(token.scopes),
        "issuer": token.issuer,
        "created": token.created,
        "expires": token.expires,
        "revoked_at": None,
    }
    return with_digest("tokens", values)


def token_of(row: Row) -> StoredToken:
    """Read a token."""
    require_as_written("tokens", row)
    return StoredToken(
        id=_as(str, row, "id"),
        workspace=_as(str, row, "workspace"),
        digest=_as(str, row, "digest"),
        name=_as(str, row, "name"),
        scopes=tuple(_as(str, row, "scopes").split()),
        issuer=_as(str, row, "issuer"),
        created=_as(datetime, row, "created"),
        expires=_maybe(datetime, row, "expires"),
        revoked=_maybe(datetime, row, "revoked_at"),
    )
