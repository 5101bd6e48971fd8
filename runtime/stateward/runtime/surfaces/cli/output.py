"""What is printed reaches the stream that is there, whatever it can show and whether or not anybody wants it.

Invariants: a character that the stream cannot show fails nothing, something stands for it; a stream that is closed wants nothing; one
that cannot be written ends the command with one clear line. A reader who has left is no fault: that is for the program to take.
"""

import io
import json
import sys
from typing import Final, TextIO

from stateward.runtime.surfaces.cli.errors import output_failed

_STAND_INS: Final = str.maketrans({"→": "->", "…": "...", "─": "-"})


def emit(text: str) -> None:
    """Print a text to standard output, now. Raises Stop when that fails, and BrokenPipeError."""
    stream: TextIO | None = sys.stdout
    if stream is None:
        return
    try:
        stream.write(_showable(text, encoding_of(stream)))
        stream.flush()
    except BrokenPipeError:
        raise
    except OSError as fault:
        raise output_failed(fault) from fault


def emit_json(data: object, *, indent: int | None = None) -> None:
    """Print a value as JSON and end the line: characters as they are where all of them can be shown, else escaped."""
    encoding = encoding_of(sys.stdout)
    text = json.dumps(data, ensure_ascii=False, indent=indent)
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        text = json.dumps(data, indent=indent)
    emit(f"{text}\n")


def encoding_of(stream: TextIO | None) -> str:
    """Give the encoding of a stream; one in memory, and none at all, can show anything."""
    return getattr(stream, "encoding", None) or "utf-8"


def _showable(text: str, encoding: str) -> str:
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return text.translate(_STAND_INS).encode(encoding, "backslashreplace").decode(encoding)
    return text


class Shape(io.StringIO):
    """Answers for standard output where a console asks what it prints to; what is printed goes through `emit`."""

    def __init__(self, stream: TextIO | None) -> None:
        super().__init__()
        self._stream = stream

    @property
    def encoding(self) -> str:  # type: ignore[override]  # a text in memory has none of its own
        """Its encoding."""
        return encoding_of(self._stream)

    def isatty(self) -> bool:
        """Whether it is a terminal."""
        return self._stream is not None and self._stream.isatty()
