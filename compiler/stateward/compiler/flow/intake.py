"""Stage 1: bytes to text, or why not. Size comes before encoding: of a source that is too large nothing else is looked at."""

from typing import Final

from stateward.compiler.flow.problems.source import Nature, SourceNotUtf8, SourceTooLarge
from stateward.compiler.source import BYTE_ORDER_MARK, Source

HEAD: Final = 4_096
"""Bytes that are looked at to tell a text from other data."""
_NEVER_IN_TEXT: Final = bytes((*range(9), *range(14, 27), *range(28, 32)))
"""Control characters that no text in any encoding holds: all but white space and escape."""


def raw_bytes(source: Source | bytes) -> bytes:
    """Give the bytes of a source as they stand in its file."""
    if isinstance(source, bytes):
        return source
    return ((BYTE_ORDER_MARK if source.has_mark else "") + source.text).encode("utf-8", "surrogatepass")


def take_in(source: Source | bytes, name: str, bytes_max: int) -> Source | SourceTooLarge | SourceNotUtf8:
    """Decode a source of at most `bytes_max` bytes; one that is decoded already is taken as it is."""
    data = raw_bytes(source)
    if len(data) > bytes_max:
        shown = Source.from_text(name, data[: bytes_max + 1].decode("utf-8", "replace"))
        return SourceTooLarge(shown, _characters(data[:bytes_max]), bytes_max)
    if isinstance(source, Source):
        return source
    try:
        return Source.from_bytes(name, data)
    except UnicodeDecodeError as fault:
        shown = Source.from_text(name, data.decode("utf-8", "replace"))
        return SourceNotUtf8(shown, _characters(data[: fault.start]), data[fault.start], fault.start, _nature(data))


def _nature(data: bytes) -> Nature:
    """Tell what bytes are that are no UTF-8."""
    if data.startswith((b"\xff\xfe\0\0", b"\0\0\xfe\xff")):
        return Nature.UTF_32
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return Nature.UTF_16
    return Nature.BINARY if any(data[:HEAD].count(byte) for byte in _NEVER_IN_TEXT) else Nature.TEXT


def _characters(data: bytes) -> int:
    """Count the whole characters of the beginning of a text, without its mark: the offset at which the text was left."""
    text = data.decode("utf-8", "ignore")
    return len(text.removeprefix(BYTE_ORDER_MARK))
