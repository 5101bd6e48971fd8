"""Messages in a stream of bytes: a head that says how long the body is, and the body.

Invariants: pure; the same bytes give the same bodies however they are cut; no more is kept than the largest frame. A stream that does not
hold frames cannot be followed any further, since nothing says where the next one would begin.
"""

import re
from collections.abc import Iterator
from typing import Final

HEAD_BYTES_MAX: Final = 4 * 1024
BODY_BYTES_MAX: Final = 64 * 1024 * 1024
_HEAD_END: Final = b"\r\n\r\n"
_LENGTH: Final = re.compile(rb"^content-length[ \t]*:[ \t]*([0-9]{1,12})[ \t]*\r?$", re.IGNORECASE | re.MULTILINE)
_CHARSET: Final = re.compile(rb"^content-type[ \t]*:.*?charset[ \t]*=[ \t]*\"?([^\";\s]+)", re.IGNORECASE | re.MULTILINE)
_UTF8: Final = frozenset({b"utf-8", b"utf8"})


class BrokenStreamError(Exception):
    """The stream holds no frame where one has to begin. The message says why."""


class Frames:
    """The frames of one stream, as its bytes arrive."""

    def __init__(self) -> None:
        self._kept = bytearray()
        self._length: int | None = None

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Take bytes in and give each body that is whole. Raises BrokenStreamError."""
        self._kept += data
        while True:
            if self._length is None and not self._take_head():
                return
            length = self._length
            if length is None or len(self._kept) < length:
                return
            body = bytes(self._kept[:length])
            del self._kept[:length]
            self._length = None
            yield body

    def _take_head(self) -> bool:
        """Read the head of the next frame, if it is whole."""
        end = self._kept.find(_HEAD_END, 0, HEAD_BYTES_MAX + len(_HEAD_END))
        if end < 0:
            if len(self._kept) > HEAD_BYTES_MAX:
                raise BrokenStreamError(f"no head of a message within {HEAD_BYTES_MAX:,} bytes")
            return False
        head = bytes(self._kept[:end])
        del self._kept[: end + len(_HEAD_END)]
        self._length = _length_of(head)
        return True


def _length_of(head: bytes) -> int:
    found, charset = _LENGTH.search(head), _CHARSET.search(head)
    if found is None:
        raise BrokenStreamError("the head of a message names no `Content-Length`")
    if charset is not None and charset[1].lower() not in _UTF8:
        raise BrokenStreamError(f"a message is encoded as {charset[1].decode('ascii', 'replace')}, which is not UTF-8")
    length = int(found[1])
    if length > BODY_BYTES_MAX:
        raise BrokenStreamError(f"a message of {length:,} bytes is larger than {BODY_BYTES_MAX:,} bytes")
    return length
