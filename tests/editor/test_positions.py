"""Positions and edits in every encoding: astral characters, line ends of three kinds, a byte-order mark, tabs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateward.compiler.diagnostics.model import Edit
from stateward.compiler.editor.analysis import Analysis
from stateward.compiler.editor.documents import Change, Document
from stateward.compiler.editor.positions import Encoding, Lines, Position
from stateward.compiler.editor.wire import Wire
from stateward.compiler.source import Span

TEXT = st.text(st.sampled_from("ab\t\n\r\r\n é😀\ufeff\u2028\x0c"), max_size=40)
ENCODINGS = st.sampled_from(Encoding)


@given(TEXT, ENCODINGS)
def test_a_position_leads_back_to_its_offset(text: str, encoding: Encoding) -> None:
    lines = Lines(text, encoding)
    for offset in range(len(text) + 1):
        inside_line_end = text[offset - 1 : offset + 1] == "\r\n" if offset else False
        expected = offset - 1 if inside_line_end else offset
        assert expected == lines.offset(lines.position(offset))


@given(TEXT, ENCODINGS, st.integers(0, 8), st.integers(0, 50))
def test_no_position_leads_out_of_its_line(text: str, encoding: Encoding, line: int, character: int) -> None:
    lines = Lines(text, encoding)
    offset = lines.offset(Position(line, character))
    if offset is not None:
        assert line == lines.position(offset).line
    else:
        assert line >= len(lines.starts) or not text.isascii()


@pytest.mark.parametrize(
    ("encoding", "character"), [(Encoding.UTF8, 7), (Encoding.UTF16, 4), (Encoding.UTF32, 3)]
)  # fmt: skip
def test_columns_count_the_units_that_were_agreed_on(encoding: Encoding, character: int) -> None:
    text = "x\né😀\tz"
    assert Position(1, character) == Lines(text, encoding).position(text.index("z"))


def test_no_position_lies_inside_of_a_character() -> None:
    assert (None, 1, None) == (
        Lines("😀", Encoding.UTF16).offset(Position(0, 1)),
        Lines("😀", Encoding.UTF16).offset(Position(0, 9)),
        Lines("é", Encoding.UTF8).offset(Position(0, 1)),
    )


@given(TEXT, ENCODINGS)
def test_no_position_lies_behind_the_end_of_its_line(text: str, encoding: Encoding) -> None:
    lines = Lines(text, encoding)
    for offset in range(len(text) + 1):
        line, character = lines.position(offset)
        assert lines.position(lines.offset(Position(line, 1_000)) or 0) >= (line, character)


@given(TEXT, TEXT, ENCODINGS, st.data())
def test_an_edit_that_is_told_comes_to_the_text_that_was_meant(text: str, new: str, encoding: Encoding, data: st.DataObject) -> None:
    document, analysis = Document("file:///a.dcdl", 1, text), Analysis("a.dcdl", text)
    length = len(analysis.source.text)
    start = data.draw(st.integers(0, length))
    end = data.draw(st.integers(start, length))
    (edit,) = Wire(document, analysis, encoding).edits([Edit(Span(start, end), new)])
    between = (edit.range.start.line, edit.range.start.character), (edit.range.end.line, edit.range.end.character)
    made = document.edited(2, [Change(edit.new_text, (Position(*between[0]), Position(*between[1])))], encoding)
    mark = text[: analysis.shift]
    assert mark + analysis.source.text[:start] + new + analysis.source.text[end:] == made.text


@given(TEXT, TEXT, ENCODINGS, st.data())
def test_an_edit_replaces_the_very_text_it_names(text: str, new: str, encoding: Encoding, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    if any(at and text[at - 1 : at + 1] == "\r\n" for at in (start, end)):
        return
    lines = Lines(text, encoding)
    edited = Document("file:///a.dcdl", 1, text).edited(2, [Change(new, (lines.position(start), lines.position(end)))], encoding)
    assert (text[:start] + new + text[end:], None, 2) == (edited.text, edited.lost, edited.version)


@pytest.mark.parametrize(
    "between",
    [((3, 0), (3, 0)), ((0, 2), (0, 1)), ((1, 0), (0, 0)), ((0, -1), (0, 0)), ((0, 0), (9, 9))],
)
def test_a_range_that_the_text_does_not_have_loses_it_until_it_is_sent_whole(between: tuple[tuple[int, int], tuple[int, int]]) -> None:
    begin, end = between
    before = Document("file:///a.dcdl", 1, "abc\ndef")
    lost = before.edited(
        2, [Change("x", (Position(*begin), Position(*end))), Change("y", (Position(0, 0), Position(0, 0)))], Encoding.UTF16
    )
    assert lost.text == ""
    assert lost.lost is not None
    assert lost.lost.startswith("version 2 changes ")
    found = lost.edited(3, [Change("new")], Encoding.UTF16)
    assert ("new", None) == (found.text, found.lost)


@pytest.mark.parametrize(
    ("uri", "name", "slug"),
    [
        ("file:///a/paper.dcdl", "paper.dcdl", "paper"),
        ("file:///a/my%20paper.dcdl", "my paper.dcdl", "my paper"),
        ("file:///a/paper.test.dcdl", "paper.test.dcdl", None),
        ("untitled:Untitled-1", "Untitled-1", None),
    ],
)
def test_a_document_is_named_by_its_file(uri: str, name: str, slug: str | None) -> None:
    document = Document(uri, 1, "")
    assert (name, slug) == (document.name, document.slug)
