"""Workspaces on a database.

Invariants: a Workspace is written once; one that flows or tokens refer to is not said to be missing.
"""

from typing import Final

from stateward.runtime.ports.workspaces import Workspace
from stateward.store.absence import Neighbours
from stateward.store.codecs import require_as_written, workspace_of, workspace_values
from stateward.store.connection import Connection, Database
from stateward.store.prepared import Inconsistent
from stateward.store.texts import statement

_GET: Final = statement("flow_statements.WORKSPACE")
_INSERT: Final = statement("flow_statements.INSERT_WORKSPACE")
_A_FLOW: Final = statement("flow_statements.OF_A_MISSING_WORKSPACE")
_NEIGHBOURS: Final = Neighbours("workspaces", require_as_written)


class SqlWorkspaces:
    """The port `Workspaces` on a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def ensure(self, workspace: Workspace) -> Workspace:
        """Keep a Workspace unless one with its id is there; give the one that is there."""

        def keep(connection: Connection) -> Workspace:
            stored = find_workspace(connection, workspace.id)
            if stored is not None:
                return stored
            _INSERT.run(connection, workspace_values(workspace))
            kept = find_workspace(connection, workspace.id)
            if kept is None:
                raise Inconsistent(f"the Workspace {workspace.id} was not kept")
            return kept

        return self.get(workspace.id) or self._database.write(keep)

    def get(self, workspace: str) -> Workspace | None:
        """Give a Workspace by its id."""
        return self._database.read(lambda connection: find_workspace(connection, workspace))


def find_workspace(connection: Connection, workspace: str) -> Workspace | None:
    """Give a Workspace by its id. Raises NotWritten where it was lost."""
    row = _GET.first(connection, {"id": workspace})
    if row is not None:
        return workspace_of(row)
    _NEIGHBOURS.require_sound(connection, (workspace,))
    if _A_FLOW.first(connection, {"workspace": workspace}) is not None:
        raise Inconsistent(f"the Workspace {workspace} has flows and is missing itself")
    return None
