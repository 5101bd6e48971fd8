"""From an empty database to version 1: Workspaces with their flows, Workers with their logs, leases and transcripts.

What version 1 was, whatever became of the tables since: nothing of this follows from `tables.py`.
"""

from typing import Any, Final

from alembic.operations import Operations
from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    ForeignKeyConstraint,
    Integer,
    LargeBinary,
    PrimaryKeyConstraint,
    String,
    UniqueConstraint,
    text,
)
from sqlalchemy.dialects import postgresql

revision: Final = "1"
down_revision: Final = None

_BYTE_ORDER: Final = postgresql.TEXT(collation="C")
TEXT: Final = String().with_variant(_BYTE_ORDER, "postgresql")
TIME: Final = String(27).with_variant(_BYTE_ORDER, "postgresql")
BYTES: Final = LargeBinary()


def _column(name: str, of: Any, *, nullable: bool = False) -> Column[Any]:
    return Column(name, of, nullable=nullable)


def _where(condition: str) -> dict[str, Any]:
    return {"sqlite_where": text(condition), "postgresql_where": text(condition)}


def upgrade(op: Operations) -> None:
    """Make the tables."""
    _flows(op)
    _logs(op)
    _beside_logs(op)


def _flows(op: Operations) -> None:
    op.create_table(
        "workspaces",
        _column("id", TEXT),
        _column("name", TEXT),
        _column("created", TIME),
        _column("row_digest", TEXT),
        PrimaryKeyConstraint("id", name="pk_workspaces"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "definitions",
        _column("digest", TEXT),
        _column("canonical", BYTES),
        PrimaryKeyConstraint("digest", name="pk_definitions"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "flow_sources",
        _column("workspace", TEXT),
        _column("flow_id", TEXT),
        _column("slug", TEXT),
        _column("revision", Integer),
        _column("created", TIME),
        _column("updated", TIME),
        _column("removed_at", TIME, nullable=True),
        PrimaryKeyConstraint("workspace", "flow_id", name="pk_flow_sources"),
        UniqueConstraint("workspace", "slug", name="uq_flow_sources_workspace_slug"),
        ForeignKeyConstraint(["workspace"], ["workspaces.id"], name="fk_flow_sources_workspaces"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "flow_source_revisions",
        _column("workspace", TEXT),
        _column("flow_id", TEXT),
        _column("revision", Integer),
        _column("content", BYTES),
        _column("content_digest", TEXT),
        _column("definition_digest", TEXT),
        _column("compiler", TEXT),
        _column("author", TEXT),
        _column("note", TEXT),
        _column("created", TIME),
        _column("row_digest", TEXT),
        PrimaryKeyConstraint("workspace", "flow_id", "revision", name="pk_flow_source_revisions"),
        ForeignKeyConstraint(
            ["workspace", "flow_id"], ["flow_sources.workspace", "flow_sources.flow_id"], name="fk_flow_source_revisions_flow_sources"
        ),
        ForeignKeyConstraint(["definition_digest"], ["definitions.digest"], name="fk_flow_source_revisions_definitions"),
        CheckConstraint("revision >= 1", name="ck_flow_source_revisions_counted_from_1"),
        sqlite_with_rowid=False,
    )


def _logs(op: Operations) -> None:
    op.create_table(
        "workers",
        _column("id", TEXT),
        _column("workspace", TEXT),
        _column("created", TIME),
        _column("base_seq", Integer),
        _column("base_digest", TEXT),
        _column("row_digest", TEXT),
        PrimaryKeyConstraint("id", name="pk_workers"),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_workers_workspace_id", "workers", ["workspace", "id"])
    op.create_table(
        "tombstones",
        _column("worker", TEXT),
        _column("workspace", TEXT),
        _column("seq", Integer),
        _column("digest", TEXT),
        _column("deleted", TIME),
        _column("row_digest", TEXT),
        PrimaryKeyConstraint("worker", name="pk_tombstones"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "payloads",
        _column("digest", TEXT),
        _column("content", BYTES),
        PrimaryKeyConstraint("digest", name="pk_payloads"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "heads",
        _column("worker", TEXT),
        _column("seq", Integer),
        _column("digest", TEXT),
        PrimaryKeyConstraint("worker", name="pk_heads"),
        ForeignKeyConstraint(["worker"], ["workers.id"], name="fk_heads_workers"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "entries",
        _column("worker", TEXT),
        _column("seq", Integer),
        _column("version", Integer),
        _column("time", TIME),
        _column("actor_class", TEXT),
        _column("channel", TEXT),
        _column("principal", TEXT),
        _column("assurance", TEXT),
        _column("host_session", TEXT, nullable=True),
        _column("kind", TEXT),
        _column("key", TEXT, nullable=True),
        _column("payload_digest", TEXT),
        _column("previous", TEXT),
        _column("digest", TEXT),
        _column("payload", BYTES, nullable=True),
        _column("key_id", TEXT, nullable=True),
        _column("seal", BYTES, nullable=True),
        PrimaryKeyConstraint("worker", "seq", name="pk_entries"),
        ForeignKeyConstraint(["worker"], ["workers.id"], name="fk_entries_workers"),
        CheckConstraint("seq >= 1", name="ck_entries_counted_from_1"),
    )
    op.create_index("ix_entries_payload_digest", "entries", ["payload_digest"], **_where("payload IS NULL"))
    op.create_index("ix_entries_checkpoints", "entries", ["worker", "seq"], **_where("kind = 'checkpoint'"))
    op.create_index("uq_entries_worker_key", "entries", ["worker", "key"], unique=True, **_where('"key" IS NOT NULL'))


def _beside_logs(op: Operations) -> None:
    op.create_table(
        "leases",
        _column("worker", TEXT),
        _column("attempt", TEXT),
        _column("holder", TEXT),
        _column("token", BigInteger),
        _column("expires", TIME),
        PrimaryKeyConstraint("worker", "attempt", name="pk_leases"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "transcripts",
        _column("worker", TEXT),
        _column("attempt", TEXT),
        _column("number", Integer),
        _column("digest", TEXT),
        _column("content", BYTES),
        PrimaryKeyConstraint("worker", "attempt", "number", name="pk_transcripts"),
        CheckConstraint("number >= 1", name="ck_transcripts_counted_from_1"),
        sqlite_with_rowid=False,
    )
