"""The log of a service: one line per request, and one for whatever failed. JSON, or plain text for a terminal.

Invariants: a line holds the path of a request and nothing else that it brought along: no query, no header, no body; whatever looks like a
token gives way; on a terminal nothing that came from outside acts on it. A log that cannot be written ends no request.
"""

import logging
from collections.abc import Callable, MutableMapping
from contextlib import suppress
from typing import Any, Final, TextIO

import structlog

from stateward.compiler.diagnostics.cells import safe
from stateward.runtime.ports import Fault

PATH_CHARACTERS_MAX: Final = 512
_FIRST: Final = ("timestamp", "level", "event")
"""What every line begins with."""

_Event = MutableMapping[str, Any]


class ServiceLog:
    """Writes the log to a stream. Safe to share between threads."""

    def __init__(self, stream: TextIO, *, mask: Callable[[str], str], as_text: bool) -> None:
        def masked(_logger: object, _method: str, event: _Event) -> _Event:
            first = {name: event[name] for name in _FIRST}
            return {name: mask(value) if isinstance(value, str) else value for name, value in {**first, **event}.items()}

        self._log: Any = structlog.wrap_logger(
            structlog.WriteLogger(stream),
            processors=[
                structlog.processors.add_log_level,
                structlog.processors.TimeStamper(fmt="iso", utc=True),
                structlog.processors.ExceptionRenderer(),
                masked,
                _as_text if as_text else structlog.processors.JSONRenderer(ensure_ascii=False),
            ],
            wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
            context_class=dict,
        )

    def request(self, **told: str | float | None) -> None:
        """Tell of a request that was answered."""
        self._write(self._log.info, "request", told)

    def told(self, event: str, **told: str | float | None) -> None:
        """Tell of something that is worth knowing and no fault."""
        self._write(self._log.info, event, told)

    def warned(self, event: str, **told: str | float | None) -> None:
        """Tell of something that whoever operates the service should look at."""
        self._write(self._log.warning, event, told)

    def fault(self, fault: Fault, request_id: str | None) -> None:
        """Tell of a fault of the environment, with what to do."""
        told = {"fault": type(fault).__name__, "message": fault.message, "remedy": fault.remedy, "request_id": request_id}
        self._write(self._log.error, "fault", told)

    def bug(self, bug: BaseException, request_id: str | None) -> None:
        """Tell of a fault of the program itself, with its traceback."""
        self._write(self._log.error, "bug", {"request_id": request_id, "exc_info": bug})

    def _write(self, write: Callable[..., object], event: str, told: MutableMapping[str, Any]) -> None:
        with suppress(OSError, ValueError):  # nobody reads it any more, the disk is full, or the stream is closed
            write(event, **{name: value for name, value in told.items() if value is not None})


class LoggedWarnings(logging.Handler):
    """Lets what the server library warns of stand in the same log."""

    def __init__(self, log: ServiceLog) -> None:
        super().__init__(logging.WARNING)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record."""
        if record.exc_info is not None and record.exc_info[1] is not None:
            self._log.bug(record.exc_info[1], None)
        else:
            self._log.warned("server", message=record.getMessage().strip())


def _as_text(_logger: object, _method: str, event: _Event) -> str:
    time, level, name = event.pop("timestamp"), event.pop("level"), event.pop("event")
    trace = event.pop("exception", None)
    if name == "request":
        words = [event.pop(each, "") for each in ("method", "path", "status")]
        name = " ".join(str(each) for each in words)
    rest = "  ".join(f"{key}={value}" for key, value in event.items())
    mark = "" if level == "info" else f"{level}: "
    lines = [f"{time[11:19]}  {mark}{name}  {rest}".rstrip(), *(trace.split("\n") if trace else ())]
    return "\n".join(safe(line) for line in lines)
