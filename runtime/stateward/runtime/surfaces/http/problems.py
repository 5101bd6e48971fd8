"""Everything a service answers instead of what was asked for, as problems in the form of RFC 9457.

Invariants: every answer that is none of success has this form; a title is the same for every problem of its code; no problem tells where
anything lies on the machine of the service, or what went wrong inside it: that is told to whoever reads the log.
"""

from collections.abc import Mapping
from typing import Any, Final, assert_never

from pydantic import ValidationError
from starlette.responses import Response

from stateward.runtime.core.refusal import Refusal, RefusalCode
from stateward.runtime.ports import (
    BundleConflict,
    Conflict,
    Damaged,
    Fault,
    NotCompiled,
    OutcomeUnknown,
    StoreNewer,
    StoreOlder,
    Unresolved,
)
from stateward.runtime.remote.forms import (
    DIAGNOSTICS_MAX,
    PROBLEM_TYPE,
    PROBLEM_URN,
    PROBLEMS_MAX,
    ProblemCode,
    ProblemForm,
    RequestProblem,
    bundle_conflict_members,
    conflict_members,
)

RETRY_SECONDS: Final = 2
"""After which a service that could not answer is worth asking again."""
DETAIL_CHARACTERS_MAX: Final = 4096

TITLES: Final[Mapping[str, str]] = {
    ProblemCode.REQUEST_MALFORMED: "the request is not of the documented form",
    ProblemCode.REQUEST_TOO_LARGE: "the body of the request is too large",
    ProblemCode.REQUEST_INCOMPLETE: "the body of the request did not come",
    ProblemCode.HEADERS_TOO_LARGE: "the address and the headers of the request are too large",
    ProblemCode.HOST_NOT_ALLOWED: "the service does not answer to this host",
    ProblemCode.ORIGIN_NOT_ALLOWED: "pages of this origin may not ask the service",
    ProblemCode.MEDIA_TYPE_UNKNOWN: "the body is of another type than the service takes here",
    ProblemCode.PRECONDITION_MALFORMED: "the header that names a revision cannot be read",
    ProblemCode.PRECONDITION_MISSING: "the request does not say which revision it was made from",
    ProblemCode.ROUTE_NOT_FOUND: "there is no such resource",
    ProblemCode.METHOD_NOT_ALLOWED: "the resource does not know this method",
    ProblemCode.TOKEN_MISSING: "the request shows no token",
    ProblemCode.TOKEN_REFUSED: "the token is not good",
    ProblemCode.SCOPE_MISSING: "the token is for other things",
    ProblemCode.BASE_STALE: "the flow has moved on",
    ProblemCode.NOT_COMPILED: "the flow does not compile",
    ProblemCode.HISTORIES_PART: "the histories of flows here and in the bundle part",
    ProblemCode.FLOW_NOT_FOUND: "there is no such flow",
    ProblemCode.REVISION_NOT_FOUND: "there is no such revision",
    ProblemCode.CONTENT_NOT_FOUND: "no revision of the flow has this content",
    ProblemCode.ATTEMPT_NOT_FOUND: "the Worker has no such attempt",
    ProblemCode.STORE_UNAVAILABLE: "the store cannot be read or written",
    ProblemCode.STORE_NEWER: "the store was written by a newer program",
    ProblemCode.STORE_OLDER: "the store was written by an older program",
    ProblemCode.STORE_DAMAGED: "the store is damaged",
    ProblemCode.OUTCOME_UNKNOWN: "it is not known whether the change was made",
    ProblemCode.BUSY: "the service has as much to do as it takes on",
    ProblemCode.STOPPING: "the service is stopping",
    ProblemCode.BUG: "the service failed",
    RefusalCode.SLUG_MALFORMED: "the name cannot be a slug",
    RefusalCode.NAME_DIFFERS: "the flow has another name than it is saved under",
    RefusalCode.TEXT_MALFORMED: "the text cannot be kept",
    RefusalCode.INPUT_TOO_LARGE: "the text is too large",
    RefusalCode.DEFINITION_TOO_LARGE: "the flow compiles to too large a definition",
    RefusalCode.BAD_SELECTOR: "the selector cannot be read",
    RefusalCode.FLOW_BROKEN: "the flow that comes with the program does not compile",
    RefusalCode.BUNDLE_TOO_LARGE: "the bundle is too large",
    RefusalCode.BUNDLE_TOO_COSTLY: "the sources of the bundle take too long to compile",
    RefusalCode.BUNDLE_MALFORMED: "the bundle is not what was written",
    RefusalCode.BUNDLE_NEWER: "the bundle was written by a newer program",
    RefusalCode.BUNDLE_UNEXPECTED: "the bundle is another one than was expected",
    RefusalCode.DEFINITION_UNTRUE: "a definition in the bundle is not what its source compiles to",
    RefusalCode.COMPILER_DIFFERS: "another compiler made a definition in the bundle",
}

_WORDS: Final = {"extra_forbidden": "it is not known here", "missing": "it is missing"}
"""What is said instead of what pydantic says, by the type of an error."""
_NOT_FOUND: Final = frozenset({RefusalCode.FLOW_NOT_FOUND, RefusalCode.REVISION_NOT_FOUND})
_MALFORMED: Final = frozenset({RefusalCode.SLUG_MALFORMED, RefusalCode.BAD_SELECTOR, RefusalCode.TEXT_MALFORMED})


class Problem(Exception):
    """An answer that is none of success, raised where it is found and given by the app."""

    def __init__(self, status: int, code: str, detail: str, *, headers: Mapping[str, str] | None = None, **members: Any) -> None:
        super().__init__(detail)
        self.status: Final = status
        self.code: Final = code
        self.detail: Final = detail
        self.headers: Final = headers or {}
        self.members: Final = members

    def form(self, request_id: str | None) -> ProblemForm:
        """Give it as it goes over the wire."""
        return ProblemForm(
            type=f"{PROBLEM_URN}{self.code}",
            title=title_of(self.code),
            status=self.status,
            detail=self.detail[:DETAIL_CHARACTERS_MAX],
            code=self.code,
            request_id=request_id,
            **self.members,
        )

    def response(self, request_id: str | None) -> Response:
        """Give the response."""
        headers = {"Cache-Control": "no-store", **self.headers}
        return Response(self.form(request_id).json_bytes(), self.status, headers, PROBLEM_TYPE)


def title_of(code: str) -> str:
    """Give the title of a code; that of a refusal is its code in words."""
    return TITLES.get(code) or code.replace("_", " ")


def refused(refusal: Refusal) -> Problem:
    """Make a problem of a refusal."""
    status = 404 if refusal.code in _NOT_FOUND else 400 if refusal.code in _MALFORMED else 422
    return Problem(status, refusal.code, refusal.message, allowed=refusal.allowed or None)


def unresolved(answer: Unresolved) -> Problem:
    """Make a problem of a selector that names nothing usable."""
    status = {RefusalCode.FLOW_NOT_FOUND: 404, RefusalCode.BAD_SELECTOR: 400}.get(RefusalCode(answer.code), 422)
    return Problem(status, answer.code, answer.message, help=answer.help or None)


def not_saved(answer: Conflict | NotCompiled | Refusal) -> Problem:
    """Make a problem of whatever kept a flow from being changed."""
    match answer:
        case Conflict():
            return Problem(412, ProblemCode.BASE_STALE, _stale(answer), **conflict_members(answer))
        case NotCompiled(diagnostics=diagnostics):
            detail = f"the source has {_errors(diagnostics)}; nothing was stored"
            return Problem(422, ProblemCode.NOT_COMPILED, detail, diagnostics=diagnostics[:DIAGNOSTICS_MAX])
        case Refusal():
            return refused(answer)
    assert_never(answer)


def not_taken_in(answer: BundleConflict | Refusal) -> Problem:
    """Make a problem of whatever kept a bundle from being taken in."""
    if isinstance(answer, Refusal):
        return refused(answer)
    named = ", ".join(f"`{each.slug}` at revision {each.revision}" for each in answer.flows)
    detail = f"nothing was taken in: histories part, of {named}"
    return Problem(409, ProblemCode.HISTORIES_PART, detail, **bundle_conflict_members(answer))


def _stale(conflict: Conflict) -> str:
    made_from = "no revision" if conflict.named is None else f"revision {conflict.named}"
    if conflict.current is None:
        return f"the request was made from {made_from} of `{conflict.slug}`, and no flow has that name"
    by = conflict.current.author or "somebody"
    gone = "" if conflict.removed is None else f", and was removed by {conflict.removed.author or 'somebody'}"
    return f"`{conflict.slug}` is at revision {conflict.current.revision} by {by}{gone}; the request was made from {made_from}"


def _errors(diagnostics: tuple[Mapping[str, Any], ...]) -> str:
    count = sum(each.get("severity") == "error" for each in diagnostics)
    return "an error" if count == 1 else f"{count} errors"


def of_fault(fault: Fault) -> Problem:
    """Make a problem of a fault; what it says is for the log alone."""
    again = {"Retry-After": str(RETRY_SECONDS)}
    match fault:
        case StoreNewer():
            code, detail = ProblemCode.STORE_NEWER, "the store was written by a newer program than that of the service; nothing was changed"
        case StoreOlder():
            code, detail = ProblemCode.STORE_OLDER, "the store is not yet brought to the form that the service knows; nothing was changed"
        case Damaged():
            code, detail = ProblemCode.STORE_DAMAGED, "what is stored there is not what was written; nothing was changed"
        case OutcomeUnknown():
            code, detail, again = ProblemCode.OUTCOME_UNKNOWN, "the answer of the store was lost: the change may have been made, or not", {}
        case _:
            code, detail = ProblemCode.STORE_UNAVAILABLE, "the store cannot be read or written now; nothing was changed"
    return Problem(503, code, detail, headers=again, help="tell the operator of the service, whose log says what to do")


def malformed(problem: ValidationError, where: str) -> Problem:
    """Make a problem of a body that is not of its form."""
    return malformed_request([{**each, "loc": (where, *each["loc"])} for each in problem.errors(include_url=False, include_input=False)])


def malformed_request(errors: list[Any]) -> Problem:
    """Make a problem of what is wrong with a request, as pydantic and the framework tell it."""
    found = tuple(RequestProblem(at=".".join(map(str, each["loc"])), message=_worded(each)) for each in errors[:PROBLEMS_MAX])
    detail = f"{found[0].at}: {found[0].message}" if found else "the request cannot be read"
    return Problem(400, ProblemCode.REQUEST_MALFORMED, detail, errors=found)


def _worded(error: Any) -> str:
    text = str(error["msg"])
    return _WORDS.get(error.get("type", "")) or text[:1].lower() + text[1:]
