"""Tokens: what somebody shows to a service to act under a name, within scopes.

Invariants: the secret is given once, when it is issued, and lies nowhere; a token that is unknown, revoked, expired or of another
Workspace gets one and the same answer, after the same look into the store; a scope gives what it names and nothing else.
"""

import re
from base64 import urlsafe_b64encode
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from hmac import compare_digest
from typing import Final

from stateward.runtime.core.texts import shown, size_of
from stateward.runtime.engine.limits import NAME_BYTES_MAX
from stateward.runtime.ports import StoredToken, TokenStore
from stateward.runtime.session.chain import digest_of

READ: Final = "read"
"""List, show, compare and export the flows of a Workspace."""
WRITE: Final = "write"
"""Save, restore, remove and take in flows."""
RESOLVE: Final = "resolve"
"""Resolve selectors to snapshots."""
VERIFY: Final = "verify"
OPERATE: Final = "operate"
SCOPES: Final = (READ, WRITE, RESOLVE, VERIFY, OPERATE)
WORKER_SCOPES: Final = ("work", "record")
"""Scopes for one Worker, whose id follows a colon."""
SCOPES_MAX: Final = 64
"""Of one token."""
SECRET_BYTES: Final = 32
TOKEN_START: Final = "sw_"  # noqa: S105 -- what every token begins with
TOKEN_CHARACTERS_MAX: Final = 256
"""What is longer is no token, and is not looked at further than this."""
_WORKER: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


@dataclass(frozen=True, slots=True)
class Issued:
    """A new token, with the one sight of its secret."""

    token: StoredToken
    secret: str


@dataclass(frozen=True, slots=True)
class NotIssued:
    """No token was made."""

    message: str
    help: str


@dataclass(frozen=True, slots=True)
class Access:
    """As whom somebody acts who showed a token, and what for."""

    token: str
    """Its id."""
    name: str
    scopes: tuple[str, ...]

    def has(self, scope: str) -> bool:
        """Tell whether the token was issued for this scope."""
        return scope in self.scopes


def issue(
    tokens: TokenStore,
    workspace: str,
    *,
    token: str,
    secret: bytes,
    name: str,
    scopes: Iterable[str],
    issuer: str,
    now: datetime,
    expires: datetime | None = None,
) -> Issued | NotIssued:
    """Keep a new token under the id `token`, and give its text, made of SECRET_BYTES random bytes, for the only time."""
    assert len(secret) == SECRET_BYTES, "a secret has all its randomness"
    wanted = tuple(sorted(set(scopes)))
    problem = problem_of(name, wanted)
    if problem is None and expires is not None and expires <= now:
        problem = NotIssued("the token would have expired before it is issued", "let it expire later")
    if problem is not None:
        return problem
    text = TOKEN_START + urlsafe_b64encode(secret).rstrip(b"=").decode("ascii")
    stored = StoredToken(token, workspace, digest_of(text.encode("ascii")), name, wanted, issuer, now, expires)
    tokens.keep(stored)
    return Issued(stored, text)


def check(tokens: TokenStore, workspace: str, text: str, now: datetime) -> Access | None:
    """Give what a token gives access to; None for whatever gives none, for one reason as for the other.

    A token is looked up by its digest, so that no time tells how much of a guess was right, and every text is looked up.
    """
    digest = digest_of(text[: TOKEN_CHARACTERS_MAX + 1].encode("utf-8", "surrogateescape"))
    found = tokens.by_digest(digest)
    if found is None or not compare_digest(found.digest, digest):
        return None
    if found.workspace != workspace or found.revoked is not None or is_expired(found, now):
        return None
    return Access(found.id, found.name, found.scopes)


def is_expired(token: StoredToken, now: datetime) -> bool:
    """Tell whether a token's time is over."""
    return token.expires is not None and token.expires <= now


def is_scope(text: str) -> bool:
    """Tell whether this is a scope: a plain one, or `work:` or `record:` with the id of a Worker."""
    kind, colon, worker = text.partition(":")
    if not colon:
        return text in SCOPES
    return kind in WORKER_SCOPES and _WORKER.fullmatch(worker) is not None


def problem_of(name: str, scopes: Collection[str]) -> NotIssued | None:
    """Say why no token is issued under a name for such scopes; None when one can be."""
    return _name_problem(name) or _scopes_problem(scopes)


def _name_problem(name: str) -> NotIssued | None:
    if not name or not name.isprintable() or name != name.strip():
        return NotIssued(f"{shown(name)} cannot be the name of a token", "name whoever is to act with it, in visible characters")
    if size_of(name) > NAME_BYTES_MAX:
        return NotIssued(f"the name has {size_of(name)} bytes", f"give at most {NAME_BYTES_MAX} bytes")
    return None


def _scopes_problem(scopes: Collection[str]) -> NotIssued | None:
    known = ", ".join(f"`{each}`" for each in (*SCOPES, *(f"{each}:<worker>" for each in WORKER_SCOPES)))
    if not scopes:
        return NotIssued("a token without a scope would open nothing", f"give it one or more of {known}")
    if len(scopes) > SCOPES_MAX:
        return NotIssued(f"the token has {len(scopes)} scopes", f"give at most {SCOPES_MAX}")
    wrong = next((each for each in scopes if not is_scope(each)), None)
    return None if wrong is None else NotIssued(f"{shown(wrong)} is no scope", f"give one of {known}")
