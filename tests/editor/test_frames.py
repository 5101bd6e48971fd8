"""Frames in a stream: the same bodies however the bytes are cut, and a reason where there is no frame."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateward.compiler.editor.frames import BODY_BYTES_MAX, HEAD_BYTES_MAX, BrokenStreamError, Frames

BODIES = st.lists(st.binary(max_size=30), max_size=6)


def framed(body: bytes) -> bytes:
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


@given(BODIES, st.lists(st.integers(0, 300), max_size=12))
def test_bodies_are_the_same_however_the_bytes_are_cut(bodies: list[bytes], cuts: list[int]) -> None:
    stream = b"".join(map(framed, bodies))
    places = [0, *sorted(min(each, len(stream)) for each in cuts), len(stream)]
    frames = Frames()
    found = [body for begin, end in pairwise(places) for body in frames.feed(stream[begin:end])]
    assert bodies == found


@pytest.mark.parametrize(
    "head",
    [
        b"Content-Length: 2",
        b"content-length:2",
        b"CONTENT-LENGTH : 2 ",
        b"Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: 2",
        b'Content-Length: 2\r\nContent-Type: application/vscode-jsonrpc; charset="UTF8"',
        b"Content-Length: 2\r\nX-Other: Content-Length: 9",
    ],
)
def test_a_head_is_read_as_heads_are_written(head: bytes) -> None:
    assert [b"{}"] == list(Frames().feed(head + b"\r\n\r\n{}"))


def test_the_largest_head_and_body_are_taken_and_one_more_is_not() -> None:
    start = b"Content-Length: 0\r\nX: "
    assert [b""] == list(Frames().feed(start + b"x" * (HEAD_BYTES_MAX - len(start)) + b"\r\n\r\n"))
    with pytest.raises(BrokenStreamError):
        list(Frames().feed(start + b"x" * (HEAD_BYTES_MAX - len(start) + 1) + b"\r\n\r\n"))
    assert [] == list(Frames().feed(b"Content-Length: %d\r\n\r\n" % BODY_BYTES_MAX))
    with pytest.raises(BrokenStreamError):
        list(Frames().feed(b"Content-Length: %d\r\n\r\n" % (BODY_BYTES_MAX + 1)))
