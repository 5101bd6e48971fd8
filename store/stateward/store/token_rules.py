"""The rules of keeping tokens, the same for every store: what is kept of one, and what is refused.

Invariant: of what opens anything only a digest comes this far.
"""

import re
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final

from stateward.runtime.ports import StoredToken
from stateward.store.revisions import require_moment, require_texts

SCOPES_MAX: Final = 64
_DIGEST: Final = re.compile(r"sha256:[0-9a-f]{64}")


def as_kept(token: StoredToken) -> StoredToken:
    """Give a token as it is kept: its times in UTC. Raises ValueError for one that no store takes."""
    require_texts(token.id, token.workspace, token.name, token.issuer, *token.scopes)
    if not token.id:
        raise ValueError("a token without an id cannot be named")
    if not _DIGEST.fullmatch(token.digest):
        raise ValueError("what is kept of the secret of a token is its digest")
    if len(token.scopes) > SCOPES_MAX:
        raise ValueError(f"{len(token.scopes)} scopes are more than the {SCOPES_MAX} of a token")
    if list(token.scopes) != sorted(set(token.scopes)) or any(scope.split() != [scope] for scope in token.scopes):
        raise ValueError("scopes are words, sorted, each once")
    if token.revoked is not None:
        raise ValueError("a token that was revoked already opens nothing")
    return replace(token, created=moment(token.created), expires=None if token.expires is None else moment(token.expires))


def moment(time: datetime) -> datetime:
    """Give a time in UTC. Raises ValueError for a naive one."""
    require_moment(time)
    return time.astimezone(UTC)


def taken(token: StoredToken) -> ValueError:
    """Say that the id or the digest of a token is that of one that is there."""
    return ValueError(f"the id or the digest of the token {token.id} is there already")
