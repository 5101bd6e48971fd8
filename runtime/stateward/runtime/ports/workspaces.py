"""The Workspaces that a store keeps."""

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Workspace:
    """A Workspace, as a store keeps it."""

    id: str
    """A UUIDv7."""
    name: str
    created: datetime


class Workspaces(Protocol):
    """The Workspaces that a store keeps. Flows are saved only in one that is there."""

    def ensure(self, workspace: Workspace) -> Workspace:
        """Keep a Workspace unless one with its id is there; give the one that is there."""

    def get(self, workspace: str) -> Workspace | None:
        """Give a Workspace by its id."""
