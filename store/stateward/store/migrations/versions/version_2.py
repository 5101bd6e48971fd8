"""From version 1 to 2: what was done to a flow besides saving it, and the tokens of a service.

What version 2 was, whatever became of the tables since: nothing of this follows from `tables.py`.
"""

from typing import Any, Final

from alembic.operations import Operations
from sqlalchemy import CheckConstraint, Column, ForeignKeyConstraint, Integer, PrimaryKeyConstraint, String, UniqueConstraint
from sqlalchemy.dialects import postgresql

revision: Final = "2"
down_revision: Final = "1"

_BYTE_ORDER: Final = postgresql.TEXT(collation="C")
TEXT: Final = String().with_variant(_BYTE_ORDER, "postgresql")
TIME: Final = String(27).with_variant(_BYTE_ORDER, "postgresql")


def _column(name: str, of: Any, *, nullable: bool = False) -> Column[Any]:
    return Column(name, of, nullable=nullable)


def upgrade(op: Operations) -> None:
    """Make the tables."""
    op.create_table(
        "flow_acts",
        _column("workspace", TEXT),
        _column("flow_id", TEXT),
        _column("number", Integer),
        _column("kind", TEXT),
        _column("revision", Integer),
        _column("first", Integer),
        _column("author", TEXT),
        _column("note", TEXT),
        _column("created", TIME),
        _column("bundle", TEXT),
        _column("origin", TEXT),
        _column("row_digest", TEXT),
        PrimaryKeyConstraint("workspace", "flow_id", "number", name="pk_flow_acts"),
        ForeignKeyConstraint(
            ["workspace", "flow_id"], ["flow_sources.workspace", "flow_sources.flow_id"], name="fk_flow_acts_flow_sources"
        ),
        CheckConstraint("number >= 1", name="ck_flow_acts_counted_from_1"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "tokens",
        _column("workspace", TEXT),
        _column("id", TEXT),
        _column("digest", TEXT),
        _column("name", TEXT),
        _column("scopes", TEXT),
        _column("issuer", TEXT),
        _column("created", TIME),
        _column("expires", TIME, nullable=True),
        _column("revoked_at", TIME, nullable=True),
        _column("row_digest", TEXT),
        PrimaryKeyConstraint("workspace", "id", name="pk_tokens"),
        UniqueConstraint("digest", name="uq_tokens_digest"),
        ForeignKeyConstraint(["workspace"], ["workspaces.id"], name="fk_tokens_workspaces"),
        sqlite_with_rowid=False,
    )
