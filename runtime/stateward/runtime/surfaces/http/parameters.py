"""What a request names besides its body: slugs, numbers, pages, and the revision it is based on.

Invariants: a parameter that no route knows is refused, not passed over; a number is written in digits and a truth as `true` or `false`,
and nothing else is taken for one. A base is named by exactly one of `If-Match` and `If-None-Match`.
"""

import re
from typing import Annotated, Any, Final, TypeAlias

from fastapi import Depends, Header, Path
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic_core import PydanticCustomError
from starlette.requests import Request

from stateward.runtime.engine.limits import NOTE_BYTES_MAX, WORKERS_PAGE_MAX
from stateward.runtime.ports import LOG_PAGE_MAX, PAGE_MAX
from stateward.runtime.remote.forms import NUMBER_MAX, SELECTOR_CHARACTERS_MAX, SLUGS_MAX, ProblemCode
from stateward.runtime.surfaces.http.problems import Problem, malformed_request

PAGE_USUAL: Final = 100
_NUMBER: Final = re.compile(r"-?[0-9]{1,16}")
_TRUTHS: Final = {"true": True, "false": False}
_SLUG: Final = "^[A-Za-z0-9_-]{1,128}$"
"""Said in the document; what is no slug is refused by what keeps flows, in its own words."""
_NO_NUL: Final = r"^[^\x00]*$"


def _digits(value: object) -> object:
    if isinstance(value, str) and not _NUMBER.fullmatch(value):
        raise PydanticCustomError("number", "it is no whole number in digits")
    return value


def _truth(value: object) -> object:
    if isinstance(value, str):
        if value not in _TRUTHS:
            raise PydanticCustomError("truth", "it is neither `true` nor `false`")
        return _TRUTHS[value]
    return value


Truth = Annotated[bool, BeforeValidator(_truth)]
Limit = Annotated[int, Field(ge=1, le=PAGE_MAX, description="How many there are to be on a page."), BeforeValidator(_digits)]
Whole = Annotated[int, Field(ge=-NUMBER_MAX, le=NUMBER_MAX), BeforeValidator(_digits)]
Before = Annotated[Whole, Field(description="A number; those below it are listed.")]
Note = Annotated[str, Field(max_length=NOTE_BYTES_MAX, pattern=_NO_NUL, description="What is said about the act.")]

Slug: TypeAlias = Annotated[str, Path(description="What a flow is kept under.", json_schema_extra={"pattern": _SLUG}, examples=["paper"])]
Number: TypeAlias = Annotated[
    Annotated[int, Field(ge=1, le=NUMBER_MAX), BeforeValidator(_digits)], Path(description="The number of a revision.", examples=[1])
]


class Asked(BaseModel):
    """Parameters of a query: these, and no others."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class FlowsAsked(Asked):
    """A page of flows."""

    limit: Limit = PAGE_USUAL
    after: Annotated[str, Field(max_length=256, pattern=_NO_NUL, description="A slug; those that follow it are listed.")] = ""
    removed: Annotated[Truth, Field(description="Whether removed flows are listed too.")] = False


class PageAsked(Asked):
    """A page of revisions or acts."""

    limit: Limit = PAGE_USUAL
    before: Before | None = None


class WorkersAsked(Asked):
    """A page of Workers."""

    limit: Annotated[int, Field(ge=1, le=WORKERS_PAGE_MAX, description="How many there are to be on a page."), BeforeValidator(_digits)] = (
        PAGE_USUAL
    )
    after: Annotated[str, Field(max_length=64, pattern=_NO_NUL, description="An id; those that follow it are listed.")] = ""


class LogAsked(Asked):
    """A page of a log."""

    after: Annotated[int, Field(ge=0, le=NUMBER_MAX, description="A number; entries behind it are given."), BeforeValidator(_digits)] = 0
    limit: Annotated[int, Field(ge=1, le=LOG_PAGE_MAX, description="How many there are to be at most."), BeforeValidator(_digits)] = (
        LOG_PAGE_MAX
    )


class EventsAsked(Asked):
    """Where a stream begins."""

    after: Annotated[int, Field(ge=0, le=NUMBER_MAX, description="A number; entries behind it are sent."), BeforeValidator(_digits)] = 0


class CursorAsked(Asked):
    """The session of a host."""

    host: Annotated[str, Field(max_length=1024, pattern=_NO_NUL)]
    session: Annotated[str, Field(max_length=1024, pattern=_NO_NUL)]


class ComparedAsked(Asked):
    """Two revisions."""

    old: Whole
    new: Whole


class ContentAsked(Asked):
    """A content by its digest."""

    digest: Annotated[str, Field(max_length=128, description="`sha256:` and 64 hexadecimal digits.")]


class SelectorAsked(Asked):
    """A selector."""

    selector: Annotated[
        str,
        Field(
            max_length=SELECTOR_CHARACTERS_MAX,
            description="What names a flow: one of the Workspace, or one that comes with the program.",
            json_schema_extra={"pattern": "^(builtin|workspace):[A-Za-z0-9_-]{1,128}$"},
            examples=["workspace:paper"],
        ),
    ]


class RemovalAsked(Asked):
    """What is said about a removal."""

    note: Note = ""
    dry_run: Truth = False


class ExportAsked(Asked):
    """The flows of a bundle."""

    slug: Annotated[
        list[Annotated[str, Field(max_length=128, json_schema_extra={"pattern": _SLUG})]],
        Field(max_length=SLUGS_MAX, description="A flow; without one, all."),
    ] = []


class BundleAsked(Asked):
    """What is said about a bundle."""

    note: Note = ""
    expected: Annotated[str | None, Field(max_length=128, description="The digest that the bundle is to have.")] = None
    accept: Annotated[Truth, Field(description="Whether definitions are taken that this program does not make of their sources.")] = False
    dry_run: Truth = False


async def nothing_asked(request: Request) -> None:
    """Require that a query holds nothing. Raises Problem."""
    if request.query_params:
        raise malformed_request([{"loc": ("query", each), "msg": "it is not known here"} for each in request.query_params])


NOTHING_ASKED: Final = Depends(nothing_asked)

# --- the revision it is based on -----------------------------------------------------------------------------------------------------

_TAG: Final = re.compile(r'"(0|[1-9][0-9]{0,15})"')
_TAG_LIST: Final = re.compile(r'\*|(?:W/)?"[0-9]{1,16}"(?:, ?(?:W/)?"[0-9]{1,16}"){0,15}')
_MATCH_PATTERN: Final[dict[str, Any]] = {"pattern": r'^"(0|[1-9][0-9]{0,15})"$'}
_NONE_MATCH_PATTERN: Final[dict[str, Any]] = {"pattern": rf"^({_TAG_LIST.pattern})$"}


def tag(revision: int) -> str:
    """Give the entity tag of a revision."""
    return f'"{revision}"'


def base_to_save(
    request: Request,
    _match: Annotated[
        str | None, Header(alias="If-Match", description="The revision that it was made from, quoted.", json_schema_extra=_MATCH_PATTERN)
    ] = None,
    _none_match: Annotated[
        str | None, Header(alias="If-None-Match", description="`*` for a new slug, instead.", json_schema_extra={"pattern": r"^\*$"})
    ] = None,
) -> int | None:
    """Give the revision that a save is based on, None for a new slug. Raises Problem."""
    match, none_match = request.headers.getlist("if-match"), request.headers.getlist("if-none-match")
    if match and none_match:
        raise _no_base("it holds both `If-Match` and `If-None-Match`, and only one can be so")
    if not match and not none_match:
        raise _no_base("it holds neither `If-Match` nor `If-None-Match`")
    if none_match:
        if none_match != ["*"]:
            raise _not_a_tag("`If-None-Match` says that the slug is new, and then is `*`")
        return None
    return _revision(match)


def base_required(
    request: Request,
    _match: Annotated[
        str | None, Header(alias="If-Match", description="The last revision of the flow, quoted.", json_schema_extra=_MATCH_PATTERN)
    ] = None,
) -> int:
    """Give the revision that an act is based on. Raises Problem."""
    match = request.headers.getlist("if-match")
    if not match:
        raise _no_base("it holds no `If-Match`")
    return _revision(match)


def known_tags(
    request: Request,
    _none_match: Annotated[
        str | None, Header(alias="If-None-Match", description="What is known already.", json_schema_extra=_NONE_MATCH_PATTERN)
    ] = None,
) -> frozenset[str]:
    """Give the tags of what whoever asks knows already. Raises Problem."""
    headers = request.headers.getlist("if-none-match")
    if not headers:
        return frozenset()
    given = ", ".join(headers)
    if not _TAG_LIST.fullmatch(given):
        raise _not_a_tag("`If-None-Match` is `*`, or holds tags as this service gives them: revisions, quoted")
    return frozenset(each.strip().removeprefix("W/") for each in given.split(","))


def is_known(revision: int, tags: frozenset[str]) -> bool:
    """Tell whether whoever asks has a revision already."""
    return "*" in tags or tag(revision) in tags


BaseToSave = Annotated[int | None, Depends(base_to_save)]
BaseRequired = Annotated[int, Depends(base_required)]
KnownTags = Annotated[frozenset[str], Depends(known_tags)]


def _revision(match: list[str]) -> int:
    given = match[0]
    if len(match) > 1 or "," in given:
        raise _not_a_tag("`If-Match` names several revisions, and a change is made from one")
    if given.strip() == "*":
        raise _not_a_tag("`If-Match: *` names no revision")
    if given.startswith("W/"):
        raise _not_a_tag("`If-Match` holds a weak tag, which is not enough to change something")
    found = _TAG.fullmatch(given)
    if found is None:
        raise _not_a_tag('`If-Match` holds no revision in double quotes, such as `"3"`')
    return int(found[1])


def _not_a_tag(detail: str) -> Problem:
    return Problem(400, ProblemCode.PRECONDITION_MALFORMED, detail)


def _no_base(detail: str) -> Problem:
    allowed = ('name the revision it was made from with `If-Match: "N"`', "say that the slug is new with `If-None-Match: *`")
    return Problem(428, ProblemCode.PRECONDITION_MISSING, f"the request does not say what it was made from: {detail}", allowed=allowed)
