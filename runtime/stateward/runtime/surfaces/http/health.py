"""Whether the service lives, and whether it can answer: for whatever watches it.

No token is needed, and nothing of the Workspace is told.
"""

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from stateward.runtime.remote.forms import ProblemCode
from stateward.runtime.surfaces.http.problems import Problem
from stateward.runtime.surfaces.http.service import service_of

router = APIRouter(include_in_schema=False)


@router.get("/healthz")
async def live() -> Response:
    """Say that the process answers, also while every thread is at work."""
    return JSONResponse({"status": "live"}, headers={"Cache-Control": "no-store"})


@router.get("/readyz")
def ready(request: Request) -> Response:
    """Say whether the store can be read, by reading it. Raises Problem, and the fault of the store."""
    service = service_of(request)
    if service.stopping.is_set():
        raise Problem(503, ProblemCode.STOPPING, "the service takes on no more requests")
    service.ready()
    return JSONResponse({"status": "ready"}, headers={"Cache-Control": "no-store"})
