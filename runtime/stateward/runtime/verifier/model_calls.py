"""One request to a model over the network: the only place that knows the library of models, and the only one that is asynchronous.

Invariants: a request is made once, here nothing is tried again; its time and the bytes of its reply are bounded; when it ends, however
it ends, its connection is closed; it goes to the address that the profile names or the library knows, never to one that an environment
variable names, and through no proxy that one names, for a worker may set those; the key is in no text that leaves this file.

Importing this takes seconds: only what is about to ask a model does.
"""

import asyncio
import inspect
import json
import os
import ssl
import warnings
from collections.abc import AsyncIterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cache
from threading import Lock
from typing import Any, Final

import httpx2
from pydantic_ai.direct import model_request, model_request_stream
from pydantic_ai.exceptions import (
    ContentFilterError,
    ModelAPIError,
    ModelConnectionError,
    ModelContextWindowExceededError,
    ModelHTTPError,
    ModelRateLimitError,
    ModelRequestRejectedError,
    ModelServerError,
    ModelTimeoutError,
    ModelUnavailableError,
    OutputTokenLimitExceeded,
    UserError,
)
from pydantic_ai.messages import (
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import Model, ModelRequestParameters, infer_model
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers import Provider, infer_provider_class
from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition

from stateward.runtime.core.texts import cut, shown
from stateward.runtime.session.masking import NO_SECRETS, VALUE_CHARACTERS_MIN, Secrets, placeholder
from stateward.runtime.verifier.declared import ToolDeclaration
from stateward.runtime.verifier.model import Call, CallFailed, Turn
from stateward.runtime.verifier.model_settings import Model as Chosen
from stateward.runtime.verifier.model_stop import Stop, Stopped
from stateward.runtime.verifier.transcript import Ending, Mishap, Reply, ToolCall, ToolReturn

KEY_NAME: Final = "verifier_key"
"""What takes the place of the key names it so."""
NO_KEY: Final = "none"
"""Is sent where no key is configured, so that no library looks for one in the environment."""
MESSAGE_BYTES_MAX: Final = 2 * 1024
"""What is told of a request that failed."""
TOKENS_MAX: Final = 1_000_000_000
"""A provider that counts more does not count."""
_UNFORESEEN: Final = (ArithmeticError, AssertionError, AttributeError, LookupError, RuntimeError, TypeError, ValueError)
"""What the library raises: its own errors are among them, and so is whatever its parts make of a reply whose form they did not foresee."""
_ENDINGS: Final = {"length": Ending.LENGTH, "content_filter": Ending.FILTERED}


class LibraryCaller:
    """The port `ModelCaller` over pydantic-ai."""

    def __init__(self, chosen: Chosen, key: str | None) -> None:
        """Take the model that the profile chose, and its key where it needs one."""
        self._chosen, self._key = chosen, key
        # A shorter one than can be kept out of texts is none that any provider gives.
        self._secrets = NO_SECRETS if key is None or len(key) < VALUE_CHARACTERS_MIN else Secrets({KEY_NAME: key})

    @property
    def model(self) -> str:
        """The model, as people name it."""
        return self._chosen.named

    @property
    def settings(self) -> str:
        """What it is told to keep to, as JSON; no secret is in it."""
        return self._chosen.stated

    def ask(self, call: Call, stop: Stop) -> Reply:
        """Make one request, once. Raises CallFailed, and Stopped when it was stopped; then the connection is closed."""
        task = _Running()
        with ThreadPoolExecutor(1, "stateward model") as thread, stop.heard(task.cancel):
            try:
                return thread.submit(asyncio.run, self._ask(call, task)).result()
            except asyncio.CancelledError:
                raise Stopped from None
            finally:
                task.cancel()  # also where the user interrupts: what is waited for next is only that the connection is closed

    async def _ask(self, call: Call, task: "_Running") -> Reply:
        task.begin()
        wire = _Wire(call.reply_bytes)
        try:
            async with asyncio.timeout(call.seconds), _client(wire) as client:
                reply = self._reply(await self._response(call, client), wire)
        except TimeoutError:
            raise CallFailed(Mishap.SLOW, f"{self.model} gave no reply in {call.seconds:g} seconds") from None
        except (*_UNFORESEEN, httpx2.HTTPError, _TooMuch, _Packed) as problem:
            raise self._failed(problem, wire) from problem
        return reply

    async def _response(self, call: Call, client: httpx2.AsyncClient) -> ModelResponse:
        model = _model(self._chosen, self._key, client)
        messages, parameters, settings = _messages(call), _parameters(call), self._told(call)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what a model leaves aside; the reply is looked at in any case
            if not self._chosen.streamed:
                return await model_request(model, messages, model_settings=settings, model_request_parameters=parameters, instrument=False)
            async with model_request_stream(
                model, messages, model_settings=settings, model_request_parameters=parameters, instrument=False
            ) as stream:
                async for _ in stream:
                    pass
                return stream.get()

    def _told(self, call: Call) -> ModelSettings:
        settings = ModelSettings(max_tokens=call.output_tokens, max_retries=0, timeout=call.seconds)
        if self._chosen.temperature is not None:
            settings["temperature"] = self._chosen.temperature
        if call.only:
            settings["tool_choice"] = [call.only]
        return settings

    def _failed(self, problem: Exception, wire: "_Wire") -> CallFailed:
        if wire.overrun:
            return CallFailed(Mishap.TOO_MUCH, f"the reply is over the limit of {wire.bytes_max} bytes")
        mishap = _mishap(problem)
        said = cut(f"{self.model} {_TOLD[mishap]}: {self._secrets.mask(_detail(problem))}", MESSAGE_BYTES_MAX)
        wait = problem.retry_after if isinstance(problem, ModelAPIError) else None
        return CallFailed(mishap, said, wait)

    def _reply(self, response: ModelResponse, wire: "_Wire") -> Reply:
        layer = ModelMessagesTypeAdapter.dump_json([response], warnings="error").decode("utf-8")
        masked = self._secrets.mask(layer)
        (response,) = _responses(masked)  # which also holds it to its form
        # What came in pieces may hold the key in pieces.
        return _reply(response, masked, self._secrets.mask(wire.text) if masked == layer else placeholder(KEY_NAME))


_TOLD: Final = {
    Mishap.BUSY: "turned the request away for now",
    Mishap.LOST: "was not reached, or broke the connection off",
    Mishap.SLOW: "took too long",
    Mishap.REFUSED: "turned the request away",
    Mishap.TOO_LONG: "takes no conversation of this length",
    Mishap.TOO_MUCH: "said more than a reply may hold",
    Mishap.NONSENSE: "gave what is no reply",
}
"""What happened, before what the library for models says of it."""


def _detail(problem: Exception) -> str:
    if isinstance(problem, ModelHTTPError):
        return f"status {problem.status_code}, {json.dumps(problem.body, default=str, ensure_ascii=False)}"
    return " ".join(str(problem).split()) or type(problem).__name__


def _mishap(problem: Exception) -> Mishap:
    match problem:
        case ModelContextWindowExceededError():
            return Mishap.TOO_LONG
        case ModelTimeoutError():
            return Mishap.SLOW
        case ModelConnectionError() | httpx2.TransportError():
            return Mishap.LOST
        case ModelRateLimitError() | ModelUnavailableError() | ModelServerError():
            return Mishap.BUSY
        case ModelHTTPError(status_code=status):
            return Mishap.BUSY if status in {408, 409, 425, 429} or status >= 500 else Mishap.REFUSED
        case ModelRequestRejectedError() | UserError() | ContentFilterError():
            return Mishap.REFUSED
        case ModelAPIError(in_stream=True):
            return Mishap.LOST
        case OutputTokenLimitExceeded():
            return Mishap.TOO_MUCH
    return Mishap.NONSENSE


class _Running:
    """The task that makes a request, to be cancelled from another thread, also before it began."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._task: asyncio.Task[Any] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._cancelled = False

    def begin(self) -> None:
        with self._lock:
            self._task, self._loop = asyncio.current_task(), asyncio.get_running_loop()
            if self._cancelled and self._task is not None:
                self._task.cancel()

    def cancel(self) -> None:
        with self._lock:
            self._cancelled = True
            if self._task is not None and self._loop is not None:
                with suppress(RuntimeError):  # the loop is closed: the request has ended
                    self._loop.call_soon_threadsafe(self._task.cancel)


# --- the wire -----------------------------------------------------------------------------------------------------------------------


class _TooMuch(Exception):
    """A reply is over its limit."""


class _Packed(Exception):
    """A reply is compressed, though that was not asked for: there is no telling how large it would grow."""

    def __str__(self) -> str:
        return "the reply is compressed"


class _Wire:
    """What came back over one connection, up to a limit."""

    def __init__(self, bytes_max: int) -> None:
        self.bytes_max = bytes_max
        self.overrun = False
        self._body = bytearray()

    def take(self, chunk: bytes) -> None:
        if len(self._body) + len(chunk) > self.bytes_max:
            self.overrun = True
            raise _TooMuch
        self._body += chunk

    @property
    def text(self) -> str:
        return bytes(self._body).decode("utf-8", "replace")


class _Tapped(httpx2.AsyncByteStream):
    """A response's body that is counted and kept as it is read."""

    def __init__(self, inner: httpx2.AsyncByteStream, wire: _Wire) -> None:
        self._inner, self._wire = inner, wire

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._inner:
            self._wire.take(chunk)
            yield chunk

    async def aclose(self) -> None:
        await self._inner.aclose()


class _Transport(httpx2.AsyncHTTPTransport):
    """Asks for bodies as they are, so that a small one cannot grow, and counts them."""

    def __init__(self, wire: _Wire) -> None:
        super().__init__(verify=_trusted(), trust_env=False)
        self._wire = wire

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        request.headers["accept-encoding"] = "identity"
        response = await super().handle_async_request(request)
        if response.headers.get("content-encoding", "identity") != "identity":
            await response.aclose()
            raise _Packed
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        response.stream = _Tapped(response.stream, self._wire)
        return response


@cache
def _trusted() -> ssl.SSLContext:
    """Read once whom to trust: it takes a tenth of a second."""
    return httpx2.create_ssl_context(trust_env=False)


def _client(wire: _Wire) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(transport=_Transport(wire), trust_env=False, follow_redirects=False)


# --- between our values and the library's ---------------------------------------------------------------------------------------------


def _model(chosen: Chosen, key: str | None, client: httpx2.AsyncClient) -> Model:
    if chosen.url:
        address = OpenAICompatibleProvider("openai-compatible", base_url=chosen.url, api_key=key or NO_KEY, http_client=client)
        return OpenAIChatModel(chosen.name, provider=address)
    return infer_model(f"{chosen.provider}:{chosen.name}", provider_factory=lambda name: _provider(name, key, client))


def _provider(name: str, key: str | None, client: httpx2.AsyncClient) -> Provider[Any]:
    try:
        made = infer_provider_class(name)
    except ImportError as missing:
        raise UserError(f"the provider {shown(name)} needs a package that is not installed: {missing}") from missing
    except ValueError as unknown:
        raise UserError(f"there is no provider {shown(name)}") from unknown
    taken = inspect.signature(made).parameters
    given = {"api_key": key or NO_KEY, "http_client": client}
    provider: Provider[Any] = made(**{each: value for each, value in given.items() if each in taken})
    _require_own_address(provider.base_url, os.environ)
    return provider


def _require_own_address(address: str, environment: Mapping[str, str]) -> None:
    """Refuse a provider whose host a variable of the environment names: whoever runs this could name a judge of their own."""
    host = httpx2.URL(address).host.casefold()
    for variable, value in environment.items():
        if host and (host in value.casefold() or host == _host(value)):
            raise UserError(f"the variable {shown(variable)} names the host of the provider, and only the profile may: unset it")


def _host(value: str) -> str:
    try:
        return httpx2.URL(value).host.casefold()
    except (httpx2.InvalidURL, ValueError):
        return ""


def _messages(call: Call) -> list[ModelMessage]:
    opening = ModelRequest(parts=[SystemPromptPart(call.system), UserPromptPart(call.user)])
    return [opening, *(message for turn in call.turns for message in _turn(turn))]


def _turn(turn: Turn) -> tuple[ModelMessage, ModelMessage]:
    (response,) = _responses(turn.reply.layer)
    return response, ModelRequest(parts=[_returned(each) for each in turn.returned])


def _returned(given: ToolReturn) -> ToolReturnPart:
    return ToolReturnPart(given.name, given.text, given.id, outcome="failed" if given.refused else "success")


def _parameters(call: Call) -> ModelRequestParameters:
    return ModelRequestParameters(function_tools=[_tool(each) for each in call.tools], allow_text_output=False)


def _tool(given: ToolDeclaration) -> ToolDefinition:
    return ToolDefinition(name=given.name, description=given.description, parameters_json_schema=dict(given.parameters))


def _responses(layer: str) -> list[ModelResponse]:
    return [each for each in ModelMessagesTypeAdapter.validate_json(layer) if isinstance(each, ModelResponse)]


def _reply(response: ModelResponse, layer: str, wire: str) -> Reply:
    usage = response.usage
    counted = min(usage.input_tokens, usage.output_tokens) >= 0 and 0 < usage.input_tokens + usage.output_tokens <= TOKENS_MAX
    return Reply(
        calls=tuple(_call(each) for each in response.parts if isinstance(each, ToolCallPart)),
        prose="".join(each.content for each in response.parts if isinstance(each, TextPart)),
        ending=_ENDINGS.get(response.finish_reason or "", Ending.DONE),
        input_tokens=usage.input_tokens if counted else None,
        output_tokens=usage.output_tokens if counted else None,
        layer=layer,
        wire=wire,
    )


def _call(part: ToolCallPart) -> ToolCall:
    arguments = part.args if isinstance(part.args, str) else json.dumps(part.args)
    return ToolCall(part.tool_call_id, part.tool_name, arguments or "{}")
