"""The log of a service: one line per request, and one for whatever failed. JSON, or plain text for a terminal.

Invariants: a line holds the path of a request and nothing else that it brought along: no query, no header, no body; whatever looks like a
token gives way; on a terminal nothing that came from outside acts on it. A log that cannot be written ends no request, and one that
nobody reads holds none up.
"""

import logging
from asyncio import CancelledError
from collections.abc import Callable, MutableMapping
from contextlib import suppress
from queue import Full, Queue
from threading import Thread
from typing import Any, Final, TextIO, cast

import structlog

from stateward.compiler.diagnostics.cells import safe
from stateward.runtime.ports import Fault

PATH_CHARACTERS_MAX: Final = 512
LINES_MAX: Final = 4096
"""Lines that wait to be written."""
CLOSING_SECONDS: Final = 2
"""How long the last lines are waited for, each time."""
_FIRST: Final = ("timestamp", "level", "event")
"""What every line begins with."""

_Event = MutableMapping[str, Any]


class Aside:
    """Writes to a stream in a thread of its own, so that nobody waits for whoever reads it. What is too much is lost, and counted."""

    def __init__(self, stream: TextIO, lines_max: int = LINES_MAX) -> None:
        self._stream = stream
        self._lines: Queue[str | None] = Queue(lines_max)
        self._lost = 0
        self._thread = Thread(target=self._write_all, name="stateward log", daemon=True)
        self._thread.start()

    def write(self, text: str) -> None:
        """Have a text written. Raises nothing."""
        try:
            self._lines.put_nowait(text)
        except Full:
            self._lost += 1

    def flush(self) -> None:
        """Do nothing: each line is flushed when it is written."""

    @property
    def waiting(self) -> bool:
        """Whether there is something to be written yet."""
        return not self._lines.empty()

    def lost(self) -> int:
        """Say how many texts were lost since this was said last; none as long as nothing could be told of it."""
        if self._lines.full():
            return 0
        lost, self._lost = self._lost, 0
        return lost

    def close(self) -> None:
        """Write what there still is, unless nobody takes it."""
        with suppress(Full):
            self._lines.put(None, timeout=CLOSING_SECONDS)
        self._thread.join(CLOSING_SECONDS)

    def _write_all(self) -> None:
        while (text := self._lines.get()) is not None:
            with suppress(OSError, ValueError):  # nobody reads it any more, the disk is full, or the stream is closed
                self._stream.write(text)
                self._stream.flush()


class ServiceLog:
    """Writes the log to a stream. Safe to share between threads."""

    def __init__(self, stream: TextIO | Aside, *, mask: Callable[[str], str], as_text: bool) -> None:
        def masked(_logger: object, _method: str, event: _Event) -> _Event:
            first = {name: event[name] for name in _FIRST}
            return {name: mask(value) if isinstance(value, str) else value for name, value in {**first, **event}.items()}

        self._aside = stream if isinstance(stream, Aside) else None
        self._log: Any = structlog.wrap_logger(
            structlog.WriteLogger(cast("TextIO", stream)),
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
        with suppress(OSError, ValueError):  # as above
            if self._aside is not None and (lost := self._aside.lost()):
                self._log.warning("lines lost", lines=lost)
            write(event, **{name: value for name, value in told.items() if value is not None})


class LoggedWarnings(logging.Handler):
    """Lets what the server library warns of stand in the same log."""

    def __init__(self, log: ServiceLog) -> None:
        super().__init__(logging.WARNING)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record."""
        if record.exc_info is not None and isinstance(record.exc_info[1], CancelledError):
            return  # a request that was cut off when the service stopped, of which the guard has told
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
