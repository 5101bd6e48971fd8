"""Stage 1: bytes to text, or why not. Size comes before encoding: of a source that is too large nothing else is looked at."""

from stateward.compiler.flow.problems.source import SourceNotUtf8, SourceTooLarge
from stateward.compiler.source import BYTE_ORDER_MARK, Source


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
        return SourceNotUtf8(shown, _characters(data[: fault.start]), data[fault.start], fault.start, data[:2])


def _characters(data: bytes) -> int:
    """Count the whole characters of the beginning of a text, without its mark: the offset at which the text was left."""
    text = data.decode("utf-8", "ignore")
    return len(text.removeprefix(BYTE_ORDER_MARK))
