"""Texts are measured in UTF-8 bytes, cut between characters, and shown in one bounded line."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateward.runtime.core.limits import SHOWN_CHARACTERS_MAX
from stateward.runtime.core.texts import cut, is_blank, is_unicode, listed, shown, size_of

ANY_TEXT = st.text(st.characters(exclude_categories=()))


@given(ANY_TEXT, st.integers(0, 40))
def test_a_cut_text_is_the_longest_beginning_that_fits(text: str, bytes_max: int) -> None:
    beginning = cut(text, bytes_max)
    assert text.startswith(beginning)
    assert size_of(beginning) <= bytes_max
    assert beginning == text or size_of(text[: len(beginning) + 1]) > bytes_max


@pytest.mark.parametrize(
    ("text", "bytes_max", "expected"),
    [("abc", 3, "abc"), ("abc", 2, "ab"), ("aé", 2, "a"), ("aé", 3, "aé"), ("a\U0001f600b", 4, "a"), ("\ud800x", 2, ""), ("x", 0, "")],
)
def test_a_text_is_cut_between_two_characters(text: str, bytes_max: int, expected: str) -> None:
    assert expected == cut(text, bytes_max)


@given(ANY_TEXT)
def test_a_shown_text_is_one_bounded_printable_line(text: str) -> None:
    line = shown(text)
    assert line.isprintable()
    assert len(line) <= 10 * SHOWN_CHARACTERS_MAX + 3


def test_a_shown_text_makes_visible_what_is_not() -> None:
    expected = r"`done\n{x}\u202e`"
    assert expected == shown("done\n{x}\u202e")


@pytest.mark.parametrize(("text", "blank"), [("", True), (" \n\t\u2003", True), ("x", False), (" x ", False)])
def test_a_text_of_white_space_is_blank(text: str, blank: bool) -> None:
    assert blank is is_blank(text)


def test_names_are_listed_as_in_a_sentence() -> None:
    found = [listed(()), listed(("a",)), listed(("a", "b")), listed(("a", "b", "c"))]
    assert found == ["", "`a`", "`a` and `b`", "`a`, `b` and `c`"]


@given(ANY_TEXT)
def test_a_text_is_unicode_when_it_can_be_written(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        assert not is_unicode(text)
    else:
        assert is_unicode(text)
