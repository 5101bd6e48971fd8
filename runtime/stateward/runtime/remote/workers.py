"""The Workers of the Workspace that a service holds, for their operator: started and listed over HTTP.

Invariants: what starts a Worker carries the id under which that is done once, so that it may be sent again when its answer is lost; what is
listed comes in order, each Worker once, or it is a fault. Safe to share between threads.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from types import MappingProxyType, TracebackType
from typing import Final, Self
from urllib.parse import urlencode

from pydantic import ValidationError
from pydantic_core import PydanticSerializationError

from stateward.runtime.core.refusal import Refusal, RefusalCode
from stateward.runtime.engine.limits import WORKERS_PAGE_MAX
from stateward.runtime.ports import Ids, Submitted
from stateward.runtime.remote.credentials import Access
from stateward.runtime.remote.exchange import AnswerLost, Asked, Exchange
from stateward.runtime.remote.forms import JSON_TYPE, PREFIX, ProblemForm
from stateward.runtime.remote.replies import Replies
from stateward.runtime.remote.work_forms import StartForm, SubmittedForm, WorkerRowForm, WorkersPage
from stateward.runtime.session.entries import Head

PATH: Final = f"{PREFIX}/workers"
NOTHING: Final[Mapping[str, object]] = MappingProxyType({})
_SEE: Final = "see whether that is the service, and what stands between"


@dataclass(frozen=True, slots=True)
class WorkerListed:
    """A Worker in a list."""

    worker: str
    created: datetime
    head: Head
    workdir: str
    selector: str | None
    """Of its flow; None where none was started, as the next two."""
    state: str | None
    status: str | None
    problem: str
    """Why its log cannot be read; empty when it can."""


class ServiceWorkers:
    """Starts and lists Workers. Whoever the token names acts, which has the scope `operate`; every call raises Fault."""

    def __init__(self, access: Access, exchange: Exchange, ids: Ids) -> None:
        self._exchange, self._ids = exchange, ids
        self._replies = Replies(access)
        self._address = access.address

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the connections."""
        self._exchange.close()

    def start(
        self,
        selector: str,
        texts: Sequence[str] = (),
        *,
        inputs: Mapping[str, object] = NOTHING,
        profile: str | None = None,
        workdir: str | None = None,
        submission: str | None = None,
    ) -> Submitted | Refusal:
        """Start a Worker on a flow, with what the flow is given and texts for its log; once for a `submission`.

        `profile` is a name, and `workdir` a folder, on the machine of the service; None leaves both to it.
        """
        named = self._ids.new() if submission is None else submission
        try:
            form = StartForm.model_validate(
                {
                    "selector": selector,
                    "inputs": dict(inputs),
                    "texts": tuple(texts),
                    "profile": profile,
                    "workdir": workdir,
                    "submission": named,
                }
            )
            content = form.model_dump_json().encode("utf-8")
        except (ValidationError, PydanticSerializationError, UnicodeEncodeError):
            return Refusal(RefusalCode.TEXT_MALFORMED, "what is to be sent is too long, or no text", ("send less, in UTF-8",))
        reply = self._exchange.read(Asked("POST", PATH, {"Content-Type": JSON_TYPE}, content))
        answer = self._replies.form(reply, SubmittedForm)
        if isinstance(answer, ProblemForm):
            return self._refused(answer)
        if submission is not None and answer.submission != submission:
            raise AnswerLost(f"{self._address} answered about another submission than was asked for", _SEE)
        return answer.value()

    def _refused(self, problem: ProblemForm) -> Refusal:
        try:
            return problem.refusal()
        except ValueError:
            self._replies.unforeseen(problem)

    def rows(self, limit: int, after: str = "") -> Sequence[WorkerListed]:
        """List Workers by id, those after `after`; as many as `limit`, and as a page has, at most."""
        if limit < 1:
            return ()
        query = urlencode({"limit": min(limit, WORKERS_PAGE_MAX), **({"after": after} if after else {})})
        answer = self._replies.form(self._exchange.read(Asked("GET", f"{PATH}?{query}")), WorkersPage)
        if isinstance(answer, ProblemForm):
            self._replies.unforeseen(answer)
        known = after
        for each in answer.workers:
            if each.worker <= known:
                raise AnswerLost(f"{self._address} answered with Workers that are out of order", _SEE)
            known = each.worker
        if len(answer.workers) > limit:
            raise AnswerLost(f"{self._address} answered with more Workers than were asked for", _SEE)
        return tuple(map(_listed, answer.workers))

    def all(self, page: int = WORKERS_PAGE_MAX) -> Iterator[WorkerListed]:
        """List all Workers by id, a page at a time; it ends, for ids only grow."""
        after = ""
        while rows := self.rows(page, after):
            yield from rows
            after = rows[-1].worker


def _listed(form: WorkerRowForm) -> WorkerListed:
    return WorkerListed(**{**{each.name: getattr(form, each.name) for each in fields(WorkerListed)}, "head": form.head.value()})
