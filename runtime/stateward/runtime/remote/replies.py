"""What a reply says: a form that was asked for, a problem for the caller to decide on, or a fault.

Invariants: a reply is held to its form whole, whatever its status; a fault tells what the service said as one bounded line without the
token; a reply from which it cannot be told what became of a request is an `AnswerLost`, for whatever wrote must look.
"""

from typing import Final, NoReturn, TypeVar

from pydantic import ValidationError

from stateward.runtime.ports import AccessRefused, Damaged, OutcomeUnknown, ServiceUnavailable, StoreNewer, StoreOlder, StoreUnavailable
from stateward.runtime.remote.credentials import TOKEN_FILE_VARIABLE, Access
from stateward.runtime.remote.exchange import AnswerLost, Reply
from stateward.runtime.remote.forms import JSON_TYPE, PROBLEM_TYPE, REQUEST_ID_HEADER, Form, ProblemCode, ProblemForm

SAID_CHARACTERS_MAX: Final = 1024
"""Of what a service says about a problem, in a message."""
F = TypeVar("F", bound=Form)

_OF_THE_STORE: Final = {
    ProblemCode.STORE_UNAVAILABLE: StoreUnavailable,
    ProblemCode.STORE_NEWER: StoreNewer,
    ProblemCode.STORE_OLDER: StoreOlder,
    ProblemCode.STORE_DAMAGED: Damaged,
    ProblemCode.OUTCOME_UNKNOWN: OutcomeUnknown,
}
_NAME_TOKEN: Final = f"name the file that holds one with {TOKEN_FILE_VARIABLE}"
_NAME_ANOTHER: Final = "name the address under which `stateward serve` can be reached"
_SEE_LOG: Final = "see the log of the service"


class Replies:
    """Reads the replies of one service."""

    def __init__(self, access: Access) -> None:
        self._address = access.address
        self._token = access.token

    def form(self, reply: Reply, form: type[F]) -> F | ProblemForm:
        """Give what was asked for, or a problem that is for the caller to decide on. Raises Fault."""
        if 200 <= reply.status < 300:
            return self._parsed(reply, JSON_TYPE, form)
        return self.problem(reply)

    def problem(self, reply: Reply) -> ProblemForm:
        """Give the problem of a reply that is none of success, where it is for the caller to decide on. Raises Fault."""
        if reply.media_type != PROBLEM_TYPE:
            raise self._foreign(reply)
        problem = self._parsed(reply, PROBLEM_TYPE, ProblemForm)
        detail, remedy = self.line(problem.detail), self.line(problem.help or "")
        for code, fault in _OF_THE_STORE.items():
            if problem.code == code:
                raise fault(f"the service at {self._address}: {detail}", remedy)
        match problem.code:
            case ProblemCode.TOKEN_MISSING:
                raise AccessRefused(f"{self._address} answers only whoever shows a token", _NAME_TOKEN)
            case ProblemCode.TOKEN_REFUSED:
                raise AccessRefused(f"{self._address} does not take the token: {detail}", "have another issued: `stateward token issue`")
            case ProblemCode.SCOPE_MISSING:
                scope = self.line(problem.scope or "")
                raise AccessRefused(f"the token may not do that: {detail}", f"have one issued with `--scope {scope}`")
            case ProblemCode.HOST_NOT_ALLOWED | ProblemCode.ORIGIN_NOT_ALLOWED:
                raise ServiceUnavailable(f"{self._address} does not answer to that name: {detail}", remedy or "start it with that name")
            case ProblemCode.STOPPING:
                raise ServiceUnavailable(f"{self._address} is stopping", "start it again with `stateward serve`")
            case ProblemCode.BUSY:
                raise ServiceUnavailable(f"{self._address} has as much to do as it takes on", "try again in a while")
            case ProblemCode.BUG:
                about = "" if problem.request_id is None else f", {REQUEST_ID_HEADER} {self.line(problem.request_id)}"
                raise AnswerLost(f"{self._address} failed at the request{about}", _SEE_LOG)
            case ProblemCode.ROUTE_NOT_FOUND | ProblemCode.METHOD_NOT_ALLOWED:
                raise ServiceUnavailable(f"{self._address} knows no such request: {detail}", "bring both programs to the same version")
        if problem.status >= 500:
            raise AnswerLost(f"{self._address} could not answer: {detail}", remedy or _SEE_LOG)
        return problem

    def raw(self, reply: Reply, media_type: str) -> bytes:
        """Give what came as it is, where it is of that type. Raises AnswerLost."""
        self._require_type(reply, media_type)
        return reply.body

    def unforeseen(self, problem: ProblemForm) -> NoReturn:
        """Say that a service refused what it should not have. Raises ServiceUnavailable."""
        wrong = "; ".join(f"{each.at}: {each.message}" for each in problem.errors or ())
        said = self.line(f"{problem.detail} ({wrong})" if wrong else problem.detail)
        raise ServiceUnavailable(f"{self._address} did not take the request: {said}", self.line(problem.help or "") or _SEE_LOG)

    def line(self, text: str) -> str:
        """Give what a service says fit to stand in a message: one line, bounded, without the token."""
        text = text if self._token is None else self._token.kept_out_of(text)
        visible = "".join(each if each.isprintable() else " " for each in text[: SAID_CHARACTERS_MAX + 1])
        return visible if len(visible) <= SAID_CHARACTERS_MAX else f"{visible[:SAID_CHARACTERS_MAX]}…"

    def _parsed(self, reply: Reply, media_type: str, form: type[F]) -> F:
        self._require_type(reply, media_type)
        try:
            return form.model_validate_json(reply.body)
        except ValidationError as problem:
            where = problem.errors(include_url=False, include_input=False)[0]
            at = ".".join(str(each) for each in where["loc"])
            why = self.line(f"{at}: {where['msg']}" if at else str(where["msg"]))
            raise AnswerLost(f"{self._address} answered with what this program does not know: {why}", _NAME_ANOTHER) from None

    def _require_type(self, reply: Reply, media_type: str) -> None:
        if reply.media_type != media_type:
            named = f"`{self.line(reply.media_type)}`" if reply.media_type else "something that does not say its type"
            raise AnswerLost(f"{self._address} answered with {named}, where `{media_type}` was asked for", _NAME_ANOTHER)

    def _foreign(self, reply: Reply) -> ServiceUnavailable | AccessRefused:
        """Say what a reply is that is none of stateward: that of a gateway before it, or of another program on that port."""
        if 300 <= reply.status < 400:
            return ServiceUnavailable(f"{self._address} leads elsewhere, with status {reply.status}", _NAME_ANOTHER)
        if reply.status in (401, 403):
            message = f"{self._address} does not let the request through, with status {reply.status}"
            return AccessRefused(message, "see what stands before the service")
        if reply.status >= 500:
            return AnswerLost(f"{self._address} answered with status {reply.status}", _SEE_LOG)
        return ServiceUnavailable(f"what answers at {self._address} is no stateward service: status {reply.status}", _NAME_ANOTHER)
