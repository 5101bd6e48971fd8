"""What the OpenAPI document says of requests and answers beside what the framework finds out by itself."""

from collections.abc import Mapping
from typing import Any, Final, TypeAlias

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from stateward.runtime.remote.forms import BUNDLE_TYPE, JSON_TYPE, PROBLEM_TYPE, Form, ProblemForm, RestoreForm, SaveForm
from stateward.runtime.remote.work_forms import InputForm, NoteForm, RecordsForm, RequestForm, RunForm, StartForm, StopForm

Responses: TypeAlias = dict[int | str, dict[str, Any]]

_BODIES: Final = (ProblemForm, SaveForm, RestoreForm, StartForm, InputForm, RequestForm, NoteForm, RecordsForm, RunForm, StopForm)
_FORMS: Final = "#/components/schemas/"
_STATUSES: Final[Mapping[int, str]] = {
    400: "The request is not of the documented form.",
    401: "The request shows no token, or one that is not good.",
    403: "The token was issued for other things; or the host, or the origin of a page, is not allowed.",
    404: "There is no such flow, revision, content, Worker or attempt.",
    408: "The body did not come.",
    409: "It cannot be done now, and nothing was written: the code says why. Of a bundle: histories here and in it part.",
    412: "The flow has moved on: the problem names the revision that won, and what changed. Nothing was written.",
    413: "The body is too large.",
    415: "The body is of another type.",
    422: "What was asked cannot be: a source does not compile, which the diagnostics explain, or a rule of flows forbids it.",
    428: "The request does not say which revision it was made from.",
    431: "Address and headers are too large.",
    503: "The store cannot be read or written, or the service has as much to do as it takes on, or it is stopping.",
}
ALWAYS: Final = (400, 401, 403, 408, 413, 431, 503)
"""What may be answered wherever a token is needed."""


def problems(*statuses: int) -> Responses:
    """Declare the problems of a route."""
    return {status: _problem(_STATUSES[status]) for status in sorted({*ALWAYS, *statuses})}


def not_changed() -> Responses:
    """Declare that whoever asks may know the answer already."""
    return {304: {"description": "It is known already."}}


def body_of(form: type[Form]) -> dict[str, Any]:
    """Declare the body of a request."""
    return {"requestBody": {"required": True, "content": {JSON_TYPE: {"schema": {"$ref": f"{_FORMS}{form.__name__}"}}}}}


def bundle_body() -> dict[str, Any]:
    """Declare that the body is a bundle."""
    return {"requestBody": {"required": True, "content": {BUNDLE_TYPE: {"schema": {"type": "string", "format": "binary"}}}}}


def bundle_answer() -> Responses:
    """Declare that the answer is a bundle."""
    return {200: {"description": "The bundle.", "content": {BUNDLE_TYPE: {"schema": {"type": "string", "format": "binary"}}}}}


def tagged(description: str) -> dict[str, Any]:
    """Declare an answer that names its revision."""
    header = {"description": "The revision, quoted; what `If-Match` takes.", "schema": {"type": "string", "pattern": '^"[0-9]{1,16}"$'}}
    return {"description": description, "headers": {"ETag": header}}


def paged(description: str) -> dict[str, Any]:
    """Declare an answer that says where it goes on."""
    header = {"description": "The next page, if there is one.", "schema": {"type": "string"}}
    return {"description": description, "headers": {"Link": header}}


def document(app: FastAPI) -> dict[str, Any]:
    """Make the document."""
    made: dict[str, Any] = get_openapi(title=app.title, version=app.version, description=app.description, routes=app.routes)
    schemas = made.setdefault("components", {}).setdefault("schemas", {})
    for form in _BODIES:
        schema = form.model_json_schema(ref_template=f"{_FORMS}{{model}}")
        schemas.update(schema.pop("$defs", {}))
        schemas[form.__name__] = schema
    for parameter in (each for path in made["paths"].values() for operation in path.values() for each in operation.get("parameters", ())):
        parameter["schema"] = _without_null(parameter["schema"])
    for unused in ("HTTPValidationError", "ValidationError"):
        schemas.pop(unused, None)
    return made


def _without_null(schema: dict[str, Any]) -> dict[str, Any]:
    """Give the schema of a parameter that may be left out: it has no way of being null."""
    choices = [each for each in schema.get("anyOf", ()) if each != {"type": "null"}]
    if len(choices) != 1:
        return schema
    return {**choices[0], **{name: value for name, value in schema.items() if name != "anyOf"}}


def _problem(description: str) -> dict[str, Any]:
    return {"description": description, "content": {PROBLEM_TYPE: {"schema": {"$ref": f"{_FORMS}{ProblemForm.__name__}"}}}}
