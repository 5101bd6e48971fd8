"""The Workspace itself, what selectors resolve to, and bundles of its flows."""

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from stateward.runtime.core.refusal import Refusal
from stateward.runtime.ports import Snapshot, TakenIn
from stateward.runtime.remote.forms import BUNDLE_TYPE, PREFIX, SnapshotForm, TakenInForm, WorkspaceForm
from stateward.runtime.surfaces.http.answers import answered
from stateward.runtime.surfaces.http.auth import AnyAccess, Reading, Resolving, Writing
from stateward.runtime.surfaces.http.bodies import BundleBody
from stateward.runtime.surfaces.http.described import bundle_answer, bundle_body, problems
from stateward.runtime.surfaces.http.parameters import NOTHING_ASKED, BundleAsked, ExportAsked, SelectorAsked
from stateward.runtime.surfaces.http.problems import not_taken_in, refused, unresolved
from stateward.runtime.surfaces.http.service import service_of

router = APIRouter(prefix=PREFIX)


@router.get("/workspace", response_model=WorkspaceForm, responses=problems(), tags=["workspace"], dependencies=[NOTHING_ASKED])
def show_workspace(request: Request, access: AnyAccess) -> Response:
    """Show which Workspace this is, which program holds it, and what the token is for. Any token."""
    service = service_of(request)
    return answered(WorkspaceForm(workspace=service.workspace, program=service.program, name=access.name, scopes=access.scopes))


@router.get("/snapshots", response_model=SnapshotForm, responses=problems(404, 422), tags=["snapshots"])
def resolve(flows: Resolving, asked: Annotated[SelectorAsked, Query()]) -> Response:
    """Resolve `workspace:<slug>` or `builtin:<slug>` to a definition with its identity. Writes nothing. Scope `resolve`."""
    answer = flows.resolve(asked.selector)
    if not isinstance(answer, Snapshot):
        raise unresolved(answer)
    return answered(SnapshotForm.of(answer))


@router.get("/bundle", response_class=StreamingResponse, responses={**bundle_answer(), **problems(404, 422)}, tags=["bundles"])
def export(flows: Reading, asked: Annotated[ExportAsked, Query()]) -> Response:
    """Give a bundle of flows with every revision; of all flows where none is named. Scope `read`.

    An answer that breaks off is no bundle: it has no end line.
    """
    pieces = flows.export(asked.slug)
    if isinstance(pieces, Refusal):
        raise refused(pieces)
    headers = {"Cache-Control": "no-store", "Content-Disposition": 'attachment; filename="flows.bundle"'}
    return StreamingResponse(pieces, 200, headers, BUNDLE_TYPE)


@router.post("/bundle", response_model=TakenInForm, responses=problems(404, 409, 415, 422), openapi_extra=bundle_body(), tags=["bundles"])
def take_in(flows: Writing, body: BundleBody, asked: Annotated[BundleAsked, Query()]) -> Response:
    """Take in a bundle: what is not here yet of each flow, or nothing. Scope `write`."""
    answer = flows.take_in(body, note=asked.note, expected=asked.expected, accept=asked.accept, dry_run=asked.dry_run)
    if not isinstance(answer, TakenIn):
        raise not_taken_in(answer)
    return answered(TakenInForm.of(answer))
