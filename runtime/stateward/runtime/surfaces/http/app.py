"""The app: all routes, what becomes of problems and faults, and the guard around them."""

from typing import Any, Final

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match

from stateward.runtime.ports import Fault
from stateward.runtime.remote.forms import PREFIX, REQUEST_ID_HEADER, ProblemCode
from stateward.runtime.surfaces.http import events, flows, health, revisions, workers, workspace
from stateward.runtime.surfaces.http.described import document
from stateward.runtime.surfaces.http.guard import Guard
from stateward.runtime.surfaces.http.logs import ServiceLog
from stateward.runtime.surfaces.http.problems import Problem, malformed_request, of_fault
from stateward.runtime.surfaces.http.service import Service, Slots, request_id_of

_ABOUT = (
    "The flows of one Workspace: read, saved on the revision they were made from, compared, and resolved to compiled definitions; "
    "and its Workers: started, worked in, and followed. "
    "Everything that is not done is answered as a problem in the form of RFC 9457."
)
_ROUTERS: Final = (flows.router, revisions.router, workspace.router, workers.router, events.router, health.router)


class _App(FastAPI):
    """The framework's app, with our document."""

    def openapi(self) -> dict[str, Any]:
        """Give the OpenAPI document, made once."""
        if self.openapi_schema is None:
            self.openapi_schema = document(self)
        return self.openapi_schema


def make_app(service: Service, log: ServiceLog) -> FastAPI:
    """Make the app of a service."""
    app = _App(
        title="stateward",
        version=service.program.rpartition(" ")[2],
        description=_ABOUT,
        openapi_url=f"{PREFIX}/openapi.json",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    app.state.service = service
    app.state.bundles = Slots(service.bounds.bundles)
    app.state.waits = Slots(service.bounds.waits)
    app.state.streams = Slots(service.bounds.streams)
    for each in _ROUTERS:
        app.include_router(each)
    _add_handlers(app, log)
    if service.names.origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=sorted(service.names.origins),
            allow_methods=["GET", "PUT", "POST", "DELETE"],
            allow_headers=["Authorization", "Content-Type", "If-Match", "If-None-Match", "Last-Event-ID"],
            expose_headers=["ETag", "Link", "Location", REQUEST_ID_HEADER],
        )
    app.add_middleware(Guard, service=service, log=log)
    return app


def _add_handlers(app: FastAPI, log: ServiceLog) -> None:
    """Say what becomes of whatever is raised on the way to an answer."""

    @app.exception_handler(Problem)
    def _problem(request: Request, problem: Problem) -> Response:
        return problem.response(request_id_of(request))

    @app.exception_handler(Fault)
    def _fault(request: Request, fault: Fault) -> Response:
        log.fault(fault, request_id_of(request))
        return of_fault(fault).response(request_id_of(request))

    @app.exception_handler(RequestValidationError)
    def _malformed(request: Request, problem: RequestValidationError) -> Response:
        return malformed_request(list(problem.errors())).response(request_id_of(request))

    @app.exception_handler(HTTPException)
    def _unrouted(request: Request, problem: HTTPException) -> Response:
        return _of_routing(request, problem).response(request_id_of(request))


def _of_routing(request: Request, problem: HTTPException) -> Problem:
    """Make a problem of what the framework itself refuses: a path or a method that no route has, or a body that cannot be read."""
    if problem.status_code == 405:
        allowed = sorted({method for router in _ROUTERS for route in router.routes for method in _methods(route, request)})
        detail = f"the resource takes {', '.join(allowed)}"
        return Problem(405, ProblemCode.METHOD_NOT_ALLOWED, detail, headers={"Allow": ", ".join(allowed)})
    if problem.status_code == 404:
        return Problem(404, ProblemCode.ROUTE_NOT_FOUND, f"resources lie below `{PREFIX}`; see `{PREFIX}/openapi.json`")
    return Problem(problem.status_code, ProblemCode.REQUEST_MALFORMED, str(problem.detail))


def _methods(route: Any, request: Request) -> frozenset[str]:
    """Give the methods that a route takes where a request went; none where the route leads elsewhere."""
    match, _ = route.matches(request.scope)
    return frozenset() if match is Match.NONE else frozenset(route.methods)
