"""Authorities over stores in this process, for the contract of every FlowAuthority."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import count

from stateward.runtime.engine.flows import WorkspaceFlows
from stateward.runtime.ports import FlowStore, Workspace, Workspaces

MORNING = datetime(2026, 3, 1, 9, 0, 0, 1, tzinfo=UTC)
COMPILER = "stateward 0.1.0"
HERE = Workspace("0198c0de-0000-7000-8000-00000000000a", "here", MORNING)
THERE = Workspace("0198c0de-0000-7000-8000-00000000000b", "there", MORNING)


class Minutes:
    """A clock that is a minute later whenever it is read."""

    def __init__(self) -> None:
        self._passed: Iterator[int] = count()

    def now(self) -> datetime:
        return MORNING + timedelta(minutes=next(self._passed))


def authority_over(
    flows: FlowStore, workspaces: Workspaces, author: str = "ada", workspace: Workspace = HERE, compiler: str = COMPILER
) -> WorkspaceFlows:
    """Give the authority on a Workspace of a store, where somebody acts."""
    return WorkspaceFlows(flows, workspaces.ensure(workspace).id, author, compiler, Minutes(), name=workspace.name)
