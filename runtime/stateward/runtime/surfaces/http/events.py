"""The entries of a Worker's log as server-sent events: each once, in order, whoever appends them.

Invariants: the id of an event is the number of its entry, so that whoever lost the connection goes on behind the last one; the head of the
log is looked at in bounded steps, in a thread; a stream ends when the service stops, when its time is over, or when the log is gone.
"""

import asyncio
from collections.abc import AsyncIterator
from time import monotonic
from typing import Annotated, Final

from fastapi import APIRouter, Header, Query
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from stateward.runtime.core.refusal import Refusal
from stateward.runtime.ports import EntryShown
from stateward.runtime.remote.forms import NUMBER_MAX, PREFIX
from stateward.runtime.remote.work_forms import EntryForm
from stateward.runtime.surfaces.http.answers import formed, json_bytes
from stateward.runtime.surfaces.http.described import problems
from stateward.runtime.surfaces.http.parameters import EventsAsked
from stateward.runtime.surfaces.http.problems import malformed_request
from stateward.runtime.surfaces.http.service import Slots, service_of
from stateward.runtime.surfaces.http.working import Looking, Named, not_done

router = APIRouter(prefix=PREFIX, tags=["workers"])

EVENTS_TYPE: Final = "text/event-stream"
LOOK_SECONDS: Final = 0.25
"""Between two looks at the head of a log."""
BEAT_SECONDS: Final = 15.0
"""After which something is sent, so that a lost connection is noticed."""
STREAM_SECONDS_MAX: Final = 900.0
"""After which a stream ends, and is asked for again: by then its token may be revoked."""
_PAGE: Final = 50


@router.get(
    "/workers/{worker}/events",
    response_class=Response,
    responses={200: {"description": "Entries as events.", "content": {EVENTS_TYPE: {"schema": {"type": "string"}}}}, **problems(404, 409)},
)
def follow_worker(
    request: Request,
    named: Looking,
    asked: Annotated[EventsAsked, Query()],
    _last: Annotated[
        str | None, Header(alias="Last-Event-ID", description="Instead of `after`.", json_schema_extra={"pattern": "^[0-9]{1,16}$"})
    ] = None,
) -> Response:
    """Follow the log: entries behind `after`, and those that come. Scope `work:<worker>`, `record:<worker>` or `operate`."""
    after = _after(request, asked.after)
    first = named.workers.log(named.worker, after, 1, is_whole=named.sees_all)
    if isinstance(first, Refusal):
        raise not_done(first)
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return _Stream(_events(request, named, after), media_type=EVENTS_TYPE, headers=headers)


def _after(request: Request, after: int) -> int:
    """Give the number behind which the stream begins. Raises Problem."""
    last = request.headers.getlist("last-event-id")
    if not last:
        return after
    if len(last) > 1 or not (last[0].isascii() and last[0].isdigit()) or int(last[0][:17]) > NUMBER_MAX:
        raise malformed_request([{"loc": ("header", "Last-Event-ID"), "msg": "it is no number of an entry"}])
    return int(last[0])


class _Stream(StreamingResponse):
    """A stream that holds a place. Raises Problem when there is none."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it."""
        slots = scope["app"].state.streams
        assert isinstance(slots, Slots)
        with slots.taken():
            await super().__call__(scope, receive, send)


async def _events(request: Request, named: Named, after: int) -> AsyncIterator[bytes]:
    yield b": followed\n\n"
    service, over = service_of(request), monotonic() + STREAM_SECONDS_MAX
    beat = monotonic() + BEAT_SECONDS
    while not service.stopping.is_set() and monotonic() < over:
        page = await run_in_threadpool(named.workers.log, named.worker, after, _PAGE, is_whole=named.sees_all)
        if isinstance(page, Refusal) or page.head.seq < after:
            return
        for entry in page.entries:
            yield _event(entry)
            after = entry.seq
        if page.entries:
            beat = monotonic() + BEAT_SECONDS
            continue
        if monotonic() >= beat:
            yield b": still here\n\n"
            beat = monotonic() + BEAT_SECONDS
        await asyncio.sleep(LOOK_SECONDS)


def _event(entry: EntryShown) -> bytes:
    return b"id: %d\nevent: entry\ndata: %b\n\n" % (entry.seq, json_bytes(formed(EntryForm.of, entry)))
