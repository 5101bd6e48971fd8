"""Bodies of requests: taken in only after it is known who asks, and held to their form as a whole."""

from collections.abc import AsyncIterator
from typing import Annotated, TypeVar

from fastapi import Depends
from pydantic import ValidationError
from starlette.requests import Request

from stateward.runtime.remote.forms import BUNDLE_TYPE, JSON_TYPE, Form, ProblemCode
from stateward.runtime.surfaces.http.problems import Problem, malformed
from stateward.runtime.surfaces.http.service import Slots

F = TypeVar("F", bound=Form)


async def json_body(request: Request) -> bytes:
    """Give a body in JSON. Raises Problem."""
    _require_type(request, JSON_TYPE)
    return await request.body()


async def bundle_body(request: Request) -> AsyncIterator[bytes]:
    """Give a bundle, and hold one of the few places for it until it is taken in. Raises Problem."""
    _require_type(request, BUNDLE_TYPE)
    slots = request.app.state.bundles
    assert isinstance(slots, Slots)
    with slots.taken():
        yield await request.body()


def read_form(form: type[F], body: bytes) -> F:
    """Read a form. Raises Problem, with everything that is wrong with it."""
    try:
        return form.model_validate_json(body)
    except ValidationError as problem:
        raise malformed(problem, "body") from None


def _require_type(request: Request, media_type: str) -> None:
    given = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if given != media_type:
        detail = f"the body has to come as `{media_type}`"
        raise Problem(415, ProblemCode.MEDIA_TYPE_UNKNOWN, detail, headers={"Accept": media_type})


JsonBody = Annotated[bytes, Depends(json_body)]
BundleBody = Annotated[bytes, Depends(bundle_body)]
