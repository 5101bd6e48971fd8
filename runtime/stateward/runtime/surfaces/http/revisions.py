"""Revisions as resources: listed, read and compared. None of them ever changes."""

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import Response

from stateward.runtime.core.refusal import Refusal
from stateward.runtime.ports import FlowAuthority, Revision
from stateward.runtime.remote.forms import (
    PREFIX,
    DifferenceForm,
    ProblemCode,
    RevisionFactsForm,
    RevisionForm,
    RevisionsPage,
)
from stateward.runtime.surfaces.http.answers import answered, page, unless_known
from stateward.runtime.surfaces.http.auth import Reading
from stateward.runtime.surfaces.http.described import not_changed, paged, problems, tagged
from stateward.runtime.surfaces.http.flows import no_flow
from stateward.runtime.surfaces.http.parameters import NOTHING_ASKED, ComparedAsked, ContentAsked, KnownTags, Number, PageAsked, Slug
from stateward.runtime.surfaces.http.problems import Problem, refused

router = APIRouter(prefix=PREFIX, tags=["revisions"])

_REVISION = {200: tagged("The revision with its source."), **not_changed(), **problems(404)}


@router.get("/flows/{slug}/revisions", response_model=RevisionsPage, responses={200: paged("A page of revisions."), **problems(404)})
def list_revisions(request: Request, slug: Slug, flows: Reading, asked: Annotated[PageAsked, Query()]) -> Response:
    """List the revisions of a flow without their sources, the latest first, also of a removed flow. Scope `read`."""
    found = flows.history(slug, asked.limit, asked.before)
    if not found and flows.find(slug) is None:
        raise no_flow(slug)
    following = found[-1].revision if len(found) == asked.limit and found[-1].revision > 1 else None
    return page(RevisionsPage(revisions=tuple(map(RevisionFactsForm.of, found)), next=following), request, before=following)


@router.get("/flows/{slug}/revisions/{revision}", response_model=RevisionForm, responses=_REVISION, dependencies=[NOTHING_ASKED])
def show_revision(slug: Slug, revision: Number, flows: Reading, tags: KnownTags) -> Response:
    """Read a revision with its source, also of a removed flow. Scope `read`."""
    return _shown(flows, slug, revision, tags)


@router.get("/flows/{slug}/current", response_model=RevisionForm, responses=_REVISION, dependencies=[NOTHING_ASKED])
def show_current(slug: Slug, flows: Reading, tags: KnownTags) -> Response:
    """Read the current revision with its source. A removed flow has none. Scope `read`."""
    return _shown(flows, slug, None, tags)


def _shown(flows: FlowAuthority, slug: str, revision: int | None, tags: frozenset[str]) -> Response:
    found: Revision | None = flows.source(slug, revision)
    if found is None:
        raise _no_revision(flows, slug, revision)
    return unless_known(RevisionForm.of_revision(found), found.revision, tags)


@router.get("/flows/{slug}/difference", response_model=DifferenceForm, responses=problems(404, 422))
def compare(slug: Slug, flows: Reading, asked: Annotated[ComparedAsked, Query()]) -> Response:
    """Compare two revisions of a flow, line by line. Scope `read`."""
    answer = flows.difference(slug, asked.old, asked.new)
    if isinstance(answer, Refusal):
        raise refused(answer)
    return answered(DifferenceForm.of(answer))


@router.get("/flows/{slug}/holding", response_model=RevisionFactsForm, responses=problems(404))
def show_holding(slug: Slug, flows: Reading, asked: Annotated[ContentAsked, Query()]) -> Response:
    """Find the last revision of a flow that has a content. Scope `read`."""
    found = flows.holding(slug, asked.digest)
    if found is not None:
        return answered(RevisionFactsForm.of(found))
    if flows.find(slug) is None:
        raise no_flow(slug)
    raise Problem(404, ProblemCode.CONTENT_NOT_FOUND, f"no revision of `{slug}` has that content")


def _no_revision(flows: FlowAuthority, slug: str, revision: int | None) -> Problem:
    row = flows.find(slug)
    if row is None:
        return no_flow(slug)
    if revision is None:
        return Problem(404, ProblemCode.REVISION_NOT_FOUND, f"`{slug}` was removed, and has no current revision")
    return Problem(404, ProblemCode.REVISION_NOT_FOUND, f"`{slug}` has no revision {revision}, and its last one is {row.last.revision}")
