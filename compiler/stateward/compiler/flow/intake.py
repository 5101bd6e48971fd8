"""Stage 1: bytes to text, or why not. Size comes before encoding: of a source that is too large nothing else is looked at."""

from collections.abc import Mapping
from typing import Final

from stateward.compiler.flow.problems.source import Nature, SourceNotUtf8, SourceTooLarge
from stateward.compiler.source import BYTE_ORDER_MARK, Source

HEAD: Final = 4_096
"""Bytes that are looked at to tell a text from other data."""
NULS_MANY: Final = 0.5
NULS_FEW: Final = 0.05
"""Shares of NULs at one place of every four bytes that tell a place where they belong from one where they do not."""
_BARE: Final[Mapping[tuple[bool, ...], Nature]] = {
    (False, True, False, True): Nature.UTF_16_BARE,
    (True, False, True, False): Nature.UTF_16_BARE,
    (False, True, True, True): Nature.UTF_32_BARE,
    (True, True, True, False): Nature.UTF_32_BARE,
}
"""Which of every four bytes are NUL in a text that is mostly ASCII, for either order of bytes."""
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
        text = Source.from_bytes(name, data)
    except UnicodeDecodeError as fault:
        return _not_utf8(name, data, fault.start, _nature(data))
    bare = _bare_nature(data[:HEAD])
    return text if bare is None else _not_utf8(name, data, data.index(0), bare)


def _not_utf8(name: str, data: bytes, bad_at: int, nature: Nature) -> SourceNotUtf8:
    shown = Source.from_text(name, data.decode("utf-8", "replace"))
    return SourceNotUtf8(shown, _characters(data[:bad_at]), data[bad_at], bad_at, nature)


def _bare_nature(head: bytes) -> Nature | None:
    """Tell UTF-16 and UTF-32 by where their NULs stand; text in them that is ASCII is UTF-8 with NULs too."""
    if 0 not in head:
        return None
    size = max(len(head) // 4, 1)
    shares = [head[at::4].count(0) / size for at in range(4)]
    is_clear = all(share > NULS_MANY or share < NULS_FEW for share in shares)
    return _BARE.get(tuple(share > NULS_MANY for share in shares)) if is_clear else None


def _nature(data: bytes) -> Nature:
    """Tell what bytes are that are no UTF-8."""
    if data.startswith((b"\xff\xfe\0\0", b"\0\0\xfe\xff")):
        return Nature.UTF_32
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return Nature.UTF_16
    bare = _bare_nature(data[:HEAD])
    if bare is not None:
        return bare
    return Nature.BINARY if any(data[:HEAD].count(byte) for byte in _NEVER_IN_TEXT) else Nature.TEXT


def _characters(data: bytes) -> int:
    """Count the whole characters of the beginning of a text, without its mark: the offset at which the text was left."""
    text = data.decode("utf-8", "ignore")
    return len(text.removeprefix(BYTE_ORDER_MARK))
