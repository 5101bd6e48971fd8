"""One Worker of a service: the ports `WorkerChannel` and `HostChannel` over HTTP.

Invariants: whatever comes back is of the Worker that was asked for, and in order, or it is a fault; everything that is sent carries the id
under which it is done once, so that it may be sent again when its answer is lost. Safe to share between threads.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from time import monotonic
from typing import TYPE_CHECKING, Final, NoReturn, TypeVar
from urllib.parse import quote, urlencode

from pydantic import ValidationError
from pydantic_core import PydanticSerializationError

from stateward.runtime.core.refusal import Refusal, RefusalCode
from stateward.runtime.ports import (
    LOG_PAGE_MAX,
    RECORDS_MAX,
    Asked,
    AttemptShown,
    Cursor,
    Damaged,
    EntryShown,
    HostRecord,
    Ids,
    InProgress,
    LogPage,
    Recorded,
    RecordedEntry,
    Standing,
    Submitted,
    Waiting,
    Written,
)
from stateward.runtime.remote.credentials import Access
from stateward.runtime.remote.exchange import AnswerLost, Exchange
from stateward.runtime.remote.exchange import Asked as Request
from stateward.runtime.remote.following import PAUSES, Following
from stateward.runtime.remote.forms import JSON_TYPE, PREFIX, Form, ProblemCode, ProblemForm
from stateward.runtime.remote.replies import Replies
from stateward.runtime.remote.work_forms import (
    WAIT_SECONDS_MAX,
    AskedForm,
    AttemptForm,
    CursorAnswer,
    CursorForm,
    InputForm,
    LogForm,
    NoteForm,
    PinnedFlowForm,
    RecordedEntryForm,
    RecordedForm,
    RecordForm,
    RecordsForm,
    RequestForm,
    RunForm,
    StandingForm,
    StopForm,
    StoppedForm,
    SubmittedForm,
    VariablesForm,
    WrittenForm,
    segment_form,
)
from stateward.runtime.session.acts import RunOutcome
from stateward.runtime.session.chain import digest_of
from stateward.runtime.session.segments import Segment

if TYPE_CHECKING:
    from stateward.compiler.flow.definition import CompiledFlowDefinition

LOG_REPLY_BYTES_MAX: Final = 128 * 1024 * 1024
"""Of a page of a log: one payload of the largest kind, every byte of it written as an escape."""
_SEE: Final = "see whether that is the service, and what stands between"
F = TypeVar("F", bound=Form)


class WorkerRequests:
    """Requests about one Worker."""

    def __init__(self, access: Access, exchange: Exchange, worker: str) -> None:
        self.worker: Final = worker
        self._access = access
        self._exchange = exchange
        self._replies = Replies(access)
        self._path = f"{PREFIX}/workers/{quote(worker, safe='')}"

    def close(self) -> None:
        """Let go of the connections."""
        self._exchange.close()

    def get(self, below: str, form: type[F], *, largest: int | None = None, **query: str | int) -> F | ProblemForm:
        """Ask for something. Raises Fault."""
        path = f"{self._path}{below}{'?' + urlencode(query) if query else ''}"
        asked = Request("GET", path) if largest is None else Request("GET", path, reply_bytes=largest)
        return self._replies.form(self._exchange.read(asked), form)

    def send(self, below: str, make: Callable[[], Form], form: type[F]) -> F | Refusal:
        """Send something that is done once, however often it is sent. Raises Fault."""
        try:
            content = make().model_dump_json().encode("utf-8")
        except (ValidationError, PydanticSerializationError, UnicodeEncodeError):
            return Refusal(RefusalCode.TEXT_MALFORMED, "what is to be sent is too long, or no text", ("send less, in UTF-8",))
        return self._sent(Request("POST", f"{self._path}{below}", {"Content-Type": JSON_TYPE}, content), form)

    def delete(self, below: str, form: type[F]) -> F | Refusal:
        """Delete something. Raises Fault."""
        return self._sent(Request("DELETE", f"{self._path}{below}"), form)

    def _sent(self, asked: Request, form: type[F]) -> F | Refusal:
        answer = self._replies.form(self._exchange.read(asked), form)
        return self.refused(answer) if isinstance(answer, ProblemForm) else answer

    def refused(self, problem: ProblemForm) -> Refusal:
        """Take a problem for the refusal that it is. Raises ServiceUnavailable for any other."""
        try:
            return problem.refusal()
        except ValueError:
            return self.unforeseen(problem)

    def unforeseen(self, problem: ProblemForm) -> NoReturn:
        """Say that a service did not take what it should have. Raises ServiceUnavailable."""
        self._replies.unforeseen(problem)

    def require(self, worker: str) -> None:
        """Require that an answer is about the Worker that was asked for. Raises AnswerLost."""
        if worker != self.worker:
            raise AnswerLost(f"{self._access.address} answered about Worker `{worker:.64}`, not `{self.worker}`", _SEE)

    def out_of_order(self) -> NoReturn:
        """Say that entries are not those that were asked for. Raises AnswerLost."""
        raise AnswerLost(f"{self._access.address} answered with entries that are out of order", _SEE)

    def follow(self, after: int, pauses: Sequence[float]) -> Iterator[EntryShown]:
        """Give entries behind `after` as they come."""
        return Following(self._access, self._exchange, self.worker, after, pauses).entries()

    def standing(self) -> Standing | Refusal:
        """Say where the Worker stands."""
        answer = self.get("", StandingForm)
        if isinstance(answer, ProblemForm):
            return self.refused(answer)
        self.require(answer.worker)
        return answer.value()

    def entry(self, answer: RecordedEntryForm | Refusal) -> RecordedEntry | Refusal:
        """Give the entry that was recorded."""
        if isinstance(answer, Refusal):
            return answer
        self.require(answer.worker)
        return answer.value()


class HttpWorkerChannel:
    """The port `WorkerChannel` over a service."""

    def __init__(self, requests: WorkerRequests, ids: Ids, elapsed: Callable[[], float] = monotonic) -> None:
        self._requests = requests
        self._ids = ids
        self._elapsed = elapsed
        self._going_on = False

    @property
    def worker(self) -> str:
        """The id of the Worker."""
        return self._requests.worker

    def close(self) -> None:
        """Let go of the connections; what is verified at the service goes on."""
        self._requests.close()

    def standing(self) -> Standing | Refusal:
        """Say where it stands now. Raises Fault, as all of these do."""
        return self._requests.standing()

    def submit(self, segments: Sequence[Segment], submission: str | None = None) -> Submitted | Refusal:
        """Commit an input."""
        named = self._ids.new() if submission is None else submission
        answer = self._requests.send("/input", lambda: InputForm(input=tuple(map(segment_form, segments)), submission=named), SubmittedForm)
        if isinstance(answer, Refusal):
            return answer
        self._requests.require(answer.worker)
        return answer.value()

    def ask(self, reason: str, wait_seconds: float) -> Asked:
        """Ask to leave the current state, and wait so long at most for the answer; in several requests where one is not held so long."""
        until = self._elapsed() + wait_seconds
        while True:
            left = max(0.0, until - self._elapsed())
            asked = self._asked_once(reason, min(left, WAIT_SECONDS_MAX))
            self._going_on = isinstance(asked, InProgress)
            if not self._going_on or left <= WAIT_SECONDS_MAX:
                return asked

    def _asked_once(self, reason: str, wait: float) -> Asked:
        answer = self._requests.send("/requests", lambda: RequestForm(reason=reason, wait=wait), AskedForm)
        if isinstance(answer, Refusal):
            return answer
        asked = answer.value()
        if isinstance(asked, InProgress | Waiting):
            self._requests.require(asked.worker)
        return asked

    def set_variables(self, values: Mapping[str, object]) -> Written | Refusal:
        """Set variables that the current state writes."""
        answer = self._requests.send("/variables", lambda: VariablesForm.model_validate({"values": dict(values)}), WrittenForm)
        if isinstance(answer, Refusal):
            return answer
        self._requests.require(answer.worker)
        return answer.value()

    def cancel(self) -> bool:
        """Stop verifying what the token of this channel asked; the attempt stays open."""
        answer = self._requests.delete("/verification", StoppedForm)
        self._going_on = False
        return not isinstance(answer, Refusal) and answer.stopped

    @property
    def is_verifying(self) -> bool:
        """Whether something was being verified when this channel asked last."""
        return self._going_on

    @property
    def is_busy(self) -> bool:
        """Whether something was being verified when this channel asked last."""
        return self._going_on

    def attempt(self, attempt: str) -> AttemptShown | None:
        """Give an attempt of this Worker and what came of it; None when it has none of that id."""
        answer = self._requests.get(f"/attempts/{quote(attempt, safe='')}", AttemptForm)
        if isinstance(answer, ProblemForm):
            if answer.code in (ProblemCode.ATTEMPT_NOT_FOUND, RefusalCode.WORKER_NOT_FOUND):
                return None
            self._requests.unforeseen(answer)
        if answer.attempt != attempt:
            self._requests.out_of_order()
        return answer.value()

    def note(self, text: str, use: str | None = None) -> RecordedEntry | Refusal:
        """Record what the agent says, as a claim."""
        named = self._ids.new() if use is None else use
        return self._requests.entry(self._requests.send("/notes", lambda: NoteForm(text=text, use=named), RecordedEntryForm))

    def log(self, after: int = 0, limit: int = LOG_PAGE_MAX) -> LogPage | Refusal:
        """Read entries with numbers behind `after`."""
        asked = min(limit, LOG_PAGE_MAX)
        answer = self._requests.get("/log", LogForm, largest=LOG_REPLY_BYTES_MAX, after=after, limit=asked)
        if isinstance(answer, ProblemForm):
            return self._requests.refused(answer)
        before = None
        for number, each in enumerate(answer.entries, after + 1):
            self._requests.require(each.worker)
            if each.seq != number or number > answer.head.seq or before not in (None, each.previous):
                self._requests.out_of_order()
            before = each.digest
        if len(answer.entries) > asked or (not answer.entries and answer.head.seq > after):
            self._requests.out_of_order()
        return answer.value()

    def follow(self, after: int = 0, pauses: Sequence[float] = PAUSES) -> Iterator[EntryShown]:
        """Give entries with numbers behind `after` as they come, each once and in order, until whoever takes them stops.

        A connection that is lost is made again after each of `pauses`, in seconds, until something comes. Raises Fault at the end of those.
        """
        return self._requests.follow(after, pauses)

    def source(self) -> str | None:
        """Give the source of the flow that it runs."""
        pinned = self._pinned()
        return None if pinned is None else pinned.source

    def definition(self) -> "CompiledFlowDefinition | None":
        """Give the definition that is pinned. Raises Damaged when it has not the digest that it comes with."""
        from stateward.compiler.flow.definition import CompiledFlowDefinition  # noqa: PLC0415 -- a harness never asks for one

        pinned = self._pinned()
        if pinned is None or pinned.definition is None:
            return None
        canonical = pinned.definition.encode("utf-8")
        if pinned.definition_digest != digest_of(canonical):
            raise Damaged(f"the definition of Worker {self.worker} came with a digest that is not its own", _SEE)
        return CompiledFlowDefinition.model_validate_json(canonical)

    def _pinned(self) -> PinnedFlowForm | None:
        answer = self._requests.get("/flow", PinnedFlowForm)
        if not isinstance(answer, ProblemForm):
            return answer
        self._requests.refused(answer)
        return None


class HttpHostChannel:
    """The port `HostChannel` over a service; `session` is the id of the host's session that tells of what happens."""

    def __init__(self, requests: WorkerRequests, ids: Ids, session: str | None = None) -> None:
        self._requests = requests
        self._ids = ids
        self._session = session

    @property
    def worker(self) -> str:
        """The id of the Worker."""
        return self._requests.worker

    def close(self) -> None:
        """Let go of the connections."""
        self._requests.close()

    def standing(self) -> Standing | Refusal:
        """Say where it stands now. Raises Fault, as all of these do."""
        return self._requests.standing()

    def is_active(self) -> bool | Refusal:
        """Tell whether its flow is active."""
        standing = self._requests.standing()
        return standing if isinstance(standing, Refusal) else standing.is_active

    def record(self, records: Sequence[HostRecord], cursor: Cursor | None = None) -> Recorded | Refusal:
        """Commit records in one commit, each once for its key."""
        if len(records) > RECORDS_MAX:
            message = f"there are {len(records)} records"
            return Refusal(RefusalCode.RECORD_TOO_LARGE, message, (f"give at most {RECORDS_MAX} at a time",))
        answer = self._requests.send("/records", lambda: self._records(records, cursor), RecordedForm)
        if isinstance(answer, Refusal):
            return answer
        self._requests.require(answer.worker)
        return answer.value()

    def _records(self, records: Sequence[HostRecord], cursor: Cursor | None) -> RecordsForm:
        formed = None if cursor is None else CursorForm.of(cursor)
        return RecordsForm(session=self._session, records=tuple(map(RecordForm.of, records)), cursor=formed)

    def cursor(self, host: str, session: str) -> Cursor | None:
        """Give how far the transcript of a session was taken in; None when nothing was."""
        answer = self._requests.get("/cursor", CursorAnswer, host=host, session=session)
        if isinstance(answer, ProblemForm):
            self._requests.refused(answer)
            return None
        if answer.cursor is None:
            return None
        if (answer.cursor.host, answer.cursor.session) != (host, session):
            self._requests.out_of_order()
        return answer.cursor.value()

    def start_run(self, run: str) -> RecordedEntry | Refusal:
        """Record that a run of the worker's agent began, or goes on."""
        return self._run(lambda: RunForm(session=self._session, run=run))

    def end_run(self, run: str, outcome: RunOutcome, message: str = "") -> RecordedEntry | Refusal:
        """Record how a run ended; the flow stays where it is."""
        return self._run(lambda: RunForm(session=self._session, run=run, outcome=outcome, message=message))

    def _run(self, make: Callable[[], RunForm]) -> RecordedEntry | Refusal:
        return self._requests.entry(self._requests.send("/runs", make, RecordedEntryForm))

    def stop(self, reason: str, operation: str | None = None) -> RecordedEntry | Refusal:
        """Record that the agent stopped; everything is kept, and it may go on at any time."""
        named = self._ids.new() if operation is None else operation
        form = self._requests.send("/stops", lambda: StopForm(session=self._session, reason=reason, operation=named), RecordedEntryForm)
        return self._requests.entry(form)
