"""The protocol as pygls speaks it, made strict: every request is answered, and what does not fit says what is missing.

Invariants: a request whose parameters do not fit, that comes too early or too late, or while too many are under way is answered with an
error; a notification of that kind is dropped, and said in the log; a text whose change cannot be read is lost. The server keeps the texts,
since pygls has another idea of where lines end.
"""

import re
from json import JSONDecodeError, loads
from typing import TYPE_CHECKING, Any, Final

from cattrs import Converter, transform_error
from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.protocol import JsonRPCNotification, JsonRPCRequestMessage, JsonRPCResponseMessage, LanguageServerProtocol

if TYPE_CHECKING:
    from stateward.compiler.editor.server import FlowServer

REQUESTS_MAX: Final = 1_000
"""Requests of one editor that are under way at once."""
REASONS_MAX: Final = 5
"""What does not fit, told of one message."""
DETAIL_CHARS_MAX: Final = 200
_JSON_RPC: Final = "2.0"
_BEFORE: Final = frozenset({types.INITIALIZE, types.EXIT})
"""What may come before the session begins."""
_OWN: Final = frozenset({"jsonrpc", "id", "method", "params"})
_SNAKE: Final = re.compile(r"_([a-z])")
_ERRORS = types.ErrorCodes


class BadMessageError(JsonRpcException):
    """A message that is none, or that does not fit its method."""


class StrictProtocol(LanguageServerProtocol):
    """One session, as a sequence of messages."""

    _server: "FlowServer"

    def __init__(self, server: "FlowServer", converter: Converter) -> None:
        super().__init__(server, converter)
        self._begun = False
        for method, handler in (
            (types.TEXT_DOCUMENT_DID_OPEN, server.opened),
            (types.TEXT_DOCUMENT_DID_CHANGE, server.changed),
            (types.TEXT_DOCUMENT_DID_CLOSE, server.closed),
        ):
            self.fm.add_builtin_feature(method, handler)

    @property
    def is_over(self) -> bool:
        """Whether `shutdown` was asked for: what nobody waits for is not said any more."""
        return bool(self._shutdown)

    def take(self, body: bytes) -> None:
        """Take a message in, whatever it is."""
        try:
            data = _message(body)
        except BadMessageError as fault:
            self._refuse(None, fault)
            return
        method, number = data.get("method"), data.get("id")
        is_request = method is not None and number is not None
        try:
            if method is not None:
                self._must_be_in_turn(method, is_request)
            message = self.structure_message(data)
        except BadMessageError as fault:
            if is_request:
                self._refuse(number, fault)
            else:
                self._dropped(data, fault)
            return
        self._begun = self._begun or method == types.INITIALIZE
        self.handle_message(message)

    def structure_message(self, data: dict[str, Any]) -> Any:
        """Give a message its types. Raises BadMessageError, naming what does not fit."""
        kind = self._kind(data)
        if kind in {JsonRPCRequestMessage, JsonRPCNotification}:
            data = {"params": None} | {name: value for name, value in data.items() if name in _OWN}
        try:
            return self._converter.structure(data, kind)
        except Exception as fault:
            reasons = "; ".join(_reason(each) for each in transform_error(fault, path="$")[:REASONS_MAX])
            raise BadMessageError(reasons, code=_ERRORS.InvalidParams.value) from fault

    def _kind(self, data: dict[str, Any]) -> Any:
        """Give the type that a message has to have."""
        method = data.get("method")
        if method is None:
            if "error" in data:
                return types.ResponseErrorMessage
            return self._result_types.pop(data["id"], None) or JsonRPCResponseMessage
        known = self.get_message_type(method)
        return known or (JsonRPCRequestMessage if "id" in data else JsonRPCNotification)

    def _must_be_in_turn(self, method: str, is_request: bool) -> None:
        if self._begun == (method == types.INITIALIZE) and method != types.EXIT:
            why = "the session has begun already" if self._begun else "the session has not begun: `initialize` comes first"
            raise BadMessageError(why, code=(_ERRORS.InvalidRequest if self._begun else _ERRORS.ServerNotInitialized).value)
        if self._shutdown and method != types.EXIT:
            raise BadMessageError("the session is over: only `exit` may follow", code=_ERRORS.InvalidRequest.value)
        if is_request and method != types.SHUTDOWN and sum(not each.done() for each in self._request_futures.values()) >= REQUESTS_MAX:
            raise BadMessageError(f"more than {REQUESTS_MAX:,} requests are under way", code=types.LSPErrorCodes.RequestFailed.value)

    def _refuse(self, number: int | str | None, fault: BadMessageError) -> None:
        error = {"code": fault.code, "message": fault.message}
        self._send_data({"jsonrpc": _JSON_RPC, "id": number, "error": error})  # pygls leaves out an `id` that is null

    def _dropped(self, data: dict[str, Any], fault: BadMessageError) -> None:
        """Say that a notification was of no use; a text that it was to change is not known any more."""
        method = data.get("method", "an answer")
        self._server.log(f"{method}: {fault.message}")
        if method == types.TEXT_DOCUMENT_DID_CHANGE and self._begun:
            match data.get("params"):
                case {"textDocument": {"uri": str(uri), **rest}}:
                    found = rest.get("version")
                    told = found if isinstance(found, int) else None
                    self._server.lose(uri, told, f"a change of it could not be read ({fault.message})")


def missing(what: str) -> JsonRpcException:
    """Make the answer to a request that lacks a parameter."""
    return JsonRpcException(f"required field missing: `{what}`", code=_ERRORS.InvalidParams.value)


def _message(body: bytes) -> dict[str, Any]:
    """Read the JSON of a message. Raises BadMessageError."""
    try:
        data = loads(body.decode("utf-8"))
    except (UnicodeDecodeError, JSONDecodeError, RecursionError, ValueError) as fault:
        raise BadMessageError(f"a message is no JSON: {str(fault)[:DETAIL_CHARS_MAX]}", code=_ERRORS.ParseError.value) from fault
    if not isinstance(data, dict) or data.get("jsonrpc") != _JSON_RPC:
        raise BadMessageError("a message is no object of JSON-RPC 2.0", code=_ERRORS.InvalidRequest.value)
    number = data.get("id")
    if isinstance(number, bool) or not isinstance(number, int | str | None):
        raise BadMessageError("the `id` of a message is neither a number nor a text", code=_ERRORS.InvalidRequest.value)
    if not isinstance(data.get("method", ""), str) or ("method" not in data and number is None and "error" not in data):
        raise BadMessageError("a message names no method", code=_ERRORS.InvalidRequest.value)
    return data


def _reason(told: str) -> str:
    """Say what does not fit with the names of the wire: `required field missing: options.tabSize`."""
    what, _, where = told.partition(" @ $.")
    place = _SNAKE.sub(lambda found: found[1].upper(), where.removeprefix("params."))
    return f"{what}: `{place}`" if place else what
