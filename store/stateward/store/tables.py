"""The tables, and nothing else: rows are never the domain's objects, `codecs.py` is the one border between the two.

Invariants: entries, revisions, definitions and the identity of a Worker are written once; `triggers.py` makes the database refuse
anything else. All tables but `entries` are WITHOUT ROWID: a row id that nobody uses would be one more key under which a row could be
replaced. Entries keep theirs, since a row of an index is cut at a quarter of a page and the rest of it takes a page of its own.
Every constraint has a name by convention, so that a migration can speak of it. What is written once and covered by no other digest holds
one of all its values (`codecs.py`), so that what the disk altered is seen when it is read.
"""

from datetime import datetime
from typing import Any, Final

from sqlalchemy import BigInteger, CheckConstraint, ForeignKeyConstraint, Index, MetaData, Table, UniqueConstraint, text
from sqlalchemy.engine import Dialect
from sqlalchemy.types import String, TypeDecorator
from sqlmodel import Field, SQLModel

from stateward.store.limits import CHECKPOINT, TIME_CHARACTERS
from stateward.store.prepared import moment_of, moment_text

_NAMES: Final = {
    "pk": "pk_%(table_name)s",
    "fk": "fk_%(table_name)s_%(referred_table_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
}

METADATA: Final = MetaData(naming_convention=_NAMES)


class UtcTime(TypeDecorator[datetime]):
    """A moment, to the microsecond, as the text that an entry's header holds: it sorts, and says itself that it is UTC."""

    impl = String(TIME_CHARACTERS)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> str | None:
        """Write a moment. Raises ValueError for a naive time."""
        return moment_text(value)

    def process_result_value(self, value: Any | None, dialect: Dialect) -> datetime | None:
        """Read a moment, aware, UTC. Raises ValueError for anything else."""
        return moment_of(value)


def _where(condition: str) -> dict[str, Any]:
    return {"sqlite_where": text(condition), "postgresql_where": text(condition)}


class _Row(SQLModel):
    metadata = METADATA


class WorkspaceRow(_Row, table=True):
    """A Workspace."""

    __tablename__ = "workspaces"
    __table_args__ = ({"sqlite_with_rowid": False},)

    id: str = Field(primary_key=True)
    name: str
    created: datetime = Field(sa_type=UtcTime)
    row_digest: str


class DefinitionRow(_Row, table=True):
    """A compiled definition under the digest of its canonical bytes. Both Workspaces and session logs refer to it."""

    __tablename__ = "definitions"
    __table_args__ = ({"sqlite_with_rowid": False},)

    digest: str = Field(primary_key=True)
    canonical: bytes


class FlowSourceRow(_Row, table=True):
    """A flow of a Workspace, and which of its revisions is current."""

    __tablename__ = "flow_sources"
    __table_args__ = (
        UniqueConstraint("workspace", "slug"),
        ForeignKeyConstraint(["workspace"], ["workspaces.id"]),
        {"sqlite_with_rowid": False},
    )

    workspace: str = Field(primary_key=True)
    flow_id: str = Field(primary_key=True)
    slug: str
    revision: int
    created: datetime = Field(sa_type=UtcTime)
    updated: datetime = Field(sa_type=UtcTime)
    removed_at: datetime | None = Field(default=None, sa_type=UtcTime)


class FlowRevisionRow(_Row, table=True):
    """A revision of a flow's source. Immutable."""

    __tablename__ = "flow_source_revisions"
    __table_args__ = (
        ForeignKeyConstraint(["workspace", "flow_id"], ["flow_sources.workspace", "flow_sources.flow_id"]),
        ForeignKeyConstraint(["definition_digest"], ["definitions.digest"]),
        CheckConstraint("revision >= 1", name="counted_from_1"),
        {"sqlite_with_rowid": False},
    )

    workspace: str = Field(primary_key=True)
    flow_id: str = Field(primary_key=True)
    revision: int = Field(primary_key=True)
    content: bytes
    content_digest: str
    definition_digest: str
    compiler: str
    author: str
    note: str
    created: datetime = Field(sa_type=UtcTime)
    row_digest: str


class FlowModuleRow(_Row, table=True):
    """A module that a revision imports. Immutable.

    Each says the digest of all modules of its revision, which the digest of that revision's row covers: so none is lost or altered unseen.
    """

    __tablename__ = "flow_modules"
    __table_args__ = (
        ForeignKeyConstraint(
            ["workspace", "flow_id", "revision"],
            ["flow_source_revisions.workspace", "flow_source_revisions.flow_id", "flow_source_revisions.revision"],
        ),
        CheckConstraint("number >= 1", name="counted_from_1"),
        {"sqlite_with_rowid": False},
    )

    workspace: str = Field(primary_key=True)
    flow_id: str = Field(primary_key=True)
    revision: int = Field(primary_key=True)
    number: int = Field(primary_key=True)
    path: str
    content: bytes
    closure_digest: str


class FlowActRow(_Row, table=True):
    """What was done to a flow besides saving it: that it was removed, or brought from another Workspace. Immutable."""

    __tablename__ = "flow_acts"
    __table_args__ = (
        ForeignKeyConstraint(["workspace", "flow_id"], ["flow_sources.workspace", "flow_sources.flow_id"]),
        CheckConstraint("number >= 1", name="counted_from_1"),
        {"sqlite_with_rowid": False},
    )

    workspace: str = Field(primary_key=True)
    flow_id: str = Field(primary_key=True)
    number: int = Field(primary_key=True)
    kind: str
    revision: int
    first: int
    author: str
    note: str
    created: datetime = Field(sa_type=UtcTime)
    bundle: str
    origin: str
    row_digest: str


class TokenRow(_Row, table=True):
    """A token of a Workspace's service: of its secret only the digest. Immutable but for being revoked, once."""

    __tablename__ = "tokens"
    __table_args__ = (
        UniqueConstraint("digest"),
        ForeignKeyConstraint(["workspace"], ["workspaces.id"]),
        {"sqlite_with_rowid": False},
    )

    workspace: str = Field(primary_key=True)
    id: str = Field(primary_key=True)
    digest: str
    name: str
    scopes: str
    issuer: str
    created: datetime = Field(sa_type=UtcTime)
    expires: datetime | None = Field(default=None, sa_type=UtcTime)
    revoked_at: datetime | None = Field(default=None, sa_type=UtcTime)
    row_digest: str


class WorkerIdentityRow(_Row, table=True):
    """What a Worker is from its first entry on. Immutable. Its Workspace may live in another store, so no key refers to it.

    Its log goes on from `base_seq` and `base_digest`: from nothing, or in a fork from an entry of another log.
    """

    __tablename__ = "workers"
    __table_args__ = (Index(None, "workspace", "id"), {"sqlite_with_rowid": False})

    id: str = Field(primary_key=True)
    workspace: str
    created: datetime = Field(sa_type=UtcTime)
    base_seq: int
    base_digest: str
    row_digest: str


class TombstoneRow(_Row, table=True):
    """That a Worker was deleted, and where its log had ended. Immutable; lets the rows of that Worker go, and never come again."""

    __tablename__ = "tombstones"
    __table_args__ = ({"sqlite_with_rowid": False},)

    worker: str = Field(primary_key=True)
    workspace: str
    seq: int
    digest: str
    deleted: datetime = Field(sa_type=UtcTime)
    row_digest: str


class PayloadRow(_Row, table=True):
    """A payload too large to lie in its entry, under its digest. Immutable, and there as long as an entry refers to it."""

    __tablename__ = "payloads"
    __table_args__ = ({"sqlite_with_rowid": False},)

    digest: str = Field(primary_key=True)
    content: bytes


class HeadRow(_Row, table=True):
    """The last entry of a Worker's log: the one row that an append replaces, and only by what it appended."""

    __tablename__ = "heads"
    __table_args__ = (ForeignKeyConstraint(["worker"], ["workers.id"]), {"sqlite_with_rowid": False})

    worker: str = Field(primary_key=True)
    seq: int
    digest: str


class EntryRow(_Row, table=True):
    """An entry of a session log. Immutable. Without a `payload` here it lies in `payloads`. `key_id` and `seal` are for sealed logs."""

    __tablename__ = "entries"
    __table_args__ = (
        ForeignKeyConstraint(["worker"], ["workers.id"]),
        CheckConstraint("seq >= 1", name="counted_from_1"),
        # Partial, not a constraint: most of what is recorded of a worker's tools needs no key, and no page of an index then.
        Index("uq_entries_worker_key", "worker", "key", unique=True, **_where('"key" IS NOT NULL')),
        Index("ix_entries_payload_digest", "payload_digest", **_where("payload IS NULL")),
        Index("ix_entries_checkpoints", "worker", "seq", **_where(f"kind = '{CHECKPOINT}'")),
    )

    worker: str = Field(primary_key=True)
    seq: int = Field(primary_key=True)
    version: int
    time: datetime = Field(sa_type=UtcTime)
    actor_class: str
    channel: str
    principal: str
    assurance: str
    host_session: str | None
    kind: str
    key: str | None
    payload_digest: str
    previous: str
    digest: str
    payload: bytes | None
    key_id: str | None = None
    seal: bytes | None = None


class LeaseRow(_Row, table=True):
    """Who works on an attempt, and until when. Mutable, and no part of any history; refers to no row, so that it outlives none."""

    __tablename__ = "leases"
    __table_args__ = ({"sqlite_with_rowid": False},)

    worker: str = Field(primary_key=True)
    attempt: str = Field(primary_key=True)
    holder: str
    token: int = Field(sa_type=BigInteger)
    expires: datetime = Field(sa_type=UtcTime)


class TranscriptRow(_Row, table=True):
    """What went between a verifier and its model, record by record. Immutable, and gone with the Worker; refers to no row of its log."""

    __tablename__ = "transcripts"
    __table_args__ = (CheckConstraint("number >= 1", name="counted_from_1"), {"sqlite_with_rowid": False})

    worker: str = Field(primary_key=True)
    attempt: str = Field(primary_key=True)
    number: int = Field(primary_key=True)
    digest: str
    content: bytes


WORKSPACES: Final[Table] = METADATA.tables["workspaces"]
DEFINITIONS: Final[Table] = METADATA.tables["definitions"]
FLOW_SOURCES: Final[Table] = METADATA.tables["flow_sources"]
FLOW_REVISIONS: Final[Table] = METADATA.tables["flow_source_revisions"]
FLOW_MODULES: Final[Table] = METADATA.tables["flow_modules"]
FLOW_ACTS: Final[Table] = METADATA.tables["flow_acts"]
TOKENS: Final[Table] = METADATA.tables["tokens"]
WORKERS: Final[Table] = METADATA.tables["workers"]
TOMBSTONES: Final[Table] = METADATA.tables["tombstones"]
PAYLOADS: Final[Table] = METADATA.tables["payloads"]
HEADS: Final[Table] = METADATA.tables["heads"]
ENTRIES: Final[Table] = METADATA.tables["entries"]
LEASES: Final[Table] = METADATA.tables["leases"]
TRANSCRIPTS: Final[Table] = METADATA.tables["transcripts"]
