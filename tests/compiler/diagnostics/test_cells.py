import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateward.compiler.diagnostics.cells import TAB_STOP, lay_out, safe, text_width
from stateward.compiler.diagnostics.model import Diagnostic, Label, Severity
from stateward.compiler.diagnostics.text import render
from stateward.compiler.source import Place, Source, Span

HARMFUL = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


@given(st.text(st.characters(codec=None)))
def test_nothing_that_a_terminal_obeys_is_shown(text: str) -> None:
    assert [char for char in safe(text) if unicodedata.category(char) in HARMFUL] == []


@given(st.text(st.characters(exclude_characters="\n")))
def test_a_laid_out_line_is_as_wide_as_its_last_column(text: str) -> None:
    line = lay_out(text)
    assert text_width("".join(line.pieces)) == line.width == line.columns[-1]
    assert list(line.columns) == sorted(line.columns)


@given(st.text(st.characters(min_codepoint=0x20, max_codepoint=0x7E)), st.integers(0, 40), st.integers(0, 40))
def test_a_plain_line_is_laid_out_and_cut_like_any_other(text: str, begin: int, length: int) -> None:
    plain, other = lay_out(text), lay_out(text + "é")
    assert (list(plain.pieces), list(plain.columns)) == (list(other.pieces)[:-1], list(other.columns)[:-1])
    assert plain.cut(begin, begin + length) == text[begin : begin + length] == other.cut(begin, min(begin + length, len(text)))


@given(st.text(st.characters(exclude_characters="\n")), st.integers(0, 40), st.integers(0, 40))
def test_a_cut_is_as_wide_as_it_was_asked_for(text: str, begin: int, length: int) -> None:
    line = lay_out(text)
    end = min(begin + length, line.width)
    assert text_width(line.cut(begin, end)) == max(end - begin, 0)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31m", "␛[31m"),
        ("a\x00b\x7f", "a␀b␡"),
        ("\u202eabc", "<U+202E>abc"),
        ("\x85\u200b", "<U+0085><U+200B>"),
        ("\ud800", "<U+D800>"),
        ("façade 日本 \U0001f600", "façade 日本 \U0001f600"),
    ],
)
def test_what_stands_for_hidden_characters(text: str, shown: str) -> None:
    assert safe(text) == shown


def test_tabs_go_to_the_next_stop() -> None:
    assert lay_out("a\tb\t\tc").columns == (0, 1, TAB_STOP, TAB_STOP + 1, 2 * TAB_STOP, 3 * TAB_STOP, 3 * TAB_STOP + 1)


def test_wide_characters_take_two_columns_and_combining_ones_none() -> None:
    assert (lay_out("日x").columns, lay_out("e\u0301x").columns) == ((0, 2, 3), (0, 1, 1, 2))


def test_letters_of_hangul_that_are_written_into_one_syllable_take_two_columns_together() -> None:
    composed, decomposed = "\ud55cx", "\u1112\u1161\u11abx"
    assert (composed, 0) == (unicodedata.normalize("NFC", decomposed), lay_out(decomposed).columns[0])
    assert (lay_out(composed).columns[-2:], lay_out(decomposed).columns[-2:]) == ((2, 3), (2, 3))


def test_a_sign_that_asks_for_a_picture_is_left_out_and_keeps_its_place() -> None:
    assert ("\u26a0x", (0, 1, 1, 2)) == (safe("\u26a0\ufe0fx"), lay_out("\u26a0\ufe0fx").columns)


@pytest.mark.parametrize("filler", ["\u115f", "\u1160", "\u2800", "\u3164", "\uffa0"])
def test_letters_and_signs_that_are_blank_are_shown_by_their_code_points(filler: str) -> None:
    assert f"a<U+{ord(filler):04X}>b" == safe(f"a{filler}b")


def test_half_of_a_wide_character_becomes_a_blank() -> None:
    assert (lay_out("日本").cut(1, 4), lay_out("日本").cut(0, 3)) == (" 本", "日 ")


def test_a_long_line_is_laid_out_once_for_all_the_labels_in_it() -> None:
    source = Source("x", "é" + "abc " * 5_000)
    faults = [
        Diagnostic("some_code", Severity.ERROR, "wrong", Label(Place(source, Span(at, at + 3)), "here"))
        for at in range(1, 4_000, 40)
    ]  # fmt: skip
    before = lay_out.cache_info().misses
    render(faults)
    assert lay_out.cache_info().misses - before == 1
