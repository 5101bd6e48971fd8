"""The border between rows and the domain's values: the only place where one becomes the other.

Invariants: writing a value and reading it gives the same value; a row that none of our values ever made raises NotWritten and never
becomes a value. Whether an entry is the one that was written is not asked here: its digests say that (`session.chain`). Rows of other
tables that are written once hold a digest of all their values, and it is checked wherever such a row is read.
"""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Final, TypeAlias, TypeVar

from stateward.runtime.ports.sessions import WorkerRow
from stateward.runtime.ports.workspaces import Workspace
from stateward.runtime.session.chain import digest_of, time_text
from stateward.runtime.session.entries import Actor, ActorClass, Assurance, Entry, Head
from stateward.store.connection import SqlValue
from stateward.store.limits import CLOSURE_DIGEST
from stateward.store.prepared import NotWritten, Row
from stateward.store.texts import COLUMNS

T = TypeVar("T")

_Value: TypeAlias = str | int | None
_ENCODER: Final = json.JSONEncoder(separators=(",", ":"))
ROW_DIGEST: Final = "row_digest"
_HAS_MODULES: Final = "flow_source_revisions"
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
    if table == _HAS_MODULES and row.get(CLOSURE_DIGEST) is not None:
        values.append(_covered(row[CLOSURE_DIGEST]))
    return digest_of(_ENCODER.encode(values).encode("ascii"))


def _covered(value: _Value | datetime) -> _Value:
    return time_text(value) if isinstance(value, datetime) else value


def typed(kind: type[T], row: Row, name: str) -> T:
    """Read a value of a kind. Raises NotWritten when it is none."""
    value = row[name]
    if not isinstance(value, kind):
        raise NotWritten(f"its `{name}` is no {kind.__name__}")
    return value


def text_of(row: Row, name: str) -> str:
    """Read a text. Raises NotWritten when it is none."""
    return typed(str, row, name)


def number_of(row: Row, name: str) -> int:
    """Read a number. Raises NotWritten when it is none."""
    return typed(int, row, name)


def typed_or_none(kind: type[T], row: Row, name: str) -> T | None:
    """Read a value of a kind, or none. Raises NotWritten for anything else."""
    return None if row[name] is None else typed(kind, row, name)


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
        worker=typed(str, row, "worker"),
        seq=typed(int, row, "seq"),
        version=typed(int, row, "version"),
        time=typed(datetime, row, "time"),
        actor=Actor(
            actor_class, typed(str, row, "channel"), typed(str, row, "principal"), assurance, typed_or_none(str, row, "host_session")
        ),
        kind=typed(str, row, "kind"),
        payload_digest=typed(str, row, "payload_digest"),
        previous=typed(str, row, "previous"),
        digest=typed(str, row, "digest"),
        payload=typed(bytes, row, "payload"),
        key=typed_or_none(str, row, "key"),
        key_id=typed_or_none(str, row, "key_id"),
        seal=typed_or_none(bytes, row, "seal"),
    )


def head_of(row: Row, prefix: str = "") -> Head:
    """Read a head, or where a log goes on from, by its two columns."""
    return Head(typed(int, row, f"{prefix}seq"), typed(str, row, f"{prefix}digest"))


def worker_of(row: Row, head: Head, problem: str = "") -> WorkerRow:
    """Read a Worker as it is listed, with its head and what is wrong with its log."""
    require_as_written("workers", row)
    return WorkerRow(typed(str, row, "id"), typed(str, row, "workspace"), typed(datetime, row, "created"), head, problem)


def workspace_of(row: Row) -> Workspace:
    """Read a Workspace."""
    require_as_written("workspaces", row)
    return Workspace(typed(str, row, "id"), typed(str, row, "name"), typed(datetime, row, "created"))


def workspace_values(workspace: Workspace) -> Row:
    """Give a Workspace as a row."""
    return with_digest("workspaces", {"id": workspace.id, "name": workspace.name, "created": workspace.created})
