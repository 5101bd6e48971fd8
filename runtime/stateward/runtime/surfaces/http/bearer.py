"""The token that a request shows, and what it gives access to.

Invariants: a token is taken from the `Authorization` header and nowhere else; whatever is wrong with it, the answer is the same.
"""

from collections.abc import Sequence
from typing import Final

from stateward.runtime.engine.tokens import Access, check
from stateward.runtime.remote.forms import ProblemCode
from stateward.runtime.surfaces.http.problems import Problem
from stateward.runtime.surfaces.http.service import Service

REALM: Final = 'Bearer realm="stateward"'


def access_shown(shown: Sequence[str], service: Service) -> Access:
    """Give what the `Authorization` headers of a request give access to. Raises Problem."""
    if not shown:
        raise Problem(401, ProblemCode.TOKEN_MISSING, "the request shows no token", headers={"WWW-Authenticate": REALM})
    scheme, _, text = shown[0].partition(" ")
    access = check(service.tokens, service.workspace, text.strip(" "), service.clock.now())
    if access is None or len(shown) > 1 or scheme.lower() != "bearer":
        headers = {"WWW-Authenticate": f'{REALM}, error="invalid_token"'}
        raise Problem(401, ProblemCode.TOKEN_REFUSED, "the token is unknown, expired or revoked", headers=headers)
    return access
