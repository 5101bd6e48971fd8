"""The Workers of a Workspace."""

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from stateward.runtime.ports import SessionStore, WorkerRow

PAGE: Final = 500
"""Workers listed at a time."""


def worker_ids(sessions: "SessionStore", workspace: str) -> list[str]:
    """Give the ids of a Workspace's Workers, oldest first: by age, for an id that follows from a submission tells none."""
    rows: list[WorkerRow] = []
    while page := sessions.workers(workspace, PAGE, rows[-1].worker if rows else ""):
        rows += page
    return [row.worker for row in sorted(rows, key=lambda row: (row.created, row.worker))]
