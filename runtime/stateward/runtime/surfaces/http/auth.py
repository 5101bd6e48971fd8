"""Who asks: the token of a request, and whether it was issued for what is asked.

Invariants: a token is taken from the `Authorization` header and nowhere else; whatever is wrong with it, the answer is the same; it is
looked up before anything of a body is read. Who acts is whom the token names, never what a request says.
"""

from typing import Annotated, Final

from fastapi import Depends
from fastapi.security import HTTPBearer
from starlette.requests import Request

from stateward.runtime.engine.tokens import READ, RESOLVE, WRITE, Access
from stateward.runtime.ports import FlowAuthority
from stateward.runtime.remote.forms import ProblemCode
from stateward.runtime.surfaces.http.bearer import REALM, access_shown
from stateward.runtime.surfaces.http.problems import Problem
from stateward.runtime.surfaces.http.service import service_of

_SCHEME: Final = HTTPBearer(auto_error=False, scheme_name="token", description="A token that `stateward token issue` gave.")


def any_access(request: Request, _declared: Annotated[object, Depends(_SCHEME)]) -> Access:
    """Give what the token of a request gives access to. Raises Problem."""
    access = access_shown(request.headers.getlist("authorization"), service_of(request))
    request.scope["state"]["who"] = access.name
    return access


AnyAccess = Annotated[Access, Depends(any_access)]


def require(access: Access, scope: str) -> None:
    """Require that a token was issued for a scope. Raises Problem."""
    if not access.has(scope):
        headers = {"WWW-Authenticate": f'{REALM}, error="insufficient_scope", scope="{scope}"'}
        detail = f"the token was not issued for the scope `{scope}`"
        raise Problem(403, ProblemCode.SCOPE_MISSING, detail, headers=headers, scope=scope)


def reading(request: Request, access: AnyAccess) -> FlowAuthority:
    """Give the flows to whoever may read them. Raises Problem."""
    require(access, READ)
    return service_of(request).reads(access.name)


def writing(request: Request, access: AnyAccess) -> FlowAuthority:
    """Give the flows to whoever may change them. Raises Problem."""
    require(access, WRITE)
    return service_of(request).writes(access.name)


def resolving(request: Request, access: AnyAccess) -> FlowAuthority:
    """Give the flows, over a store opened for reading, to whoever may resolve selectors. Raises Problem."""
    require(access, RESOLVE)
    return service_of(request).reads(access.name)


Reading = Annotated[FlowAuthority, Depends(reading)]
Writing = Annotated[FlowAuthority, Depends(writing)]
Resolving = Annotated[FlowAuthority, Depends(resolving)]
