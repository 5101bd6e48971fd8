"""Positions: offsets, bytes, lines and columns of one text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateward.compiler.source import Source


@pytest.mark.parametrize("length", [0, 1, 1023, 1024, 1025, 2048, 5000])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_a_byte_offset_counts_the_bytes_of_all_that_comes_before(length: int, mark: str) -> None:
    text = ("aé日😀" * length)[:length]
    source = Source.from_text("x", mark + text)
    assert [len((mark + text[:at]).encode()) for at in range(length + 1)] == [source.byte_offset(at) for at in range(length + 1)]


@given(st.text(st.sampled_from("a\n\ré😀")), st.data())
def test_a_line_and_a_column_lead_back_to_the_offset(text: str, data: st.DataObject) -> None:
    source = Source.from_text("x", text)
    offset = data.draw(st.integers(0, len(text)))
    line, column = source.line_column(offset)
    assert offset == source.line_starts[line - 1] + column - 1
    assert text[:offset].count("\n") + 1 == line
