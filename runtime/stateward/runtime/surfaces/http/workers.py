"""Workers as resources: started, listed, looked at, and worked in by their agents and the harnesses of those."""

from collections.abc import Callable
from time import monotonic
from typing import Annotated, Any, Final, TypeVar

from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import Response

from stateward.runtime.core.refusal import Refusal
from stateward.runtime.engine.attended import ToStart
from stateward.runtime.engine.overview import OverviewRow
from stateward.runtime.ports import Answered, Asked, InProgress, WorkerChannel
from stateward.runtime.remote.forms import PREFIX, Form, ProblemCode
from stateward.runtime.remote.work_forms import (
    AskedForm,
    AttemptForm,
    CursorAnswer,
    CursorForm,
    HeadForm,
    InputForm,
    LogForm,
    NoteForm,
    PinnedFlowForm,
    RecordedEntryForm,
    RecordedForm,
    RecordsForm,
    RequestForm,
    RunForm,
    StandingForm,
    StartForm,
    StopForm,
    StoppedForm,
    SubmittedForm,
    VariablesForm,
    WorkerRowForm,
    WorkersPage,
    WrittenForm,
)
from stateward.runtime.session.segments import FlowSegment, Segment, TextSegment
from stateward.runtime.surfaces.http.answers import answered, formed, page
from stateward.runtime.surfaces.http.bodies import JsonBody, read_form
from stateward.runtime.surfaces.http.described import body_of, paged, problems
from stateward.runtime.surfaces.http.parameters import NOTHING_ASKED, CursorAsked, LogAsked, WorkersAsked
from stateward.runtime.surfaces.http.problems import Problem
from stateward.runtime.surfaces.http.service import Service, Slots, service_of
from stateward.runtime.surfaces.http.working import Looking, Operating, Recording, Working, not_done

router = APIRouter(prefix=PREFIX, tags=["workers"])

SLICE_SECONDS: Final = 0.5
"""How long is waited at a time, before it is seen whether the service stops."""
T = TypeVar("T")


def _ok(description: str) -> dict[int | str, dict[str, Any]]:
    return {200: {"description": description}}


def _done(answer: T | Refusal) -> T:
    """Give what is no refusal. Raises Problem."""
    if isinstance(answer, Refusal):
        raise not_done(answer)
    return answer


def _formed(answer: T | Refusal, form: Callable[[T], Form], status: int = 200) -> Response:
    return answered(formed(form, _done(answer)), status=status)


# --- for operators


@router.post(
    "/workers",
    response_model=SubmittedForm,
    status_code=201,
    responses={200: {"description": "It was started before.", "model": SubmittedForm}, **problems(404, 409, 415)},
    openapi_extra=body_of(StartForm),
    dependencies=[NOTHING_ASKED],
)
def start_worker(operator: Operating, body: JsonBody) -> Response:
    """Start a Worker on a flow. Scope `operate`. Under one `submission` it is started once."""
    workers, actor = operator
    form = read_form(StartForm, body)
    segments: tuple[Segment, ...] = (FlowSegment(form.selector, form.inputs), *map(TextSegment, form.texts))
    started = _done(workers.start(ToStart(segments, form.profile, form.workdir, form.submission), actor))
    return answered(SubmittedForm.of(started), status=200 if started.repeated else 201)


@router.get("/workers", response_model=WorkersPage, responses={200: paged("A page of Workers."), **problems(404)})
def list_workers(request: Request, operator: Operating, asked: Annotated[WorkersAsked, Query()]) -> Response:
    """List the Workers of the Workspace by id. Scope `operate`."""
    rows = operator[0].rows(asked.limit, asked.after)
    following = rows[-1].worker if len(rows) == asked.limit else None
    return page(WorkersPage(workers=tuple(map(_row, rows)), next=following), request, after=following)


def _row(row: OverviewRow) -> WorkerRowForm:
    flow = row.flow
    return WorkerRowForm(
        worker=row.worker,
        created=row.created,
        head=HeadForm.of(row.head),
        workdir=row.workdir,
        selector=None if flow is None else flow.selector,
        state=None if flow is None else flow.state,
        status=None if flow is None else str(flow.status),
        problem=row.problem,
    )


# --- for whoever may look


@router.get(
    "/workers/{worker}",
    response_model=StandingForm,
    responses={**_ok("The Worker as it is now."), **problems(404, 409)},
    dependencies=[NOTHING_ASKED],
)
def show_worker(named: Looking) -> Response:
    """Say where a Worker stands. Scope `work:<worker>`, `record:<worker>` or `operate`."""
    return _formed(named.workers.standing(named.worker), StandingForm.of)


@router.get(
    "/workers/{worker}/flow",
    response_model=PinnedFlowForm,
    responses={**_ok("The flow."), **problems(404, 409)},
    dependencies=[NOTHING_ASKED],
)
def show_pinned_flow(named: Looking) -> Response:
    """Give the flow that a Worker runs, as it is pinned: its definition, and its source where it is kept here.

    Scope `work:<worker>`, `record:<worker>` or `operate`.
    """
    pinned = _done(named.workers.pinned(named.worker))
    definition = None if pinned.definition is None else pinned.definition.decode("utf-8")
    return answered(PinnedFlowForm(source=pinned.source, definition=definition, definition_digest=pinned.definition_digest))


@router.get(
    "/workers/{worker}/attempts/{attempt}",
    response_model=AttemptForm,
    responses={**_ok("The attempt."), **problems(404, 409)},
    dependencies=[NOTHING_ASKED],
)
def show_attempt(named: Looking, attempt: str) -> Response:
    """Give an attempt and what came of it, also after the answer to its request was lost.

    Scope `work:<worker>`, `record:<worker>` or `operate`.
    """
    found = _done(named.workers.attempt(named.worker, attempt))
    if found is None:
        raise Problem(404, ProblemCode.ATTEMPT_NOT_FOUND, "the Worker has no attempt of that id")
    return answered(formed(AttemptForm.of, found))


@router.get("/workers/{worker}/log", response_model=LogForm, responses={**_ok("Entries, in order."), **problems(404, 409)})
def read_log(named: Looking, asked: Annotated[LogAsked, Query()]) -> Response:
    """Read entries of the log with numbers behind `after`. Scope `work:<worker>`, `record:<worker>` or `operate`."""
    return _formed(named.workers.log(named.worker, asked.after, asked.limit, is_whole=named.sees_all), LogForm.of)


# --- for its agent


@router.post(
    "/workers/{worker}/input",
    response_model=SubmittedForm,
    responses={**_ok("It is committed."), **problems(404, 409, 415)},
    openapi_extra=body_of(InputForm),
    dependencies=[NOTHING_ASKED],
)
def submit_input(named: Working, body: JsonBody) -> Response:
    """Commit an input. Scope `work:<worker>`. Under one `submission` it is committed once."""
    form = read_form(InputForm, body)
    segments = tuple(each.value() for each in form.input)
    return _formed(named.agent().submit(segments, form.submission), SubmittedForm.of)


@router.post(
    "/workers/{worker}/requests",
    response_model=AskedForm,
    responses={
        200: {"description": "The answer."},
        202: {"description": "It is being verified, or waits for a person.", "model": AskedForm},
        **problems(404, 409, 415),
    },
    openapi_extra=body_of(RequestForm),
    dependencies=[NOTHING_ASKED],
)
def request_transition(request: Request, named: Working, body: JsonBody) -> Response:
    """Ask to leave the state, and wait up to `wait` seconds for the answer. Scope `work:<worker>`.

    Verifying goes on when the answer is not waited for, or the connection is lost: the same request, made again, waits for the same
    attempt, and is told the same answer. To stop verifying, delete the verification.
    """
    form = read_form(RequestForm, body)
    asked = _asked(named.agent(), form, request.app.state.waits, service_of(request))
    if isinstance(asked, Refusal):
        raise not_done(asked)
    return answered(formed(AskedForm.of, asked), status=200 if isinstance(asked, Answered) else 202)


def _asked(channel: WorkerChannel, form: RequestForm, waits: Slots, service: Service) -> Asked:
    """Ask, and wait as long as there is a place and the service goes on."""
    if not form.wait:
        return channel.ask(form.reason, 0.0)
    until = monotonic() + form.wait
    with waits.taken():
        while True:
            left = until - monotonic()
            asked = channel.ask(form.reason, max(0.0, min(SLICE_SECONDS, left)))
            if not isinstance(asked, InProgress) or left <= 0 or service.stopping.is_set():
                return asked


@router.delete(
    "/workers/{worker}/verification",
    response_model=StoppedForm,
    responses={**_ok("Whether something was stopped."), **problems(404, 409)},
    dependencies=[NOTHING_ASKED],
)
def stop_verification(named: Working) -> Response:
    """Stop verifying what this token asked; the attempt stays open. Scope `work:<worker>`."""
    return answered(StoppedForm(stopped=named.agent().cancel()))


@router.post(
    "/workers/{worker}/notes",
    response_model=RecordedEntryForm,
    responses={**_ok("It is recorded."), **problems(404, 409, 415)},
    openapi_extra=body_of(NoteForm),
    dependencies=[NOTHING_ASKED],
)
def note(named: Working, body: JsonBody) -> Response:
    """Record what the agent says, as a claim; once for one `use`. Scope `work:<worker>`."""
    form = read_form(NoteForm, body)
    return _formed(named.agent().note(form.text, form.use), RecordedEntryForm.of)


@router.post(
    "/workers/{worker}/variables",
    response_model=WrittenForm,
    responses={**_ok("They hold these values."), **problems(404, 409, 415)},
    openapi_extra=body_of(VariablesForm),
    dependencies=[NOTHING_ASKED],
)
def set_variables(named: Working, body: JsonBody) -> Response:
    """Set variables that the current state writes, all of them or none. Scope `work:<worker>`."""
    form = read_form(VariablesForm, body)
    return _formed(named.agent().set_variables(form.values), WrittenForm.of)


# --- for the harness of its agent


@router.post(
    "/workers/{worker}/records",
    response_model=RecordedForm,
    responses={**_ok("They are recorded."), **problems(404, 409, 415)},
    openapi_extra=body_of(RecordsForm),
    dependencies=[NOTHING_ASKED],
)
def record(named: Recording, body: JsonBody) -> Response:
    """Commit what a host says happened, each record once for its key, in one commit. Scope `record:<worker>`."""
    form = read_form(RecordsForm, body)
    channel = named.workers.host(named.worker, named.host(form.session))
    cursor = None if form.cursor is None else form.cursor.value()
    return _formed(channel.record([each.value() for each in form.records], cursor), RecordedForm.of)


@router.get("/workers/{worker}/cursor", response_model=CursorAnswer, responses={**_ok("The cursor."), **problems(404, 409)})
def show_cursor(named: Recording, asked: Annotated[CursorAsked, Query()]) -> Response:
    """Give how far the transcript of a host's session was taken in. Scope `record:<worker>`."""
    _done(named.workers.standing(named.worker))
    found = named.workers.host(named.worker, named.host(asked.session)).cursor(asked.host, asked.session)
    return answered(CursorAnswer(cursor=None if found is None else CursorForm.of(found)))


@router.post(
    "/workers/{worker}/runs",
    response_model=RecordedEntryForm,
    responses={**_ok("It is recorded."), **problems(404, 409, 415)},
    openapi_extra=body_of(RunForm),
    dependencies=[NOTHING_ASKED],
)
def record_run(named: Recording, body: JsonBody) -> Response:
    """Record that a run of the agent began, or with `outcome` how it ended. Scope `record:<worker>`."""
    form = read_form(RunForm, body)
    channel = named.workers.host(named.worker, named.host(form.session))
    if form.outcome is None:
        return _formed(channel.start_run(form.run), RecordedEntryForm.of)
    return _formed(channel.end_run(form.run, form.outcome, form.message), RecordedEntryForm.of)


@router.post(
    "/workers/{worker}/stops",
    response_model=RecordedEntryForm,
    responses={**_ok("It is recorded."), **problems(404, 409, 415)},
    openapi_extra=body_of(StopForm),
    dependencies=[NOTHING_ASKED],
)
def record_stop(named: Recording, body: JsonBody) -> Response:
    """Record that the agent stopped. Scope `record:<worker>`."""
    form = read_form(StopForm, body)
    channel = named.workers.host(named.worker, named.host(form.session))
    return _formed(channel.stop(form.reason, form.operation), RecordedEntryForm.of)
