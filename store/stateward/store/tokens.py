"""The tokens of Workspaces on a database.

Invariants: a token is written once; all that ever changes of it is that it is revoked, once. What is read has the digest of all that was
written of it. A token that cannot be found opens nothing, so that damage never lets anybody in.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from stateward.runtime.ports import Damaged, StoredToken
from stateward.store.absence import Neighbours
from stateward.store.codecs import require_as_written
from stateward.store.connection import Connection, Database, Refused
from stateward.store.faults import RESTORE
from stateward.store.flow_codecs import token_of, token_values
from stateward.store.prepared import Inconsistent
from stateward.store.texts import statement
from stateward.store.token_rules import as_kept, moment, taken
from stateward.store.workspace import find_workspace

_FIND: Final = statement("flow_statements.TOKEN")
_BY_DIGEST: Final = statement("flow_statements.TOKEN_BY_DIGEST")
_TAKEN: Final = statement("flow_statements.TOKEN_TAKEN")
_LISTED: Final = statement("flow_statements.TOKENS_LISTED")
_INSERT: Final = statement("flow_statements.INSERT_TOKEN")
_REVOKE: Final = statement("flow_statements.REVOKE_TOKEN")
_NEIGHBOURS: Final = Neighbours("tokens", require_as_written)


class SqlTokens:
    """The port `TokenStore` on a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def keep(self, token: StoredToken) -> None:
        """Keep a new token. Raises ValueError for one that no store takes, or when its id or digest is there already."""
        values = token_values(as_kept(token))

        def store(connection: Connection) -> None:
            if _TAKEN.first(connection, values) is not None:
                raise taken(token)
            _INSERT.write_one(connection, values)

        try:
            self._database.write(store)
        except Refused as refused:
            self._explain(token, refused)

    def _explain(self, token: StoredToken, refused: Refused) -> None:
        """Say why the database refused a token that was not there a moment ago."""

        def look(connection: Connection) -> tuple[bool, bool]:
            place = {"workspace": token.workspace, "id": token.id, "digest": token.digest}
            return _TAKEN.first(connection, place) is not None, find_workspace(connection, token.workspace) is not None

        is_taken, has_workspace = self._database.read(look)
        if is_taken:
            raise taken(token) from refused
        if not has_workspace:
            raise refused  # it is for the caller to issue tokens of a Workspace that is there
        raise Damaged(f"the token {token.id} cannot be kept: {refused}", RESTORE) from refused

    def by_digest(self, digest: str) -> StoredToken | None:
        """Look one up, revoked or not."""

        def look(connection: Connection) -> StoredToken | None:
            row = _BY_DIGEST.first(connection, {"digest": digest})
            found = None if row is None else token_of(row)
            return found if found is not None and found.digest == digest else None

        return self._database.read(look)

    def listed(self, workspace: str, limit: int, after: str = "") -> Sequence[StoredToken]:
        """List them by id, oldest first, `limit` at a time, those after `after`."""

        def look(connection: Connection) -> list[StoredToken]:
            _NEIGHBOURS.require_sound(connection, (workspace, after))
            rows = _LISTED.all(connection, {"workspace": workspace, "after": after, "limit": limit})
            return [token_of(row) for row in rows]

        return self._database.read(look)

    def revoke(self, workspace: str, token: str, time: datetime) -> StoredToken | None:
        """Revoke a token by its id and give it; one that was revoked before stays as it was. None when there is none."""
        values = {"workspace": workspace, "id": token, "time": moment(time)}

        def store(connection: Connection) -> StoredToken | None:
            _REVOKE.run(connection, values)
            row = _FIND.first(connection, values)
            if row is None:
                _NEIGHBOURS.require_sound(connection, (workspace, token))
            kept = None if row is None else token_of(row)
            if kept is not None and kept.revoked is None:
                raise Inconsistent(f"the token {token} was not revoked")
            return kept

        return self._database.write(store)
