"""Answers of success: forms as JSON with the tag of their revision, and pages that say where they go on."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar
from urllib.parse import urlencode

from pydantic import ValidationError
from pydantic_core import PydanticSerializationError
from starlette.requests import Request
from starlette.responses import Response

from stateward.runtime.remote.forms import JSON_TYPE, Form
from stateward.runtime.session.halves import whole
from stateward.runtime.surfaces.http.parameters import is_known, tag

F = TypeVar("F", bound=Form)

_KEPT: Mapping[str, str] = {"Cache-Control": "private, no-cache"}
"""An answer may be kept by whoever asked, and is asked for again before it is used."""


def formed(form: Callable[[Any], F], value: Any) -> F:
    """Make the form of a value; half a character in a text of a worker, which no form holds, is replaced."""
    try:
        return form(value)
    except ValidationError:
        return form(whole(value))


def json_bytes(form: Form) -> bytes:
    """Give a form as JSON in UTF-8, likewise."""
    try:
        return form.model_dump_json().encode("utf-8")
    except (PydanticSerializationError, UnicodeEncodeError):
        return type(form).model_validate(whole(form.model_dump())).model_dump_json().encode("utf-8")


def answered(form: Form, *, status: int = 200, revision: int | None = None, headers: Mapping[str, str] | None = None) -> Response:
    """Give a form; `revision` is the one that its tag is to name."""
    tagged = {} if revision is None else {"ETag": tag(revision)}
    return Response(json_bytes(form), status, {**_KEPT, **tagged, **(headers or {})}, JSON_TYPE)


def unless_known(form: Form, revision: int, tags: frozenset[str]) -> Response:
    """Give a form, or say that whoever asks has that revision already."""
    if is_known(revision, tags):
        return Response(None, 304, {**_KEPT, "ETag": tag(revision)})
    return answered(form, revision=revision)


def page(form: Form, request: Request, **following: str | int | None) -> Response:
    """Give a page; `following` are the parameters of the next one, none at the end."""
    named = {name: str(value) for name, value in following.items() if value is not None}
    if not named:
        return answered(form)
    query = urlencode({**dict(request.query_params), **named})
    return answered(form, headers={"Link": f'<{request.scope["path"]}?{query}>; rel="next"'})
