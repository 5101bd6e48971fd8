"""Flows as resources: listed, shown, saved, restored and removed."""

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import Response

from stateward.runtime.ports import Removed, Saved
from stateward.runtime.remote.forms import (
    PREFIX,
    ActsPage,
    FlowActForm,
    FlowRowForm,
    FlowsPage,
    ProblemCode,
    RemovedForm,
    RestoreForm,
    SavedForm,
    SaveForm,
    bytes_of,
)
from stateward.runtime.surfaces.http.answers import answered, page, unless_known
from stateward.runtime.surfaces.http.auth import Reading, Writing
from stateward.runtime.surfaces.http.bodies import JsonBody, read_form
from stateward.runtime.surfaces.http.described import body_of, not_changed, paged, problems, tagged
from stateward.runtime.surfaces.http.parameters import (
    NOTHING_ASKED,
    BaseRequired,
    BaseToSave,
    FlowsAsked,
    KnownTags,
    PageAsked,
    RemovalAsked,
    Slug,
)
from stateward.runtime.surfaces.http.problems import Problem, not_saved

router = APIRouter(prefix=PREFIX, tags=["flows"])

_SAVED = tagged("The revision that is current now; `created` is false when these bytes were current already.")


@router.get("/flows", response_model=FlowsPage, responses={200: paged("A page of flows."), **problems()})
def list_flows(request: Request, flows: Reading, asked: Annotated[FlowsAsked, Query()]) -> Response:
    """List the flows of the Workspace by slug, each with its last revision. Scope `read`."""
    rows = flows.flows(asked.limit, asked.after, removed=asked.removed)
    following = rows[-1].last.slug if len(rows) == asked.limit else None
    return page(FlowsPage(flows=tuple(map(FlowRowForm.of, rows)), next=following), request, after=following)


@router.get(
    "/flows/{slug}",
    response_model=FlowRowForm,
    responses={200: tagged("The flow, removed or not."), **not_changed(), **problems(404)},
    dependencies=[NOTHING_ASKED],
)
def show_flow(slug: Slug, flows: Reading, tags: KnownTags) -> Response:
    """Show a flow as it is listed, also a removed one. Scope `read`.

    The tag is that of its last revision, on which a change is based. A removed flow has none: it was changed by an act, not by a revision.
    """
    row = flows.find(slug)
    if row is None:
        raise no_flow(slug)
    form = FlowRowForm.of(row)
    return unless_known(form, row.last.revision, tags) if row.removed is None else answered(form)


@router.put(
    "/flows/{slug}",
    response_model=SavedForm,
    responses={200: _SAVED, 201: tagged("The first revision of a new flow."), **problems(412, 415, 422, 428)},
    openapi_extra=body_of(SaveForm),
    dependencies=[NOTHING_ASKED],
)
def save_flow(slug: Slug, flows: Writing, base: BaseToSave, body: JsonBody) -> Response:
    """Compile a source and keep it as the next revision, with those `modules` that it imports. Scope `write`; its name is the author.

    `If-Match: "N"` names the revision it was made from, `If-None-Match: *` says that the slug is new. The same bytes make no revision, so
    that a request whose answer was lost can be made again. `override` keeps it on whatever is the last revision, and the note says so.
    """
    form = read_form(SaveForm, body)
    modules = tuple(each.value() for each in form.modules)
    answer = flows.save(
        slug, bytes_of(form.source), base=base, modules=modules, note=form.note, override=form.override, dry_run=form.dry_run
    )
    if not isinstance(answer, Saved):
        raise not_saved(answer)
    is_new = answer.created and answer.revision.revision == 1 and not form.dry_run
    headers = {"Location": f"{PREFIX}/flows/{slug}"} if is_new else None
    revision = None if form.dry_run else answer.revision.revision
    return answered(SavedForm.of(answer), status=201 if is_new else 200, revision=revision, headers=headers)


@router.post(
    "/flows/{slug}/restore",
    response_model=SavedForm,
    responses={200: _SAVED, **problems(404, 412, 415, 422, 428)},
    openapi_extra=body_of(RestoreForm),
    dependencies=[NOTHING_ASKED],
)
def restore_flow(slug: Slug, flows: Writing, base: BaseRequired, body: JsonBody) -> Response:
    """Make an old revision current again, as a new one with its bytes and its definition. Scope `write`."""
    form = read_form(RestoreForm, body)
    answer = flows.restore(slug, form.revision, base=base, note=form.note, override=form.override, dry_run=form.dry_run)
    if not isinstance(answer, Saved):
        raise not_saved(answer)
    return answered(SavedForm.of(answer), revision=None if form.dry_run else answer.revision.revision)


@router.delete(
    "/flows/{slug}",
    response_model=RemovedForm,
    responses={200: {"description": "The act; `created` is false when the flow was removed already."}, **problems(404, 412, 422, 428)},
)
def remove_flow(slug: Slug, flows: Writing, base: BaseRequired, asked: Annotated[RemovalAsked, Query()]) -> Response:
    """Hide a flow from resolving. Every revision stays, and saving or restoring brings it back. Scope `write`."""
    answer = flows.remove(slug, base=base, note=asked.note, dry_run=asked.dry_run)
    if not isinstance(answer, Removed):
        raise not_saved(answer)
    return answered(RemovedForm.of(answer))


@router.get("/flows/{slug}/acts", response_model=ActsPage, responses={200: paged("A page of acts."), **problems(404)})
def list_acts(request: Request, slug: Slug, flows: Reading, asked: Annotated[PageAsked, Query()]) -> Response:
    """List what was done to a flow besides saving it, the latest first. Scope `read`."""
    acts = flows.acts(slug, asked.limit, asked.before)
    if not acts and flows.find(slug) is None:
        raise no_flow(slug)
    following = acts[-1].number if len(acts) == asked.limit and acts[-1].number > 1 else None
    return page(ActsPage(acts=tuple(map(FlowActForm.of, acts)), next=following), request, before=following)


def no_flow(slug: str) -> Problem:
    """Say that no flow ever had that slug."""
    shown = "".join(each if each.isprintable() and each != "`" else "?" for each in slug[:128])
    return Problem(404, ProblemCode.FLOW_NOT_FOUND, f"there is no flow `{shown}` in this Workspace")
