"""Tokens in memory: for tests. A real adapter under the same contract as the one on a database. Safe to share between threads."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from threading import Lock

from stateward.runtime.ports import StoredToken
from stateward.store.token_rules import as_kept, moment, taken


class MemoryTokens:
    """The port `TokenStore` in memory. Takes a token for any Workspace."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._kept: dict[tuple[str, str], StoredToken] = {}
        self._places: dict[str, tuple[str, str]] = {}

    def keep(self, token: StoredToken) -> None:
        """Keep a new token. Raises ValueError for one that no store takes, or when its id or digest is there already."""
        kept = as_kept(token)
        place = (kept.workspace, kept.id)
        with self._lock:
            if place in self._kept or kept.digest in self._places:
                raise taken(kept)
            self._kept[place] = kept
            self._places[kept.digest] = place

    def by_digest(self, digest: str) -> StoredToken | None:
        """Look one up, revoked or not."""
        with self._lock:
            place = self._places.get(digest)
            return None if place is None else self._kept[place]

    def listed(self, workspace: str, limit: int, after: str = "") -> Sequence[StoredToken]:
        """List them by id, oldest first, `limit` at a time, those after `after`."""
        with self._lock:
            here = sorted(token for place, token in self._kept if place == workspace and token > after)
            return [self._kept[workspace, token] for token in here[:limit]]

    def revoke(self, workspace: str, token: str, time: datetime) -> StoredToken | None:
        """Revoke a token by its id and give it; one that was revoked before stays as it was. None when there is none."""
        revoked = moment(time)
        with self._lock:
            kept = self._kept.get((workspace, token))
            if kept is None or kept.revoked is not None:
                return kept
            self._kept[workspace, token] = replace(kept, revoked=revoked)
            return self._kept[workspace, token]
