"""From version 2 to 3: the modules that a revision imports.

What version 3 was, whatever became of the tables since: nothing of this follows from `tables.py`.
"""

from typing import Any, Final

from alembic.operations import Operations
from sqlalchemy import CheckConstraint, Column, ForeignKeyConstraint, Integer, LargeBinary, PrimaryKeyConstraint, String
from sqlalchemy.dialects import postgresql

revision: Final = "3"
down_revision: Final = "2"

TEXT: Final = String().with_variant(postgresql.TEXT(collation="C"), "postgresql")


def _column(name: str, of: Any) -> Column[Any]:
    return Column(name, of, nullable=False)


def upgrade(op: Operations) -> None:
    """Make the table."""
    op.create_table(
        "flow_modules",
        _column("workspace", TEXT),
        _column("flow_id", TEXT),
        _column("revision", Integer),
        _column("number", Integer),
        _column("path", TEXT),
        _column("content", LargeBinary),
        _column("closure_digest", TEXT),
        PrimaryKeyConstraint("workspace", "flow_id", "revision", "number", name="pk_flow_modules"),
        ForeignKeyConstraint(
            ["workspace", "flow_id", "revision"],
            ["flow_source_revisions.workspace", "flow_source_revisions.flow_id", "flow_source_revisions.revision"],
            name="fk_flow_modules_flow_source_revisions",
        ),
        CheckConstraint("number >= 1", name="ck_flow_modules_counted_from_1"),
        sqlite_with_rowid=False,
    )
