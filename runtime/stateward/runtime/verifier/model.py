"""The model as judge: a conversation in which it looks around with tools that only read, and ends with one call that finishes.

Invariants: nothing but that call is a verdict, so prose, silence, a cut reply or too many turns are failed verifications with their
cause, never a transition; it comes alone, so no verdict is given before what was asked for was read; every request is recorded before
it is made and every reply before it is acted upon, so an attempt that was interrupted is gone on with from its transcript and no reply
is paid for twice; turns, time, tokens, bytes and tries are bounded; who stops it stops the spending at once.

This file knows no library of models: one request is a `ModelCaller`'s to make.
"""

import json
from collections.abc import Callable, Sequence, Set
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from typing import Final, NoReturn, Protocol

from stateward.runtime.core.events import Account, Citation, FailureCause, Judgement
from stateward.runtime.core.texts import shown, size_of
from stateward.runtime.ports import (
    Clock,
    Ids,
    Transcripts,
    VerificationRequest,
    VerifierAnswered,
    VerifierCancelled,
    VerifierFailed,
    VerifierOutcome,
)
from stateward.runtime.profile import VerifierKind
from stateward.runtime.session.chain import digest_of, time_text
from stateward.runtime.session.masking import NO_SECRETS, Secrets
from stateward.runtime.session.strict import Malformed, parse
from stateward.runtime.verifier.declared import ToolDeclaration, ToolRefused
from stateward.runtime.verifier.model_stop import Stop, Stopped
from stateward.runtime.verifier.tools import READ_ENTRY, SEARCH_ENTRIES, SHOW_OVERVIEW
from stateward.runtime.verifier.transcript import (
    RECORDS_MAX,
    Asked,
    Ending,
    Mishap,
    Missed,
    Replied,
    Reply,
    TakenOver,
    ToolCall,
    ToolReturn,
    Transcript,
)

CALLS_MAX: Final = 32
"""Calls of tools in one reply."""
TRIES_MAX: Final = 6
"""Times that one request is made, the first included."""
PAUSE_SECONDS_FIRST: Final = 0.5
PAUSE_SECONDS_MAX: Final = 16.0
"""Between two tries, unless the provider says how long to wait."""
BYTES_PER_TOKEN: Final = 3
"""How many bytes of a request are reckoned as a token when one is reserved: few, so that rather too much is reserved."""


@dataclass(frozen=True, slots=True)
class ModelBounds:
    """How far one verification goes."""

    turns: int = 12
    """Replies of the model."""
    wall_seconds: float = 300.0
    """From the first request of a run to its last reply, waiting included."""
    call_seconds: float = 120.0
    """One request."""
    tokens: int = 400_000
    """All requests of an attempt together."""
    output_tokens: int = 8_192
    """One reply."""
    shown_bytes: int = 2 * 1024 * 1024
    """Everything that tools give."""
    reply_bytes: int = 4 * 1024 * 1024
    """One reply on the wire."""

    def __post_init__(self) -> None:
        if min(self.turns, self.wall_seconds, self.call_seconds, self.tokens, self.output_tokens, self.shown_bytes, self.reply_bytes) <= 0:
            raise ValueError("a bound of a verification is more than 0")


class Toolbox(Protocol):
    """What one attempt gives its judge: the prompt, the tools that read, and what makes verdicts of the call that finishes."""

    @property
    def system(self) -> str:
        """The standing part of the prompt."""

    @property
    def user(self) -> str:
        """What this attempt is about."""

    @property
    def prompt_digest(self) -> str:
        """The digest of the prompt text."""

    @property
    def declarations(self) -> Sequence[ToolDeclaration]:
        """The tools that read, and no others."""

    @property
    def finish(self) -> ToolDeclaration:
        """The one call that ends."""

    def call(self, name: str, arguments: object) -> str:
        """Read something. Raises ToolRefused with what to say to the model."""

    def finished(self, arguments: object) -> tuple[Judgement, ...]:
        """Make verdicts of the call that ends. Raises ToolRefused with everything that is wrong with it."""

    def shown(self, judgements: Sequence[Judgement]) -> Set[Citation]:
        """Give the citations among them that name what was shown in full, word for word."""


@dataclass(frozen=True, slots=True)
class Turn:
    """A reply of the model and what its calls came to."""

    reply: Reply
    returned: tuple[ToolReturn, ...]


@dataclass(frozen=True, slots=True)
class Call:
    """One request to a model."""

    system: str
    user: str
    tools: tuple[ToolDeclaration, ...]
    turns: tuple[Turn, ...]
    only: str
    """The tool that is to be called, where only one is left; else empty, and any tool will do, but one has to be called."""
    seconds: float
    output_tokens: int
    reply_bytes: int


class CallFailed(Exception):
    """A request got no reply."""

    def __init__(self, mishap: Mishap, message: str, wait_seconds: float | None = None) -> None:
        """Say why; `wait_seconds` is how long the provider wants to be left alone."""
        super().__init__(message)
        self.mishap = mishap
        self.message = message
        self.wait_seconds = wait_seconds


class ModelCaller(Protocol):
    """Makes requests to one model."""

    @property
    def model(self) -> str:
        """The model, as people name it."""

    @property
    def settings(self) -> str:
        """What it is told to keep to, as JSON; no secret is in it."""

    def ask(self, call: Call, stop: Stop) -> Reply:
        """Make one request, once. Raises CallFailed, and Stopped when it was stopped; then the connection is closed."""


class _Ended(Exception):
    """The verification ends without verdicts."""

    def __init__(self, cause: FailureCause, message: str) -> None:
        super().__init__(message)
        self.cause = cause
        self.message = message


_CAUSES: Final = {
    Mishap.BUSY: FailureCause.UNAVAILABLE,
    Mishap.LOST: FailureCause.UNAVAILABLE,
    Mishap.SLOW: FailureCause.TIMEOUT,
    Mishap.REFUSED: FailureCause.UNAVAILABLE,
    Mishap.TOO_LONG: FailureCause.BUDGET,
    Mishap.TOO_MUCH: FailureCause.TRUNCATED,
    Mishap.NONSENSE: FailureCause.MALFORMED,
}


@dataclass(frozen=True, slots=True)
class ModelMeans:
    """What verifications by a model work with."""

    caller: ModelCaller
    transcripts: Transcripts
    clock: Clock
    ids: Ids
    elapsed: Callable[[], float]
    """Gives seconds that never go back."""
    bounds: ModelBounds = field(default_factory=ModelBounds)
    pause: Callable[[Stop, float], bool] = Stop.wait
    """Waits between two tries, and tells whether it was stopped."""
    secrets: Secrets = NO_SECRETS
    """What the model is never told, wherever it may stand."""


class ModelVerifier:
    """The port `Verifier` over a model. Verifies one attempt at a time; `cancel` may be called from any thread."""

    def __init__(self, means: ModelMeans, toolbox: Callable[[VerificationRequest], AbstractContextManager[Toolbox]]) -> None:
        """Take what it works with; `toolbox` opens what one attempt is given, and closes it afterwards."""
        self._means, self._toolbox = means, toolbox
        self._stop = Stop()

    @property
    def kind(self) -> str:
        """`model`."""
        return VerifierKind.MODEL

    def cancel(self) -> None:
        """Give the verification up that goes on: the request that is made is broken off, and no other follows."""
        self._stop.stop()

    def verify(self, request: VerificationRequest) -> VerifierOutcome:
        """Let the model judge. Raises Fault when the transcript cannot be kept; the attempt stays open then."""
        self._stop = Stop()
        transcript = Transcript(self._means.transcripts, request.worker, request.attempt)
        with ExitStack() as opened:
            try:
                box = opened.enter_context(self._toolbox(request))
            except OSError as problem:
                return VerifierFailed(FailureCause.UNAVAILABLE, f"the Workdir cannot be opened: {problem.strerror}")
            attempt = _Attempt(self._means, box, transcript, self._stop)
            try:
                judgements = attempt.judge()
            except _Ended as ended:
                return VerifierFailed(ended.cause, ended.message, attempt.account())
            except Stopped:
                return VerifierCancelled(attempt.account())
            except TakenOver:
                message = "another process goes on with the attempt"
                return VerifierFailed(FailureCause.INCONSISTENT, message, attempt.account())
            return VerifierAnswered(judgements, box.shown(judgements), attempt.account())


class _Attempt:
    """One run of the conversation, over what an earlier run recorded of it."""

    def __init__(self, means: ModelMeans, box: Toolbox, transcript: Transcript, stop: Stop) -> None:
        self._means, self._box, self._transcript, self._stop = means, box, transcript, stop
        self._bounds, self._caller = means.bounds, means.caller
        self._run = means.ids.new()
        self._until = means.elapsed() + means.bounds.wall_seconds
        self._recorded = iter(tuple(transcript.replies()))
        self._turns: list[Turn] = []
        self._shown_bytes = 0
        self._refused: ToolRefused | None = None
        """Why the last call that was to finish did not; None when others came after it."""
        self._tools = (*box.declarations, box.finish)
        self._opening = (box.system, means.secrets.mask(box.user), _tools_text(self._tools))

    def account(self) -> Account:
        return Account(self._transcript.usage(), self._caller.model, self._box.prompt_digest, self._transcript.digest)

    def judge(self) -> tuple[Judgement, ...]:
        returned: tuple[ToolReturn, ...] = ()
        for left in reversed(range(self._bounds.turns)):
            reply = self._reply(returned, last=left == 0)
            _require_calls(reply)
            if [each.name for each in reply.calls] == [self._box.finish.name]:
                judgements = self._finished(reply.calls[0])
                if isinstance(judgements, tuple):
                    return judgements
                returned = (judgements,)
            else:
                returned = tuple(map(self._called, reply.calls))
            self._turns.append(Turn(reply, returned))
        if self._refused is not None:
            message = f"the last `{self._box.finish.name}` of {self._bounds.turns} turns was refused: {self._refused}"
            raise _Ended(self._refused.cause, message)
        raise _Ended(FailureCause.BUDGET, f"{self._bounds.turns} turns went by without `{self._box.finish.name}`")

    # --- calls of tools ---------------------------------------------------------------------------------------------------------

    def _finished(self, call: ToolCall) -> tuple[Judgement, ...] | ToolReturn:
        try:
            return self._box.finished(_arguments(call))
        except ToolRefused as refused:
            self._refused = refused
            return ToolReturn(call.id, call.name, str(refused), refused=True)

    def _called(self, call: ToolCall) -> ToolReturn:
        self._refused = None
        try:
            text = self._read(call)
        except ToolRefused as refused:
            return ToolReturn(call.id, call.name, str(refused), refused=True)
        self._shown_bytes += size_of(text)
        return ToolReturn(call.id, call.name, text)

    def _read(self, call: ToolCall) -> str:
        if call.name == self._box.finish.name:
            raise ToolRefused(f"`{call.name}` comes alone, after what other calls gave was read")
        if call.name not in {each.name for each in self._box.declarations}:
            raise ToolRefused(f"there is no tool {shown(call.name)}")
        if self._shown_bytes >= self._bounds.shown_bytes:
            raise ToolRefused(f"{self._bounds.shown_bytes} bytes were shown, and no more are")
        return self._means.secrets.mask(self._box.call(call.name, _arguments(call)))

    # --- requests ---------------------------------------------------------------------------------------------------------------

    def _reply(self, returned: tuple[ToolReturn, ...], *, last: bool) -> Reply:
        """Give the next reply: the one that an earlier run recorded, or else the model's."""
        found = next(self._recorded, None)
        if found is None:
            return self._asked(returned, last=last)
        asked, reply = found
        self._require_same(asked, returned)
        return reply

    def _require_same(self, asked: Asked, returned: tuple[ToolReturn, ...]) -> None:
        """Go on with a transcript only where everything that the model was told still is so."""
        if asked.returned != returned:
            name = next((now.name for now, then in zip(returned, asked.returned, strict=False) if now != then), "")
            changed = name not in _OF_THE_LOG and name != self._box.finish.name
            cause = FailureCause.WORKDIR_CHANGED if changed else FailureCause.INCONSISTENT
            raise _Ended(cause, f"{shown(name)} no longer gives what the model was told before the interruption")
        if (asked.whole, asked.model, asked.settings) != (self._whole(returned), self._caller.model, self._caller.settings):
            raise _Ended(FailureCause.INCONSISTENT, "prompt, tools or model are not those with which the attempt was begun")

    def _whole(self, returned: tuple[ToolReturn, ...]) -> str:
        """Give the digest of the conversation up to what is to be returned next."""
        spoken = [(each.reply.layer, [(to.id, to.text, to.refused) for to in each.returned]) for each in self._turns]
        return digest_of(json.dumps([self._opening, spoken, [(to.id, to.text) for to in returned]]).encode())

    def _asked(self, returned: tuple[ToolReturn, ...], *, last: bool) -> Reply:
        for tried in range(TRIES_MAX):
            self._stop_point()
            call = self._call(last=last)
            self._transcript.add(self._record(call, returned))
            try:
                reply = self._caller.ask(call, self._stop)
            except CallFailed as failed:
                self._transcript.add(Missed(failed.mishap, failed.message))
                self._wait_or_end(failed, tried)
                continue
            self._transcript.add(Replied(reply))
            return reply
        raise AssertionError  # the last try ends or returns

    def _stop_point(self) -> None:
        if self._stop.is_stopped:
            raise Stopped
        if self._transcript.is_full:
            raise _Ended(FailureCause.BUDGET, f"the attempt has {RECORDS_MAX} records")

    def _call(self, *, last: bool) -> Call:
        seconds = min(self._left(), self._bounds.call_seconds)
        if seconds <= 0:
            raise _Ended(FailureCause.TIMEOUT, f"{self._bounds.wall_seconds:g} seconds went by without a verdict")
        spent, given = self._transcript.usage().tokens, self._given_tokens()
        output = min(self._bounds.output_tokens, self._bounds.tokens - spent - given)
        if output <= 0:
            message = f"{spent} tokens were spent, and the next request may go beyond the bound of {self._bounds.tokens}"
            raise _Ended(FailureCause.BUDGET, message)
        only = self._box.finish.name if last else ""
        turns = tuple(self._turns)
        return Call(*self._opening[:2], self._tools, turns, only, seconds, output, self._bounds.reply_bytes)

    def _given_tokens(self) -> int:
        texts = [*self._opening, *(each.reply.layer for each in self._turns), *(to.text for each in self._turns for to in each.returned)]
        return sum(map(size_of, texts)) // BYTES_PER_TOKEN

    def _record(self, call: Call, returned: tuple[ToolReturn, ...]) -> Asked:
        return Asked(
            run=self._run,
            at=time_text(self._means.clock.now()),
            model=self._caller.model,
            settings=self._caller.settings,
            prompt=self._box.prompt_digest,
            whole=self._whole(returned),
            opening=() if self._turns else self._opening,
            returned=returned,
            reserved=self._given_tokens() + call.output_tokens,
        )

    def _wait_or_end(self, failed: CallFailed, tried: int) -> None:
        """Wait for the next try; end where none will help, or none fits into the time that is left."""
        pause = min(PAUSE_SECONDS_FIRST * 2**tried, PAUSE_SECONDS_MAX) if failed.wait_seconds is None else failed.wait_seconds
        if not failed.mishap.may_pass or tried + 1 == TRIES_MAX or pause >= self._left():
            self._end(failed)
        if self._means.pause(self._stop, pause):
            raise Stopped

    def _end(self, failed: CallFailed) -> NoReturn:
        raise _Ended(_CAUSES[failed.mishap], failed.message)

    def _left(self) -> float:
        return self._until - self._means.elapsed()


_OF_THE_LOG: Final = frozenset({SHOW_OVERVIEW.name, SEARCH_ENTRIES.name, READ_ENTRY.name})
"""Tools whose answers follow from the captured log alone."""


def _tools_text(tools: Sequence[ToolDeclaration]) -> str:
    return json.dumps([[each.name, each.description, each.parameters] for each in tools], ensure_ascii=False, sort_keys=True)


def _require_calls(reply: Reply) -> None:
    """End where a reply is none that can be gone on with."""
    match reply.ending:
        case Ending.LENGTH:
            raise _Ended(FailureCause.TRUNCATED, "the reply was cut at the limit of tokens")
        case Ending.FILTERED:
            raise _Ended(FailureCause.UNAVAILABLE, "the provider held the reply back")
        case Ending.DONE:
            pass
    if not reply.calls:
        raise _Ended(FailureCause.MALFORMED, "the model wrote text and called no tool")
    if len(reply.calls) > CALLS_MAX:
        raise _Ended(FailureCause.MALFORMED, f"one reply has {len(reply.calls)} calls, more than {CALLS_MAX}")
    if len({each.id for each in reply.calls}) != len(reply.calls):
        raise _Ended(FailureCause.MALFORMED, "two calls of one reply have the same id")


def _arguments(call: ToolCall) -> object:
    try:
        return parse(call.arguments.encode("utf-8", "surrogatepass"))
    except Malformed as problem:
        raise ToolRefused(f"the arguments of {shown(call.name)} cannot be read: {problem}") from None
