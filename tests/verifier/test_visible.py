"""Foreign text is shown so that every character of it can be seen."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateward.runtime.session.visible import is_quote, says_nothing, visible

HIDDEN = [
    "\u202e",
    "\u200b",
    "\u2066",
    "\ufeff",
    "\x1b",
    "\x00",
    "\r",
    "\x7f",
    "\u2028",
    "\U000e0041",
    "\ufe0f",
    "\u3164",
    "\ud800",
    "\u00ad",
]


@pytest.mark.parametrize("char", HIDDEN)
def test_a_character_that_cannot_be_seen_stands_by_its_number(char: str) -> None:
    assert f"a‹U+{ord(char):04X}›b" == visible(f"a{char}b")


@pytest.mark.parametrize("text", ["plain", "two\nlines\tand a tab", "é ß 漢字 \u00a0 \u3000 🙂", "{x} {{ %s ${HOME} {% if %} }", ""])
def test_what_can_be_seen_stands_as_it_is(text: str) -> None:
    assert text == visible(text)


@given(st.text(st.characters(codec=None)))
def test_what_is_shown_can_be_written_and_shown_again_unchanged(text: str) -> None:
    once = visible(text)
    once.encode("utf-8")
    assert once == visible(once)


@pytest.mark.parametrize("text", ["", " \n\t", "\u200b\u2060", "\u3164 \ufe0f"])
def test_a_text_of_blanks_and_hidden_characters_says_nothing(text: str) -> None:
    assert says_nothing(text)


def test_a_text_with_one_letter_says_something() -> None:
    assert not says_nothing("\u200b x")


@pytest.mark.parametrize("quote", ["one\ntwo", "one\ntwo\n", "one\r\ntwo"])
def test_a_quote_is_the_lines_whatever_ends_them(quote: str) -> None:
    assert is_quote(quote, ["one", "two"])


@pytest.mark.parametrize("quote", ["one", "one\ntwo\nthree", " one\ntwo", "One\ntwo", "one two", ""])
def test_another_text_is_no_quote(quote: str) -> None:
    assert not is_quote(quote, ["one", "two"])


def test_a_line_with_a_hidden_character_is_quoted_as_it_was_shown() -> None:
    assert is_quote("a‹U+200B›b", ["a\u200bb"])
    assert not is_quote("ab", ["a\u200bb"])
